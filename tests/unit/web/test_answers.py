"""What the page's addresses answer, asked without a server."""

from __future__ import annotations

import html
import json
import multiprocessing
import re
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
import pytest
from msgspec import structs

import topospread
from topospread.answers.why import why_answer
from topospread.base import Bounds
from topospread.drill.steps import Cordon, read_choice
from topospread.errors import TopospreadError, UsageError
from topospread.simulation.options import SimulationOptions
from topospread.sources.load import load
from topospread.web.answers import Answers, NotFoundError, PageQuestion
from topospread.web.pages import Pages
from topospread.web.served import InputWords, ServedCluster
from topospread.web.timeline import StepError, moves
from topospread.web.trials import read_trial
from topospread.web.why import explained, promised
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
    assert nodes["taints"] == ["cordoned", "", "dedicated=x:NoSchedule"]
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


def test_of_many_domains_the_page_computes_only_the_sums_that_it_shows(tmp_path: Any) -> None:
    web = deployment("web", 2)
    web["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["topologyKey"] = "kubernetes.io/hostname"
    file = tmp_path / "app.json"
    file.write_text(json.dumps(web))
    inventory = topospread.load(file, cluster="zones=2,nodes=120")
    served = ServedCluster.begin(inventory, SimulationOptions(), InputWords("x"))
    answers, question = Answers(served, Pages(served)), asked(target="shop/deploy/web")

    told = answers._explained(question, suggest=False)
    assert [len(each["domains"]) for each in told["why"]["constraints"]] == [100]
    assert told["domains"] == [120]
    assert "The first 100 of 120 domains." in answers.why(question)["html"]


def test_pending_pods_are_grouped_by_cause_with_the_first_fix(answers: Answers) -> None:
    found = answers.pending(asked())["html"]

    assert "5 pending pods" in found
    assert "<strong>shop/web</strong> ×4, <strong>shop/db</strong> ×1" in found
    assert "zone-c takes no pod, but its 0 pods are still the minimum" in found
    assert "First fix: " in said_of(found)
    assert not answers.pending(asked("scale shop/deploy/web=1", "scale shop/deploy/db=1"))["html"].strip()


@pytest.mark.parametrize("steps", [(), ("cordon node=node-1",)])
def test_a_workload_says_what_it_keeps_as_promise_show_does(answers: Answers, steps: tuple[str, ...]) -> None:
    question = asked(*steps, kind="Deployment", namespace="shop", name="web")
    found = answers.promises(question)["html"]

    # On a busy machine the search may end before it knows.
    assert re.search("<b>(no|unknown):</b> (whether )?a single loss can take all pods of shop/web<", found)
    assert "a zone is lost" in found
    assert 'data-copy="topospread promise show shop/deployment/web -f app.json"' in found


def test_the_pods_that_a_loss_leaves_as_placed_now_need_no_search_and_are_those_of_the_whole_answer(
    tmp_path: Any,
) -> None:
    web = deployment("web", 4)
    pods = [owned(f"web-{at}", f"node-{at % 3 // 2 + 1}", web) for at in range(4)]
    found = snapshot_answers(tmp_path, *replica_set(web), *pods)
    question = {"kind": "Deployment", "namespace": "shop", "name": "web", "about": "promises"}
    words = [f"If a {loss} is lost, 1 of 4 pods stay ready as placed now" for loss in ("zone", "node")]
    first = said_of(found.promises(asked(**question, now="1"))["html"])
    assert first == " ".join(f"{each}." for each in words)
    whole = said_of(found.promises(asked(**question))["html"])
    assert whole.startswith(f"{words[0]}, 2 with new pods, 1 after a rollout. {words[1]}, ")
    assert found.promises(asked("scale shop/deploy/web=0", **question, now="1"))["html"].strip() == ""


WORST = "in the worst placement, where pods without a node count as lost"


@pytest.mark.parametrize(
    ("most", "words", "how"),
    [
        (0, f"0 {WORST}.", "0 is proved."),
        (
            1,
            f"0 or 1 {WORST}.",
            "0 or 1: a placement leaves at most 1; whether one leaves fewer is not decided.",
        ),
        (
            4,
            f"0 to 4 {WORST}.",
            "0 to 4: a placement leaves at most 4; whether one leaves fewer is not decided.",
        ),
    ],
)
def test_what_a_loss_leaves_is_one_sentence_and_how_it_is_known_comes_after_the_verdict(
    answers: Answers, most: int, words: str, how: str
) -> None:
    question = asked(kind="Deployment", namespace="shop", name="web")
    found = answers.trials.ask((), 0, partial(promised, ("Deployment", "shop", "web")), threading.Event(), print)
    (one,) = found.workloads
    orders = Bounds(least=0, most=most)
    loss = structs.replace(one.events[0], now=5, of=6, orders=orders, rolled=None, leaves=orders, ground="none")
    one = structs.replace(one, events=(loss, *one.events[1:]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(answers, "_ask", lambda *_: structs.replace(found, workloads=(one,)))
        said = said_of(answers.promises(question)["html"])
    assert said.startswith(f"If a zone is lost, 5 of 6 pods stay ready as placed now, {words} ")
    assert said.index("In any placement, ") < said.index(how)
    assert not re.search(r"\d\?", said), "a range is words in the table, too"


def test_the_search_for_what_a_workload_keeps_says_what_it_is_doing(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each stage is told under the question's own name, not under that of another question about the workload."""
    told: list[tuple[str, str]] = []

    class Heard(dict[str, str]):
        def __setitem__(self, name: str, words: str) -> None:
            told.append((name, words))
            super().__setitem__(name, words)
            assert answers.progress(question)["says"] == words
            assert answers.progress(asked(kind="Deployment", namespace="shop", name="web"))["says"] == ""

    monkeypatch.setattr(answers, "_says", Heard())
    question = asked(kind="Deployment", namespace="shop", name="web", about="promises")
    answers.promises(question)
    words = [each for _, each in told]
    assert words[:2] == ["placing pending pods", "searching the orders of pods for the loss of a zone"]
    assert "simulating fail zone=zone-a" in words
    assert "simulating rollout shop/deployment/web" in words
    assert words[-1] == "adding replicas until one stays pending"


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


def test_a_result_says_what_waited_before_and_shows_the_largest_cause_first(tmp_path: Any) -> None:
    manifests = (deployment("web", 6), deployment("big", 9, cpu="100"))
    told = snapshot_answers(tmp_path, *manifests).trial(asked("fail zone=zone-a"))
    waiting = [each["waiting"] for each in told["frames"]]
    assert f"{waiting[2]} pods pending</span>, {waiting[1]} at the beginning" in told["html"]
    assert 'data-ask="/api/pending" data-first="causes"' in told["html"]


def test_the_causes_of_pending_pods_come_before_the_changes_that_help(answers: Answers) -> None:
    both = [said_of(answers.pending(asked("fail zone=zone-a", **words))["html"]) for words in ({"causes": "1"}, {})]
    cause = "pending pod"
    assert ["First fix" in each for each in both] == [False, True]
    assert [cause in each for each in both] == [True, True]


def test_many_newly_pending_workloads_are_counted_in_the_verdict_and_listed_the_worst_first(tmp_path: Any) -> None:
    made = [deployment(name, replicas) for name, replicas in (("a", 2), ("b", 6), ("c", 4))]
    html = snapshot_answers(tmp_path, *made).trial(asked("fail zone=zone-a"))["html"]
    (verdict,) = re.findall(r'<p class="verdict[^>]*>(.*?)</p>', html, re.S)
    assert said_of(verdict) == "no: 6 pods are newly pending: 3 of shop/b, 2 of shop/c, 1 of shop/a"
    rows = [said_of(each) for each in re.findall(r'<tr><th scope="row"><button.*?</tr>', html, re.S)]
    assert rows == [
        "shop/b 3 +3 3/6 zone 0→3, max 1",
        "shop/c 2 +2 2/4 zone 0→2, max 1",
        "shop/a 1 +1 1/2",
    ]


def test_the_card_of_a_what_if_says_who_is_pending_then_what_would_help_then_the_rest(tmp_path: Any) -> None:
    sizes = {"a": 2, "b": 6, "c": 4, "d": 4, "e": 2}
    made = [deployment(name, replicas, cpu="100m") for name, replicas in sizes.items()]
    answers = snapshot_answers(tmp_path, *made)
    said = said_of(answers.trial(asked("fail zone=zone-a"))["html"])
    first = "no: 9 pods are newly pending: 3 of shop/b, 2 of shop/c, 2 of shop/d and 2 more workloads"
    parts = ["Fail zone=zone-a", "Copy link", first, "What would help", "hard skews grow", "pods ready"]
    assert sorted(parts, key=said.index) == parts
    fixes = said_of(answers.pending(asked("fail zone=zone-a"))["html"])
    assert fixes.index("shop/b") < fixes.index("First fix: ") < fixes.index("Cause: ")


def test_the_verdict_of_a_later_step_is_about_that_step(tmp_path: Any) -> None:
    """The second step harms nothing; the harm of the first is told of the whole what-if."""
    found = snapshot_answers(tmp_path, deployment("web", 4), deployment("db", 2))
    said = said_of(found.trial(asked("fail zone=zone-a", "scale shop/deploy/db=1"))["html"])
    assert "yes: no pod is newly pending, and no budget newly broken" in said
    assert "All steps, compared with the beginning: no, 2 pods of shop/web are pending at the end." in said
    assert "1 pod of shop/db found a node" not in said
    back = said_of(found.trial(asked("fail zone=zone-a", "recover zone=zone-a"))["html"])
    assert "3 pods of shop/web, shop/db found a node" in back
    assert "All steps, compared with the beginning: yes." in back


def test_the_command_and_the_shown_moment_have_the_same_steps(answers: Answers) -> None:
    steps = ("cordon node=node-1", "cordon node=node-2")
    told = [answers.trial(asked(*steps, at=at))["command"] for at in ("0", "2", "3")]
    assert told == ["", *(f"topospread drill -f app.json{more}" for more in (
        " --cordon node=node-1", " --cordon node=node-1 --cordon node=node-2"))]  # fmt: skip


def test_terminating_pods_on_failed_nodes_are_not_counted_as_placed(answers: Answers) -> None:
    drawn = picture(answers, "fail node=node-1", "wait 600s")
    row, ((node, gone),) = drawn["workloads"]["name"].index("web"), [
        (at, each) for at, each in enumerate(drawn["nodes"]["terminating"]) if each
    ]  # fmt: skip
    assert drawn["nodes"]["name"][node] == "node-1"
    assert dict(zip(gone[::2], gone[1::2], strict=True))[row] > 0
    assert not drawn["nodes"]["pods"][node]
    assert sum(pods_of(drawn, "web")) + drawn["workloads"]["waiting"][row] == drawn["workloads"]["replicas"][row]


def test_moves_by_zone_add_up_to_the_pods_that_left(answers: Answers) -> None:
    frames = answers.timeline(asked("fail node=node-1"))[0].frames
    found = moves(frames[1], frames[2])
    before = frames[1].snapshot
    lost = int((before.pods.node == before.row_of("node-1")).sum())
    assert {source for source, _, _ in found} == {"zone-a"}
    assert sum(pods for _, _, pods in found) == lost
    assert moves(frames[1], frames[1]) == []


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


def test_trials_that_ended_keep_their_frames_and_at_most_one_an_idle_process(answers: Answers) -> None:
    before = len(multiprocessing.active_children())
    steps = [f"{verb} node=node-{number}" for number in range(1, 4) for verb in ("fail", "cordon")]
    first = picture(answers, steps[0])
    said = answers.why(asked(steps[0], target="shop/deploy/web"))
    for each in steps:
        picture(answers, each)
        assert len(multiprocessing.active_children()) <= before + 2
    assert picture(answers, steps[0]) == first
    assert answers.why(asked(steps[0], target="shop/deploy/web")) == said


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
    why = found.why(asked(at="0", target="shop/deploy/web"))["html"]
    assert "To judge it, add these objects" in why
    assert re.search(r'data-copy="kubectl get [^"]* &gt; more.yaml"', why)
    assert '<strong class="unknown">? not judged</strong>; 2 of its 2 pods have no node' in why


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
    key = {"kind": "StatefulSet", "namespace": "shop", "name": "db"}
    assert "1 pod lost: on node-1, which is not ready" in found.workload(asked("fail zone=zone-a", **key))["html"]


def test_causes_of_pods_with_several_requests_have_no_amounts(tmp_path: Any) -> None:
    found = snapshot_answers(tmp_path, deployment("small", 1, "9"), deployment("large", 1, "12"))
    told = found.pending(asked())["html"]
    assert "requests more than any node has" in told
    assert "12 cpu" not in told


def nodes_of(answers: Answers) -> dict[str, bool]:
    """Pod of web → whether it has a node in frame 1."""
    snapshot = answers.timeline(asked())[0].frames[1].snapshot
    rows = zip(snapshot.pods.names, snapshot.pods.workload, snapshot.pods.node, strict=True)
    return {f"shop/{name}": node >= 0 for name, row, node in rows if snapshot.workloads[row].key[2] == "web"}


def test_a_pod_that_is_placed_later_is_explained_without_placing_all_pods_again(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed = [pod for pod, has_node in nodes_of(answers).items() if has_node]
    said: list[str] = []

    def explanations() -> list[Any]:
        questions = [partial(explained, each, False) for each in placed]
        return [answers.trials.ask((), 0, each, told=said.append) for each in questions]

    known = explanations()
    assert said == []
    monkeypatch.setattr("topospread.web.trying._placements", lambda *_: {})
    assert explanations() == known
    assert said
    assert {each["why"]["state"] for each in known} == {"placed"}


def test_a_pod_that_waits_in_frame_1_too_is_explained_there(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = [pod for pod, has_node in nodes_of(answers).items() if not has_node]
    frames, ask = [], answers.trials.ask
    monkeypatch.setattr(answers.trials, "ask", lambda steps, at, *more: (frames.append(at), ask(steps, at, *more))[1])
    assert answers.why(asked(at="0", target=waiting[0])) == answers.why(asked(at="1", target=waiting[0]))
    assert answers.pending(asked(at="0")) == answers.pending(asked(at="1"))
    assert frames == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("fail zone=zone-x", "zone-x"),
        (f"patch Deployment/shop/web {_MAX_SKEW_0}", "maxSkew"),
        ("patch Deployment/shop/nobody [{\"op\":\"remove\",\"path\":\"/spec/replicas\"}]", "object not found"),
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
        ("force-drain node=node-1", "kubectl drain --ignore-daemonsets --force --disable-eviction node-1", ""),
        (f"cordon {ZONE}=zone-a", f"kubectl cordon -l {ZONE}=zone-a", "path: /spec/unschedulable\n  value: true"),
        ("fail zone=zone-a", "topospread drill -f app.json --fail zone=zone-a", ""),
        ("wait 90s", "topospread drill -f app.json --wait 90s", ""),
        ("add 2 like node-1 in zone-b", "topospread drill -f app.json --add-nodes 2 --like node-1 --zone zone-b", ""),
    ],
)
def test_each_step_has_the_command_that_brings_it_about(answers: Answers, step: str, command: str, patch: str) -> None:
    told = html.unescape(answers.trial(asked(step))["stepsHtml"])
    assert f'data-copy="{command}"' in told
    assert patch in told
    assert ("Copy YAML patch" in told) == bool(patch)


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


def snapshot_answers(
    tmp_path: Any, *items: Any, cordons: Sequence[str] = (), unreachable: Sequence[str] = (), since: str = ""
) -> Answers:
    """Answers about objects that exist on two nodes, one in each zone."""
    nodes = [msgspec.to_builtins(each) for each in load([], cluster="zones=2,nodes=2,cpu=8").nodes]
    for each in nodes:
        if (name := each["metadata"]["name"]) in cordons:
            taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
            each["spec"] |= {"unschedulable": True, "taints": [taint | ({"timeAdded": since} if since else {})]}
        if name in unreachable:
            effects = ("NoExecute", "NoSchedule")
            each["spec"] |= {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": it} for it in effects]}
            each["status"]["conditions"] = [
                {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-11-28T19:02:00Z"}
            ]
    (tmp_path / "app.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [*nodes, *items]}))
    of = ServedCluster.begin(
        topospread.load(tmp_path / "app.json"), SimulationOptions(), InputWords("app.json", ("-f", "app.json"))
    )
    return Answers(of, Pages(of))


def pod(name: str, spec: Any, **metadata: Any) -> dict[str, Any]:
    stored = {"name": name, "namespace": "shop", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": stored | metadata, "spec": {"nodeName": "node-1", **spec}}


def test_a_drain_says_which_pods_it_did_not_evict(tmp_path: Any) -> None:
    bare = pod("bare", {"containers": [{"name": "c", "image": "x"}]})
    html = snapshot_answers(tmp_path, bare).trial(asked("drain node=node-1"))["html"]
    assert "1 pod not evicted: no controller would recreate it, so kubectl drain refuses" in html
    assert "without --force (shop/bare)</p>" in html
    assert "<b>no:</b> 1 pod not evicted" in html
    assert "All pods stay; the drain only cordons." in html
    assert 'data-step="force-drain node=node-1" data-replaces="drain node=node-1"' in html


def test_the_verdict_of_a_what_if_says_that_pods_wait_as_before_and_is_not_green_then(tmp_path: Any) -> None:
    found = snapshot_answers(tmp_path, deployment("big", 2, cpu="100"), deployment("web", 2))
    html = found.trial(asked("scale shop/deploy/web=1"))["html"]
    said = " ".join(re.sub("<[^>]+>", "", html).split())
    assert (
        "yes: no pod is newly pending, and no budget newly broken What would help 2 pods still pending, as at the"
        in said
    )
    assert 'class="verdict "' in html
    assert 'class="verdict yes"' in found.trial(asked("scale shop/deploy/big=0"))["html"]


def owned(name: str, node: str, of: dict[str, Any]) -> dict[str, Any]:
    """A stored pod of a Deployment's ReplicaSet; pending if it has no node."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{of['metadata']['name']}-1", "uid": "r"}
    template = of["spec"]["template"]
    labels = template["metadata"]["labels"] | {"pod-template-hash": "6d9f8c7b5"}
    stored = pod(
        name, template["spec"] | {"nodeName": node}, labels=labels, ownerReferences=[owner | {"controller": True}]
    )
    return stored | {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


def replica_set(of: dict[str, Any]) -> dict[str, Any]:
    name = of["metadata"]["name"]
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": "d", "controller": True}
    labels = of["spec"]["template"]["metadata"]["labels"] | {"pod-template-hash": "6d9f8c7b5"}
    metadata = {"name": f"{name}-1", "namespace": "shop", "uid": "r", "labels": labels, "ownerReferences": [owner]}
    template = of["spec"]["template"] | {"metadata": {"labels": labels}}
    spec = {"replicas": of["spec"]["replicas"], "selector": {"matchLabels": labels}, "template": template}
    return of | {"metadata": of["metadata"] | {"uid": "d"}}, {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec,
    }  # fmt: skip


def said_of(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", "", html).split())


def test_the_verdict_of_a_what_if_names_the_skew_that_grows_and_is_not_green_then(tmp_path: Any) -> None:
    """An uncordoned zone counts again for a constraint with nodeTaintsPolicy: Honor."""
    web = deployment("web", 3)
    web["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["nodeTaintsPolicy"] = "Honor"
    pods = [owned(f"web-{at}", "node-1", web) for at in range(3)]
    found = snapshot_answers(tmp_path, *replica_set(web), *pods, cordons=("node-2",))
    html = found.trial(asked("uncordon node=node-2"))["html"]
    assert "Zone skew of shop/web grows from 0 to 3, over maxSkew 1; zone-b counts now" in said_of(html)
    assert 'class="verdict yes"' not in html


def test_a_rollout_says_how_many_pods_it_replaces(tmp_path: Any) -> None:
    html = snapshot_answers(tmp_path, deployment("web", 4)).trial(asked("rollout shop/deploy/web"))["html"]
    assert "4 pods replaced, 1 of them in another zone" in html


def test_what_is_proved_of_a_workload_is_not_drawn_as_unknown(tmp_path: Any) -> None:
    html = snapshot_answers(tmp_path, deployment("web", 4)).promises(
        asked(kind="Deployment", namespace="shop", name="web")
    )["html"]
    cells = re.findall(r'<td( class="unknown")?>([^<]+)</td><td>[^<]*</td><td>(?:proved|with new|not)', html)
    assert {bool(unknown) == leaves.endswith("?") for unknown, leaves in cells} == {True}
    assert 'class="verdict "' in html
    assert "up to 2 then stay pending" in html


def test_moments_and_pictures_count_unjudged_pods_apart(tmp_path: Any) -> None:
    made = deployment("gpu", 2)
    made["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
    items = [made, deployment("web", 6)]
    (tmp_path / "app.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}))
    inventory = topospread.load(tmp_path / "app.json", cluster="zones=3,nodes=3,cpu=8,taint=zone-c:a=b:NoSchedule")
    of = ServedCluster.begin(inventory, SimulationOptions(), InputWords("app.json"))
    found = Answers(of, Pages(of))
    frame = found.trial(asked())["frames"][1]
    assert (frame["waiting"], frame["unjudged"]) == (4, 2)
    # A pod that is rejected either way says nothing of other pods.
    html = found.why(asked(at="1", target=next(iter(nodes_of(found)))))["html"]
    assert "Not judged" not in html
    # Both open nodes may take the unjudged pods: no node is told apart.
    assert picture(found)["nodes"]["flags"] == [0, 0, 2]
    assert picture(found, "cordon node=node-1")["nodes"]["flags"] == [1, 0, 2]


def test_open_nodes_that_unjudged_pods_may_use_are_told_apart(tmp_path: Any) -> None:
    made = deployment("gpu", 2)
    spec = made["spec"]["template"]["spec"]
    spec |= {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}], "nodeSelector": {ZONE: "zone-b"}}
    assert picture(snapshot_answers(tmp_path, made))["nodes"]["flags"] == [0, 8]


def test_a_workload_over_its_max_skew_shows_the_evictions_that_bring_it_back(tmp_path: Any) -> None:
    made = deployment("web", 4)
    made["metadata"]["uid"] = "d"
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}
    of = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "rs", "controller": True}
    labels, template = {"app": "web", "pod-template-hash": "6d9f8c7b5"}, made["spec"]["template"]["spec"]
    replicas = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "rs", "labels": labels, "ownerReferences": [owner]},
        "spec": {
            "replicas": 4,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": template},
        },
    }
    pods = [pod(f"web-{n}", template, labels=labels, ownerReferences=[of]) for n in range(4)]
    found = snapshot_answers(tmp_path, made, replicas, *pods)
    key = {"kind": "Deployment", "namespace": "shop", "name": "web"}
    assert "/api/rebalance?" in found.workload(asked(at="0", **key))["html"]
    told = html.unescape(re.sub("<.*?>", "", found.rebalance(asked(at="0", **key))["html"]))
    said = " ".join(told.split())
    command = "topospread rebalance -n shop -l app=web -f app.json"
    parts = [
        "yes: 2 evictions restore 1 constraint; fewer are not enough (proved by an integer program)",
        "Evict, in this order: web-0 zone-a → zone-b from node-1 to node-2",
        "Fixes shop/web over zones: zone-a 4 → 2, zone-b 0 → 2; skew 4 → 0 (maxSkew 1)",
        "Copy commands for kubectl",
        f"{command} -o commands",
    ]
    assert [each for each in parts if each not in said] == []
    assert sorted(parts, key=said.index) == parts, "the command comes right after what it does"
    script = html.unescape(
        re.findall(r'data-copy="(#!/bin/sh[^"]*)"', found.rebalance(asked(at="0", **key))["html"])[0]
    )
    assert re.findall("^evict .*", script, re.M) == ["evict shop web-0", "evict shop web-1"]
    assert "Counted" not in said, "no pod of the workload is lost or pending"
    assert (
        "Counted on the cluster as read. The lost pods may" in found.rebalance(asked(at="0", lost="1", **key))["html"]
    )
    later = found.rebalance(asked("cordon node=node-2", at="1", **key))["html"]
    assert "Counted on the simulated state that is shown. The command counts the cluster as read" in later
    assert "#!/bin/sh" not in later, "commands act on the cluster, not on a simulation"
    assert command in said_of(later)
    assert "-o commands" not in later


def test_the_evictions_for_all_workloads_over_their_max_skew_are_one_answer(tmp_path: Any) -> None:
    made: list[Any] = []
    for name in ("web", "api"):
        of = json.loads(
            json.dumps([*replica_set(deployment(name, 4))]).replace('"d"', f'"{name}"').replace('"r"', f'"{name}-1"')
        )
        pods = [owned(f"{name}-{at}", "node-1", deployment(name, 4)) for at in range(4)]
        made += [*of, *json.loads(json.dumps(pods).replace('"r"', f'"{name}-1"'))]
    said = said_of(snapshot_answers(tmp_path, *made).rebalance(asked(at="0"))["html"])
    assert said.startswith("yes: 4 evictions restore 2 constraints")
    assert "topospread rebalance -f app.json -o commands" in said


def test_the_remedy_for_pods_of_a_stateful_set_on_lost_nodes_is_among_what_would_help(tmp_path: Any) -> None:
    db = deployment("db", 2) | {"kind": "StatefulSet"}
    db["metadata"]["uid"], db["spec"]["serviceName"] = "d", "db"
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "d", "controller": True}
    spec, labels = db["spec"]["template"]["spec"], db["spec"]["template"]["metadata"]["labels"]
    pods = [
        pod(f"db-{at}", spec | {"nodeName": f"node-{at + 1}"}, labels=labels, ownerReferences=[owner]) for at in (0, 1)
    ]
    said = said_of(snapshot_answers(tmp_path, db, *pods).trial(asked("fail zone=zone-a"))["html"])
    remedy = "bring the node back, delete the Node object, or add the taint node.kubernetes.io/out-of-service."
    assert said.count(remedy) == 1
    assert (
        said.index("What would help")
        < said.index(remedy)
        < said.index("pods of StatefulSets" if "pods of StatefulSets" in said else "ready")
    )


def test_no_commands_are_written_for_a_name_that_no_api_server_stores(tmp_path: Any) -> None:
    web = deployment("web", 4)
    pods = [owned(f"web-{n};reboot", "node-1", web) for n in range(4)]
    found = snapshot_answers(tmp_path, *replica_set(web), *pods)
    told = found.rebalance(asked(at="0", kind="Deployment", namespace="shop", name="web"))["html"]
    assert "2 evictions restore 1 constraint" in told
    assert "#!/bin/sh" not in told


def test_pods_that_were_replaced_before_the_first_step_are_told_by_zone(tmp_path: Any) -> None:
    """The pod of an unreachable node is evicted, and its successor goes to the other zone."""
    web = deployment("web", 2)
    web["spec"]["template"]["spec"]["topologySpreadConstraints"] = []
    pods = [owned("web-0", "node-1", web), owned("web-1", "node-2", web)]
    found = snapshot_answers(tmp_path, *replica_set(web), *pods, unreachable=("node-2",))
    assert "1 pod replaced, all in another zone" in said_of(found.trial(asked(at="1"))["html"])


def test_what_a_tried_fix_costs_is_not_said_in_green(tmp_path: Any) -> None:
    web = deployment("web", 3)
    pods = [owned(f"web-{at}", on, web) for at, on in enumerate(("node-1", "node-1", ""))]
    answers = snapshot_answers(tmp_path, *replica_set(web), *pods, cordons=("node-2",))
    html = answers.pending(asked(at="0"))["html"] + answers.fixes(asked(at="0", target="shop/web-2"))["html"]
    assert re.search(r'<span class="good">✓ all 3 pods have a node</span>', html)
    assert re.search(r'<span class="warn">; leaves skew', html)
    assert "Replaces no pod." in html
    assert "<b>Replaces 2 pods.</b>" in html
    assert not re.search(r'<span class="good">[^<]*skew', html)


def test_a_drain_says_where_each_pod_went_and_which_budgets_guard_them(tmp_path: Any) -> None:
    web = deployment("web", 2)
    web["spec"]["template"]["spec"]["topologySpreadConstraints"] = []
    pods = [owned("web-0", "node-1", web), owned("web-1", "node-2", web)]
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "shop"}}
    budget["spec"] = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    step = "drain node=node-2"
    bare = snapshot_answers(tmp_path, *replica_set(web), *pods).trial(asked(step))["html"]
    assert "No PodDisruptionBudget selects the evicted pods." in bare
    assert re.search(r"shop/web-1</th><td>deleted from</td><td>node-2</td>", bare)
    assert re.search(r"shop/web-[^<]*</th><td>placed on</td><td>node-1</td>", bare)
    html = snapshot_answers(tmp_path, *replica_set(web), *pods, budget).trial(asked(step))["html"]
    assert "PodDisruptionBudgets of the evicted pods: shop/b." in html


def test_it_is_told_since_when_a_pod_is_pending(tmp_path: Any) -> None:
    web = deployment("web", 1, cpu="100")
    waits = owned("web-0", "", web)
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "message": "0/9 nodes are available",
        "reason": "Unschedulable",
    }
    waits["status"] = {"phase": "Pending", "conditions": [condition | {"lastTransitionTime": "2026-11-28T19:31:00Z"}]}
    answers = snapshot_answers(tmp_path, *replica_set(web), waits, unreachable=("node-2",))
    assert "<time>since 2026-11-28T19:31:00Z</time>" in answers.pending(asked(at="0"))["html"]
    html = answers.why(asked(at="0", target="shop/web-0"))["html"]
    assert "<time>since 2026-11-28T19:31:00Z</time>" in html
    assert "pending since 2026-11-28T19:31:00Z" in said_of(html)
    assert "Message that kube-scheduler would write now: <q>0/" in html
    assert "Message that kube-scheduler would write now: <q>0/2 nodes" in html
    assert picture(answers)["nodes"]["taints"] == ["", "not ready since 2026-11-28T19:02:00Z"]
    assert (
        "not ready</span> <time>since 2026-11-28T19:02:00Z</time>" in answers.node(asked(at="0", name="node-2"))["html"]
    )
    placed = owned("web-0", "node-1", deployment("web", 1))
    one = snapshot_answers(tmp_path, *replica_set(deployment("web", 1)), placed, cordons=("node-2",))
    html = one.pending(asked("fail node=node-1"))["html"]
    assert "1 pending pod" in html
    assert "since" not in html, "a simulated time is no time of the cluster"


def test_a_pod_that_is_pending_only_in_the_simulation_says_so(tmp_path: Any) -> None:
    web = deployment("web", 3, cpu="5")
    web["spec"]["template"]["spec"]["topologySpreadConstraints"] = []
    waits = owned("web-2", "", web)
    condition = {"type": "PodScheduled", "status": "False", "lastTransitionTime": "2026-11-28T19:31:00Z"}
    waits["status"] = {"conditions": [condition]}
    pods = [owned("web-0", "node-1", web), owned("web-1", "node-2", web), waits]
    answers = snapshot_answers(tmp_path, *replica_set(web), *pods)
    failed = asked("fail node=node-1")
    assert "2 pending pods 1 as read, since 2026-11-28T19:31:00Z; 1 only in the simulation" in said_of(
        answers.pending(failed)["html"]
    )
    (group,) = answers.trials.timeline(failed.steps).frames[-1].pending
    (made,) = (name for name in group.pods if name != "web-2")
    words = answers.why(asked("fail node=node-1", target=f"shop/{made}"))["html"]
    assert "only in the simulation" in words
    assert "since" not in words


def test_since_when_a_node_is_cordoned_is_in_the_picture_and_in_its_panel(tmp_path: Any) -> None:
    answers = snapshot_answers(tmp_path, cordons=("node-2",), since="2026-11-28T17:40:00Z")
    assert picture(answers)["nodes"]["taints"] == ["", "cordoned since 2026-11-28T17:40:00Z"]
    assert picture(answers, "uncordon node=node-2")["nodes"]["taints"] == ["", ""]
    assert picture(answers, "fail node=node-2")["nodes"]["taints"] == [
        "",
        "not ready, cordoned since 2026-11-28T17:40:00Z",
    ]
    assert "cordoned since 2026-11-28T17:40:00Z" in said_of(answers.node(asked(at="0", name="node-2"))["html"])


def test_a_budget_that_had_too_few_pods_before_the_what_if_is_no_failure_of_it(tmp_path: Any) -> None:
    web = deployment("web", 2)
    budgets = [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": "web"}}},
        }
        for name, least in (("kept", 2), ("short", 3))
    ]
    html = snapshot_answers(tmp_path, web, *budgets).trial(asked("fail node=node-1"))["html"]
    at_worst = "at the worst moment of this step"
    assert re.findall(r'<p class="(\w+)">PodDisruptionBudget ([^<]*)', html) == [
        ("bad", f"shop/kept: {at_worst} 1 healthy, 2 wanted"),
        ("quiet", f"shop/short: {at_worst} 1 healthy, 3 wanted; it had too few before, too"),
    ]


def test_the_flow_counts_pods_that_are_not_judged_from_the_step_before(tmp_path: Any) -> None:
    train, web = deployment("train", 1), deployment("web", 1)
    claims = [{"name": "gpu", "resourceClaimName": "gpu"}]
    train["spec"]["template"]["spec"] |= {"resourceClaims": claims, "topologySpreadConstraints": []}
    web["spec"]["template"]["spec"]["topologySpreadConstraints"] = []
    pods = [owned("train-0", "node-1", train), owned("web-0", "node-2", web)]
    found = snapshot_answers(tmp_path, *replica_set(train), *replica_set(web), *pods)
    first = said_of(found.trial(asked("fail node=node-1"))["html"])
    assert "1 pod became not judged" in first
    assert "not judged +1" in first
    assert "became not judged" not in said_of(found.trial(asked("fail node=node-1", "fail node=node-2"))["html"])
