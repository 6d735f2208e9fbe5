"""What happened as an SVG picture, or an HTML page that holds it: a row for each alteration and each refused pod.

It shows what the text says, and computes nothing but where on the axis a time is; pictures are made of `drawing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING

from .drawing import CHARACTER, DOWN, LINE, MARGIN, bar, cut, drawn, line, text
from .incident import altered
from .paragraphs import counted

if TYPE_CHECKING:
    from topospread.incidents import Incident

_AXIS = 640.0
_NAME = 34
_ROWS = 60
"""So many pods and alterations are drawn at most; of more the picture says how many."""


def incident_svg(found: Incident) -> str:
    """The picture."""
    left = MARGIN + _NAME * CHARACTER
    begin, span = _span(found)

    def x(at: str) -> float:
        return left + (datetime.fromisoformat(at).timestamp() - begin) / span * _AXIS if at else left + _AXIS

    body = [text(MARGIN, 32, f"{counted(len(found.refusals), 'refused pod')}", "title")]
    body.append(text(left, 32, f"{found.begins} … {found.ends}", "soft"))
    y = 64.0
    lines: list[str] = []
    for each in found.alterations[:_ROWS]:
        body.append(text(MARGIN, y + DOWN, cut(altered(each), _NAME - 1), "soft"))
        body.append(bar(x(each.at), y, 4, "bar"))
        y += LINE
    top = y
    for refused in found.refusals[:_ROWS]:
        start = x(refused.first)
        body.append(text(MARGIN, y + DOWN, cut(refused.pod, _NAME - 1)))
        body.append(bar(start, y, max(x(refused.placed_at) - start, 3), "missing"))
        if refused.placed_on:
            body.append(text(x(refused.placed_at) + 6, y + DOWN, cut(refused.placed_on, 20), "soft"))
        y += LINE
        if refused.cause is not None:
            lines.append(line(x(refused.cause.at) + 2, (64.0, y), "minimum"))
    more = max(len(found.alterations) - _ROWS, 0) + max(len(found.refusals) - _ROWS, 0)
    if more:
        body.append(text(MARGIN, y + DOWN, f"and {more} more that are not drawn", "soft"))
        y += LINE
    if top == y:
        body.append(text(MARGIN, y + DOWN, "no pod was refused", "soft"))
        y += LINE
    width = int(left + _AXIS + 24 * CHARACTER + MARGIN)
    return drawn(
        "What happened: pods that were refused, and alterations of nodes", (width, int(y) + 16), [*lines, *body]
    )


def incident_html(found: Incident, told: str) -> str:
    """A page of its own: the picture, and what the text says; it fetches nothing."""
    return "".join(_page(found, told))


def _page(found: Incident, told: str) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>What happened</title>\n'
    yield '<meta name="color-scheme" content="light dark">\n'
    yield f"{incident_svg(found)}<pre>\n{escape(told)}</pre>\n</html>\n"


def _span(found: Incident) -> tuple[float, float]:
    """When it begins, and how many seconds it takes, more than none."""
    if not found.begins:
        return 0.0, 1.0
    begin, end = (datetime.fromisoformat(each).timestamp() for each in (found.begins, found.ends))
    return begin, max(end - begin, 1e-6)
