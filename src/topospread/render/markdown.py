"""Pages as GitHub Markdown, for pull requests and job summaries. Input text cannot add markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from .blocks import Bar, Cell, Code, Fact, Page, Part, Section, Span, Table, Verdict, cell_text

_SIGNS = {"yes": "✅", "no": "❌", "unknown": "❔"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
_WORD = re.compile(r"([\s`|])")
_LINKED = re.compile(
    r"@|://|www\.|#\d|\bGH-\d|:[\w+-]+:|\$|(?<![\w-])(?=\d*[a-f])[0-9a-f]{7,40}(?![\w-])", re.IGNORECASE
)
"""The part of a word that GitHub turns into a mention, link, emoji or formula, even if its characters are escaped."""
_FENCE = re.compile(r"`{3,}")


def markdown(page: Page) -> str:
    """Return a page as Markdown, with a final newline. Sections for ``-o wide`` are folded."""
    return "\n".join(line for part in page.parts for line in _part(part)).strip("\n") + "\n"


def _part(part: Part) -> Iterator[str]:
    match part:
        case Verdict():
            yield f"### {_SIGNS[part.word]} {escaped(part.says)}"
        case Fact():
            command = f"{_code(part.command)} " if part.command else ""
            yield f"**{escaped(part.label)}:** {command}{escaped(part.says)}  "
        case Code():
            longest = max((len(each) for each in _FENCE.findall(part.text)), default=2)
            fence = "`" * (longest + 1)
            yield f"{fence}{'text' if part.language == 'words' else part.language}\n{part.text}\n{fence}"
        case Table():
            yield "\n| " + " | ".join(escaped(each) or " " for each in part.heads) + " |"
            yield "|" + "---|" * len(part.heads)
            yield from ("| " + " | ".join(map(_cell, row)) + " |" for row in part.rows)
        case Section() if part.title or part.parts:
            folded = f"<details><summary>{_summary(part.title or 'Details')}</summary>"
            yield f"\n{folded if part.wide else escaped(part.title)}\n"
            for each in part.parts:
                yield from _part(each)
            if part.wide:
                yield "\n</details>\n"  # text right behind the tag would be part of the HTML block


def _cell(cell: Cell) -> str:
    match cell:
        case Bar():
            return "█" * min(cell.value, 24)
        case Span(role="bad"):
            return f"**{escaped(cell.text)}**" if cell.text else ""
    return escaped(cell_text(cell))


def escaped(words: str) -> str:
    """Return words on one line that Markdown shows literally: no link, image, HTML, mention or table border.

    Mentions, addresses and URLs become code, because GitHub links them in all other text, even if escaped.
    """
    parts = _WORD.split(" ".join(words.split()))
    return "".join(f"`{each}`" if _LINKED.search(each) else _plain(each) for each in parts)


def _plain(word: str) -> str:
    return _SPECIAL.sub(r"\\\1", word).replace("\\<", "&lt;").replace("\\&", "&amp;")


def _summary(title: str) -> str:
    """Return the title as HTML, because Markdown is not rendered there."""
    words = (html.escape(each) for each in title.split())
    return " ".join(f"<code>{each}</code>" if _LINKED.search(each) else each for each in words)


def _code(command: str) -> str:
    longest = max((len(each) for each in re.findall("`+", command)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if command.startswith("`") or command.endswith("`") else ""
    return f"{ticks}{pad}{' '.join(command.split())}{pad}{ticks}"
