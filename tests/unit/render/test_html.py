"""HTML and SVG: text of the input is escaped, and bars have their limit and words for a screen reader."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from topospread.errors import UsageError
from topospread.render.blocks import Bar, Fact, Page, Table, Verdict
from topospread.render.html import document, fragment
from topospread.render.svg import svg

HOSTILE = "<script>alert(1)</script>&"
PAGE = Page(
    HOSTILE,
    (
        Verdict("no", HOSTILE),
        Fact("fix", HOSTILE, HOSTILE),
        Table((HOSTILE, "pods", ""), (("zone-a", 2, Bar(2, 1)), (HOSTILE, 1, Bar(1, 1)))),
    ),
)


def test_text_of_the_input_is_escaped() -> None:
    for drawn in (fragment(PAGE), document(PAGE), svg(PAGE)):
        assert "<script" not in drawn
        assert "&lt;script&gt;" in drawn


def test_a_document_loads_nothing() -> None:
    assert "default-src 'none'" in document(PAGE)
    assert "http" not in document(PAGE).replace("http-equiv", "")


def test_bars_say_their_number_and_limit() -> None:
    assert 'aria-label="2, limit 1"' in fragment(PAGE)


def test_the_picture_is_xml_with_a_bar_a_row() -> None:
    drawn = ElementTree.fromstring(svg(PAGE))
    names = [each.get("class") for each in drawn.iter() if each.tag.endswith("rect")]
    assert names == ["back", "over", "bar"]


def test_a_page_without_bars_has_no_picture() -> None:
    with pytest.raises(UsageError, match="no bars"):
        svg(Page("title", (Verdict("yes", "all is well"),)))
