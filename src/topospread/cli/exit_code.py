"""The exit codes of verdicts, and the option that accepts an unknown one."""

from __future__ import annotations

import click

from topospread.base import Word

UNKNOWN = 4
_CODES: dict[Word, int] = {"yes": 0, "no": 1, "unknown": UNKNOWN}

allow_unknown_option = click.option("--allow-unknown", is_flag=True, help="Exit with 0 instead of 4 for unknown.")


def exit_code(verdict: Word, *, allow_unknown: bool) -> int:
    """Return the exit code of a verdict: 0 for yes, 1 for no, 4 for unknown unless unknown is allowed."""
    return 0 if verdict == "unknown" and allow_unknown else _CODES[verdict]
