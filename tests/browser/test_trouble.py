"""What the page says when an answer is an error, takes long, or the server is another one than before."""

from __future__ import annotations

import json
import re
import socket
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.serving import AUTHORIZED, DEMO, many_nodes, served

CANCELLED = """() => {
  const begin = performance.now();
  document.querySelector("#trial [role=status] button").click();
  if (document.querySelector("#trial [role=status] button")) throw Error("Cancel waits for an answer");
  return performance.now() - begin;
}"""
"""Clicks Cancel, which is gone at once; returns the milliseconds."""
FAILED = "step=fail+zone%3Deu-west-1a"


def opened(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#maps[data-at]")).to_be_visible()
    expect(page.locator("#panel h2")).to_be_visible()


def unanswered_trials(page: Page) -> list[Route]:
    """Give no answer about steps; what was asked."""
    asked: list[Route] = []

    def hold(route: Route) -> None:
        asked.append(route)

    page.route(re.compile(r"/api/(trial|picture)\?step="), hold)
    return asked


def test_an_error_stays_until_another_answer_comes(browser: Browser, demo: str) -> None:
    context = browser.new_context(extra_http_headers=AUTHORIZED)  # the console may say that 422 was answered
    page = context.new_page()
    opened(page, demo)
    with page.expect_response("**/events*"):
        page.reload()
    page.locator("#nodes-other").fill("nowhere")
    page.get_by_role("button", name="Try it", exact=True).click()
    expect(page.locator("#trouble")).to_contain_text("nowhere")

    time.sleep(2)  # states of the server arrive meanwhile
    expect(page.locator("#trouble")).to_contain_text("nowhere")
    page.get_by_role("button", name="Take it back").click()
    expect(page.locator("#trouble")).to_be_hidden()
    context.close()


def test_a_trial_that_takes_long_can_be_cancelled(page: Page, demo: str) -> None:
    opened(page, demo)
    asked = unanswered_trials(page)
    page.select_option("#nodes-which", "topology.kubernetes.io/zone=eu-west-1a")
    page.get_by_role("button", name="Try it", exact=True).click()
    expect(page.locator("#trial")).to_contain_text("Playing fail topology.kubernetes.io/zone=eu-west-1a")
    milliseconds = page.evaluate(CANCELLED)
    assert milliseconds < 100
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.locator("#trial .steps li")).to_have_count(0)
    assert "step=" not in page.url
    expect(page.locator("#result")).to_contain_text("36 pods ready")
    assert asked


def test_things_as_they_were_read_are_shown_while_an_address_s_steps_are_played(page: Page, demo: str) -> None:
    unanswered_trials(page)
    page.goto(f"{demo}?{FAILED}")
    expect(page.locator("#trial")).to_contain_text("Playing fail zone=eu-west-1a")
    expect(page.locator("#figures")).to_contain_text("36 pending")
    expect(page.locator("#now [data-painted]")).to_be_attached()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#result")).to_contain_text("36 pods ready")


def test_the_result_of_a_trial_is_in_sight(page: Page, demo: str) -> None:
    opened(page, demo)
    page.select_option("#nodes-which", "topology.kubernetes.io/zone=eu-west-1a")
    page.get_by_role("button", name="Try it", exact=True).click()

    expect(page.get_by_role("region", name="What came of it").locator("h2")).to_be_in_viewport()


def test_the_card_of_a_what_if_groups_causes_and_shows_where_pods_went_and_stays(page: Page, demo: str) -> None:
    opened(page, f"{demo}?{FAILED}")
    card = page.get_by_role("region", name="What came of it")
    expect(card.locator(".verdict")).to_have_text("6 pods pending")
    expect(card.locator(".cause")).to_have_count(2)
    flow = card.get_by_role("img")
    moves = re.findall(r"(\d+) from eu-west-1a to (\S+?)(?:,|$)", flow.get_attribute("aria-label") or "")
    expect(card.locator("figcaption")).to_have_text(f"{sum(int(pods) for pods, _ in moves)} pods moved in this step")
    assert ("6", "pending") in moves
    page.evaluate("document.querySelector('#table').scrollIntoView()")
    expect(card.locator(".verdict")).to_be_in_viewport()


def test_an_address_that_names_a_node_that_is_gone_says_so_and_goes_on(browser: Browser, demo: str) -> None:
    context = browser.new_context(extra_http_headers=AUTHORIZED)  # the console may say that 404 was answered
    page = context.new_page()
    opened(page, f"{demo}?node=node-gone")
    expect(page.locator("#panel .bad").first).to_have_text("there is no node node-gone")
    page.locator("#panel button", has_text="shop/checkout").click()
    expect(page.locator("#panel h2")).to_have_text("Deployment shop/checkout")
    context.close()


def test_a_restart_with_another_cluster_is_said(browser: Browser) -> None:
    context = browser.new_context(extra_http_headers=AUTHORIZED)
    page = context.new_page()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with served(*DEMO, "--port", port) as url, page.expect_response("**/events*"):
        opened(page, url)
    expect(page.locator("#trouble")).to_contain_text("The server does not answer")
    with served("--on", "zones=2,nodes=2", "--port", port):
        expect(page.locator("#trouble")).to_contain_text("this is")
        expect(page.locator("#trouble")).to_contain_text("zones=2,nodes=2")
        expect(page.locator("#state")).to_contain_text("2 nodes")
        page.locator("#table summary").click()
        expect(page.locator("#table")).not_to_contain_text("eu-west")
        page.goto("about:blank")
    context.close()


def test_what_changed_in_a_cluster_is_pushed_and_the_picture_is_not_asked_for_again(page: Page, demo: str) -> None:
    state = page.request.get(f"{demo}api/state").json()
    revision = state["revision"]
    changes = {"from": revision, "to": revision + 1, "picture": {"nodes": {"flags": [[0], [[1]]]}}}
    told = (state, state | {"revision": revision + 1, "changes": changes})
    body = "".join(f"event: state\ndata: {json.dumps(each)}\n\n" for each in told)
    page.route(
        "**/events",
        lambda route: route.fulfill(body=f"retry: 600000\n\n{body}", content_type="text/event-stream"),
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    opened(page, demo)
    expect(page.locator("#figures")).to_contain_text("2 cordoned")
    assert sum("/api/picture" in each for each in asked) == 1


def test_a_long_trial_says_how_far_it_is_and_ends_at_once(page: Page, tmp_path: Path) -> None:
    steps = "&".join(f"step={step}+zone%3Dzone-a" for _ in range(20) for step in ("fail", "recover"))
    with served(*many_nodes(tmp_path, 300, 30, 20)) as url:
        page.goto(f"{url}?{steps}")
        expect(page.locator("#trial")).to_contain_text(
            re.compile(r"step \d+ of 40, \d+ s in it: \d+ pods without a node")
        )
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("#trial .steps li")).to_have_count(0)
        expect(page.locator("#result")).to_contain_text("pods ready")
        page.wait_for_function(f"fetch('/api/progress?{steps}').then((it) => it.json()).then((it) => it.says === '')")
        page.goto("about:blank")
