"""What a page does that no page of ours may: errors, lines on the console, requests to anybody else."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Page, Request

OURS = ("127.0.0.1", "localhost", "[::1]", "")
KEPT_TO_ITSELF = ("data", "blob", "about", "file")


class Watched:
    """A page and what was noticed."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("console", self._logged)
        page.on("request", self._asked)

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        asked = urlsplit(request.url)
        if asked.scheme not in KEPT_TO_ITSELF and asked.hostname not in OURS:
            self.complaints.append(f"request to {request.url}")
