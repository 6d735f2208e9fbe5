"""Make the pictures of the gallery anew: ``make gallery``.

The commands on the page write the SVG files; Chromium draws ``page.png``. ``make bench`` writes ``growth.svg``.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOPOSPREAD = Path(sys.executable).parent / "topospread"
SERVE, *COMMANDS = re.findall(r"```sh\n(topospread .*)\n```", (ROOT / "docs/gallery.md").read_text())
PAGE = ROOT / "docs/gallery/page.png"
ADDRESS = "?step=fail+zone%3Deu-west-1a&workload=Deployment/shop/storefront"
"""State of the demo shop in the picture of the page."""


def picture_of_the_page() -> bytes:
    """Return the PNG of the page in ``ADDRESS``, 1280 × 800."""
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import ARGUMENTS, chromium
    from tests.browser.serving import AUTHORIZED, served

    with sync_playwright() as playwright, served(*shlex.split(SERVE)[2:]) as url:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 1280, "height": 800}, extra_http_headers=AUTHORIZED)
        page.goto(f"{url}{ADDRESS}")
        page.get_by_role("heading", name="Deployment shop/storefront").wait_for()
        page.locator("#result .cause", has_text="First fix").wait_for()
        page.wait_for_timeout(1500)
        page.evaluate("document.activeElement.blur()")
        picture = page.screenshot()
        browser.close()
    return picture


if __name__ == "__main__":
    for command in COMMANDS:
        subprocess.run([TOPOSPREAD, *shlex.split(command)[1:]], cwd=ROOT, check=False, capture_output=True)
    PAGE.write_bytes(picture_of_the_page())
