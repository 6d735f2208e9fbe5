"""What the page's addresses answer, asked without a server."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest

import topospread
from topospread.answers.why import why_answer
from topospread.drill.steps import Cordon, read_choice
from topospread.errors import TopospreadError, UsageError
from topospread.simulation.options import SimulationOptions
from topospread.web.answers import Answers, NotFoundError, PageQuestion
from topospread.web.pages import Pages
from topospread.web.placement_snapshot import moves
from topospread.web.served import InputWords, ServedCluster
from topospread.web.timeline import StepError
from topospread.web.trials import read_trial
from topospread.web.writing import as_copies
from topospread.why.explain import explain

ZONE = "topology.kubernetes.io/zone"
_MAX_SKEW_0 = '[{"op":"replace","path":"/spec/template/spec/topologySpreadConstraints/0/maxSkew","value":0}]'
EVIL = "<script>alert(1)</script>"


def deployment(name: str, replicas: int, cpu: str = "1") -> dict[str, Any]:
    labels = {"app": name}
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"topologySpreadConstraints": [constraint], "containers": [container]},
            },
        },
    }


@pytest.fixture
def served(tmp_path: Any) -> ServedCluster:
    file = tmp_path / "app.json"
    items = [deployment("web", 6), deployment("db", 3)]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    inventory = topospread.load(file, cluster="zones=3,nodes=3,cpu=8,taint=zone-c:dedicated=x:NoSchedule")
    return ServedCluster.begin(
        inventory, SimulationOptions(), InputWords("app.json", ("-f", "app.json"), ("app.json",))
    )


@pytest.fixture
def answers(served: ServedCluster) -> Answers:
    return Answers(served, Pages(served))


def asked(*steps: str, at: str = "", **words: str) -> PageQuestion:
    return PageQuestion(read_trial(steps), at, words)


def picture(answers: Answers, *steps: str, at: str = "") -> Any:
    return json.loads(answers.picture(asked(*steps, at=at)))


def result(answers: Answers, *steps: str) -> Any:
    """The result of a trial's steps, as the drill's JSON."""
    found, _ = answers.timeline(asked(*steps))
    return found.drill.to_dict()


def pods_of(drawn: Any, name: str) -> list[int]:
    row = drawn["workloads"]["name"].index(name)
    return [dict(zip(each[::2], each[1::2], strict=True)).get(row, 0) for each in drawn["nodes"]["pods"]]


def test_manifests_alone_are_shown_as_they_would_be_placed(answers: Answers) -> None:
    assert answers.trial(asked())["at"] == 1
    assert pods_of(picture(answers, at="0"), "web") == [0, 0, 0]
    # Zone c counts, as taints are not looked at by default, and takes nobody: one in each of the others, no more.
    assert pods_of(picture(answers), "web") == [1, 1, 0]
    assert picture(answers)["waiting"] == 5


def test_a_picture_says_what_nodes_have_what_is_taken_and_what_is_wrong(answers: Answers) -> None:
    nodes = picture(answers, "cordon node=node-1")["nodes"]

    assert nodes["name"] == ["node-1", "node-2", "node-3"]
    assert nodes["flags"] == [1, 0, 2]
    assert nodes["allocatable"]["cpu"] == [8000, 8000, 8000]
    assert nodes["used"]["cpu"] == [2000, 2000, 0]
    assert picture(answers)["keys"][0] == {"key": ZONE, "values": ["zone-a", "zone-b", "zone-c"], "of": [0, 1, 2]}


def test_a_chosen_workload_has_its_counts_minimum_and_skew(answers: Answers) -> None:
    found = answers.workload(asked(kind="Deployment", namespace="shop", name="web"))

    (constraint,) = found["constraints"]
    assert (constraint["minimum"], constraint["skew"], constraint["maxSkew"]) == (0, 1, 1)
    assert [each["matching"] for each in constraint["domains"]] == [1, 1, 0]
    assert "DoNotSchedule, maxSkew 1" in found["html"]


@pytest.mark.parametrize("at", ["0", "1"])
def test_a_picture_has_the_counts_that_a_chosen_workload_is_answered_with(tmp_path: Any, at: str) -> None:
    file = tmp_path / "app.json"
    web = deployment("web", 6)
    hard = web["spec"]["template"]["spec"]["topologySpreadConstraints"][0]
    soft = hard | {"topologyKey": "rack", "whenUnsatisfiable": "ScheduleAnyway"}
    host = soft | {"topologyKey": "kubernetes.io/hostname"}
    web["spec"]["template"]["spec"]["topologySpreadConstraints"] = [soft, hard, host]
    file.write_text(json.dumps(web))
    nodes = topospread.load(file, cluster="zones=3,nodes=9,cpu=8,taint=zone-c:dedicated=x:NoSchedule")
    for number, each in enumerate(nodes.nodes[:8]):
        each.metadata.labels["rack"] = f"r{number % 2}"
    answers = Answers(served := ServedCluster.begin(nodes, SimulationOptions(), InputWords("x")), Pages(served))

    drawn = picture(answers, at=at)
    workloads, keys = drawn["workloads"], drawn["keys"]
    found = answers.workload(asked(kind="Deployment", namespace="shop", name="web", at=at))["constraints"]
    told = {each["topologyKey"]: each for each in found}
    assert {keys[each["key"]]["key"] for each in workloads["spreads"][0]} == {ZONE, "rack"}
    for each in workloads["spreads"][0]:
        key = keys[each["key"]]
        own = told[key["key"]]
        matching = {one["name"]: one["matching"] for one in own["domains"]}
        assert each["pods"] == [matching.get(value, -1) for value in key["values"]]
        assert (each["minimum"], each["maxSkew"]) == (own["minimum"], own["maxSkew"])
        assert each["hard"] == (own["whenUnsatisfiable"] == "DoNotSchedule")


def test_a_soft_constraint_beyond_max_skew_is_a_warning_and_not_as_bad_as_a_hard_one(tmp_path: Any) -> None:
    web = deployment("web", 4)
    constraint = web["spec"]["template"]["spec"]["topologySpreadConstraints"][0]
    constraint["whenUnsatisfiable"] = "ScheduleAnyway"
    file = tmp_path / "app.json"
    file.write_text(json.dumps(web))
    nodes = topospread.load(file, cluster="zones=3,nodes=3,cpu=8,taint=zone-c:dedicated=x:NoSchedule")
    served = ServedCluster.begin(nodes, SimulationOptions(), InputWords("x"))
    answers = Answers(served, Pages(served))

    workloads = picture(answers)["workloads"]
    assert workloads["hardExceeded"] == [None]
    assert workloads["softExceeded"] == [{"key": ZONE, "skew": 2, "maxSkew": 1}]
    html = answers.workload(asked(kind="Deployment", namespace="shop", name="web"))["html"]
    assert 'class="warn">~ 2, more than 1</strong>; the constraint is soft' in html
    assert "bad" not in html


def test_a_constraint_without_domains_is_shown(tmp_path: Any) -> None:
    web = deployment("web", 1)
    web["spec"]["template"]["spec"]["nodeSelector"] = {"nobody": "has-this"}
    file = tmp_path / "app.json"
    file.write_text(json.dumps(web))
    served = ServedCluster.begin(topospread.load(file, cluster="zones=3"), SimulationOptions(), InputWords("x"))

    html = Answers(served, Pages(served)).workload(asked(kind="Deployment", namespace="shop", name="web"))["html"]
    assert "maxSkew 1" in html
    assert "<rect" not in html


def test_why_is_explains_own_answer_with_every_nodes_rejection(served: ServedCluster, answers: Answers) -> None:
    found = answers.why(asked(target="shop/deploy/web"))

    own = why_answer(explain(served.reading.inventory, "shop/deploy/web")).to_dict()
    told = answers._explained(asked(at="1", target="shop/deploy/web"), suggest=True)["why"]
    assert [each["says"] for each in told["remedies"]] == [each["says"] for each in own["remedies"]]
    assert sorted(found["rejected"]) == ["node-1", "node-2", "node-3"]
    assert own["message"].replace("'", "&#39;").replace('"', "&#34;") in found["html"]


def test_pending_pods_are_grouped_by_cause_with_the_first_fix(answers: Answers) -> None:
    found = answers.pending(asked())["html"]

    assert "5 pending pods" in found
    assert "<strong>shop/Deployment/web</strong>, <strong>shop/Deployment/db</strong>" in found
    assert "zone-c takes no pod but still sets the minimum" in found
    assert "First fix: " in found
    assert not answers.pending(asked("scale shop/deploy/web=1", "scale shop/deploy/db=1"))["html"].strip()


@pytest.mark.parametrize("steps", [(), ("cordon node=node-1",)])
def test_a_workload_says_what_it_keeps_as_promise_show_does(answers: Answers, steps: tuple[str, ...]) -> None:
    question = asked(*steps, kind="Deployment", namespace="shop", name="web")
    found = answers.promises(question)["html"]

    # On a busy machine the search may end before it knows.
    assert re.search("<b>(no|unknown):</b> (whether )?a single loss can take all pods of shop/web<", found)
    assert "a zone is lost" in found
    assert 'data-copy="topospread promise show shop/deployment/web -f app.json"' in found


def test_a_workload_says_what_lint_finds_with_its_fix_as_a_step(tmp_path: Any) -> None:
    web = deployment("web", 3)
    web["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"] = {"app": "wbe"}
    (tmp_path / "app.json").write_text(json.dumps(web))
    inventory = topospread.load(tmp_path / "app.json", cluster="zones=3,nodes=3")
    served = ServedCluster.begin(inventory, SimulationOptions(), InputWords("app.json"))
    question = asked(kind="Deployment", namespace="shop", name="web")
    found = Answers(served, Pages(served)).findings(question)["html"]

    assert "labelSelector" in found
    steps = [html.unescape(each) for each in re.findall('data-step="([^"]+)"', found)]
    assert steps
    for step in steps:
        again = Answers(served, Pages(served)).findings(asked(step, kind="Deployment", namespace="shop", name="web"))[
            "html"
        ]
        assert again.count("<li>") < found.count("<li>")


def test_every_suggestion_that_can_be_tried_lets_in_what_it_says(answers: Answers) -> None:
    found = answers._explained(asked(at="1", target="shop/deploy/web"), suggest=True)
    tried = [
        (each["step"], told)
        for each, told in zip(found["suggestions"], found["why"]["remedies"], strict=True)
        if each["step"]
    ]

    assert tried
    for step, told in tried:
        pods = sum(pods_of(picture(answers, step), "web"))
        assert pods == told["tried"]["places"], step


def test_steps_are_played_and_can_be_gone_back_in(answers: Answers) -> None:
    steps = ("fail zone=zone-a", "recover zone=zone-a", "scale shop/deploy/db=1")

    told = answers.trial(asked(*steps))
    assert [each["label"] for each in told["frames"]][2:] == list(steps)
    assert told["at"] == 4
    assert sum(pods_of(picture(answers, *steps), "db")) == 1
    assert picture(answers, *steps, at="2")["nodes"]["flags"][0] & 4
    assert not picture(answers, *steps, at="3")["nodes"]["flags"][0] & 4


def test_moves_by_zone_add_up_to_the_pods_that_left(answers: Answers) -> None:
    frames = answers.timeline(asked("fail node=node-1"))[0].frames
    found = moves(frames[1].snapshot, frames[2].snapshot)
    before = frames[1].snapshot
    lost = int((before.pods.node == before.row_of("node-1")).sum())
    assert {source for source, _, _ in found} == {"zone-a"}
    assert sum(pods for _, _, pods in found) == lost
    assert moves(before, before) == []


def test_a_trial_that_goes_on_ends_as_one_that_is_played_at_once(served: ServedCluster) -> None:
    first, second = Answers(served, Pages(served)), Answers(served, Pages(served))
    steps = ("cordon node=node-1", "fail node=node-2", "wait 60s", "scale shop/deploy/db=2")
    for number in range(len(steps)):
        first.trial(asked(*steps[: number + 1]))

    assert result(first, *steps) == result(second, *steps)


def test_a_trial_comes_to_what_the_drill_comes_to(served: ServedCluster, answers: Answers) -> None:
    from topospread.drill.drill import drill
    from topospread.drill.steps import Fail, NodeChoice, Wait

    own = drill(served.reading.inventory, [Fail(NodeChoice("zone", "zone-a")), Wait(30)])

    assert result(answers, "fail zone=zone-a", "wait 30s") == own.to_dict()


def test_another_frame_is_explained_as_it_stands_there(answers: Answers) -> None:
    steps = ("cordon zone=zone-b",)
    answers.trial(asked(*steps, "scale shop/deploy/web=9"))

    later = asked(*steps, "scale shop/deploy/web=9", at="2", target="shop/deploy/web")
    found = answers._explained(later, suggest=True)["why"]
    assert found["pods"]["wanted"] == 6
    assert "unschedulable" in found["message"]


def test_questions_leave_a_trial_s_process_as_it_was(served: ServedCluster, answers: Answers) -> None:
    def explained(of: Answers, at: int, target: str) -> Any:
        return of._explained(asked("cordon node=node-1", at=str(at), target=target), suggest=True)["why"]

    targets = ["shop/deploy/web", "shop/deploy/db", "shop/deploy/web"]
    told = [[explained(answers, at, each) for each in targets] for at in (0, 1, 2, 2, 1, 0)]
    assert told == told[::-1]
    assert told[2][2] == told[2][0] == explained(Answers(served, Pages(served)), 2, "shop/deploy/web")


def test_the_verdict_comes_without_changes_that_would_help(answers: Answers) -> None:
    question = asked(target="shop/deploy/web")
    assert "Try it on the map" not in answers.why(question)["html"]
    assert "Try it on the map" in answers.fixes(question)["html"]


def test_a_pod_that_is_not_judged_is_counted_and_does_not_end_a_trial(tmp_path: Any) -> None:
    made = deployment("web", 2)
    made["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
    (tmp_path / "app.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [made]}))
    inventory = topospread.load(tmp_path / "app.json", cluster="zones=3,nodes=3,cpu=8")
    of = ServedCluster.begin(inventory, SimulationOptions(), InputWords("app.json"))
    found = Answers(of, Pages(of))
    assert [picture(found, at=at)["workloads"]["unjudged"] for at in "01"] == [[2], [2]]
    assert picture(found, "fail zone=zone-a", at="2")["workloads"]["unjudged"] == [2]
    assert "Know it by" in found.why(asked(at="0", target="shop/deploy/web"))["html"]


def test_pods_that_are_lost_with_their_node_are_counted(tmp_path: Any) -> None:
    made = deployment("db", 3) | {"kind": "StatefulSet"}
    made["spec"]["serviceName"] = "db"
    (tmp_path / "app.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [made]}))
    inventory = topospread.load(tmp_path / "app.json", cluster="zones=3,nodes=3,cpu=8")
    of = ServedCluster.begin(inventory, SimulationOptions(), InputWords("app.json"))
    found = Answers(of, Pages(of))
    assert picture(found)["workloads"]["missing"] == [0]
    told = picture(found, "fail zone=zone-a")["workloads"]
    assert told["missing"][0] + told["waiting"][0] == 1


@pytest.mark.parametrize(
    ("pod", "words"),
    [
        (0, r"With everything placed that waits, it is on node-\d\. 1 of 9 pods tried"),
        (5, "With everything placed that waits, it has no node: 0/3 nodes are available: .* 1 of 9 pods tried"),
    ],
)
def test_where_a_pod_will_be_is_said_before_it_is_known_why(
    answers: Answers, monkeypatch: pytest.MonkeyPatch, pod: int, words: str
) -> None:
    snapshot = answers.timeline(asked())[0].frames[0].snapshot
    web = next(row for row, each in enumerate(snapshot.workloads) if each.key[2] == "web")
    names = [name for name, row in zip(snapshot.pods.names, snapshot.pods.workload, strict=True) if row == web]
    question, seen, ask = asked(at="0", target=f"shop/{names[pod]}"), [], answers.trials.ask

    def watched(steps: Any, at: int, what: Any, abandoned: Any, told: Any) -> Any:
        told("1 of 9 pods tried")
        seen.append(answers.progress(question)["says"])
        return ask(steps, at, what, abandoned, told)

    monkeypatch.setattr(answers.trials, "ask", watched)
    answers.why(question)
    assert re.fullmatch(words, seen[0])
    assert answers.progress(question)["says"] == ""


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("fail zone=zone-x", "zone-x"),
        (f"patch Deployment/shop/web {_MAX_SKEW_0}", "maxSkew"),
        ("patch Deployment/shop/nobody [{\"op\":\"remove\",\"path\":\"/spec/replicas\"}]", "no such object"),
        ("scale shop/deploy/nobody=3", "nobody"),
    ],
)  # fmt: skip
def test_a_step_that_cannot_be_played_says_which_and_why(answers: Answers, step: str, words: str) -> None:
    with pytest.raises(StepError, match=words) as found:
        answers.trial(asked("cordon node=node-1", step))
    assert found.value.number == 1
    assert answers.trial(asked("cordon node=node-1"))["frames"]


@pytest.mark.parametrize(
    "text",
    [
        "explode",
        "fail",
        "wait soon",
        "scale web",
        "add 3",
        "patch x",
        "patch a/b/c {}",
        "rollout deploy/web=/etc/passwd",
    ],
)
def test_what_is_no_step_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_trial([text])


def test_too_many_steps_are_refused() -> None:
    with pytest.raises(UsageError, match="51 steps"):
        read_trial(["fail zone=a"] * 51)


def test_what_is_not_there_is_said(answers: Answers) -> None:
    with pytest.raises(NotFoundError):
        answers.node(asked(name="nobody"))
    with pytest.raises(NotFoundError):
        answers.picture(asked(at="7"))
    with pytest.raises(TopospreadError):
        answers.why(asked(target="shop/nobody"))


def test_a_name_is_never_read_as_html(served: ServedCluster) -> None:
    served.input = InputWords(EVIL)
    pages = Pages(served)
    page = pages.page("map.html", here="/")

    assert EVIL not in page
    assert "&lt;script&gt;alert(1)" in page


def test_pages_have_no_inline_script_or_style_and_ask_nobody_else(served: ServedCluster) -> None:
    import re

    page = Pages(served).page("map.html", here="/")
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|\sstyle=|<style", page)
    assert not re.search(r"https?://", page)


_TO_8 = "path: /spec/replicas\n  value: 8"


@pytest.mark.parametrize(
    ("step", "command", "patch"),
    [
        (
            "scale shop/deploy/web=8",
            "kubectl -n shop scale deploy/web --replicas 8",
            "path: /spec/replicas\n  value: 8",
        ),
        ("scale deploy/web=8", "kubectl scale deploy/web --replicas 8", _TO_8),
        ("rollout shop/deploy/web", "kubectl -n shop rollout restart deploy/web", ""),
        ("cordon node=node-1", "kubectl cordon node-1", "path: /spec/unschedulable\n  value: true"),
        ("uncordon node=node-1", "kubectl uncordon node-1", "path: /spec/unschedulable\n  value: false"),
        ("drain zone=zone-a", f"kubectl drain --ignore-daemonsets -l {ZONE}=zone-a", ""),
        (f"cordon {ZONE}=zone-a", f"kubectl cordon -l {ZONE}=zone-a", "path: /spec/unschedulable\n  value: true"),
        ("fail zone=zone-a", "topospread drill -f app.json --fail zone=zone-a", ""),
        ("wait 90s", "topospread drill -f app.json --wait 90s", ""),
        ("add 2 like node-1 in zone-b", "topospread drill -f app.json --add-nodes 2 --like node-1 --zone zone-b", ""),
    ],
)
def test_each_step_has_the_command_that_brings_it_about(answers: Answers, step: str, command: str, patch: str) -> None:
    (told,) = answers.trial(asked(step))["steps"]
    assert told["command"] == command
    assert patch in told["patch"]
    assert bool(told["patch"]) == bool(patch)


def test_a_node_is_no_option_of_kubectl(served: ServedCluster) -> None:
    """A snapshot may have any name."""
    assert as_copies(Cordon(read_choice("node=--kubeconfig=a", "cordon")), 0, served)[1] == (
        "kubectl cordon -- --kubeconfig=a"
    )


def test_a_namespace_is_no_option_of_the_command_that_explains_its_pod(tmp_path: Any) -> None:
    """A snapshot may have any name."""
    stored = {"uid": "1", "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "-osvg=", **stored}}
    pod["spec"] = {"containers": [{"name": "c", "image": "c"}]}
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}}
    (tmp_path / "app.json").write_text(json.dumps(pod) + json.dumps(node))
    inventory = topospread.load(tmp_path / "app.json")
    served = ServedCluster.begin(inventory, SimulationOptions(), InputWords("app.json", ("-f", "app.json")))
    told = Answers(served, Pages(served))._explained(asked(at="0", target="-osvg=/a"), suggest=True)
    assert told["command"] == "topospread why -f app.json -- -osvg=/a"
