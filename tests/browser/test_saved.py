"""Views as pictures: an SVG with the page's style in it, and a PNG with something on it."""

from __future__ import annotations

import re
import struct
from base64 import b64encode
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect


def saved(page: Page, view: str, kind: str) -> bytes:
    page.select_option("#save", view)
    with page.expect_download() as told:
        page.get_by_role("button", name=f"as {kind.upper()}").click()
    expect(page.locator(f"#save-{kind}")).to_have_text("saved")
    assert told.value.suggested_filename == f"{view}.{kind}"
    return Path(told.value.path()).read_bytes()


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("matrix", "shop/web"),
        ("maps", "zone-a"),
        ("panel", "node-3"),
        ("result", "newly pending"),
        ("trial", "What if"),
    ],
)
def test_each_view_is_saved_as_svg_and_png(page: Page, shop: str, view: str, words: str) -> None:
    page.goto(f"{shop}?node=node-3{'&step=fail+node%3Dnode-1' if view == 'result' else ''}")
    expect(page.locator("#panel h2")).to_have_text("Node node-3")
    expect(page.locator("body.busy")).to_have_count(0)
    drawn = saved(page, view, "svg").decode()
    png = saved(page, view, "png")

    assert words in drawn
    assert "--accent" in drawn
    assert not re.search(r"(href|src)=.http", drawn), "the picture asks nobody for anything"
    width, height = struct.unpack(">II", png[16:24])
    wide = re.search(r'width="(\d+)"', drawn)
    assert wide is not None
    assert (width, height > 100) == (2 * int(wide[1]), True)
    page.set_content(f"<img alt='the picture' src='data:image/png;base64,{b64encode(png).decode()}'>")
    assert page.evaluate(_COLOURS) > 8, "more than an empty ground"


_COLOURS = """async () => {
  const image = document.querySelector("img");
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return new Set(new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
}"""
