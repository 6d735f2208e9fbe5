"""Every view in every width and either light: axe-core finds nothing, nothing runs over the edge, no word is cut."""

from __future__ import annotations

import subprocess

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.conftest import NewPage
from tests.browser.cut_words import cut_words
from tests.browser.serving import COMMAND, DEMO

SHOP_VIEWS = (
    "",
    "?workload=Deployment/shop/web&node=node-3",
    "?pod=shop/deploy/web",
    "?step=fail+zone%3Dzone-a&beside=1&workload=Deployment/shop/web",
)
DEMO_VIEWS = ("?workload=Deployment/shop/checkout", "editor?example=min-domains")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the demo's page as one file."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    subprocess.run([*COMMAND, "serve", *DEMO, "--export", str(path)], check=True, stderr=subprocess.DEVNULL)
    return path.as_uri()


@pytest.fixture(scope="module")
def views(shop: str, demo: str, report: str) -> tuple[str, ...]:
    """The addresses of all views."""
    return (*(shop + each for each in SHOP_VIEWS), *(demo + each for each in DEMO_VIEWS), report)


@pytest.mark.parametrize("scheme", ["light", "dark"])
# 640: a screen of 1280 at 200 %.
@pytest.mark.parametrize("width", [360, 640, 1280, 3840])
def test_every_view_is_for_everybody_and_cuts_no_word(
    new_page: NewPage, views: tuple[str, ...], width: int, scheme: str
) -> None:
    page = new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    for address in views:
        page.goto(address)
        _settled(page, "editor" in address)

        assert findings(page) == [], address
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
        assert cut_words(page) == [], address


def test_a_word_that_is_cut_is_found(page: Page) -> None:
    page.set_content(
        "<p style='width:3ch;overflow-wrap:anywhere'>apartword</p>"
        "<p style='width:3ch;overflow:hidden;white-space:nowrap'>hiddenword</p>"
        "<p style='margin-left:95vw'>edgeword</p><div style='overflow-x:auto;width:5ch'>scrolledword</div>"
        "<div class='scroll' aria-label='a table' style='overflow-x:auto;width:5ch'>scrolledword</div>"
        "<select id='choice' style='width:9ch'><option>what is chosen</option></select>"
    )

    assert {each.partition(" in ")[0] for each in cut_words(page)} == {
        "apart: apartword",
        "hidden: hiddenword",
        "past the edge: edgeword",
        "sideways: a table",
        "cut: what is chosen",
    }


def _settled(page: Page, editor: bool) -> None:
    if editor:
        expect(page.locator("#findings li").first).to_be_visible()
        return
    expect(page.locator("#panel h2")).to_be_visible()
    expect(page.locator("#now [data-painted]")).to_be_attached()
    expect(page.locator("body.busy")).to_have_count(0)
    page.get_by_text("The map as a table").click()
