"""The site as `make site` has built it: no page is missing, none asks another host for anything."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from tests.release.pythons import ROOT

SITE = ROOT / "build" / "site" / "html"
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


class Fetches(HTMLParser):
    """What a browser fetches for a page, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in FETCHED and given.get("rel") not in ("canonical", "prev", "next", "edit"):
            self.fetched.append(given.get(FETCHED[tag]) or "")


def pages() -> list[Path]:
    return sorted(SITE.rglob("*.html"))


def test_every_page_of_the_docs_is_there() -> None:
    written = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.relative_to(SITE).with_suffix("") for path in pages()}
    as_index = {path.with_name("index") if path.name == "README" else path for path in written}
    assert as_index - built == set()
    assert (SITE / "search" / "search_index.json").stat().st_size > 100_000


def test_nothing_is_fetched_from_other_hosts() -> None:
    assert len(pages()) > 100
    for page in pages():
        reader = Fetches()
        reader.feed(page.read_text())
        assert [each for each in reader.fetched if re.match(r"(\w+:)?//", each)] == [], page
        assert reader.fetched


def test_neither_do_the_styles() -> None:
    styles = sorted(SITE.rglob("*.css"))
    assert styles
    for style in styles:
        assert re.findall(r"url\([\"']?(?:https?:)?//[^)]*", style.read_text()) == []
