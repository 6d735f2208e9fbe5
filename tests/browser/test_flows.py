"""The map, why and what-if, as somebody uses them, with mouse and with keys."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, Page, Response, Route, expect

from tests.browser.conftest import NewPage
from tests.browser.serving import AUTHORIZED, TOKEN, served, served_with_token
from topospread.sources.load import load

FAILED = "?step=fail+zone%3Deu-west-1a"
EVIL = "<img src=x onerror=document.title='broken'>"


def opened(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#maps[data-at]")).to_be_visible()
    expect(page.locator("#panel h2")).to_be_visible()


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a page on three nodes, on which not all pods fit, one of them with a name that would like to run."""
    path = tmp_path_factory.mktemp("three") / "app.json"
    labels = {"app": "web"}
    constraint = {
        "maxSkew": 1,
        "minDomains": 4,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }
    spec = {"containers": [{"name": "web", "image": "web"}], "topologySpreadConstraints": [constraint]}
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 4,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    stored = {"uid": "1", "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}
    evil = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": EVIL, "namespace": "default", **stored},
        "spec": {"nodeName": "node-1", "containers": [{"name": "a", "image": "a"}]},
        "status": {"phase": "Running"},
    }
    path.write_text(json.dumps(web))
    cluster = path.with_name("cluster.json")
    nodes = [msgspec.to_builtins(each) for each in load([], cluster="zones=3,nodes=3").nodes]
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, evil]}))
    with served("-f", str(path), "--on", str(cluster)) as url:
        yield url


def test_a_workload_that_is_chosen_shows_its_sum_and_stands_in_the_address(page: Page, demo: str) -> None:
    opened(page, demo)
    page.locator("#panel button", has_text="shop/checkout").click()

    expect(page.locator("#panel h2")).to_have_text("Deployment shop/checkout")
    expect(page.locator("#panel")).to_contain_text("maxSkew 1")
    expect(page).to_have_url(re.compile("workload="))
    page.go_back()
    expect(page.locator("#panel h2")).to_have_text("Workloads")


def test_why_a_pod_waits_and_a_suggestion_that_is_tried(page: Page, three: str) -> None:
    opened(page, f"{three}?workload=Deployment/default/web&at=1")
    page.locator("#panel button", has_text="why?").first.click()
    expect(page.locator("#panel")).to_contain_text("minDomains 4")

    page.locator("#panel button[data-step]").first.click()
    expect(page).to_have_url(re.compile("step="))
    expect(page.locator("#trial .steps li")).to_have_count(1)


def test_figures_say_what_is_wrong_and_filter_the_matrix(page: Page, demo: str) -> None:
    opened(page, f"{demo}{FAILED}")
    figures = page.locator("#figures button")
    expect(figures).to_have_count(5)
    expect(figures.first).to_contain_text("6 pending pods of 2 workloads")
    expect(page.locator("#matrix tbody tr")).to_have_count(5)
    expect(page.locator("#matrix tbody tr").first).to_contain_text("! zone skew 3, max 1, 3 pending")
    expect(page.locator("#matrix td.over").first).to_have_attribute("title", "3 − 0 (minimum) = 3, maxSkew 1")

    figures.nth(1).click()
    expect(page).to_have_url(re.compile("filter=hard"))
    expect(page.locator("#matrix tbody tr")).to_have_count(2)
    expect(page.locator("#panel .list li")).to_have_count(2)
    figures.nth(3).click()
    expect(page.locator("#matrix tbody tr")).to_have_count(7)
    expect(page.locator("#panel h2")).to_have_text("Nodes not open")
    expect(page.locator("#panel .list li")).to_have_count(7)
    page.get_by_role("searchbox", name="Find").fill("search")
    expect(page.locator("#panel .list li")).to_have_text(re.compile("^shop/search"))
    page.get_by_role("button", name="← All workloads").click()
    expect(page.locator("#figures [aria-pressed=true]")).to_have_count(0)
    expect(page.locator("#panel .list li")).to_have_count(5)
    figures.nth(3).click()
    page.locator("#matrix button", has_text="node-c1").click()
    expect(page.locator("#panel h2")).to_have_text("Node node-c1")
    page.locator("#figures button[aria-pressed=true]").click()
    page.locator("#matrix button", has_text="shop/search").click()
    expect(page.locator("#panel h2")).to_have_text("Deployment shop/search")
    bar = page.locator("#panel svg.bar").first
    expect(bar.locator("title")).to_have_text(re.compile(r"^\d+ − \d+ \(minimum\) = \d+, maxSkew \d+$"))


def test_why_a_pod_waits_shows_its_workload_on_the_map(page: Page, demo: str) -> None:
    opened(page, f"{demo}{FAILED}")
    expect(page.locator("#now .domain").last).not_to_contain_text("skew")
    page.locator("#result .cause button").first.click()
    expect(page.locator("#now .domain").last).to_contain_text("skew")
    expect(page.locator("#now .dots").first).to_be_attached()
    expect(page.locator("#now .domain").first.locator(".cells :is(.used, .full)").first).to_be_attached()


def test_a_workload_shows_what_lint_finds_and_what_it_keeps(page: Page, demo: str) -> None:
    opened(page, f"{demo}?workload=Deployment/shop/checkout")
    expect(page.get_by_role("region", name="What lint finds")).to_contain_text("No PodDisruptionBudget")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_text("What it keeps when a zone or node is lost").click()
    panel = page.locator("#panel details:has(.verdict)")
    kept = "yes: no single loss takes all pods of shop/checkout; up to 3 then stay pending"
    expect(panel.locator(".verdict")).to_have_text(
        re.compile(f"^In any placement, ({kept}|unknown: whether a single loss can take all pods of shop/checkout)$")
    )
    expect(panel.locator("li").first).to_have_text(
        re.compile(
            r"^If a zone is lost, \d+ of 8 pods stay ready as placed now, \d( or \d| to \d)? in the worst placement"
        )
    )
    panel.get_by_text("What happens then, also in a drain").click()
    expect(page.get_by_role("region", name="Pods that stay ready")).to_contain_text("a zone is lost")
    assert ["now=1" in each for each in asked if "/api/promises" in each] == [True, False]
    page.get_by_role("button", name=re.compile("^Try on the map: ")).first.click()
    expect(page.locator("#trial .steps li")).not_to_have_count(0)


def test_pods_and_nodes_are_found_by_name(page: Page, demo: str) -> None:
    opened(page, demo)
    field = page.get_by_role("searchbox", name="Find a workload, pod, node or zone")
    field.fill("node-b")
    page.locator("#panel").get_by_role("button", name="node-b2", exact=True).click()
    expect(page.locator("#panel h2")).to_have_text("Node node-b2")
    page.get_by_role("button", name="← All workloads").click()
    field.fill("orders-db-1")
    page.locator("#panel button", has_text="shop/orders-db-1").click()
    expect(page.locator("#panel h2")).to_contain_text("orders-db-1")


def test_what_a_loss_leaves_as_placed_now_is_shown_while_the_orders_are_searched(page: Page, demo: str) -> None:
    held: list[Route] = []
    stages = ["searching the orders of pods for the loss of a zone", "simulating fail zone=eu-west-1a"]
    says = {"says": ""}

    def hold(route: Route) -> None:
        if "now=1" in route.request.url:
            route.continue_()
        else:
            held.append(route)

    page.route("**/api/promises**", hold)
    page.route("**/api/progress**about=promises**", lambda route: route.fulfill(json=says))
    opened(page, f"{demo}?workload=Deployment/shop/checkout")
    page.get_by_text("What it keeps when a zone or node is lost").click()
    panel = page.locator("#panel details[data-ask]")
    expect(panel.locator("li").first).to_have_text("If a zone is lost, 5 of 8 pods stay ready as placed now.")
    for each in stages:
        says["says"] = each
        expect(panel).to_contain_text(re.compile(rf"Asking … {each}, \d+ s"))
    expect(panel.locator(".verdict")).to_have_count(0)
    held[0].continue_()
    expect(panel.locator(".verdict")).to_have_count(1)
    expect(panel.get_by_text("If a zone is lost")).to_have_count(1)


def test_a_zone_that_is_chosen_on_the_map_or_found_offers_its_loss(page: Page, demo: str) -> None:
    opened(page, demo)
    page.locator("#now .domain summary", has_text="eu-west-1a").click()
    page.get_by_role("button", name="Fail zone eu-west-1a").click()
    expect(page.locator("#result h2")).to_have_text("Fail topology.kubernetes.io/zone=eu-west-1a")
    expect(page.locator("#result .verdict")).to_contain_text("no: 6 pods of")

    page.get_by_role("searchbox", name="Find a workload, pod, node or zone").fill("west-1b")
    page.locator("#panel").get_by_role("button", name="Drain zone eu-west-1b").click()
    expect(page.locator("#frames [aria-current]")).to_contain_text("2. drain topology.kubernetes.io/zone=eu-west-1b")


def test_steps_that_were_left_out_can_be_forgotten(page: Page, demo: str) -> None:
    opened(page, f"{demo}{FAILED}&at=1")
    page.locator("#now .domain summary", has_text="eu-west-1b").click()
    page.get_by_role("button", name="Fail zone eu-west-1b").click()
    expect(page.locator("#moment")).to_contain_text(
        "Left out, as it was not shown when you tried this: fail zone=eu-west-1a."
    )
    page.get_by_role("button", name="Forget it").click()
    expect(page.locator("#moment")).not_to_contain_text("Left out")
    expect(page.locator("#moment")).to_contain_text("Simulated, not the cluster")


def test_why_a_pod_is_where_it_is(page: Page, demo: str) -> None:
    opened(page, f"{demo}?workload=Deployment/shop/checkout")
    page.locator("#panel button[data-pod]").first.click()

    expect(page.locator("#panel")).to_contain_text("Scores of its node and of the next best")


def test_a_zone_that_fails_can_be_tried_and_taken_back(page: Page, demo: str) -> None:
    opened(page, demo)
    page.select_option("#nodes-action", "fail")
    page.select_option("#nodes-which", "topology.kubernetes.io/zone=eu-west-1a")
    page.get_by_role("button", name="Try it", exact=True).click()

    expect(page.locator("#trial .steps li")).to_have_count(1)
    expect(page.locator("#frames [aria-current=step]")).to_contain_text("fail")
    page.get_by_role("button", name=re.compile("Take back")).click()
    expect(page.locator("#trial .steps li")).to_have_count(0)


def test_a_drain_that_is_refused_can_be_tried_with_force(page: Page, three: str) -> None:
    opened(page, f"{three}?step=drain+node%3Dnode-1")
    result = page.locator("#result")
    expect(result).to_contain_text("no: 2 pods not evicted")
    expect(result).to_contain_text("All pods stay; the drain only cordons.")
    result.get_by_role("button", name="Try it with force").click()
    expect(page.locator("#trial .steps li")).to_have_count(1)
    expect(page.locator("#trial .steps li")).to_contain_text("kubectl drain --ignore-daemonsets --force")
    expect(page.locator("#frames [aria-current]")).to_contain_text("1. force-drain node=node-1")
    expect(result).not_to_contain_text("not evicted")
    expect(page.locator("#nodes-action option[value=force-drain]")).to_have_text("drain with force")


def test_a_what_if_is_kept_as_the_baseline_of_another(page: Page, demo: str) -> None:
    opened(page, f"{demo}{FAILED}")
    page.get_by_role("button", name="Keep as baseline").click()
    expect(page.locator("#now figcaption")).to_contain_text("since: the baseline, fail zone=eu-west-1a.")
    page.get_by_role("button", name=re.compile("Take back")).click()
    said = re.compile("Then 12 nodes, 6 pods pending, 2 workloads over a hard maxSkew; now 12 nodes, 0 pods pending")
    expect(page.locator("#now figcaption")).to_contain_text(said)
    expect(page.locator("#now .leaves")).not_to_have_count(0)
    page.select_option("#beside", "")
    expect(page.locator("#now figcaption")).to_have_text("")
    page.reload()
    page.select_option("#beside", "base")
    expect(page.locator("#now figcaption")).to_contain_text("the baseline, fail zone=eu-west-1a")


def snapshot(path: Path, **pods: str) -> str:
    """Write a snapshot of three nodes and of pods on them."""
    items: list[dict[str, object]] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": name, "labels": {"topology.kubernetes.io/zone": f"zone-{name}"}},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
        }
        for name in ("a", "b", *(["c"] if "now" in path.name else []))
    ] + [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "shop", "uid": name},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "x"}]},
        }
        for name, node in pods.items()
    ]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


def test_an_earlier_snapshot_is_the_baseline(page: Page, tmp_path: Path) -> None:
    earlier = snapshot(tmp_path / "then.json", stays="a", moves="a", goes="b")
    with served("--on", snapshot(tmp_path / "now.json", stays="a", moves="b"), "--baseline", earlier) as url:
        opened(page, url)
        page.select_option("#beside", label="the earlier snapshot, then.json")
        expect(page.locator("#now figcaption")).to_have_text(
            "What changed since: the earlier snapshot, then.json. Then 2 nodes, 0 pods pending, 0 workloads over a "
            "hard maxSkew; now 3 nodes, 0 pods pending, 0 workloads over a hard maxSkew."
        )
        expect(page.locator("#now .arrives")).to_have_count(1)
        expect(page.locator("#now .leaves")).to_have_count(2)
        expect(page).to_have_url(re.compile("beside=baseline"))
        page.reload()
        expect(page.locator("#now .arrives")).to_have_count(1)
        page.goto("about:blank")  # or it would complain of the server that ends


def test_replicas_can_be_typed_and_stand_in_the_address(page: Page, demo: str) -> None:
    opened(page, f"{demo}?workload=Deployment/shop/checkout")
    page.locator("#replicas").fill("3")
    page.locator("#replicas").press("Tab")

    expect(page).to_have_url(re.compile("step=scale"))
    expect(page.locator("#trial .steps li")).to_have_count(1)


def test_an_address_shows_another_reader_the_same(page: Page, demo: str) -> None:
    opened(page, f"{demo}{FAILED}&beside=1&workload=Deployment/shop/checkout")

    expect(page.locator("#trial .steps li")).to_have_count(1)
    expect(page.locator("#now figcaption")).to_contain_text("What changed since")
    expect(page.locator("#panel h2")).to_have_text("Deployment shop/checkout")


def test_time_goes_back_and_forth(page: Page, demo: str) -> None:
    opened(page, f"{demo}{FAILED}")
    page.locator("#frames button").first.click()
    expect(page.locator("#frames button").first).to_have_attribute("aria-current", "step")
    page.locator("#frames button").last.click()

    expect(page.locator("#frames button").last).to_have_attribute("aria-current", "step")


def test_a_what_if_is_a_file_and_a_command(new_page: object, demo: str) -> None:
    page: Page = new_page(permissions=["clipboard-read", "clipboard-write"], extra_http_headers={})  # type: ignore[operator]
    opened(page, f"{demo}{FAILED}&token={TOKEN}")  # a download has the cookie only
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as a drill").click()
    assert "fail" in Path(download.value.path()).read_text()

    page.get_by_role("button", name="Copy topospread drill").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("topospread drill ")
    assert "--fail" in copied
    page.get_by_text("Share this as one file").click()
    page.get_by_role("button", name="Copy command for one file").click()
    assert page.evaluate("navigator.clipboard.readText()") == f"{copied} -o html=page.html"
    note = page.locator("#result .head [role=status]")
    expect(note).to_be_empty()
    page.locator(".figure.closed").click()
    expect(page).to_have_url(re.compile("filter=closed"))
    page.get_by_role("button", name="Copy link").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "step=fail" in copied
    assert "token" not in copied
    assert "filter" not in copied, "it has nothing to do with the what-if"
    expect(note).to_have_text(re.compile(r"^The receiver needs this server’s token\. 127\.0\.0\.1 is this machine"))
    tops = page.evaluate(
        "['[data-said]', '.verdict', 'h3'].map((it) => document.querySelector('#result ' + it).offsetTop)"
    )
    assert tops == sorted(tops), "the button is where the result is read"


def test_a_step_continues_what_is_shown_and_what_it_leaves_out_can_be_had_back(page: Page, demo: str) -> None:
    opened(page, f"{demo}{FAILED}&at=0&node=node-a1")
    band = page.locator("#moment")
    expect(band).to_contain_text("The cluster as read. Not in this: fail zone=eu-west-1a.")
    page.get_by_role("button", name="Cordon", exact=True).click()
    expect(band).to_contain_text("Simulated, not the cluster: cordon node=node-a1.")
    expect(page.locator("#trial .steps li")).to_have_count(1)
    band.get_by_role("button", name="Go back to it").click()
    expect(band).to_contain_text("Simulated, not the cluster: fail zone=eu-west-1a.")
    page.get_by_role("button", name="Cordon", exact=True).click()
    expect(band).to_contain_text("fail zone=eu-west-1a, then cordon node=node-a1")
    band.get_by_role("button", name="Show the cluster as read").click()
    expect(page.locator("#frames button").first).to_have_attribute("aria-current", "step")
    page.goto(demo)
    expect(page.locator("#maps[data-at]")).to_be_visible()
    expect(band).to_have_text("Pending pods are placed in a simulation.")


def test_a_name_is_text_wherever_it_is_shown(page: Page, three: str) -> None:
    opened(page, f"{three}?node=node-1")
    expect(page.locator("#panel")).to_contain_text(EVIL)
    page.locator("#panel button[data-pod]", has_text="<img").click()
    expect(page.locator("#panel h2")).to_contain_text(EVIL)

    assert page.title() != "broken"
    assert page.evaluate("document.querySelectorAll('img').length") == 0


def test_what_is_typed_in_an_open_list_chooses_no_figure(page: Page, demo: str) -> None:
    """The page's keys 1 to 5 choose a figure, and a zone's name has digits."""
    opened(page, demo)
    page.locator("#nodes-which").click()
    page.keyboard.type("1")
    page.wait_for_timeout(200)
    expect(page.locator("#figures button[aria-pressed=true]")).to_have_count(0)


def test_the_keyboard_goes_through_the_map(page: Page, demo: str) -> None:
    opened(page, demo)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.locator("#now .domains").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#pointed")).to_contain_text("node-")
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile("node=node-"))
    expect(page.locator("#panel h2")).to_contain_text("node-")


def test_the_map_is_a_table_too(page: Page, demo: str) -> None:
    opened(page, demo)
    page.locator("#table summary").click()

    page.locator("#table").get_by_role("button", name="eu-west-1a").click()

    expect(page.locator("#table")).to_contain_text("node-a1")


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_without_its_token_the_page_is_not_shown(new_page: NewPage, browser: Browser, host: str) -> None:
    chosen = "a-token-that-was-chosen"
    with served_with_token("--on", "zones=3", "--host", host, token=chosen) as url:
        assert url.endswith(f"/?token={chosen}")
        page = new_page(extra_http_headers={})
        page.goto(url)
        expect(page.locator("#panel h2")).to_be_visible()
        assert "token" not in page.url
        bare = url.partition("?")[0]
        page.goto(f"{bare}editor")
        expect(page.locator("h1")).to_be_visible()
        answer = page.context.request.get(bare)
        assert answer.status == 200
        page.close()
        page.context.clear_cookies()
        assert page.context.request.get(bare).status == 403
        refused = browser.new_context().new_page()
        refused.goto(f"{bare}?step=fail+zone%3Da&fill=cpu")
        expect(refused.locator("main")).to_contain_text("topospread serve printed it")
        assert refused.locator(".top").evaluate("(it) => getComputedStyle(it).display") == "flex"
        refused.get_by_label("Token").fill(url.partition("token=")[2])
        refused.get_by_role("button", name="Open the address").click()
        expect(refused.locator("#fill")).to_have_value("cpu")
        assert refused.url.endswith("/?step=fail+zone%3Da&fill=cpu")
        refused.context.close()


@pytest.fixture
def evil_folder(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder that another site serves, and that site's address."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield tmp_path, f"http://localhost:{server.server_port}/"
        server.shutdown()


def test_another_site_can_link_to_the_page_and_frame_nothing(
    browser: Browser, demo: str, evil_folder: tuple[Path, str]
) -> None:
    folder, evil = evil_folder
    api = f"{demo}api/trial?step=fail+zone%3Deu-west-1a"
    frames = "".join(f'<iframe src="{each}"></iframe>' for each in (demo, f"{demo}editor", api))
    links = f'<a id="page" href="{demo}">page</a><a id="api" href="{api}">api</a>'
    (folder / "index.html").write_text(f"<title>evil</title>{frames}{links}")
    # The browser is let in, and its console may say that frames were refused.
    context = browser.new_context(extra_http_headers=AUTHORIZED)
    page = context.new_page()
    statuses: dict[str, int] = {}

    def note(got: Response) -> None:
        statuses.setdefault(got.url, got.status)

    page.on("response", note)
    page.goto(evil, wait_until="load")
    assert [statuses.get(each) for each in (demo, f"{demo}editor", api)] == [403, 403, 403]
    page.click("#api")
    expect(page.locator("body")).to_contain_text("another origin")
    page.goto(evil, wait_until="load")
    page.click("#page")
    expect(page.locator("#panel h2")).to_be_visible()
    context.close()


def test_no_other_page_can_ask(page: Page, demo: str) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
        assert page.context.request.get(f"{demo}api/state", headers=AUTHORIZED | headers).status in (403, 421)
    policy = page.context.request.get(demo).headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


def test_answers_stay_while_the_table_is_filtered_and_when_one_comes_back(page: Page, demo: str) -> None:
    opened(page, f"{demo}{FAILED}")
    causes = page.locator("#result .cause")
    expect(causes.first).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#figures button").nth(1).click()
    expect(page).to_have_url(re.compile("filter=hard"))
    expect(causes.first).to_be_visible()
    causes.locator("button").first.click()
    expect(page.get_by_role("button", name=re.compile("^Show Deployment"))).to_be_visible()
    page.get_by_role("button", name="← Back").click()
    expect(causes.first).to_be_visible()
    assert not any("/api/pending" in each for each in asked)


def test_times_are_ages_whose_title_is_the_time(page: Page, shop: str) -> None:
    at = "2020-01-01T00:00:00Z"
    asked = json.dumps({"html": f"<p class=cause><time>since {at}</time>, <time>placed at {at}</time></p>"})
    page.route("**/api/pending**", lambda route: route.fulfill(body=asked, content_type="application/json"))
    opened(page, shop)
    times = page.locator("#panel .cause time")
    expect(times).to_have_text([re.compile(r"^for \d+ d$"), re.compile(r"^placed \d+ d ago$")])
    assert [each.get_attribute("title") for each in times.all()] == [f"since {at}", f"placed at {at}"]


def test_a_filter_closes_what_it_may_not_contain(page: Page, demo: str) -> None:
    opened(page, f"{demo}{FAILED}&workload=Deployment/shop/search")
    page.locator("#figures button").nth(3).click()
    expect(page.locator("#panel h2")).to_have_text("Nodes not open")
    expect(page.locator("#matrix p").first).to_contain_text("eu-west-1a: 4 not ready")


def test_nodes_outside_of_a_constraint_are_counted_and_a_nodes_beginning_names_it(page: Page, tmp_path: Path) -> None:
    def node(name: str, zone: str) -> dict[str, object]:
        metadata = {"name": name, "labels": {"topology.kubernetes.io/zone": zone, "disk": zone}}
        status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
        return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}

    labels = {"app": "web"}
    constraint = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
    spec = {
        "containers": [{"name": "a", "image": "a"}],
        "nodeSelector": {"disk": "a"},
        "topologySpreadConstraints": [constraint | {"labelSelector": {"matchLabels": labels}}],
    }
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}},
    }
    web["spec"]["template"]["spec"] = spec  # type: ignore[index]
    items = [node("ip-1.example", "a"), node("ip-2.example", "b"), web]
    (tmp_path / "app.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    with served("-f", str(tmp_path / "app.json")) as url:
        opened(page, url)
        expect(page.locator("#matrix tbody tr td").last).to_have_text("0 –")
        page.fill("#nodes-other", "ip-2")
        page.select_option("#nodes-action", "cordon")
        page.get_by_role("button", name="Try it", exact=True).click()
        expect(page.locator("#trial .steps li")).to_contain_text("cordon node=ip-2.example")
        page.close()
