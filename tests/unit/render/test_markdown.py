"""Markdown: the input cannot add markup, mentions or HTML to a comment on a pull request."""

from __future__ import annotations

import pytest

from topospread.render.blocks import Code, Fact, Page, Section, Span, Table, Verdict
from topospread.render.markdown import markdown


def shown(*parts: object) -> str:
    return markdown(Page("title", (Verdict("no", "shop/web keeps less"), *parts)))  # type: ignore[arg-type]


def test_the_verdict_is_a_heading_with_a_sign() -> None:
    assert shown().startswith("### ❌ shop/web keeps less\n")


@pytest.mark.parametrize(
    ("hostile", "raw"),
    [
        ("@everyone", " @everyone"),
        ("![x](http://evil)", " !["),
        ("[x](http://evil)", " [x]("),
        ("<img src=x>", "<img"),
        ("a | b", "a | b"),
        ("a\n# b", "\n# b"),
        ("`id`", "`id`"),
    ],
)
def test_text_of_the_input_is_shown_literally(hostile: str, raw: str) -> None:
    assert raw not in shown(Fact("why", hostile)).replace("**why:**", "")
    assert raw not in shown(Table(("NAME",), ((Span(hostile, "bad"),),))).split("|---|\n| ")[1].rstrip(" |\n")


@pytest.mark.parametrize(
    "linked",
    [
        "@everyone",
        "web@example.com",
        "http://evil.example",
        "see:https://evil.example/a_b",
        "www.evil.example",
        "WWW.x",
        "#1",
        "gh-1",
        "owner/name#12",
        ":white_check_mark:",
        "529b137a",
        "shop:529b137a0c0d4a5b6c7d8e9f0a1b2c3d4e5f6a7b",
        "$\\color{red}$",
    ],
)
def test_mentions_and_addresses_are_code(linked: str) -> None:
    assert f"and `{linked}` \\_x" in shown(Fact("why", f"and {linked} _x"))
    assert f"a \\`\\|`{linked}`\\`" in shown(Fact("why", f"a `|{linked}`"))
    found = shown(Section(f"<a> {linked} _x", (), wide=True))
    assert f"<summary>&lt;a&gt; <code>{linked}</code> _x</summary>" in found


def test_ordinary_text_stays_as_it_is() -> None:
    assert "**why:** 3 of 4 pods: shop/web-0 needs cpu 1.5 (zone-a, w.x)  " in shown(
        Fact("why", "3 of 4 pods: shop/web-0 needs cpu 1.5 (zone-a, w.x)")
    )


def test_code_cannot_end_its_own_fence() -> None:
    found = shown(Code("```\nx"))
    assert "````text\n```\nx\n````" in found


def test_wide_sections_are_folded() -> None:
    assert "<details><summary>proof</summary>" in shown(Section("proof", (Code("x"),), wide=True))


def test_what_follows_a_folded_section_is_markdown_again() -> None:
    """CommonMark ends an HTML block at a blank line; until then, the signs of code are plain text."""
    page = shown(Section("proof", (Code("x"),), wide=True), Fact("next", "@org/team"))
    assert "</details>\n\n**next:** `@org/team`" in page
