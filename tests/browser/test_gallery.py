"""The gallery's picture of the page is what `make gallery` takes now."""

from __future__ import annotations

import base64
import runpy
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
TAKEN = "import runpy,sys; sys.stdout.buffer.write(runpy.run_path('docs/write_gallery.py')['picture_of_the_page']())"
MOST = 0.05
"""Share of pixels that may differ: another Chromium draws the edges of letters otherwise."""
DIFFERING = """async pictures => {
  const [one, other] = await Promise.all(pictures.map(async each => {
    const image = await createImageBitmap(await (await fetch(each)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  }));
  if (one.width !== other.width || one.height !== other.height) return 1;
  let differing = 0;
  for (let i = 0; i < one.data.length; i += 4)
    differing += [0, 1, 2].some(k => Math.abs(one.data[i + k] - other.data[i + k]) > 64);
  return differing / (one.width * one.height);
}"""


def differing(page: Page, one: bytes, other: bytes) -> float:
    """Return the share of pixels in which two PNGs differ."""
    addresses = [f"data:image/png;base64,{base64.b64encode(each).decode()}" for each in (one, other)]
    return float(page.evaluate(DIFFERING, addresses))


def test_the_picture_of_the_page_is_what_it_shows(page: Page) -> None:
    done = subprocess.run([sys.executable, "-c", TAKEN], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    stored = runpy.run_path(str(ROOT / "docs/write_gallery.py"))["PAGE"].read_bytes()
    assert differing(page, stored, done.stdout) <= MOST, "make gallery takes it anew"


def test_a_view_that_looks_otherwise_is_told(page: Page, demo: str) -> None:
    page.goto(demo)
    page.get_by_role("table").first.wait_for()
    stored = runpy.run_path(str(ROOT / "docs/write_gallery.py"))["PAGE"].read_bytes()
    shown = page.screenshot()
    page.goto("about:blank")
    assert differing(page, stored, shown) > MOST
