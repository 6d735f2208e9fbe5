"""The tools of these tests see what they are there to see."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.axe import findings
from tests.browser.watched import Watched

GOOD = "<!doctype html><html lang=en><title>t</title><main><h1>Nodes</h1><p>three</p></main></html>"


def test_axe_finds_what_is_wrong(page: Page) -> None:
    page.set_content(GOOD.replace("<p>three</p>", "<p style='color:#999;background:#aaa'>three</p><button></button>"))

    assert {line.partition(":")[0] for line in findings(page)} == {"button-name", "color-contrast"}


def test_axe_finds_nothing_where_nothing_is_wrong(page: Page) -> None:
    page.set_content(GOOD)

    assert findings(page) == []


def test_errors_and_foreign_requests_are_noticed(browser: object, new_page: object) -> None:
    page = browser.new_page()  # type: ignore[attr-defined]
    watched = Watched(page)

    page.set_content(GOOD + "<script>console.error('no'); setTimeout(() => {throw new Error('broken')}, 0)</script>")
    page.evaluate("fetch('http://example.invalid/x').catch(() => document.title = 'asked')")
    page.wait_for_function("document.title === 'asked'")
    page.close()

    assert any(line.startswith("console: no") for line in watched.complaints)
    assert any("broken" in line for line in watched.complaints)
    assert "request to http://example.invalid/x" in watched.complaints
