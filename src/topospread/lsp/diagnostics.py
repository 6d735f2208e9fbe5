"""Convert lint findings to editor diagnostics. Diagnostics of unchanged lines stay while a text is unparsable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from lsprotocol.types import CodeDescription, Diagnostic, DiagnosticSeverity, Position, Range

from topospread.errors import InputError, Place
from topospread.lint.rule import Finding, Severity
from topospread.lint.rules import BY_ID

from .lines import Lines

SOURCE: Final = "topospread"
MOST: Final = 1000
"""Maximum number of diagnostics. More would take a second to write, in which the server reads no message."""
SEVERITIES: Final[dict[Severity, DiagnosticSeverity]] = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "hint": DiagnosticSeverity.Hint,
}
_SCALAR: Final = r"""(?:"[^"]*"|'[^']*'|[^\s"',{}\[\]#|>&*:][^\s,{}\[\]:]*)"""
_MARKED: Final = re.compile(rf"(?:- )?{_SCALAR}(?:[ ]?:(?:[ ]+{_SCALAR})?)?")
"""The text to underline at a finding's place: a field's name and a short value."""
_LONGEST_MARK: Final = 200


def diagnostics(findings: Iterable[Finding], name: str, lines: Lines) -> list[Diagnostic]:
    """Return the findings of a text, at most `MOST`. The last one counts the rest.

    Args:
        findings: findings of the text, and perhaps of the scheduler configuration file.
    """
    own = [each for each in findings if each.place.source == name]
    found = [
        Diagnostic(
            range=_range(each.place, lines),
            message=each.message,
            severity=SEVERITIES[each.severity],
            code=each.rule,
            code_description=CodeDescription(BY_ID[each.rule].link),
            source=SOURCE,
        )
        for each in own[:MOST]
    ]
    if len(own) > MOST:
        found[-1].message += f" (and {len(own) - MOST} more findings: topospread lint shows them)"
    return found


def of_error(error: InputError, lines: Lines) -> Diagnostic:
    """Return a diagnostic for the error that makes a text unreadable."""
    place = error.place or Place()
    words = str(error).removeprefix(f"{place}: ")
    return Diagnostic(_range(place, lines), words, DiagnosticSeverity.Error, source=SOURCE)


def carried(known: Sequence[Diagnostic], old: Sequence[str], new: Sequence[str]) -> list[Diagnostic]:
    """Return the diagnostics of unchanged lines, moved to the lines' new positions."""
    shortest = min(len(old), len(new))
    same = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    rest = shortest - same
    behind = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    found = []
    for each in known:
        line = each.range.start.line
        if line >= same:
            if line < len(old) - behind:
                continue
            line += len(new) - len(old)
        moved = Range(Position(line, each.range.start.character), Position(line, each.range.end.character))
        found.append(Diagnostic(moved, each.message, each.severity, each.code, each.code_description, each.source))
    return found


def _range(place: Place, lines: Lines) -> Range:
    line, column = (place.line or 1) - 1, (place.column or 1) - 1
    start = lines.position(line, column)
    marked = _MARKED.match(lines.lines[start.line], column, column + _LONGEST_MARK)
    return Range(start, lines.position(start.line, marked.end() if marked else column + 1))
