"""A chart of two lines over logarithmic axes as SVG, legible on light and dark ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from xml.sax.saxutils import escape

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT = 420, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 44, 44
_STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600 }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .line { fill: none; stroke-width: 2 }
  .a { stroke: #0969da } .b { stroke: #bc4c00 } .a-dot { fill: #0969da } .b-dot { fill: #bc4c00 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .grid { stroke: #30363d }
    .a { stroke: #58a6ff } .b { stroke: #f0883e } .a-dot { fill: #58a6ff } .b-dot { fill: #f0883e }
  }
"""


def svg(panels: Mapping[str, Mapping[str, Points]], y_label: str) -> str:
    """Panels side by side: title → line's name → points; the first two lines of a panel have colours of their own."""
    width = _WIDTH * len(panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_HEIGHT}" role="img">',
        f"<style>{_STYLE}</style>",
    ]
    for i, (title, lines) in enumerate(panels.items()):
        parts.append(f'<g transform="translate({i * _WIDTH} 0)">{_panel(title, lines, y_label)}</g>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(title: str, lines: Mapping[str, Points], y_label: str) -> str:
    every = [point for points in lines.values() for point in points]
    xs, ys = _Axis([x for x, _ in every], _LEFT, _WIDTH - _RIGHT), _Axis([y for _, y in every], _HEIGHT - _BOTTOM, _TOP)
    parts = [f'<text class="title" x="{_LEFT}" y="18">{escape(title)}</text>']
    for tick in xs.ticks:
        x = xs.at(tick)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>')
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{_short(tick)}</text>')
    for tick in ys.ticks:
        y = ys.at(tick)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_short(tick)}</text>')
    parts.append(f'<text x="{_LEFT}" y="{_TOP - 8}">{escape(y_label)}</text>')
    for letter, (name, points) in zip("ab", lines.items(), strict=False):
        path = " ".join(f"{xs.at(x):.1f},{ys.at(y):.1f}" for x, y in points)
        parts.append(f'<polyline class="line {letter}" points="{path}"/>')
        parts += [f'<circle class="{letter}-dot" cx="{xs.at(x):.1f}" cy="{ys.at(y):.1f}" r="3"/>' for x, y in points]
        x, y = xs.at(points[0][0]), ys.at(points[0][1])
        beside = y - 10 if y > _TOP + 24 else y + 18  # not in the words above the axis
        parts.append(f'<text x="{x + 6:.1f}" y="{beside:.1f}">{escape(name)}</text>')
    return "".join(parts)


class _Axis:
    """From values to places, by their logarithm; 0 stands where 1 does."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        logs = [log10(max(value, 1)) for value in values]
        self._low, self._high = floor(min(logs)), max(ceil(max(logs)), floor(min(logs)) + 1)
        self._start, self._end = start, end
        self.ticks = [10.0**power for power in range(self._low, self._high + 1)]

    def at(self, value: float) -> float:
        share = (log10(max(value, 1)) - self._low) / (self._high - self._low)
        return self._start + share * (self._end - self._start)


def _short(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
