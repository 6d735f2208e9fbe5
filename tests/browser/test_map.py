"""The page with the map, as somebody uses it who looks at a cluster and tries things by hand."""

from __future__ import annotations

import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.conftest import NewPage
from tests.browser.cut_words import cut_words
from tests.browser.serving import TOKEN, WEB, many_nodes, named_nodes, served

EVIL = "<script>alert(1)</script>"
MOST_OF_FIRST_LOAD = 300_000
"""Bytes, compressed, of all that the page asks for before it is whole."""
MOST_OF_AN_ANSWER = 200_000


def opened(page: Page, url: str, query: str = "") -> None:
    page.goto(url + query)
    settled(page)


def settled(page: Page) -> None:
    expect(page.locator("#panel h2")).to_be_visible()
    expect(page.locator("#now [data-painted]")).to_be_attached()
    expect(page.locator("body.busy")).to_have_count(0)


def choose_web(page: Page) -> None:
    page.locator("#panel").get_by_role("button", name="shop/web").click()
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
    expect(panel.locator(".waterfall")).to_contain_text("PodTopologySpread −2")
    expect(panel).to_contain_text("Of 3 nodes none is left")
    page.get_by_role("button", name="Try it on the map").first.click()
    expect(page.locator(".steps li")).to_have_count(1)
    expect(page.locator("#frames [aria-current]")).to_contain_text("1. ")
    expect(page.locator("#frames [aria-current]")).not_to_contain_text("waiting")
    expect(page.locator("#now .arrives")).not_to_have_count(0)


def test_a_placed_pod_has_its_scores_beside_rivals(page: Page, shop: str) -> None:
    opened(page, shop, "?at=1&workload=Deployment/shop/web")
    page.get_by_role("button", name=re.compile("on node-1")).first.click()

    expect(page.locator("#panel")).to_contain_text("Scores of its node and of the next best")
    expect(page.locator("#panel")).to_contain_text("NodeResourcesFit")


def test_what_ifs_by_hand_are_an_address_a_command_and_a_drill(new_page: NewPage, shop: str, tmp_path: Path) -> None:
    page = new_page(extra_http_headers={})
    opened(page, shop, f"?token={TOKEN}")  # a download has the cookie only
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
    expect(page.locator("#frames [aria-current]")).to_contain_text("1. fail zone=zone-a")
    page.go_back()
    expect(page.locator("#frames [aria-current]")).to_contain_text("2. recover")


def test_a_step_that_cannot_be_played_can_be_taken_back(page: Page, new_page: NewPage, shop: str) -> None:
    answer = page.request.get(f"{shop}api/trial?step=fail+zone%3Dnowhere")
    assert answer.status == 422
    assert "nowhere" in answer.json()["error"]


def test_the_map_is_walked_through_with_the_keyboard(page: Page, shop: str) -> None:
    opened(page, shop)
    map_ = page.get_by_label("Map of nodes", exact=True)
    map_.focus()
    painted = map_.get_attribute("data-painted")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#pointed")).to_contain_text("node-1")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#pointed")).to_contain_text("node-2")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert map_.get_attribute("data-painted") == painted, "a step alone paints no map anew"
    page.keyboard.press("Enter")
    expect(page.locator("#panel h2")).to_have_text("Node node-2")
    expect(page.locator("#panel h2")).to_be_focused()


def test_the_table_says_what_the_map_shows(page: Page, shop: str) -> None:
    opened(page, shop)
    page.get_by_text("The map as a table").click()
    page.get_by_role("button", name="zone-c").click()
    expect(page.get_by_role("row", name=re.compile("node-3.*tainted"))).to_be_visible()


def test_a_name_is_shown_and_never_run(page: Page, tmp_path: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "n"}}
    node["status"] = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    node["spec"] = {"taints": [{"key": "k", "value": EVIL, "effect": "NoSchedule"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": EVIL, "namespace": "shop", "uid": "u"}}
    pod["spec"] = {"nodeName": "n", "containers": [{"name": "c", "image": "x"}]}
    file = tmp_path / "evil.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, pod]}))
    with served("-f", str(file)) as url:
        opened(page, url, "?node=n")
        expect(page.locator("#panel")).to_contain_text(EVIL)
        page.get_by_role("button", name="← All workloads").click()
        expect(page.locator("#panel")).to_contain_text(f"shop/{EVIL}")
        page.goto("about:blank")  # or it would complain of the server that ends


def test_five_thousand_nodes_and_a_hundred_thousand_pods_are_drawn_and_answer(page: Page, tmp_path: Path) -> None:
    with served(*many_nodes(tmp_path)) as url:
        sizes: list[int] = []
        page.on("requestfinished", lambda request: sizes.append(request.sizes()["responseBodySize"]))
        opened(page, url)
        assert 50_000 < sum(sizes) <= MOST_OF_FIRST_LOAD
        assert max(sizes) <= MOST_OF_AN_ANSWER
        drawn = page.evaluate("fetch('/api/picture').then((answer) => answer.json())")
        assert len(drawn["nodes"]["name"]) == 5_000
        assert sum(sum(each[1::2]) for each in drawn["nodes"]["pods"]) == 100_000
        cells = page.locator("#now .cells").first
        cells.hover(position={"x": 3, "y": 3})
        expect(page.locator("#pointed")).to_contain_text("20 pods")

        page.get_by_role("searchbox", name="Find").fill("app-077")
        page.locator("#panel .list button").first.click()
        expect(page.locator("#panel h2")).to_have_text("Deployment default/app-077")
        page.get_by_role("button", name="Larger").click()
        cells.hover(position={"x": 20, "y": 5})
        expect(page.locator("#pointed")).to_contain_text("of app-077")

        page.get_by_role("button", name="All workloads").click()
        page.locator("#panel .list button", has_text="pending").click()
        page.get_by_role("button", name="why?").click()
        expect(page.locator("#panel")).to_contain_text("0/5000 nodes are available")

        # As it was read, all of them wait: how one would be placed is known without placing all of them again.
        page.goto(f"{url}?at=0&workload=Deployment/default/app-077")
        page.locator("#panel [data-pod]").first.click()
        expect(page.locator("#panel")).to_contain_text("would be placed on node-")
        page.get_by_role("button", name="Back").click()
        expect(page.locator("#panel h2")).to_have_text("Deployment default/app-077")
        page.goto("about:blank")  # or it would complain of the server that ends


TABLE_FIRST = """new MutationObserver(() => {
  if (document.querySelector("#matrix tbody tr")) window.tableFirst ??= !document.querySelector("#now [data-painted]");
}).observe(document, { childList: true, subtree: true })"""


def test_the_figures_and_the_table_are_seen_before_the_map(page: Page, shop: str) -> None:
    page.add_init_script(TABLE_FIRST)
    opened(page, shop)
    assert page.evaluate("window.tableFirst")


def test_a_click_on_hard_limits_shows_the_evictions_that_mend_them_all(page: Page, shop: str, tmp_path: Path) -> None:
    opened(page, shop, "?filter=hard")
    expect(page.locator("#panel [data-ask]")).to_have_count(0)
    owner = WEB.replace("kind: Deployment", "kind: ReplicaSet").replace("namespace: shop", "namespace: shop, uid: r")
    pod = WEB[WEB.index("    spec:\n") :].replace("\n    ", "\n").removeprefix("    ")
    stored = "labels: {app: web}, creationTimestamp: 2026-01-01T00:00:00Z"
    refs = "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: r, controller: true}]"
    pods = [
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: web-{at}, namespace: shop, uid: u{at}, {stored}, {refs}}}\n"
        f"{pod}  nodeName: node-1\n"
        for at in range(4)
    ]
    file = tmp_path / "web.yaml"
    file.write_text(owner.replace("replicas: 7", "replicas: 4") + "".join(pods))
    with served("-f", str(file), "--on", "zones=2,nodes=2,cpu=16") as url:
        opened(page, url)
        page.locator(".figure.hard").click()
        expect(page.locator("#panel .verdict")).to_contain_text("yes: 2 evictions restore 1 constraint")
        expect(page.locator("#panel code").last).to_contain_text("topospread rebalance")
        page.goto("about:blank")


def test_a_dash_marks_only_a_domain_that_an_own_constraint_does_not_count(page: Page, tmp_path: Path) -> None:
    labelled = WEB.replace("containers:", "nodeSelector: {topology.kubernetes.io/zone: zone-a}\n      containers:")
    begin, end = labelled.index("      topologySpread"), labelled.index("      nodeSelector")
    plain = (labelled[:begin] + labelled[end:]).replace("web", "plain").replace("zone-a", "none")
    file = tmp_path / "dash.yaml"
    file.write_text(f"{labelled}---\n{plain}")
    with served("-f", str(file), "--on", "zones=3,nodes=3,cpu=16") as url:
        opened(page, url)
        row = page.locator("#matrix tbody tr")
        dash = row.filter(has_text="shop/web").locator("small", has_text="–")
        expect(dash).to_have_count(2)
        expect(row.filter(has_text="shop/plain").locator("small")).to_have_count(0)
        expect(page.locator("#legend")).to_contain_text("– in the table: the workload’s constraint does not count")
        page.goto("about:blank")


def test_closed_nodes_are_all_in_sight_with_their_taints(page: Page) -> None:
    with served("--on", "zones=3,nodes=36,taint=zone-c:dedicated=x:NoSchedule") as url:
        opened(page, url, "?filter=closed")
        expect(page.locator("#matrix tbody tr")).to_have_count(12)
        expect(page.locator("#matrix tbody tr").last).to_contain_text("dedicated=x:NoSchedule")
        box = page.locator("#matrix .scroll")
        assert box.evaluate("(it) => it.scrollHeight === it.clientHeight")
        page.goto("about:blank")


def test_closed_nodes_say_for_how_long_and_are_counted_once_those_that_are_not_ready_first(
    page: Page, tmp_path: Path
) -> None:
    began = datetime.now(UTC) - timedelta(hours=3)
    time = began.strftime("%Y-%m-%dT%H:%M:%SZ")
    path = tmp_path / "nodes.json"
    words = named_nodes(path, ["zone-a"], 4)
    nodes = json.loads(path.read_text())
    cordoned = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": time}
    spot = {"key": "spot", "value": "true", "effect": "NoSchedule", "timeAdded": time}
    silent = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule", "timeAdded": time}
    first, second, third, _ = nodes["items"]
    first["spec"] = {"unschedulable": True, "taints": [cordoned, spot]}
    second["spec"] = {"unschedulable": True, "taints": [cordoned]}
    third["spec"] = {"taints": [silent]}
    third["status"]["conditions"] = [{"type": "Ready", "status": "Unknown", "lastTransitionTime": time}]
    path.write_text(json.dumps(nodes))
    with served(*words[:2]) as url:
        opened(page, url, "?filter=closed")
        expect(page.locator("#figures button").nth(3)).to_have_text("3 nodes not open 1 not ready, 2 cordoned")
        why = page.locator("#matrix tbody td:nth-child(3)")
        expect(why).to_have_text(
            ["not ready for 3 h", "cordoned for 3 h, spot=true:NoSchedule for 3 h", "cordoned for 3 h"]
        )
        expect(why.first.locator("span")).to_have_attribute("title", f"not ready since {time}")
        page.locator("#matrix tbody button").first.click()
        expect(page.locator("#panel h2 + p")).to_contain_text("not ready for 3 h")
        expect(page.locator("#panel time").first).to_have_attribute("title", f"since {time}")
        page.goto("about:blank")


ORDERED = """async () => {
  const { worstFirst } = await import("/static/workloads.js");
  const workloads = {
    name: ["fine", "soft", "not judged", "hard", "lost", "pending"], replicas: [9, 1, 2, 1, 1, 1],
    waiting: [0, 0, 2, 0, 0, 3], unjudged: [0, 0, 2, 0, 0, 0], missing: [0, 0, 0, 0, 1, 0],
    hardExceeded: [null, null, null, { skew: 5, maxSkew: 1 }, null, null],
    softExceeded: [null, { skew: 5, maxSkew: 1 }, null, null, null, null],
  };
  return worstFirst({ workloads }).map((row) => workloads.name[row]);
}"""


def test_workloads_without_ready_pods_come_first_then_limits_then_what_is_not_judged(page: Page, shop: str) -> None:
    opened(page, shop)
    assert page.evaluate(ORDERED) == ["pending", "lost", "hard", "soft", "not judged", "fine"]


def test_a_long_table_begins_short_and_grows_when_it_is_asked_to(page: Page, tmp_path: Path) -> None:
    """No box inside the page is scrolled, so that the wheel always moves the page."""
    with served(*many_nodes(tmp_path, 60, 260, 1)) as url:
        opened(page, url)
        rows, box = page.locator("#matrix tbody tr"), page.locator("#matrix .scroll")
        expect(rows).to_have_count(12)
        assert box.evaluate("(it) => it.scrollHeight === it.clientHeight")
        page.get_by_role("button", name="Show 200 more of 261 workloads").click()
        expect(rows).to_have_count(212)
        page.get_by_role("button", name="Show all 261 workloads").click()
        expect(rows).to_have_count(261)
        expect(page.locator("#matrix > button")).to_be_hidden()
        assert box.evaluate("(it) => it.scrollHeight === it.clientHeight")
        page.goto("about:blank")


EXTENDED = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
  - {urlPrefix: "http://192.0.2.1/", filterVerb: filter}
"""


def test_what_is_not_judged_is_hatched_with_a_question_mark_and_words(page: Page, tmp_path: Path) -> None:
    wanted = "{key: topology.kubernetes.io/zone, operator: In, values: [zone-a, zone-b]}"
    affinity = (
        f"{{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchExpressions: [{wanted}]}}]}}}}"
    )
    (tmp_path / "web.yaml").write_text(
        WEB.replace("containers:", f"affinity: {{nodeAffinity: {affinity}}}\n      containers:")
    )
    (tmp_path / "config.yaml").write_text(EXTENDED)
    words = [
        "-f",
        str(tmp_path / "web.yaml"),
        "--on",
        "zones=3,nodes=3,cpu=8",
        "--config",
        str(tmp_path / "config.yaml"),
    ]
    with served(*words) as url:
        opened(page, url)
        expect(page.locator("#figures")).to_contain_text("7 not judged")
        expect(page.locator("#figures")).to_contain_text("0 pending")
        expect(page.locator("#result .verdict")).to_have_text("? 7 pods not judged; 0 pods ready.")
        expect(page.locator("#panel .cause h3")).to_have_text("? 7 pods not judged")
        cell = page.locator("#matrix td.unknown").first
        expect(cell).to_have_text("? 0 to 7")
        expect(page.locator("#matrix td.unknown")).to_have_count(2)  # not the zone whose node no such pod may use
        assert "gradient" in cell.evaluate("(it) => getComputedStyle(it).backgroundImage")
        expect(page.locator("#matrix tbody tr").first).to_contain_text("? 7 not judged")
        expect(page.locator("#now .cells .unknown")).to_have_count(0)
        page.locator("#now .domains").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#pointed")).to_contain_text("? may take a pod that is not judged")
        page.locator("#matrix button", has_text="shop/web").click()
        # The affinity rejects the third node anyway.
        expect(page.locator("#now .cells .unknown")).to_have_count(2)
        expect(page.locator("#now .cells text", has_text=re.compile("^\\?$"))).to_have_count(2)
        expect(page.locator("#panel td.unknown")).to_have_count(2)
        expect(page.locator("#panel")).to_contain_text("? 7 not judged")
        expect(page.get_by_role("row", name=re.compile(r"^zone-a .*\? 0 to 7"))).to_be_visible()
        assert findings(page) == []
        assert cut_words(page) == []
        page.goto("about:blank")


SLOWEST = {"hover": 3, "choose": 8}
"""How long a thing may take at 5,000 nodes, as a multiple of two empty frames or of two 60ths of a second."""
TIMED = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const timed = async (what) => {
    const begin = performance.now();
    await what();
    await frame();
    return performance.now() - begin;
  };
  const best = async (what) => Math.min(await timed(what), await timed(what), await timed(what));
  const box = document.querySelector("#now .domains");
  const row = document.querySelector("#matrix tbody button");
  const press = () => box.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  const empty = Math.max(1000 / 30, await best(() => {}));
  return { empty, hover: await best(press), choose: await best(() => row.click()) };
}"""


def test_times_at_5000_nodes_are_within_their_multiples_of_an_empty_frame(page: Page, tmp_path: Path) -> None:
    with served(*many_nodes(tmp_path)) as url:
        opened(page, url)
        took = page.evaluate(TIMED)
        for name, most in SLOWEST.items():
            assert took[name] <= most * took["empty"], took
        page.goto("about:blank")


def test_what_is_beyond_a_soft_max_skew_is_a_milder_mark_with_words(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "soft.yaml"
    soft = (
        WEB.replace("DoNotSchedule", "ScheduleAnyway").replace("name: web", "name: soft").replace("app: web", "app: s")
    )
    file.write_text(f"{WEB}---\n{soft.replace('app: web', 'app: soft')}")
    with served("-f", str(file), "--on", "zones=3,nodes=3,cpu=16,taint=zone-c:dedicated=x:NoSchedule") as url:
        opened(page, url, "?workload=Deployment/shop/soft")
        over = page.locator("#panel strong.warn")
        expect(over).to_contain_text("~ 4, more than 1")
        expect(page.locator("#panel")).to_contain_text("the constraint is soft, so that is allowed")
        expect(page.locator("#panel .bad")).to_have_count(0)
        page.get_by_text("The map as a table").click()
        expect(page.locator("#table .warn").first).to_have_text("~ 4, max 1, soft")
        expect(page.locator("#legend .warn")).to_have_text("~ skew")
        page.get_by_role("button", name="All workloads").click()
        button = page.locator("#panel").get_by_role("button", name="shop/soft")
        expect(button).to_contain_text("~ zone skew 4, max 1, soft")
        page.goto("about:blank")


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until it has the focus, as who has no mouse does."""
    expect(wanted).to_be_visible()
    for _ in range(120):
        if wanted.evaluate("(it) => it === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not come to {wanted}")


def test_a_pod_that_waits_is_helped_with_keys_alone(page: Page, shop: str) -> None:
    opened(page, shop)
    tab_to(page, page.locator("#panel").get_by_role("button", name="shop/web"))
    page.keyboard.press("Enter")
    expect(page.locator("#panel h2")).to_be_focused()
    tab_to(page, page.get_by_role("button", name="why?").first)
    page.keyboard.press("Enter")
    expect(page.locator("#panel h2")).to_be_focused()
    tab_to(page, page.get_by_role("button", name="Try it on the map").first)
    page.keyboard.press("Enter")
    expect(page.locator(".steps li")).to_have_count(1)
    settled(page)
    tab_to(page, page.locator("#frames button").nth(1))
    page.keyboard.press("Enter")
    expect(page.locator("#frames [aria-current]")).to_contain_text("After scheduling")
    tab_to(page, page.get_by_role("button", name=re.compile("^Take back")))
    page.keyboard.press("Enter")
    expect(page.locator(".steps li")).to_have_count(0)


def test_a_limit_that_is_dragged_moves_its_line_at_once(page: Page, shop: str) -> None:
    opened(page, shop, "?workload=Deployment/shop/web")
    bar, handle = (
        page.locator("#panel svg.bar").first,
        page.get_by_label("Drag the limit of topology.kubernetes.io/zone"),
    )
    expect(bar.locator(".limit")).to_have_attribute("d", "M1 0v10")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    handle.evaluate("(it) => { it.value = 3; it.dispatchEvent(new Event('input', { bubbles: true })); }")
    expect(bar.locator(".limit")).to_have_attribute("d", "M3 0v10")
    expect(page.locator("#panel output")).to_have_text("maxSkew 3: no domains over the limit")
    assert asked == [], "it is counted here"
    handle.evaluate("(it) => it.dispatchEvent(new Event('change', { bubbles: true }))")
    expect(page.locator(".steps li")).to_contain_text("maxSkew 3")


def test_max_skew_is_dragged_with_arrow_keys(page: Page, shop: str) -> None:
    opened(page, shop, "?workload=Deployment/shop/web")
    tab_to(page, page.get_by_label("maxSkew", exact=True))
    page.keyboard.press("ArrowRight")
    expect(page.locator(".steps li")).to_contain_text("maxSkew 2")
    expect(page.get_by_label("maxSkew", exact=True)).to_be_focused()


def test_min_domains_is_dragged_and_each_step_is_copied_as_a_command_and_a_patch(new_page: NewPage, shop: str) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    opened(page, shop, "?workload=Deployment/shop/web&step=scale+shop/deploy/web%3D5")
    tab_to(page, page.get_by_label("minDomains", exact=True))
    page.keyboard.press("ArrowRight")
    expect(page.locator(".steps li")).to_have_count(2)
    expect(page.locator(".steps li").last).to_contain_text("minDomains 2")
    expect(page.get_by_label("minDomains as a number")).to_have_value("2")

    copied = []
    for step in page.locator(".steps li").all():
        for name in ("Copy YAML patch", re.compile("^Copy kubectl")):
            step.get_by_role("button", name=name).click()
            copied.append(page.evaluate("navigator.clipboard.readText()"))
    assert "path: /spec/replicas" in copied[0]
    assert copied[1] == "kubectl -n shop scale deploy/web --replicas 5"
    assert "topologySpreadConstraints/0/minDomains" in copied[2]
    assert copied[3] == "kubectl -n shop patch deployment/web --type json --patch-file patch.yaml"


def test_a_limit_that_is_moved_by_keys_keeps_the_focus(page: Page, shop: str) -> None:
    opened(page, shop, "?workload=Deployment/shop/web")
    limit = page.locator("[data-limit]")
    limit.focus()
    for skew in ("2", "3"):
        page.keyboard.press("ArrowRight")
        expect(page.locator("#trial .steps li")).to_contain_text(f"maxSkew {skew}")
        expect(limit).to_have_value(skew)
        expect(limit).to_be_focused()


def test_keys_find_filter_go_in_time_and_close(page: Page, shop: str) -> None:
    opened(page, shop)
    page.keyboard.press("1")
    expect(page.locator("#figures [aria-pressed=true]")).to_contain_text("pending")
    page.keyboard.press("[")
    expect(page.locator("#frames [aria-current]")).to_contain_text("As read")
    page.keyboard.press("]")
    expect(page.locator("#frames [aria-current]")).to_contain_text("After scheduling")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Find")).to_be_focused()
    page.keyboard.type("web/1")
    expect(page.get_by_role("searchbox", name="Find")).to_have_value("web/1")
    page.goto(f"{shop}?node=node-3")
    expect(page.locator("#panel h2")).to_have_text("Node node-3")
    page.keyboard.press("Escape")
    expect(page.locator("#panel h2")).to_have_text("Pods without a node")


def test_many_domains_are_counted_by_their_pods(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(WEB.replace("topology.kubernetes.io/zone", "kubernetes.io/hostname"))
    with served("-f", str(file), "--on", "zones=3,nodes=30,cpu=8") as url:
        opened(page, url, "?workload=Deployment/shop/web")
        expect(page.locator("#panel").get_by_role("row", name="1 7", exact=True)).to_be_visible()
        expect(page.locator("#panel").get_by_role("row", name="0 minimum 23", exact=True)).to_be_visible()
        expect(page.locator("#panel").get_by_role("row", name="node-1 ").first).to_be_hidden()
        page.goto("about:blank")
