"""The page on which a manifest is written, as somebody writes on it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.serving import WEB

TYPO = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: <script>alert(1)</script>
spec:
  replicas: 3
"""


def opened(page: Page, url: str, query: str = "") -> None:
    page.goto(f"{url}editor{query}")
    settled(page)


def settled(page: Page) -> None:
    """What was typed last is judged and shown."""
    expect(page.locator("body[data-state=shown]")).to_be_attached()


def write(page: Page, text: str) -> None:
    """Replace what stands there, as with a paste; the page is not settled when this returns."""
    page.locator("#editor .cm-content").focus()
    page.keyboard.press("Control+A")
    page.keyboard.press("Backspace")
    page.keyboard.insert_text(text)


def text_of(page: Page) -> str:
    return page.evaluate("document.querySelector('#editor').shadowRoot.querySelector('.cm-content').innerText")


def test_it_begins_with_an_example_that_is_judged(page: Page, demo: str) -> None:
    opened(page, demo)

    assert "storefront" in text_of(page)
    expect(page.locator("#summary")).to_contain_text("none waits")
    expect(page.locator("#landing")).to_contain_text("Deployment shop/storefront")
    expect(page.locator("#findings li").first).to_contain_text("no PodDisruptionBudget")


def test_another_example_brings_its_cluster_and_stands_in_the_address(page: Page, demo: str) -> None:
    opened(page, demo)
    page.select_option("#example", "min-domains")
    expect(page.locator("#summary")).to_contain_text("2 of 8 pods wait")

    expect(page.locator("#why")).to_contain_text("minDomains: 5")
    expect(page).to_have_url(re.compile(r"\?example=min-domains$"))
    expect(page.locator("#landing")).to_contain_text("0/3 nodes are available")
    page.reload()
    expect(page.locator("#summary")).to_contain_text("2 of 8 pods wait")


def test_findings_come_while_typing_and_lead_to_their_lines(page: Page, demo: str) -> None:
    opened(page, demo, "?example=min-domains")
    write(page, text_of(page).replace("minDomains: 5", "minDomain: 5"))
    found = page.locator("#findings button", has_text="minDomain")
    expect(found.first).to_be_visible()
    found.first.click()

    line = page.evaluate("document.querySelector('#editor').shadowRoot.querySelector('.cm-activeLine').textContent")
    assert "minDomain: 5" in line
    expect(page.locator("#editor .cm-lint-marker").first).to_be_visible()
    expect(page.locator("#editor .cm-content")).to_be_focused()


def test_what_is_half_written_is_told_with_its_line(page: Page, demo: str) -> None:
    opened(page, demo)
    write(page, "apiVersion: v1\nkind: [Pod\n")

    expect(page.locator("#summary")).to_contain_text("Line ")
    expect(page.locator("#landing")).to_be_empty()


def test_a_name_is_text_wherever_it_is_shown(page: Page, demo: str) -> None:
    opened(page, demo)
    write(page, TYPO)

    expect(page.locator("#findings li", has_text="<script>alert(1)</script>").first).to_be_visible()
    assert page.evaluate("document.querySelectorAll('main script').length") == 0


def test_the_cluster_can_be_the_one_that_is_served_or_made_up(page: Page, demo: str) -> None:
    opened(page, demo, "?example=one-constraint")
    page.select_option("#cluster", "synthetic")
    page.fill("#wishes", "zones=2,nodes=2,cpu=1")
    expect(page.locator("#summary")).to_contain_text("1 pod")

    page.fill("#wishes", "/etc/passwd")
    expect(page.locator("#summary")).to_contain_text("specify a synthetic cluster as in")
    page.select_option("#cluster", "served")
    expect(page.locator("#summary")).to_contain_text("1 of 1 pod wait")


def test_the_keyboard_alone_will_do(page: Page, demo: str) -> None:
    opened(page, demo)
    page.locator("#cluster").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#editor .cm-content")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#findings button").first).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator("#editor .cm-content")).to_be_focused()


def test_what_was_written_is_there_after_a_reload_and_not_under_another_address(page: Page, demo: str) -> None:
    opened(page, demo)
    page.select_option("#cluster", "synthetic")
    page.locator("#wishes").fill("zones=2,nodes=2")
    write(page, WEB.replace("name: web,", "name: my-own,"))
    expect(page.locator("#landing")).to_contain_text("Deployment shop/my-own")
    page.reload()
    expect(page.locator("#landing")).to_contain_text("Deployment shop/my-own")
    expect(page.locator("#wishes")).to_have_value("zones=2,nodes=2")
    assert "my-own" in text_of(page)

    opened(page, demo, "?example=min-domains")
    assert "my-own" not in text_of(page)
