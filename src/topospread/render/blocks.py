"""The blocks of a page. Pages of commands consist of them, and every output format draws them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from topospread.base import Bounds, Word

Role = Literal["", "name", "good", "bad", "unsure", "dim"]


class Span(Struct, frozen=True):
    """Words with a meaning. The output format picks colour, weight or CSS class."""

    text: str
    role: Role = ""


class Bar(Struct, frozen=True):
    """A number drawn as a bar.

    Attributes:
        limit: maximum number; ``None`` without a limit.
    """

    value: int
    limit: int | None = None


Cell = str | int | Span | Bounds | Bar


class Verdict(Struct, frozen=True, tag=True):
    """The first line: the answer and its sentence."""

    word: Word
    says: str


class Fact(Struct, frozen=True, tag=True):
    """A labelled line such as ``why:``, ``fix:`` or ``next:``.

    Attributes:
        label: the word before the colon.
        command: command line to copy. It is never wrapped.
    """

    label: str
    says: str
    command: str = ""


class Table(Struct, frozen=True, tag=True):
    """Rows under headings.

    Attributes:
        may_drop: columns that a narrow screen drops, in this order.
        most: rows that are shown; ``-o wide`` shows all.
        more: words for the rows that are left out, after "and N more".
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    may_drop: tuple[int, ...] = ()
    most: int = 10
    more: str = ""


class Code(Struct, frozen=True, tag=True):
    """Text that is shown verbatim."""

    text: str
    language: Literal["shell", "yaml", "diff", "json", "words"] = "words"


class Hint(Struct, frozen=True, tag=True):
    """A pointer to what ``-o wide`` adds. Only text without ``-o wide`` shows it."""

    says: str


class Section(Struct, frozen=True, tag=True):
    """A part of the page with a title.

    Attributes:
        title: heading; "" for no heading.
        wide: whether only ``-o wide`` shows it. HTML and Markdown fold it.
    """

    title: str
    parts: tuple[Part, ...]
    wide: bool = False


Part = Verdict | Fact | Table | Code | Hint | Section


class Page(Struct, frozen=True):
    """An answer as blocks.

    Attributes:
        title: title of the browser tab or picture.
        parts: the blocks, the verdict first.
    """

    title: str
    parts: tuple[Part, ...]


def cell_text(cell: Cell) -> str:
    """Return a cell's words; empty for a bar."""
    match cell:
        case Span():
            return cell.text
        case Bar():
            return ""
    return str(cell)
