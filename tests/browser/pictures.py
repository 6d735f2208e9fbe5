"""Pictures of every view, narrow, usual and wide, light and dark, for somebody to look at; it judges nothing.

python -m tests.browser.pictures FOLDER
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import ARGUMENTS, chromium
from tests.browser.serving import AUTHORIZED, DEMO, many_nodes, served

SIZES = {"narrow": (360, 740), "usual": (1280, 800), "wide": (3840, 2160)}
VIEWS = {
    "map": "",
    "workload": "?workload=Deployment/shop/checkout",
    "why": "?workload=Deployment/shop/checkout&pod=shop/checkout-54dbb6f94-dqj84",
    "what-if": "?step=fail+zone%3Deu-west-1a&beside=1",
    "editor": "editor?example=min-domains",
}


def main() -> None:
    """Take them all."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        with served(*DEMO) as url:
            for name, address in VIEWS.items():
                _taken(browser, f"{url}{address}", folder / name)
        with served(*many_nodes(Path(work))) as url:
            _taken(browser, url, folder / "many")
        browser.close()


def _taken(browser: Browser, address: str, path: Path) -> None:
    for size, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            page: Page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme, extra_http_headers=AUTHORIZED
            )
            page.goto(address)
            page.wait_for_load_state("networkidle") if "editor" in address else page.wait_for_timeout(1500)
            page.screenshot(path=f"{path}-{size}-{scheme}.png", full_page=size != "wide")
            page.close()


if __name__ == "__main__":
    main()
