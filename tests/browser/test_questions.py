"""Questions of somebody on call, each answered by the page alone in at most three clicks."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

FAILED = "?step=fail+zone%3Deu-west-1a"
MOST_CLICKS = 3
QUESTIONS: dict[str, tuple[str, list[str], str, str]] = {
    "is anything wrong?": ("", [], "#result", "no pod is pending"),
    "which workloads are over a hard maxSkew?": (
        FAILED, ["#figures .hard"], "#matrix tbody",
        r"shop/storefront! zone skew 3, max 1, 3 pending.*shop/checkout! zone skew 3, max 1"
    ),
    "which zone is over maxSkew, and by how much?": (
        FAILED, ["#matrix button:text('shop/storefront')"], "#panel tbody tr:has(.bad)", r"eu-west-1b.*! 3"
    ),
    "why do pods wait?": (FAILED, [], "#result .cause", "eu-west-1a takes no pod, but its 0 pods are still the min"),
    "what lets them in, and was it tried?": (FAILED, [], "#result .cause", "First fix: .* all 8 pods have a node"),
    "which command does that?": (
        FAILED, ["#result .cause button"], "#panel [aria-label='What would let it in']", "Copy kubectl patch"
    ),
    "which nodes are closed, and why?": ("", ["#figures button:nth-child(4)"], "#matrix", "node-c1.*cordoned"),
    "where do pods go if a zone fails?": (
        "", ["#trial button:text-is('Try it')"], "#result figure", r"eu-west-1a −8.*pending \+6"
    ),
    "what is left of a workload if a zone fails?": (
        "?workload=StatefulSet/shop/orders-db", ["#panel summary"], "#panel details", "a zone is lost"
    ),
    "why is a pod on its node?": (
        "?workload=Deployment/shop/search", ["#panel [data-pod]"], "#panel", "Scores of its node and of the next best"
    ),
}  # fmt: skip
"""Question → the page's address, what is clicked, where the answer is, and the answer."""


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_within_few_clicks(page: Page, demo: str, question: str) -> None:
    address, clicks, place, answer = QUESTIONS[question]
    page.goto(f"{demo}{address}")
    expect(page.locator("#panel h2")).to_be_visible()
    for each in clicks:
        page.locator(each).first.click()
    expect(page.locator(place).first).to_contain_text(re.compile(answer, re.DOTALL))
    assert len(clicks) <= MOST_CLICKS
