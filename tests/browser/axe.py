"""What axe-core finds on a page, in a line each; the checker is put into the page past its Content-Security-Policy."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"


def findings(page: Page) -> list[str]:
    """Every violation on the page as it is shown now: rule, what it is, and the places."""
    page.evaluate(AXE.read_text() + ";undefined")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(result => result.violations)")
    return [
        f"{each['id']}: {each['help']}: {node['target']} {node['html'][:160]} {node['failureSummary']}"
        for each in found
        for node in each["nodes"]
    ]
