"""Pages as HTML: a fragment for notebooks and the web page, or one self-contained file."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from topospread.base import Bounds

from .blocks import Bar, Cell, Code, Fact, Page, Part, Section, Span, Table, Verdict, cell_text

STYLE = """\
.ts{font:14px/1.45 system-ui,sans-serif;max-width:70em}.ts h2{font-size:1.15em;margin:.2em 0}
.ts .yes b{color:#1a7f37}.ts .no b{color:#c4002b}.ts .unknown b{color:#7a5b00}
.ts p{margin:.25em 0}.ts .label{font-weight:600}.ts code,.ts pre{font:13px ui-monospace,monospace}
.ts pre{overflow:auto;white-space:pre-wrap}.ts table{border-collapse:collapse;margin:.5em 0}
.ts th,.ts td{text-align:left;padding:.15em .8em .15em 0;font-weight:400;vertical-align:top}
.ts th{opacity:.75}.ts .number{text-align:right;font-variant-numeric:tabular-nums}
.ts .bad{color:#c4002b;font-weight:600}.ts .good{color:#1a7f37}.ts .unsure{color:#7a5b00}.ts .dim{opacity:.7}
.ts .bar{display:block;width:8em;height:.8em}
@media (prefers-color-scheme:dark){.ts .no b,.ts .bad{color:#ff7b8a}.ts .yes b,.ts .good{color:#4ac26b}
.ts .unknown b,.ts .unsure{color:#e3b341}}"""


def fragment(page: Page) -> str:
    """Return a page as one HTML element with its own style."""
    body = "".join(each for part in page.parts for each in _part(part))
    return f'<div class="ts"><style>{STYLE}</style>{body}</div>'


def document(page: Page) -> str:
    """Return a page as one HTML file that loads nothing else."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(page.title)}</title>"
        f"<style>:root{{color-scheme:light dark}}body{{margin:2em}}</style></head>"
        f"<body><main>{fragment(page)}</main></body></html>\n"
    )


def _part(part: Part) -> Iterator[str]:
    match part:
        case Verdict():
            yield f'<h2 class="{part.word}"><b>{part.word}:</b> {escape(part.says)}</h2>'
        case Fact():
            command = f"<code>{escape(part.command)}</code> " if part.command else ""
            yield f'<p><span class="label">{escape(part.label)}:</span> {command}{escape(part.says)}</p>'
        case Code():
            yield f"<pre>{escape(part.text)}</pre>"
        case Table():
            yield "<table><thead><tr>"
            yield from (f'<th scope="col">{escape(each)}</th>' for each in part.heads)
            yield "</tr></thead><tbody>"
            largest = max((c.value for row in part.rows for c in row if isinstance(c, Bar)), default=1)
            for row in part.rows:
                yield f"<tr>{''.join(_cell(each, largest) for each in row)}</tr>"
            yield "</tbody></table>"
        case Section() if part.title or part.parts:
            title = escape(part.title or "Details")
            yield f"<details><summary>{title}</summary>" if part.wide else "<section>"
            if part.title and not part.wide:
                yield f"<p>{title}</p>"
            for each in part.parts:
                yield from _part(each)
            yield "</details>" if part.wide else "</section>"


def _cell(cell: Cell, largest: int) -> str:
    match cell:
        case Bar():
            return f"<td>{_bar(cell, max(largest, cell.limit or 0, 1))}</td>"
        case Span(role=role) if role:
            return f'<td class="{role}">{escape(cell.text)}</td>'
        case int() | Bounds():
            return f'<td class="number">{cell}</td>'
    return f"<td>{escape(cell_text(cell))}</td>"


def _bar(bar: Bar, largest: int) -> str:
    over = bar.limit is not None and bar.value > bar.limit
    colour = "#c4002b" if over else "#3b6fb6"
    limit = ""
    if bar.limit is not None:
        at = 100 * bar.limit / largest
        limit = f'<path d="M{at:.1f} 0v10" stroke="currentColor" vector-effect="non-scaling-stroke"/>'
    return (
        f'<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" '
        f'aria-label="{bar.value}{"" if bar.limit is None else f", limit {bar.limit}"}">'
        f'<rect width="{100 * bar.value / largest:.1f}" height="10" fill="{colour}"/>{limit}</svg>'
    )
