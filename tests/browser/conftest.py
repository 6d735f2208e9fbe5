"""A browser for the tests here: Debian's Chromium, one process for all of them, a context of its own for each."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.serving import AUTHORIZED, DEMO, SHOP_CLUSTER, WEB, served
from tests.browser.watched import Watched

HERE = Path(__file__).parent
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 60_000
"""Milliseconds after which what was waited for will not come: much more than a slow machine needs."""

expect.set_options(timeout=PATIENCE)

NewPage = Callable[..., Page]


def chromium() -> str:
    """Where the browser is."""
    told = subprocess.run([HERE / "chromium.sh"], stdout=subprocess.PIPE, text=True, check=False)
    assert told.returncode == 0, "there is no chromium, without which nothing here can be tested"
    return told.stdout.strip()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        yield running
        running.close()


@pytest.fixture
def new_page(browser: Browser) -> Iterator[NewPage]:
    """Opens pages, each in a context of its own; what they log, ask of others or break is a failure of the test."""
    watched: list[Watched] = []

    def opened(**how: object) -> Page:
        usual = {"viewport": {"width": 1280, "height": 800}, "extra_http_headers": AUTHORIZED}
        context = browser.new_context(**(usual | how))  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        watched.append(Watched(page))
        return page

    yield opened
    for each in watched:
        each.page.context.close()
    complaints = [line for each in watched for line in each.complaints]
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def page(new_page: NewPage) -> Page:
    return new_page()


@pytest.fixture(scope="session")
def demo() -> Iterator[str]:
    """The URL of the demo shop's page."""
    with served(*DEMO) as url:
        yield url


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a page on three nodes, one of which takes nobody, so that pods wait."""
    file = tmp_path_factory.mktemp("shop") / "web.yaml"
    file.write_text(WEB)
    with served("-f", str(file), "--on", SHOP_CLUSTER) as url:
        yield url
