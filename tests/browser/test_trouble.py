"""What the page says when an answer is an error, takes long, or the server is another one than before."""

from __future__ import annotations

import json
import re
import socket
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import NewPage
from tests.browser.serving import AUTHORIZED, DEMO, many_nodes, served

CANCELLED = """() => {
  const begin = performance.now();
  document.querySelector("#trial [role=status] button").click();
  if (document.querySelector("#trial [role=status] button")) throw Error("Cancel waits for an answer");
  return performance.now() - begin;
}"""
"""Clicks Cancel, which is gone at once; returns the milliseconds."""
_PLACE = "document.querySelector('#panel .list').offsetTop - document.querySelector('#panel').offsetTop"
_SHIFTS = """window.shifted = 0;
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifted += each.value;
}).observe({ type: "layout-shift", buffered: true });"""
"""Sums up how far parts of the page moved without a click: the cumulative layout shift."""
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
    trouble = page.locator("#trial [role=alert]")
    expect(trouble).to_contain_text("nowhere")
    expect(page.get_by_text("no node has the name nowhere")).to_have_count(1)

    time.sleep(2)  # states of the server arrive meanwhile
    expect(trouble).to_contain_text("nowhere")
    expect(trouble).to_be_in_viewport()
    expect(page.locator("#nodes-other")).to_have_value("nowhere")
    page.get_by_role("button", name="Take it back").click()
    expect(trouble).to_be_empty()
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


@pytest.mark.parametrize("width", [390, 1280])
def test_causes_that_come_late_leave_the_list_of_workloads_where_it_is(
    new_page: NewPage, shop: str, width: int
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page = new_page(viewport={"width": width, "height": 844})
    page.route("**/api/pending**", hold)
    opened(page, shop)
    button = page.locator("#panel .list button", has_text="shop/web")
    expect(page.locator("#panel progress")).to_be_visible()
    button.click()
    expect(page.locator("#panel h2")).to_have_text("Deployment shop/web")
    page.get_by_role("button", name="← All workloads").click()
    expect(page.locator("#panel progress")).to_be_visible()
    before = page.evaluate(_PLACE)
    held[-1].continue_()
    expect(page.locator("#panel .cause").first).to_be_visible()
    assert page.evaluate(_PLACE) == before
    button.click()
    expect(page.locator("#panel h2")).to_have_text("Deployment shop/web")


@pytest.mark.parametrize("width", [390, 1280])
def test_causes_of_a_what_if_that_come_late_leave_the_table_of_workloads_where_it_is(
    new_page: NewPage, demo: str, width: int
) -> None:
    held: list[Route] = []
    page = new_page(viewport={"width": width, "height": 844})
    page.route("**/api/pending**", lambda route: held.append(route))  # noqa: PLW0108 - has attributes
    page.add_init_script(_SHIFTS)
    opened(page, f"{demo}?{FAILED}")
    expect(page.locator("#result progress")).to_be_visible()
    before = page.evaluate("document.querySelector('#matrix').offsetTop")
    held[-1].continue_()
    expect(page.locator("#result .cause").first).to_be_visible()
    expect(page.locator("#result")).not_to_contain_text("First fix")
    held[-1].continue_()
    expect(page.locator("#result .cause").first).to_contain_text("First fix")
    assert page.evaluate("document.querySelector('#matrix').offsetTop") == before


@pytest.mark.parametrize("width", [390, 1280])
def test_what_is_drawn_first_stays_where_it_is(new_page: NewPage, demo: str, width: int) -> None:
    page = new_page(viewport={"width": width, "height": 844})
    page.add_init_script(_SHIFTS)
    opened(page, demo)
    expect(page.locator("#now [data-painted]")).to_be_attached()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    assert page.evaluate("window.shifted") < 0.1


@pytest.mark.parametrize("size", [(390, 844), (1440, 900)])
def test_nothing_above_the_result_moves_when_a_what_if_begins_and_nothing_covers_it(
    new_page: NewPage, demo: str, size: tuple[int, int]
) -> None:
    """The band that says what is simulated has its place before, and the button beside it covers nothing."""
    page = new_page(viewport={"width": size[0], "height": size[1]})
    opened(page, demo)
    tops = """['#figures', '#frames button']
        .map((it) => document.querySelector(it).getBoundingClientRect().top + scrollY)"""
    expect(page.locator("#moment")).to_have_text("Pending pods are placed in a simulation.")
    before = page.evaluate(tops)
    page.get_by_role("button", name="What if").locator("visible=true").click()
    expect(page.locator("#trial h2")).to_be_in_viewport()
    page.select_option("#nodes-which", "topology.kubernetes.io/zone=eu-west-1a")
    page.get_by_role("button", name="Try it", exact=True).click()
    expect(page.locator("#moment")).to_contain_text("Simulated, not the cluster: fail zone=eu-west-1a")
    expect(page.locator("#result .verdict")).to_be_visible()
    assert page.evaluate(tops)[0] == before[0]
    if size[0] > 600:
        assert page.evaluate(tops) == before
        fixed = """[...document.querySelectorAll('main *, nav')]
            .filter((it) => getComputedStyle(it).position === 'fixed' && it.checkVisibility()).length"""
        assert page.evaluate(fixed) == 0


def test_a_shared_trial_keeps_the_place_of_its_result(page: Page, demo: str) -> None:
    asked = unanswered_trials(page)
    page.add_init_script(_SHIFTS)
    page.goto(f"{demo}?{FAILED}")
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    for each in asked:
        each.continue_()
    expect(page.locator("#result h2")).to_be_visible()
    assert page.evaluate("window.shifted") < 0.1


def test_a_result_stays_while_the_picture_beside_it_is_on_its_way(page: Page, demo: str) -> None:
    held: list[Route] = []
    page.route(re.compile(r"/api/picture\?step=.*&at=1$"), lambda route: held.append(route))  # noqa: PLW0108 - has attributes
    page.goto(f"{demo}?{FAILED}&beside=1")
    expect(page.locator("#result h2")).to_be_visible()
    page.wait_for_timeout(700)  # twice as long as until a trial under way is announced
    expect(page.locator("#result h2")).to_be_visible()
    assert len(held) == 1
    held[0].continue_()
    expect(page.locator("#now figcaption")).to_contain_text("What changed since")


def test_the_result_of_a_trial_is_in_sight(page: Page, demo: str) -> None:
    opened(page, demo)
    page.select_option("#nodes-which", "topology.kubernetes.io/zone=eu-west-1a")
    page.get_by_role("button", name="Try it", exact=True).click()

    head = page.get_by_role("region", name="What came of it").locator("h2")
    expect(head).to_be_in_viewport()
    tops = page.evaluate("['.time', '#result h2'].map((it) => document.querySelector(it).getBoundingClientRect())")
    assert tops[0]["bottom"] <= tops[1]["top"], "the steps, which stay in sight, do not cover it"

    page.mouse.move(300, 600)
    page.mouse.wheel(0, 500)
    page.wait_for_function("scrollY > 300")
    expect(page.get_by_text("Simulated, not the cluster:")).to_be_in_viewport()
    tops = page.evaluate("['.showing', '.time'].map((it) => document.querySelector(it).getBoundingClientRect())")
    assert tops[0]["bottom"] <= tops[1]["top"], "nor does the line that says that it is simulated cover the steps"


def test_a_click_while_a_trial_is_played_is_shown_afterwards_with_the_trial(page: Page, demo: str) -> None:
    opened(page, demo)
    asked = unanswered_trials(page)
    page.select_option("#nodes-which", "topology.kubernetes.io/zone=eu-west-1a")
    page.get_by_role("button", name="Try it", exact=True).click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    page.locator("#matrix button", has_text="shop/search").click()
    expect(page.locator("#panel")).to_contain_text("Waits for what is played")
    expect(page.locator("#matrix tr.chosen")).to_contain_text("shop/search")
    for each in asked:
        each.continue_()
    expect(page.locator("#frames [aria-current]")).to_contain_text("fail")
    expect(page.locator("#panel h2")).to_have_text("Deployment shop/search")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)


def test_what_cannot_be_tried_yet_says_that_it_waits(page: Page, demo: str) -> None:
    held: list[Route] = []
    page.route("**/api/trial**", lambda route: held.append(route))  # noqa: PLW0108 - has attributes
    page.goto(demo)
    forms = page.locator("#forms[inert]")
    expect(forms).to_be_attached()
    shown = page.locator("#trial h2").evaluate("(it) => getComputedStyle(it, '::after').content")
    assert "waits until the cluster is loaded" in shown
    expect(page.locator("#now [data-painted]")).to_be_attached()
    held[0].continue_()
    expect(page.locator("#forms[inert]")).to_have_count(0)


def test_the_card_of_a_what_if_groups_causes_and_shows_where_pods_went_and_stays(page: Page, demo: str) -> None:
    opened(page, f"{demo}?{FAILED}")
    card = page.get_by_role("region", name="What came of it")
    expect(card.locator(".verdict")).to_have_text("no: 6 pods of shop/storefront, shop/checkout are pending at the end")
    expect(card.locator("p.bad").first).to_have_text(re.compile("^1 pod of a StatefulSet is not replaced: "))
    expect(card.get_by_text("2 hard skews grow over their maxSkew")).to_be_visible()
    rows = card.get_by_role("region", name="Workloads that got worse or better").locator("tbody tr")
    expect(rows).to_have_text(["shop/checkout 3 +3 5/8 zone 1→3, max 1", "shop/storefront 3 +3 6/9 zone 0→3, max 1"])
    expect(card.locator(".cause")).to_have_count(1)
    expect(card.locator(".cause h3")).to_have_text("6 pending pods only in the simulation")
    flow = card.get_by_role("img")
    moves = re.findall(r"(\d+) from eu-west-1a to (\S+?)(?:,|$)", flow.get_attribute("aria-label") or "")
    moved = sum(int(pods) for pods, to in moves if to != "pending")
    expect(card.locator("figcaption")).to_have_text(
        f"{moved} pods replaced, all in another zone, 6 pods became pending"
    )
    page.evaluate("document.querySelector('#maps').scrollIntoView()")
    expect(page.locator("#frames [aria-current]")).to_be_in_viewport()
    expect(page.locator("#frames [aria-current]")).to_contain_text("(6 pending)")


def test_an_address_that_names_a_node_that_is_gone_says_so_and_goes_on(browser: Browser, demo: str) -> None:
    context = browser.new_context(extra_http_headers=AUTHORIZED)  # the console may say that 404 was answered
    page = context.new_page()
    opened(page, f"{demo}?node=node-gone")
    expect(page.locator("#panel .bad").first).to_have_text("node node-gone not found")
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
