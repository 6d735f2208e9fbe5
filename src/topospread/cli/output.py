"""The option ``-o``: output formats, output files and the verdict's exit code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from topospread.base import Word
from topospread.errors import UsageError
from topospread.sources.atomic_file import write_file
from topospread.text import escape_all, escape_control_characters

from .terminal import has_colours, show, show_commands, width, written
from .usage import Command, together

if TYPE_CHECKING:
    from topospread.answer import Answer

Writer = Callable[[], str]
"""A function that returns the text of one format."""

_EXIT_CODES: dict[Word, int] = {"yes": 0, "no": 1, "unknown": 4}
FORMATS = ("text", "wide", "json", "yaml", "md", "html", "svg")
"""Formats of every answer."""


class OutputFormat(click.ParamType[tuple[str, str]]):
    """``FORMAT`` or ``FORMAT=FILE``: a pair of both, the file empty for standard output."""

    name = "format"

    def __init__(self, formats: tuple[str, ...]) -> None:
        self.formats = formats

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return the format and the file.

        Raises:
            click.BadParameter: if the format is unknown, or the file name after = is empty.
        """
        if isinstance(value, tuple):
            return value
        name, equals, path = str(value).partition("=")
        if name not in self.formats:
            from difflib import get_close_matches

            near = get_close_matches(name, self.formats, n=1)
            self.fail(
                f"-o {name}: did you mean {near[0]}?" if near else f"-o {name}: formats are {', '.join(self.formats)}"
            )
        if equals and not path:
            self.fail(f"-o {name}=: name a file, or write -o {name}")
        return name, path

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the formats with this prefix."""
        return [CompletionItem(each) for each in self.formats if each.startswith(incomplete)]


def output_options(*others: str) -> Callable[[Command], Command]:
    """Return the decorator for ``-o --exit-zero --allow-unknown``; ``others`` are formats of this command only."""
    formats = (*FORMATS, *others)
    return together(
        click.option(
            "-o",
            "--output",
            "outputs",
            multiple=True,
            envvar="TOPOSPREAD_OUTPUT",
            type=OutputFormat(formats),
            metavar="FORMAT[=FILE]",
            help=f"{', '.join(formats)}; =FILE writes to a file; repeatable.",
        ),
        click.option("--exit-zero", is_flag=True, help="Exit with 0 for every answer."),
        click.option("--allow-unknown", is_flag=True, help="Exit with 0 instead of 4 if the answer is unknown."),
    )


def check_outputs(given: Mapping[str, Any]) -> None:
    """Raise UsageError if several formats go to standard output."""
    printed = [name for name, path in given["outputs"] if not path]
    if len(printed) > 1:
        raise UsageError(f"-o {printed[0]} and -o {printed[1]} both print: write one to a file, -o {printed[1]}=FILE")


def wants(given: Mapping[str, Any], *formats: str) -> bool:
    """Return whether one of these formats is requested."""
    return any(name in formats for name, _ in given.get("outputs", ()))


def write_answer(answer: Answer, given: Mapping[str, Any], others: Mapping[str, Writer] | None = None) -> int:
    """Write an answer in every requested format; return its exit code.

    Text is printed if no ``-o`` goes to standard output.

    Args:
        others: writers of additional formats, or replacements for standard formats.
    """
    outputs = list(given["outputs"])
    if all(path for _, path in outputs):
        outputs.append(("text", ""))
    for name, path in outputs:
        text = others[name]() if others and name in others else _text(answer, name, path, given)
        if path:
            write_file(path, (escape_control_characters if name == "github" else escape_all)(text))
        else:
            (show_commands if name == "github" else show)(text)
    return code_of(answer.verdict, given)


def text_of(answer: Answer, given: Mapping[str, Any]) -> str:
    """Return an answer in the format for standard output."""
    return _text(answer, next((name for name, path in given["outputs"] if not path), "text"), "", given)


def prints_page(given: Mapping[str, Any]) -> bool:
    """Return whether the text page, which includes warnings, goes to standard output."""
    printed = [name for name, path in given["outputs"] if not path]
    return not printed or printed[0] in ("text", "wide", "md", "html")


def code_of(verdict: Word, given: Mapping[str, Any]) -> int:
    """Return the exit code of a verdict, given ``--exit-zero`` and ``--allow-unknown``."""
    if given["exit_zero"] or (verdict == "unknown" and given["allow_unknown"]):
        return 0
    return _EXIT_CODES[verdict]


def _text(answer: Answer, name: str, path: str, given: Mapping[str, Any]) -> str:
    if name in ("json", "yaml"):
        return answer.to_json() if name == "json" else written(answer.to_dict(), "yaml")
    if name == "md":
        from topospread.render.markdown import markdown

        return markdown(answer.page())
    if name == "html":
        from topospread.render.html import document

        return document(answer.page())
    if name == "svg":
        from topospread.render.svg import svg

        return svg(answer.page())
    from topospread.render.text import text

    columns = 80 if path else width()
    return text(answer.page(), width=columns, wide=name == "wide", colour=not path and has_colours(given["color"]))
