"""What SVG pictures are made of: text, bars and lines, legible on light and on dark; what is drawn is told elsewhere.

Colours follow the viewer's preference (``prefers-color-scheme``); viewers that know no preference show the light ones,
so there are no variables in the style, which some of them do not know either. Nothing is told by colour alone, and
nothing is fetched from anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

MARGIN = 20
LINE = 24
BAR_HEIGHT = 16
DOWN = BAR_HEIGHT - 3
"""From the top of a bar to the base of the text beside it."""
CHARACTER = 7.8
_PARTS = re.compile(r"[^/=,.-]*[/=,.-]+|[^/=,.-]+")

_STYLE = """\
  <style>
    text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
    .title { font-weight: bold; }
    .new { stroke-dasharray: 3 2; }
    .limit { stroke-width: 2; }
    .minimum { stroke-width: 2; stroke-dasharray: 4 3; }
    .back { fill: #ffffff; }
    text { fill: #1f2328; }
    text.soft { fill: #59636e; }
    .bar { fill: #0969da; }
    .new { fill: #54aeff; stroke: #0969da; }
    .limit { stroke: #cf222e; }
    .minimum { stroke: #59636e; }
    .missing { fill: #cf222e; }
    text.missing { fill: #cf222e; font-weight: bold; }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117; }
      text { fill: #f0f6fc; }
      text.soft { fill: #9198a1; }
      .bar { fill: #4493f8; }
      .new { fill: #1f4a80; stroke: #4493f8; }
      .limit { stroke: #ff7b72; }
      .minimum { stroke: #9198a1; }
      .missing { fill: #ff7b72; }
      text.missing { fill: #ff7b72; }
    }
  </style>"""


def drawn(title: str, size: tuple[int, int], body: Iterable[str]) -> str:
    """A whole picture: ``size`` is its width and height, ``body`` what is drawn."""
    width, height = size
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label={quoteattr(title)}>'
    )
    back = f'  <rect class="back" width="{width}" height="{height}"/>'
    return "\n".join([head, f"  <title>{escape(title)}</title>", _STYLE, back, *body, "</svg>"]) + "\n"


def cut(words: str, most: int) -> str:
    """What fits into so many characters."""
    return words if len(words) <= most else f"{words[: most - 1]}…"


def shortened(name: str, most: int) -> str:
    """A name in so many characters, by its beginning and its end: names of nodes differ in either."""
    if len(name) <= most:
        return name
    end = most // 3
    return f"{name[: most - 1 - end]}…{name[-end:]}"


def broken(words: str, most: int, lines: int) -> list[str]:
    """Words over lines of so many characters, broken at spaces, else behind what parts names, else anywhere.

    What ``lines`` do not hold is cut.
    """
    found = [""]
    for word in words.split(" "):
        gap = " " if found[-1] else ""
        if len(found[-1]) + len(gap) + len(word) <= most:
            found[-1] += gap + word
        elif len(word) <= most:
            found.append(word)
        else:
            found += _pieces(word, most)
    found = [each for each in found if each] or [""]
    return found if len(found) <= lines else [*found[: lines - 1], cut(f"{found[lines - 1]} …", most)]


def _pieces(word: str, most: int) -> list[str]:
    """A word that is longer than a line, broken behind what parts names where that can be."""
    found = [""]
    for part in _PARTS.findall(word):
        if len(found[-1]) + len(part) <= most:
            found[-1] += part
        else:
            found += [part[i : i + most] for i in range(0, len(part), most)]
    return found


def bar(x: float, y: float, width: float, kind: str) -> str:
    """A bar of a line's height."""
    return f'  <rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BAR_HEIGHT}"/>'


def line(x: float, span: tuple[float, float], kind: str) -> str:
    """A line from top to bottom."""
    return f'  <line class="{kind}" x1="{x:.1f}" y1="{span[0]:.1f}" x2="{x:.1f}" y2="{span[1]:.1f}"/>'


def text(x: float, y: float, words: str, kind: str = "", whole: str = "") -> str:
    """Words, their base at ``y``; ``whole``: what is shown to who points at them, where they are a part of it."""
    attribute = f' class="{kind}"' if kind else ""
    title = f"<title>{escape(whole)}</title>" if whole not in ("", words) else ""
    return f'  <text x="{x:.1f}" y="{y:.1f}"{attribute}>{escape(words)}{title}</text>'
