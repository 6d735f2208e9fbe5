"""The site with its playground, served as a plain file server does, and Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.browser.conftest import browser, new_page, page

__all__ = ["browser", "new_page", "page"]

SITE = Path(__file__).resolve().parents[2] / "build" / "site" / "versions"
POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"
"""What the worker and what it loads need, and nothing else."""


class _Handler(SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
        if "/playground/" in self.path:
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """Address of the site; `make site playground` has built it."""
    assert any((SITE / "latest" / "playground").glob("snapshot-*")), "make playground site"
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=SITE)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/latest"
        server.shutdown()
