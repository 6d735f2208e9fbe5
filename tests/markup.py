"""The tags and attributes of HTML that `topospread.render.html` does not write."""

from __future__ import annotations

from html.parser import HTMLParser

ALLOWED = {
    "div": {"class"},
    "style": set(),
    "h2": {"class"},
    "b": set(),
    "p": set(),
    "span": {"class"},
    "code": set(),
    "pre": set(),
    "table": set(),
    "thead": set(),
    "tbody": set(),
    "tr": set(),
    "th": {"scope", "class"},
    "td": {"class"},
    "details": set(),
    "summary": set(),
    "section": set(),
    "h3": set(),
    "svg": {"class", "viewbox", "preserveaspectratio", "role", "aria-label"},
    "rect": {"width", "height", "fill"},
    "path": {"d", "stroke", "vector-effect"},
}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.foreign: set[str] = set()
        self.styles: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED:
            self.foreign.add(tag)
        self.foreign |= {f"{tag} {name}" for name, _ in attrs if name not in ALLOWED.get(tag, ())}

    def handle_data(self, data: str) -> None:
        if self.lasttag == "style" and self.cdata_elem:
            self.styles.append(data)

    def handle_comment(self, data: str) -> None:
        self.foreign.add("comment")

    def handle_pi(self, data: str) -> None:
        self.foreign.add("processing instruction")


def foreign_markup(text: str) -> set[str]:
    """Return tags, and tags with attributes, that our HTML never has; styles that are not ours count, too."""
    from topospread.render.html import STYLE

    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.foreign | {f"style {each}" for each in reader.styles if each != STYLE}
