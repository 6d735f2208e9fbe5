"""Words that a page cuts: past its edge or a list's, under what hides what runs over, or apart. A line each."""

from __future__ import annotations

from playwright.sync_api import Page

_SCRIPT = r"""() => {
  const found = [], width = document.documentElement.clientWidth;
  const scrolls = (style) => ["auto", "scroll"].includes(style.overflowX);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, parent = text.parentElement;
    if (!text.data.trim() || !parent.checkVisibility()) continue;
    if (parent.closest(".unseen, .stacked thead, .skip, script, option, .cm-editor")) continue;
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
  for (const each of document.querySelectorAll("div.scroll")) {
    if (each.checkVisibility() && each.scrollWidth > each.clientWidth + 1) found.push(`sideways: ${each.ariaLabel}`);
  }
  for (const each of document.querySelectorAll("select")) {
    const style = getComputedStyle(each), context = document.createElement("canvas").getContext("2d");
    if (!each.checkVisibility() || !each.selectedOptions.length) continue;
    context.font = style.font;
    const text = each.selectedOptions[0].text, arrow = parseFloat(style.fontSize);
    const inside = each.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - arrow;
    const lines = Math.ceil((context.measureText(text).width - 2) / inside);
    if (lines > 1 && each.clientHeight < lines * arrow) found.push(`cut: ${text} in #${each.id}`);
  }
  return found;
}"""


def cut_words(page: Page) -> list[str]:
    """Each word of text that cannot be read whole; only code may be scrolled sideways."""
    found: list[str] = page.evaluate(_SCRIPT)
    return found
