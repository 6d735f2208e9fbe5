"""No name on the map is shortened: zones, racks and numbers stand whole in every width, with few nodes and many."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage
from tests.browser.cut_words import cut_words
from tests.browser.serving import ROOT, SHOP_CLUSTER, named_nodes, served

CLOUD = ["europe-southwest1-a", "us-gov-west-1a", "northamerica-northeast2-b"]
LONGEST = "a-zone-whose-name-is-as-long-as-a-value-of-a-label-can-ever-be1"
UNBROKEN = "azonewithoutanyhyphenwhosenameisaslongasavalueofalabelcanbe1234"
ZONES = {
    "three": (CLOUD, 3),
    "twelve": ([*CLOUD, LONGEST, UNBROKEN], 12),
    "twenty zones": ([f"asia-northeast{number}-{letter}" for number in range(1, 11) for letter in "ab"], 60),
    "many": ([*CLOUD, LONGEST], 5_000),
}
CHOSEN = "?workload=Deployment/default/recommendation-service-of-the-european-storefront"


Clouds = tuple[str, list[str], int]


@pytest.fixture(scope="module", params=ZONES, ids=lambda each: each.replace(" ", "-"))
def clouds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clouds]:
    """A page about nodes in zones with long names, these names, and how many nodes."""
    zones, nodes = ZONES[request.param]
    path = tmp_path_factory.mktemp("clouds") / "nodes.json"
    with ExitStack() as stack:
        yield stack.enter_context(served(*named_nodes(path, zones, nodes))), zones[: nodes - 1], nodes


def opened(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#panel h2")).to_be_visible()
    expect(page.locator("#now [data-painted]")).to_be_attached()
    expect(page.locator("body.busy")).to_have_count(0)


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark"), (3840, "light")])
def test_every_name_on_the_map_is_whole(new_page: NewPage, clouds: Clouds, width: int, scheme: str) -> None:
    url, zones, _ = clouds
    page = new_page(viewport={"width": width, "height": 740}, color_scheme=scheme)
    for chosen in ("", CHOSEN):
        opened(page, url + chosen)
        text = page.locator("#now").inner_text()

        assert [zone for zone in zones if zone not in text] == []
        assert "without topology.kubernetes.io/zone" in text
        assert "…" not in text
        assert cut_words(page) == []
        assert page.evaluate(_OUTSIDE) == []
        assert ("~ skew " in text and ", max 1, soft" in text) == bool(chosen)
    page.goto("about:blank")


_OUTSIDE = """() => [...document.querySelectorAll("#now .cells text")].filter((text) => {
  const own = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
  return own.left < all.left - 1 || own.right > all.right + 1;
}).map((text) => text.textContent)"""
_TWICE = """new MutationObserver((_, own) => {
  document.documentElement.style.fontSize = "200%";
  own.disconnect();
}).observe(document, { childList: true, subtree: true })"""


def test_names_are_whole_in_letters_of_twice_the_size(new_page: NewPage, clouds: Clouds) -> None:
    url, zones, _ = clouds
    page = new_page(viewport={"width": 360, "height": 740})
    page.add_init_script(_TWICE)
    opened(page, f"{url}{CHOSEN}")
    text = page.locator("#now").inner_text()

    assert page.evaluate("getComputedStyle(document.querySelector('#now b')).fontSize") == "32px"
    assert [zone for zone in zones if zone not in text] == []
    assert page.evaluate(_OUTSIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.goto("about:blank")


@pytest.mark.parametrize("width", [360, 1280])
def test_tables_of_long_names_are_read_without_scrolling(new_page: NewPage, clouds: Clouds, width: int) -> None:
    url, zones, _ = clouds
    page = new_page(viewport={"width": width, "height": 740})
    opened(page, f"{url}{CHOSEN}")
    page.get_by_text("The map as a table").click()
    page.get_by_role("button", name=zones[0], exact=True).click()
    for table in ("#table", "#panel"):
        expect(page.locator(table).get_by_role("row", name=f"{zones[0]} ")).to_have_count(1)
    expect(page.get_by_role("row", name=re.compile("^gke-"))).not_to_have_count(0)
    assert cut_words(page) == []
    page.locator("#panel button[data-pod]").first.click()
    expect(page.locator("#panel")).to_contain_text("Scores of its node and of the next best")
    assert cut_words(page) == []
    page.goto("about:blank")


@pytest.mark.parametrize("width", [360, 1280])
def test_a_map_made_larger_has_whole_names_of_racks_and_nodes(new_page: NewPage, clouds: Clouds, width: int) -> None:
    url, _, nodes = clouds
    page = new_page(viewport={"width": width, "height": 740})
    opened(page, url)
    page.get_by_label("Map of nodes", exact=True).focus()
    for key in ("ArrowRight", *["+"] * 20):
        page.keyboard.press(key)
    assert page.evaluate(_OUTSIDE) == []
    seen = page.locator("#now").evaluate("(it) => it.textContent")

    assert "gke-production-default-pool-3f2a0000-x7kq" in seen
    assert ("rack-of-row-" in seen) == (nodes >= 12)
    assert page.locator("#now .ring").is_visible()
    page.goto("about:blank")


def test_characters_that_nobody_sees_are_shown_as_escapes(page: Page, tmp_path: Path) -> None:
    shop = shutil.copy(ROOT / "examples/demo/shop.yaml", tmp_path / "a\u202eb.yaml")
    with served("-f", str(shop), "--on", SHOP_CLUSTER) as url:
        opened(page, url)
        made = page.evaluate(
            'import("/static/elements.js").then((it) => it.element("p", {}, "a\\u202eb\\u001b\\n").textContent)'
        )

        assert made == "a\\u202eb\\u001b\n"
        assert "a\\u202eb.yaml" in page.content()
        assert "\u202e" not in page.locator("body").inner_text()
        page.goto("about:blank")
