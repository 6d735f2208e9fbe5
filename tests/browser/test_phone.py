"""The page on a phone: figures, pending pods with cause and first fix, the pod; the map comes last."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage

LEAST_TARGET = 44


@pytest.fixture
def phone(new_page: NewPage) -> Page:
    return new_page(viewport={"width": 390, "height": 844}, has_touch=True)


def top(page: Page, place: str) -> float:
    box = page.locator(place).first.bounding_box()
    assert box is not None
    return box["y"]


def test_the_figures_and_why_pods_are_pending_stand_first_and_the_map_last(phone: Page, shop: str) -> None:
    phone.goto(shop)
    cause = phone.locator("#panel .cause")
    expect(cause).to_contain_text("5 pending pods")
    expect(cause).to_contain_text("zone-c takes no pod, but its 0 pods are still the minimum")
    expect(cause).to_contain_text("First fix: nodeTaintsPolicy: Honor")
    expect(cause).to_contain_text("all 7 pods have a node")

    order = [top(phone, each) for each in ("#figures", "#panel", "#matrix", "#trial", "#maps")]
    assert order == sorted(order)
    assert top(phone, "#panel .cause button") < 844, "the first fix is on the first screen"


def test_a_pending_pod_is_explained_and_its_fix_tried_on_a_phone(phone: Page, shop: str) -> None:
    phone.goto(shop)
    phone.get_by_role("button", name="Why, and try a fix").tap()
    expect(phone.locator("#panel h2")).to_contain_text("shop/web-")
    expect(phone.locator("#panel .verdict").first).to_contain_text("zone-c takes no pod")
    expect(phone.get_by_role("button", name="Try it on the map").first).to_be_in_viewport()
    phone.get_by_role("button", name="Try it on the map").first.tap()
    expect(phone.locator("#figures")).to_contain_text("0 pending")


def test_the_bar_below_leads_to_each_part_and_everything_can_be_met_with_a_thumb(phone: Page, shop: str) -> None:
    phone.goto(f"{shop}?node=node-1")
    expect(phone.locator("#panel h2")).to_have_text("Node node-1")
    parts = phone.get_by_label("Parts of the page")
    parts.get_by_role("button", name="What if").tap()
    expect(phone.locator("#trial h2")).to_be_in_viewport()
    parts.get_by_role("button", name="Find").tap()
    expect(phone.get_by_role("searchbox", name="Find")).to_be_focused()

    expect(phone.locator("#panel .cause")).to_be_visible()
    small = phone.evaluate(
        """(least) => [...document.querySelectorAll("button, select, summary")]
        .filter((it) => it.checkVisibility() && it.getBoundingClientRect().height < least)
        .map((it) => it.textContent)""",
        LEAST_TARGET,
    )
    assert small == []
