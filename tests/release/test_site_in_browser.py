"""The site as `make site` has built it, in Chromium: its own search, axe-core, and code on a phone.

``SITE_PAGES=all`` looks at every page; by default at one of each kind.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.axe import findings
from tests.browser.conftest import browser  # noqa: F401 - a fixture
from tests.release.test_site import SITE, pages

OF_EACH_KIND = ("404", "index", "gallery", "how-to/index", "how-to/on-call", "reference/index", "reference/rules/index")
SHOWN = [str(path.relative_to(SITE)) for path in pages()]
if os.environ.get("SITE_PAGES") != "all":
    SHOWN = [f"{name}.html" for name in OF_EACH_KIND]
FIRST = {
    "pod stuck": "how-to/on-call",
    "pod pending": "how-to/on-call",
    "not scheduled": "how-to/on-call",
    "FailedScheduling": "how-to/on-call",
    "didn't match pod topology spread constraints": "how-to/on-call",
    "pending yesterday": "how-to/after-the-fact",
    "zone failure": "how-to/zone-loss",
    "availability zone down": "how-to/zone-loss",
    "pods unevenly distributed": "how-to/status",
    "uneven after rollout": "how-to/skewed-rollout",
    "uneven after scale down": "how-to/scale-in",
    "move pods": "how-to/rebalance",
    "not enough nodes": "how-to/capacity",
    "how many replicas fit": "how-to/capacity",
    "autoscaler scale from zero": "how-to/pools-at-zero",
    "cross-zone traffic cost": "how-to/traffic",
    "pull request check": "how-to/ci",
    "reject bad manifests": "how-to/admission",
    "upgrade kubernetes": "how-to/scheduler-configuration",
    "helm chart": "how-to/charts",
    "alert": "how-to/prometheus",
    "hide names": "how-to/share-a-report",
    "node drain blocked": "reference/rules/budget-blocks-drain",
}
"""What somebody types into the search → the page that has to come first."""

WIDER = "all => all.filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent.slice(0, 99))"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing of it."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:  # noqa: F811
    context = browser.new_context(**getattr(request, "param", {}))
    yield context.new_page()
    context.close()


def test_the_search_finds_the_page_of_a_symptom_first(page: Page, site: str) -> None:
    found = {}
    for query in FIRST:
        page.goto(f"{site}/index.html?{urlencode({'q': query})}")
        result = page.locator(".md-search-result__item > a").first
        result.wait_for(state="attached", timeout=60_000)
        found[query] = str(result.evaluate("each => each.pathname.slice(1).replace('.html', '')"))
    assert found == FIRST


@pytest.mark.parametrize("page", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True, ids=str)
def test_axe_finds_nothing(page: Page, site: str) -> None:
    found = {}
    for path in SHOWN:
        page.goto(f"{site}/{path}")
        found[path] = findings(page)
    assert {path: each for path, each in found.items() if each} == {}


@pytest.mark.parametrize("page", [{"viewport": {"width": 390, "height": 844}}], indirect=True, ids=["phone"])
def test_no_code_is_pushed_aside_on_a_phone(page: Page, site: str) -> None:
    found = {}
    for path in SHOWN:
        page.goto(f"{site}/{path}")
        found[path] = page.eval_on_selector_all("html, pre, pre > code", WIDER)
    assert {path: each for path, each in found.items() if each} == {}
