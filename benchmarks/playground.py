"""How fast the playground of the site answers its first question, in Chromium. It judges nothing.

python -m benchmarks.playground

`make playground site` has built the site. Every visit starts a browser, and asks as soon as the page allows it. A first
visit has an empty profile, and a later visit the profile of at least two others. Prints a table;
`docs/playground.md` has its medians.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Playwright, sync_playwright

from tests.browser.conftest import ARGUMENTS, chromium

SITE = Path(__file__).resolve().parents[1] / "build" / "site" / "versions"
_ASK = """
new MutationObserver((_, observer) => {
  const button = document.getElementById("playground-ask");
  if (!button || button.disabled) return;
  observer.disconnect();
  window.asked = performance.now();
  button.click();
  const status = document.getElementById("playground-status");
  new MutationObserver(() => {
    if (status.textContent.startsWith("Answered")) window.answered ??= performance.now();
  }).observe(status, { childList: true });
}).observe(document, { subtree: true, childList: true, attributeFilter: ["disabled"] });
"""


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def end_headers(self) -> None:
        """Let the browser keep what it loads, as a site does."""
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _served() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=SITE)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/latest/playground.html"
        server.shutdown()


def _visit(playwright: Playwright, profile: str, address: str) -> tuple[float, float]:
    """Return the seconds from the click to the answer, and from the visit's start."""
    context = playwright.chromium.launch_persistent_context(profile, executable_path=chromium(), args=list(ARGUMENTS))
    context.add_init_script(_ASK)
    page = context.new_page()
    page.goto(address)
    page.wait_for_function("window.answered", timeout=120_000)
    asked, answered = page.evaluate("[window.asked, window.answered]")
    page.wait_for_timeout(1000)  # the browser writes its caches
    context.close()
    return (answered - asked) / 1000, answered / 1000


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    with sync_playwright() as playwright, _served() as address, tempfile.TemporaryDirectory() as folder:
        cold = [_visit(playwright, f"{folder}/{at}", address) for at in range(times)]
        for _ in range(2):
            _visit(playwright, f"{folder}/kept", address)
        warm = [_visit(playwright, f"{folder}/kept", address) for _ in range(times)]
    print("| visit | from the question | slowest | from the opening of the page | slowest |\n|---|---:|---:|---:|---:|")
    for name, visits in (("first", cold), ("later", warm)):
        seconds = [function(each) for each in zip(*visits, strict=True) for function in (statistics.median, max)]
        columns = [f"{each:.2f} s" for each in seconds]
        print(f"| {name} | {' | '.join(columns)} |")


if __name__ == "__main__":
    main()
