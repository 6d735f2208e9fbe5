"""The page with the map, as somebody uses it who looks at a cluster and tries things by hand."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.conftest import NewPage
from tests.browser.serving import many_nodes, served

EVIL = "<script>alert(1)</script>"
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {note: evil}}
spec:
  replicas: 7
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
      containers: [{name: c, image: x, resources: {requests: {cpu: "1"}}}]
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Three nodes, one of which takes nobody, so that pods wait."""
    file = tmp_path_factory.mktemp("shop") / "web.yaml"
    file.write_text(WEB)
    with served(str(file), "--cluster", "zones=3,nodes=3,cpu=8,taint=zone-c:dedicated=x:NoSchedule") as url:
        yield url


def opened(page: Page, url: str, query: str = "") -> None:
    page.goto(url + query)
    settled(page)


def settled(page: Page) -> None:
    expect(page.locator("#panel h2")).to_be_visible()
    expect(page.locator("#now canvas[data-painted]")).to_be_attached()
    expect(page.locator("body.busy")).to_have_count(0)


def choose_web(page: Page) -> None:
    page.get_by_role("button", name="shop/web").click()
    expect(page.locator("#panel h2")).to_have_text("Deployment shop/web")


def test_a_chosen_workload_has_counts_minimum_and_skew(page: Page, shop: str) -> None:
    opened(page, shop)
    choose_web(page)

    expect(page.locator("#panel")).to_contain_text("maxSkew 1: the minimum is 0, the skew 1")
    expect(page.get_by_role("row", name="zone-a 1 1 1")).to_be_visible()
    expect(page).to_have_url(re.compile(r"workload=Deployment"))


def test_a_pending_pod_is_explained_and_its_suggestion_tried(page: Page, shop: str) -> None:
    opened(page, shop)
    choose_web(page)
    page.get_by_role("button", name="why?").first.click()

    panel = page.locator("#panel")
    expect(panel).to_contain_text("0/3 nodes are available")
    expect(panel).to_contain_text("What would let it in")
    expect(panel).to_contain_text("2 nodes: PodTopologySpread")
    page.get_by_role("button", name="Try it on the map").first.click()
    expect(page.locator(".steps li")).to_have_count(1)
    expect(page.locator("#frames [aria-current]")).to_contain_text("2. ")
    expect(page.locator("#frames [aria-current]")).not_to_contain_text("waiting")
    expect(page.locator("#before")).to_be_visible()


def test_a_placed_pod_has_its_scores_beside_rivals(page: Page, shop: str) -> None:
    opened(page, shop, "?at=1&workload=Deployment/shop/web")
    page.get_by_role("button", name=re.compile("on node-1")).first.click()

    expect(page.locator("#panel")).to_contain_text("Scores beside its rivals")
    expect(page.locator("#panel")).to_contain_text("NodeResourcesFit")


def test_what_ifs_by_hand_are_an_address_a_command_and_a_drill(page: Page, shop: str, tmp_path: Path) -> None:
    opened(page, shop)
    choose_web(page)
    page.get_by_label("maxSkew as a number").fill("4")
    page.get_by_label("maxSkew as a number").press("Tab")
    expect(page.locator(".steps li")).to_contain_text("maxSkew 4")
    page.get_by_label("maxSkew as a number").fill("5")
    page.get_by_label("maxSkew as a number").press("Tab")
    expect(page.locator(".steps li")).to_contain_text("maxSkew 5")
    expect(page.locator(".steps li")).to_have_count(1)
    page.select_option("#nodes-action", "fail")
    page.select_option("#nodes-which", label="zone-a")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".steps li")).to_have_count(2)
    settled(page)
    address = page.url

    with page.expect_download() as download:
        page.get_by_role("link", name="Download as a drill").click()
    download.value.save_as(tmp_path / "what-if.zip")
    assert zipfile.ZipFile(tmp_path / "what-if.zip").namelist() == ["what-if.yaml", "what-if-1.yaml"]
    shown = page.locator("#trial").inner_text()
    page.goto("about:blank")
    page.goto(address)
    settled(page)
    expect(page.locator(".steps li")).to_have_count(2)
    assert page.locator("#trial").inner_text() == shown


def test_one_goes_back_and_forth_in_time(page: Page, shop: str) -> None:
    opened(page, shop, "?step=fail+zone%3Dzone-a&step=recover+zone%3Dzone-a")
    expect(page.locator("#frames button")).to_have_count(4)
    page.locator("#frames button").nth(2).click()
    expect(page.locator("#frames [aria-current]")).to_contain_text("2. fail zone=zone-a")
    page.go_back()
    expect(page.locator("#frames [aria-current]")).to_contain_text("3. recover")


def test_a_step_that_cannot_be_played_can_be_taken_back(page: Page, new_page: NewPage, shop: str) -> None:
    answer = page.request.get(f"{shop}api/trial?step=fail+zone%3Dnowhere")
    assert answer.status == 422
    assert "nowhere" in answer.json()["error"]


def test_the_map_is_walked_through_with_the_keyboard(page: Page, shop: str) -> None:
    opened(page, shop)
    canvas = page.get_by_label("Map of nodes", exact=True)
    canvas.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#pointed")).to_contain_text("node-1")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#pointed")).to_contain_text("node-2")
    page.keyboard.press("Enter")
    expect(page.locator("#panel h2")).to_have_text("Node node-2")
    expect(page.locator("#panel h2")).to_be_focused()


def test_the_table_says_what_the_map_shows(page: Page, shop: str) -> None:
    opened(page, shop)
    page.get_by_text("The map as a table").click()
    page.get_by_role("button", name="zone-c").click()
    expect(page.get_by_role("row", name=re.compile("node-3.*tainted"))).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280, 3840])
@pytest.mark.parametrize(
    "query",
    ["", "?workload=Deployment/shop/web", "?node=node-3", "?pod=shop/deploy/web", "?step=fail+zone%3Dzone-a&beside=1"],
)
def test_axe_finds_nothing_and_nothing_runs_over_the_edge(
    new_page: NewPage, shop: str, query: str, width: int, scheme: str
) -> None:
    page = new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    opened(page, shop, query)
    page.get_by_text("The map as a table").click()

    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_a_name_is_shown_and_never_run(page: Page, tmp_path: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "n"}}
    node["status"] = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    node["spec"] = {"taints": [{"key": "k", "value": EVIL, "effect": "NoSchedule"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": EVIL, "namespace": "shop", "uid": "u"}}
    pod["spec"] = {"nodeName": "n", "containers": [{"name": "c", "image": "x"}]}
    file = tmp_path / "evil.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, pod]}))
    with served(str(file)) as url:
        opened(page, url, "?node=n")
        expect(page.locator("#panel")).to_contain_text(EVIL)
        page.get_by_role("button", name="← All workloads").click()
        expect(page.locator("#panel")).to_contain_text(f"shop/{EVIL}")
        page.goto("about:blank")  # or it would complain of the server that ends


def test_five_thousand_nodes_are_drawn_and_answer(page: Page, tmp_path: Path) -> None:
    with served(*many_nodes(tmp_path)) as url:
        opened(page, url)
        page.get_by_label("Map of nodes", exact=True).focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#pointed")).to_contain_text("node-")
        page.locator("#panel .list button").first.click()
        expect(page.locator("#panel h2")).to_contain_text("Deployment")
        painted = page.evaluate("document.querySelector('#now canvas').width")
        assert painted > 300
        page.goto("about:blank")
