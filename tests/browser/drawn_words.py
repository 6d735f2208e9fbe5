"""Words that are drawn on a map's canvas: each with its place, as the page wrote it there last."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Page

_RECORDING = r"""(() => {
  const own = CanvasRenderingContext2D.prototype, fillText = own.fillText, drawImage = own.drawImage;
  own.fillText = function (text, x, y, ...rest) {
    const { width } = this.measureText(text), size = Number(/(\d+(?:\.\d+)?)px/.exec(this.font)[1]);
    (this.canvas.written ??= []).push({ text, x, y, width, size });
    return fillText.call(this, text, x, y, ...rest);
  };
  own.drawImage = function (image, ...rest) {
    // The map is first drawn where it is not shown, on the ground of its columns, and then shown whole.
    if (this.canvas.isConnected) this.canvas.written = image.written ?? [];
    else this.canvas.written = [];
    return drawImage.call(this, image, ...rest);
  };
})()"""

_WRITTEN = """(canvas) => ({ width: canvas.clientWidth, height: canvas.clientHeight, words: canvas.written ?? [] })"""


@dataclass(frozen=True)
class Words:
    """A line of a text: where its letters stand, how wide they are and how high, in the page's pixels."""

    text: str
    x: float
    y: float
    width: float
    size: float

    def meets(self, other: Words) -> bool:
        """Whether letters of both would be drawn over each other."""
        across = self.x < other.x + other.width - 1 and other.x < self.x + self.width - 1
        return across and self.y - 0.7 * self.size < other.y and other.y - 0.7 * other.size < self.y


def record(page: Page) -> None:
    """From the next page on, note what is drawn."""
    page.add_init_script(_RECORDING)


def written(page: Page, canvas: str = "#now canvas") -> tuple[list[Words], tuple[float, float]]:
    """The words of a map that is shown, in the order they were drawn, and the map's width and height."""
    found = page.locator(canvas).evaluate(_WRITTEN)
    return [Words(**each) for each in found["words"]], (found["width"], found["height"])


def amiss(words: list[Words], size: tuple[float, float]) -> list[str]:
    """What of them cannot be read whole: past the map's edges, or over one another."""
    width, height = size
    past = [
        f"past the edge: {each.text}"
        for each in words
        if each.x < 0 or each.y - each.size < -1 or each.x + each.width > width + 1 or each.y > height
    ]
    over = [f"over one another: {a.text}, {b.text}" for at, a in enumerate(words) for b in words[:at] if a.meets(b)]
    return past + over
