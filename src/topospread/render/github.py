"""Findings as GitHub workflow commands, which GitHub shows next to changed lines.

Source: GitHub's documentation of workflow commands, "Setting an error message".
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from topospread.answers.finding import Finding
from topospread.errors import Place
from topospread.text import escape_commands

_LEVELS = {"error": "error", "warning": "warning", "hint": "notice"}


def github(findings: Iterable[Finding]) -> str:
    """Return a line for each finding."""
    return "".join(
        workflow_command(
            _LEVELS[each.level],
            Place(each.file, line=each.line, column=each.column),
            f"{each.rule} ({each.object})" if each.object else each.rule,
            each.says,
        )
        for each in findings
    )


def workflow_command(level: str, place: Place, title: str, message: str) -> str:
    """Return one line; `level` is error, warning or notice."""
    properties = {
        "file": os.path.normpath(place.source),
        "line": str(place.line or 1),
        "col": str(place.column or 1),
        "title": title,
    }
    if not place.source:
        properties = {"title": title}
    elif "\\" in escape_commands(place.source):  # GitHub would take an escaped name for another file's
        properties, message = {"title": title}, f"{place.source}: {message}"
    shown = ",".join(f"{name}={_escaped(value, property=True)}" for name, value in properties.items())
    return f"::{level} {escape_commands(shown)}::{escape_commands(_escaped(message))}\n"


def _escaped(text: str, *, property: bool = False) -> str:  # noqa: A002 - GitHub's own word
    for sign, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), *(((":", "%3A"), (",", "%2C")) if property else ())):
        text = text.replace(sign, code)
    return text
