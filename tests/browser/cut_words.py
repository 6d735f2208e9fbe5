"""Words that a page cuts: past its edge, under what hides what runs over, or apart in their middle. A line each."""

from __future__ import annotations

from playwright.sync_api import Page

_SCRIPT = r"""() => {
  const found = [], width = document.documentElement.clientWidth;
  const scrolls = (style) => ["auto", "scroll"].includes(style.overflowX);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, parent = text.parentElement;
    if (!text.data.trim() || !parent.checkVisibility()) continue;
    if (parent.closest(".unseen, .skip, script, option, .cm-editor")) continue;
    let scrolling = false, hidden = null;
    for (let at = parent; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      scrolling ||= scrolls(style);
      if (!hidden && ["hidden", "clip"].includes(style.overflowX)) hidden = at.getBoundingClientRect();
    }
    for (const word of text.data.matchAll(/[\p{L}\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const boxes = [...range.getClientRects()].filter((each) => each.width > 0.5);
      const say = (what) => found.push(`${what}: ${word[0]} in ${parent.outerHTML.slice(0, 120)}`);
      if (new Set(boxes.map((each) => Math.round(each.top))).size > 1 && word[0].length <= 24) say("apart");
      if (!scrolling && boxes.some((each) => each.right > width + 1 || each.left < -1)) say("past the edge");
      if (hidden && boxes.some((each) => each.right > hidden.right + 1 || each.left < hidden.left - 1)) say("hidden");
    }
  }
  for (const each of document.querySelectorAll("button, summary, legend")) {
    const runsOver = each.checkVisibility() && each.scrollWidth > each.clientWidth + 1;
    if (runsOver) found.push(`cut: ${each.outerHTML.slice(0, 120)}`);
  }
  return found;
}"""


def cut_words(page: Page) -> list[str]:
    """Each word of text that cannot be read whole; what scrolls sideways by itself can."""
    found: list[str] = page.evaluate(_SCRIPT)
    return found
