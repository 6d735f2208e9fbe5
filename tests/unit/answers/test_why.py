"""The answer on one pod: verdict, sentence, what is unknown, and the page in each format."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.parted import parted
from tests.plain_inventory import inventory
from tests.unit.why.builders import (
    GPU,
    HOST,
    Json,
    constraint,
    node,
    pod,
    spec,
    workload,
    zones,
)
from topospread.answers.why import Why, why_answer
from topospread.render.svg import svg
from topospread.why.explain import explain

OF = spec(constraint())
CLAIM = [{"name": "gpu", "resourceClaimName": "gpu"}]


def why(target: str, *objects: Json, **how: Any) -> Why:
    return why_answer(explain(inventory(*objects), target, **parted(how)))


def pending() -> Why:
    """Zone c holds the minimum: one node is cordoned, the other full."""
    nodes = [*zones("ab"), node("c1", "zone-c", cordoned=True), node("c2", "zone-c", cpu="1")]
    there = [pod(f"web-{i}", on, OF, owner=("StatefulSet", "web")) for i, on in enumerate("ab")]
    filler = pod("filler", "c2", spec(cpu="800m"), labels={"app": "filler"})
    return why("sts/web", *nodes, *there, filler, workload("StatefulSet", 3, OF))


def placed() -> Why:
    of = spec(constraint(when="ScheduleAnyway", maxSkew=2), constraint(HOST))
    nodes = [*zones("abc"), node("gpu", "zone-d", taints=[GPU]), node("bare")]
    filler = [pod(f"filler-{i}", on, spec(cpu="1"), labels={"app": "filler"}) for i, on in enumerate("bcc")]
    return why("web", *nodes, pod("web-0", "a", of), *filler, pod("web", of=of))


def large() -> Why:
    """3,000 nodes; zone c is cordoned."""
    nodes = [node(f"node-{i}", f"zone-{'abc'[i % 3]}", cordoned=i % 3 == 2) for i in range(3000)]
    of = spec(constraint(), constraint(HOST))
    return why("deploy/web", *nodes, workload("Deployment", 12, of))


def test_a_pending_pod() -> None:
    assert pending().text() == snapshot("""\
no: shop/web-2 finds no node; 2 of the 3 pods of StatefulSet web have one
why: maxSkew 1 over zones admits only zone-c, where c1 is cordoned, and c2 lacks
     300m cpu
fix: kubectl uncordon c1
     tried: the pod finds a node

topology.kubernetes.io/zone, DoNotSchedule, maxSkew 1, pods with app=web
ZONE    PODS  AFTER  SKEW, MAX 1
zone-a     1      2            2  ██  rejected
zone-b     1      2            2  ██  rejected
zone-c     0      1            1  █   admitted; no node takes it
skew: pods + 1 (self) − 0 (minimum: zone-c)
5 more fixes, each plugin's verdict and kube-scheduler's messages: -o wide
""")


def test_everything_on_a_pending_pod() -> None:
    text = pending().text(wide=True)
    assert (
        "Fix 5: maxSkew 2 instead of 1 on topology.kubernetes.io/zone\nrun: kubectl -n shop patch statefulset" in text
    )
    assert "once the pending one is deleted (unless managed in parallel)" in " ".join(text.split())
    assert "NodeResourcesFit: 1 node, which no other plugin rejects: Insufficient cpu" in text
    assert "c2: NodeResourcesFit: 300m cpu short" in text
    assert "kube-scheduler: 0/4 nodes are available: 1 Insufficient cpu" in text
    assert '"op": "add", "path": "/items/-"' in text
    assert ": -o wide" not in text


def test_a_placed_pod() -> None:
    assert placed().text() == snapshot("""\
yes: shop/web goes to b
why: maxSkew 1 over nodes admits only b, bare, c and gpu; of 3 feasible nodes, b
     scores highest: 651; c scores 637 (NodeResourcesFit: 79 against 66)
2 constraints, the scores and each plugin's verdict: -o wide
""")
    assert placed().text(wide=True) == snapshot("""\
yes: shop/web goes to b
why: maxSkew 1 over nodes admits only b, bare, c and gpu; of 3 feasible nodes, b
     scores highest: 651; c scores 637 (NodeResourcesFit: 79 against 66)

kubernetes.io/hostname, DoNotSchedule, maxSkew 1, pods with app=web
NODE  PODS  AFTER  SKEW, MAX 1
a        1      2            2  ██  rejected
b        0      1            1  █   admitted; its node is here
bare     0      1            1  █   admitted
c        0      1            1  █   admitted
gpu      0      1            1  █   admitted; its node is tainted

topology.kubernetes.io/zone, ScheduleAnyway, maxSkew 2, pods with app=web
ZONE    PODS  AFTER  SKEW, MAX 2
zone-a     1      2            2  ██
zone-b     0      1            1  █   its node is here
zone-c     0      1            1  █
zone-d     0      1            1  █   its node is tainted
not counted: bare (no label topology.kubernetes.io/zone)

Plugins that reject nodes, each evaluated on all 5
TaintToleration: 1 node, which no other plugin rejects: node(s) had untolerated
                taint(s) (dedicated=gpu:NoSchedule)
PodTopologySpread: 1 node, which no other plugin rejects: node(s) didn't match
                pod topology spread constraints

Weighted points of 3 feasible nodes
A: b; chosen
B: c
C: bare
PLUGIN                           WEIGHT    A    B    C
TaintToleration                       3  300  300  300
NodeResourcesFit                      1   79   66   92
PodTopologySpread                     2  200  200    0
InterPodAffinity                      2    0    0    0
NodeResourcesBalancedAllocation       1   72   71   71
ImageLocality                         1    0    0    0
total                                    651  637  463

PodTopologySpread: pods × ln(domains with feasible nodes + 2) + maxSkew − 1,
  added up and rounded; fewer is better
A: zone-b: 0 × ln(2 + 2) + 1 = 1.000; 1.000 → 1; 100 × (1 + 1 − 1) ÷ 1 = 100 × 2
   = 200
B: zone-c: 0 × ln(2 + 2) + 1 = 1.000; 1.000 → 1; 100 × (1 + 1 − 1) ÷ 1 = 100 × 2
   = 200
C: lacks a key: not scored; 0 × 2 = 0

Best node without one of the constraints
WITHOUT                      WHEN UNSATISFIABLE  BEST NODE  SCORE
kubernetes.io/hostname       DoNotSchedule       b            651  the same node
topology.kubernetes.io/zone  ScheduleAnyway      bare         463
""")


def test_a_pod_in_a_large_cluster() -> None:
    text = large().text()
    assert text == snapshot("""\
no: shop/web-749c9b4fbb-mtjbx finds no node; 2 of the 12 pods of Deployment web
  have one
why: maxSkew 1 over zones admits only zone-c, and maxSkew 1 over nodes admits
     only node-2, node-3, node-4 and 2995 more, where all 1000 nodes are
     cordoned
block together: 1000 nodes are cordoned and 2000 nodes are excluded by maxSkew 1
                over zones: together all 3000 nodes
fix: nodeTaintsPolicy: Honor on topology.kubernetes.io/zone
tried: a new revision of Deployment web replaces every pod: all 12 pods have a
       node; its skew no longer counts zone-c

topology.kubernetes.io/zone, DoNotSchedule, maxSkew 1, pods with app=web
ZONE    PODS  AFTER  SKEW, MAX 1
zone-a     1      2            2  ██  rejected
zone-b     1      2            2  ██  rejected
zone-c     0      1            1  █   admitted; no node takes it
skew: pods + 1 (self) − 0 (minimum: zone-c)

kubernetes.io/hostname, DoNotSchedule, maxSkew 1, pods with app=web
NODES       PODS  SKEW
1998 nodes     0     1  admitted; another constraint rejects the pod
1000 nodes     0     1  admitted; no node takes it
2 nodes        1     2  rejected
skew: pods + 1 (self) − 0 (minimum: node-2, node-3 and 2996 more)
4 more fixes, each plugin's verdict and kube-scheduler's messages: -o wide
""")
    assert len(text.splitlines()) <= 25


@pytest.mark.parametrize("make", [pending, placed, large])
@pytest.mark.parametrize("width", [60, 80])
def test_only_a_name_or_a_command_is_wider_than_the_screen(make: Any, width: int) -> None:
    for line in make().text(width=width).splitlines():
        assert len(line) <= width or " " not in line.strip() or "kubectl" in line, line


def test_a_bound_pod_that_its_node_would_reject_now() -> None:
    there = [pod(f"web-{i}", on, OF) for i, on in enumerate("aaab")]
    answer = why("web-0", *zones("ab"), *there)
    assert (answer.verdict, answer.says) == ("yes", "shop/web-0 runs on a; scheduled now, it would go to b")
    assert [each.code for each in answer.causes] == ["one-domain", "node-rejects", "only-node", "uneven"]
    assert answer.causes[1].says == "a would reject it now: it exceeds maxSkew (zone-a: skew 2 > maxSkew 1)"
    assert answer.causes[3].says == (
        "zone-a has 3 of 4 pods: maxSkew 1 over zones permits up to 2; "
        "pods or nodes have changed since they were placed"
    )


@pytest.mark.parametrize(
    ("of", "closed", "says"),
    [
        (constraint(maxSkew=3), False, "maxSkew 3 over zones permits up to 4; zone-b is open too, so scores chose"),
        (constraint(when="ScheduleAnyway"), False, "ScheduleAnyway over zones forbids nothing; zone-b is open too, so"),
        (constraint(when="ScheduleAnyway"), True, "ScheduleAnyway over zones forbids nothing; filters close every"),
    ],
)
def test_a_constraint_that_permits_an_uneven_spread_is_told_from_filters_and_scores(
    of: dict[str, Any], closed: bool, says: str
) -> None:
    there = [pod(f"web-{i}", on, spec(of)) for i, on in enumerate("aaab")]
    answer = why("web-0", node("a", "zone-a"), node("b", "zone-b", cordoned=closed), *there)
    assert f"\nspread: zone-a has 3 of 4 pods: {says}" in answer.text(width=200)


def test_an_even_spread_over_open_domains_is_not_explained() -> None:
    there = [pod(f"web-{i}", on, spec(constraint(when="ScheduleAnyway"))) for i, on in enumerate("aabb")]
    assert "spread:" not in why("web-0", *zones("ab"), node("c", "zone-c", cordoned=True), *there).text()


def test_a_bound_pod_that_comes_back() -> None:
    answer = why("web-0", node("a", "zone-a"), pod("web-0", "a", OF))
    assert answer.says == "shop/web-0 runs on a, and would be placed there again"
    assert [each.code for each in answer.causes] == ["only-node"]


def test_no_change_that_helps() -> None:
    answer = why("web", pod("web", of=OF))
    assert (answer.verdict, answer.remedies) == ("no", ())
    assert "fix: none found; tried: " in answer.text()


def test_a_pod_that_is_not_judged_is_unknown() -> None:
    answer = why("web", *zones(), pod("web", of=spec(resourceClaims=CLAIM)))
    assert (answer.verdict, answer.says, answer.admitted) == ("unknown", "shop/web may find a node", 3)
    assert answer.text() == snapshot("""\
unknown: shop/web may find a node
not judged: resource claims need ResourceSlices, which the input lacks
            (spec.resourceClaims); all other filters admit each of the 3 nodes
to judge it: kubectl get resourceslices,deviceclasses,resourceclaims,resourceclaimtemplates -A -o yaml
             add its output: -f FILE
""")


def test_judged_filters_that_refuse_every_node_decide() -> None:
    answer = why("web", *zones(), pod("web", of=spec(resourceClaims=CLAIM, cpu="16")))
    assert (answer.verdict, [each.code for each in answer.causes]) == ("no", ["cpu-short"])
    assert answer.unjudged == ()


def test_pods_of_a_workload_that_are_not_judged_are_bounds() -> None:
    template = spec(resourceClaims=CLAIM)
    answer = why("deploy/web", *zones(), workload("Deployment", 3, template))
    assert (answer.verdict, answer.says) == ("unknown", "0–3 of the 3 pods of shop/web find nodes")
    assert (answer.pods.placed.least, answer.pods.placed.most) == (0, 3)


def test_a_pod_that_has_a_node_is_a_fact() -> None:
    answer = why("web", *zones(), pod("web", "a", spec(resourceClaims=CLAIM)))
    assert (answer.verdict, answer.unjudged) == ("yes", ())


def test_a_neighbour_that_is_not_judged_makes_a_pod_unknown_only_if_it_decides() -> None:
    other = pod("other", of=spec(resourceClaims=CLAIM, cpu="3"), labels={"app": "other"})
    room = why("web", node("a", "zone-a", cpu="8"), other, pod("web", of=spec(cpu="3")))
    assert (room.verdict, bool(room.assumed)) == ("yes", True)
    assert "not judged: resource claims" not in room.text()
    assert "not judged: resource claims" in room.text(wide=True)
    assert "parts of other pods that are not judged" in " ".join(room.text().split())
    narrow = why("web", node("a", "zone-a", cpu="4"), other, pod("web", of=spec(cpu="3")))
    assert (narrow.verdict, narrow.assumed) == ("unknown", ())
    assert "not judged: " in narrow.text()
    assert narrow.unjudged[0].pods == ("shop/other",)
    never = why("web", node("a", "zone-a", cpu="2"), other, pod("web", of=spec(cpu="3")))
    assert (never.verdict, [each.code for each in never.causes]) == ("no", ["cpu-short"])


def test_a_pod_of_another_scheduler_is_unknown() -> None:
    answer = why("web", *zones(), pod("web", of=spec(schedulerName="volcano")))
    assert answer.verdict == "unknown"
    assert [each.what for each in answer.unjudged] == ['schedulerName "volcano"']


def test_a_gated_pod() -> None:
    answer = why("web", *zones(), pod("web", of=spec(schedulingGates=[{"name": "later"}])))
    assert answer.says == "shop/web is not tried: it waits for its scheduling gates: later"


@pytest.mark.parametrize("make", [pending, placed])
def test_the_picture_has_a_bar_for_each_domain(make: Any) -> None:
    root = ET.fromstring(svg(make().page()))
    bars = [each for each in root.iter() if each.get("class") in ("bar", "over")]
    answer = make()
    assert len(bars) == sum(len(each.domains) for each in answer.constraints)


def test_a_name_cannot_break_out_of_a_page() -> None:
    answer = why("web", node("a", 'x"><script>'), pod("web", of=OF))
    assert "<script>" not in answer._repr_html_()
    assert "<script>" not in svg(answer.page())


def test_json_is_the_struct() -> None:
    answer = pending()
    data = answer.to_dict()
    assert data["kind"] == "Why"
    assert data["remedies"][0] == {
        "code": "uncordon",
        "says": "uncordon c1 in zone-c",
        "command": ["kubectl", "uncordon", "c1"],
        "patch": [{"op": "remove", "path": "/spec/unschedulable"}, {"op": "remove", "path": "/spec/taints/0"}],
        "object": {"apiVersion": "v1", "kind": "Node", "namespace": "", "name": "c1"},
        "further": [],
        "tried": {
            "verdict": "yes",
            "places": 3,
            "of": 3,
            "evicts": 0,
            "replaces": 0,
            "newlyPending": [],
            "exceeds": [],
            "mayExceed": [],
            "uncounted": [],
        },
        "means": "cluster",
        "file": None,
        "letsIn": 1,
    }


def test_the_age_of_a_pending_pod_is_said() -> None:
    waiting = pod("web", of=spec(nodeSelector={"no": "node"}))
    waiting["metadata"]["creationTimestamp"] = "2026-11-27T04:00:00Z"
    later = pod("other", "a", spec())
    later["metadata"]["creationTimestamp"] = "2026-11-27T05:30:00Z"
    answer = why("web", node("a"), waiting, later)
    assert (answer.created, answer.age) == ("2026-11-27T04:00:00Z", 5400)
    assert "\npending since: 2026-11-27T04:00:00Z, at least 1h30m0s ago\n" in answer.text()
    assert why("other", node("a"), waiting, later).created is None


def test_each_node_has_its_score_or_the_first_plugin_that_rejects_it() -> None:
    of = spec(constraint(), constraint(HOST))
    nodes = [*zones("ab"), node("gpu", "zone-c", taints=[GPU]), node("bare")]
    given = inventory(*nodes, pod("web-0", "a", of), pod("web", of=of))
    explanation = explain(given, "web")
    found = why_answer(explanation, each_node=True)
    by_node = {each.node: each for each in found.each_node}
    assert [(each.node, each.verdict, each.plugin) for each in found.each_node] == [
        ("b", "yes", None),
        ("a", "no", "PodTopologySpread"),
        ("bare", "no", "PodTopologySpread"),
        ("gpu", "no", "TaintToleration"),
    ]
    assert by_node["b"].total == sum(by_node["b"].points.values())
    assert by_node["bare"].reasons == ("node(s) didn't match pod topology spread constraints (missing required label)",)
    assert "bare  no           didn't match pod topology spread constraints (missing" in found.text()
    assert not why_answer(explanation).each_node


def test_of_nodes_that_only_unjudged_parts_decide_no_verdict_is_given() -> None:
    found = why_answer(
        explain(inventory(*zones("a"), pod("web", of=spec() | {"resourceClaims": CLAIM})), "web"), each_node=True
    )
    assert [(each.node, each.verdict, each.total) for each in found.each_node] == [("a", "unknown", None)]
