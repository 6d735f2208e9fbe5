"""What GitHub shows beside the lines of a change: workflow commands. What is said is the callers' matter.

Source: GitHub's documentation of workflow commands, "Setting an error message".
"""

from __future__ import annotations

import os

from topospread.errors import Place


def workflow_command(level: str, place: Place, title: str, message: str) -> str:
    """One line; ``level``: error, warning or notice."""
    properties = {
        "file": os.path.normpath(place.source),
        "line": str(place.line or 1),
        "col": str(place.column or 1),
        "title": title,
    }
    shown = ",".join(f"{name}={_escaped(value, property=True)}" for name, value in properties.items())
    return f"::{level} {shown}::{_escaped(message)}\n"


def _escaped(text: str, *, property: bool = False) -> str:  # noqa: A002 - GitHub's own word
    for sign, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), *(((":", "%3A"), (",", "%2C")) if property else ())):
        text = text.replace(sign, code)
    return text
