"""Changes that keep pods from being newly pending after a drill: each as a drill of the changed manifests shows it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.drill.builders import Json, at, budget, node, nodes, rolling, spread, told, workload
from topospread.drill.steps import Apply, Drain, Fail, Rollout
from topospread.why import drill_fixes

SIX = nodes("a", "a", "b", "b", "c", "c")


def web(name: str = "web", replicas: int = 6, **more: Any) -> Json:
    selector = {"matchLabels": {"app": name}}
    return workload(
        "Deployment", name, replicas, {"topologySpreadConstraints": [spread(labelSelector=selector, **more)]}
    )


def test_a_zone_that_takes_no_pods_is_no_domain_with_honor() -> None:
    answer = told([*SIX, web()], Fail(at("zone=a"))).answer()
    first = answer.remedies[0]
    assert (first.code, first.pending_without, first.pending) == ("nodeTaintsPolicy", 2, 0)
    assert (first.tried.places, first.tried.of, first.command) == (2, 2, ())
    assert first.object["name"] == "web"
    honoured = told([*SIX, web(nodeTaintsPolicy="Honor")], Fail(at("zone=a")))
    assert not honoured.harm
    assert "topology.kubernetes.io/zone of shop/web (tried: 0 pods newly pending instead of 2)" in " ".join(
        answer.text().split()
    )


def test_of_fixes_that_place_as_many_pods_those_that_keep_the_skew_come_first() -> None:
    tainted = node("c", "c", cpu="1", taints=[{"key": "x", "effect": "NoSchedule"}])
    answer = told([*nodes("a", "b"), tainted, web(replicas=2)], Fail(at("zone=a"))).answer()
    assert [(each.code, each.pending, [one.skew for one in each.tried.exceeds]) for each in answer.remedies] == [
        ("nodeTaintsPolicy", 0, []),
        ("toleration", 0, []),
        ("newNode", 0, []),
        ("whenUnsatisfiable", 0, [2]),
    ]
    assert "(tried: 0 pods newly pending instead of 1; leaves skew 2 by zone)" in " ".join(
        answer.text(wide=True).split()
    )


def test_one_kind_of_change_is_made_to_every_workload() -> None:
    answer = told([*SIX, *(web(f"web-{i}", 3) for i in range(3))], Fail(at("zone=a"))).answer()
    first = answer.remedies[0]
    assert (first.code, first.pending_without, first.pending) == ("nodeTaintsPolicy", 3, 0)
    assert first.says.endswith(" and 2 more")
    assert sorted(each.object["name"] for each in first.parts) == ["web-0", "web-1", "web-2"]


def test_changes_that_help_only_together_are_found_together() -> None:
    """With Honor zone c alone is left, of which one node is cordoned and the other full."""
    full = node("c2", "c", cpu="1")
    objects = [*nodes("a"), full, node("c1", "c", unschedulable=True), web(replicas=2)]
    answer = told(objects, Fail(at("zone=a"))).answer()
    first = answer.remedies[0]
    assert (first.code, first.pending) == ("nodeTaintsPolicy+uncordon", 0)
    assert [each.object["kind"] for each in first.parts] == ["Deployment", "Node"]


def test_a_change_of_several_workloads_keeps_each_part_in_a_set() -> None:
    """One pod of each of two Deployments loses its node; of zone c, one node is full and the other cordoned."""
    objects = [*nodes("a"), node("c2", "c", cpu="2"), node("c1", "c", unschedulable=True)]
    first = told([*objects, web(replicas=2), web("api", replicas=2)], Fail(at("zone=a"))).answer().remedies[0]
    assert (first.code, first.pending_without, first.pending) == ("nodeTaintsPolicy+uncordon", 2, 0)
    assert sorted((each.object["kind"], each.object["name"]) for each in first.parts) == [
        ("Deployment", "api"),
        ("Deployment", "web"),
        ("Node", "c1"),
    ]


def test_a_cordon_of_the_drill_is_not_to_be_lifted() -> None:
    answer = told([*SIX, web()], Drain(at("zone=a"))).answer()
    assert answer.remedies[0].code == "nodeTaintsPolicy"
    assert "uncordon" not in {each.code for each in answer.remedies}


def test_a_fix_says_that_pods_stay_whose_budget_blocks_their_eviction() -> None:
    pay = workload("Deployment", "pay", 3)
    answer = told([*SIX, web(), pay, budget("pay", minAvailable=3)], Drain(at("zone=a"))).answer()
    assert {(each.pending, each.not_evicted, each.tried.verdict) for each in answer.remedies[:1]} == {(0, 1, "no")}
    assert "instead of 2; 1 pod still not evicted" in " ".join(answer.text().split())


def test_a_manifest_that_a_step_applies_is_changed(tmp_path: Any) -> None:
    import json

    path = tmp_path / "web.json"
    path.write_text(json.dumps(web()))
    answer = told(
        [*nodes("a", "b"), node("c", "c", taints=[{"key": "x", "effect": "NoSchedule"}])], Apply(str(path)), runs=1
    )
    answer = answer.answer()
    assert {"nodeTaintsPolicy", "toleration"} <= {each.code for each in answer.remedies}
    assert all(each.pending < each.pending_without for each in answer.remedies)


def test_what_the_effort_ends_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drill_fixes, "EFFORT", 80)
    answer = told([*SIX, web()], Fail(at("zone=a"))).answer()
    assert [each.code for each in answer.remedies] == ["nodeTaintsPolicy"]
    assert answer.untried > 0
    monkeypatch.setattr(drill_fixes, "EFFORT", 10)
    answer = told([*SIX, web()], Fail(at("zone=a"))).answer()
    assert answer.remedies == ()
    assert "fix: unknown: the limit on work was reached before 1 change could be tried" in answer.text()


def test_a_drill_without_harm_has_nothing_to_fix() -> None:
    assert told([*SIX, web(nodeTaintsPolicy="Honor")], Fail(at("zone=a"))).answer().remedies == ()


def test_a_change_is_rolled_out_from_the_pods_that_are_there() -> None:
    """The old pods' required anti-affinity refuses the new pods, too: only another strategy helps."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "api"}}}
    required = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    api = workload("Deployment", "api", 3, {"affinity": required})
    api["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    api["metadata"]["uid"] = "uid-api"
    answer = told([*nodes("a", "b", "c"), api], Rollout("deploy/api"), runs=1).answer()
    assert answer.says.endswith("the rollout of shop/api is stuck")
    first = answer.remedies[0]
    assert [each.code for each in answer.remedies if each.object["kind"] == "Deployment"] == ["strategy"]
    assert (first.code, first.pending, first.pending_without) == ("strategy", 0, 1)
    api["spec"]["strategy"] = first.patch[0]["value"]
    assert not told([*nodes("a", "b", "c"), api], Rollout("deploy/api"), runs=1).harm


@pytest.mark.parametrize(("replicas", "offered"), [(12, {"maxSurge": "25%", "maxUnavailable": "25%"}), (3, None)])
def test_a_strategy_that_completes_is_offered_and_none_that_stays_stuck(replicas: int, offered: Json | None) -> None:
    """Zone c has room for its own pods alone. One old pod less is enough for few replicas."""
    full = [node(f"c{number}", "c", cpu="1") for number in range(replicas // 3)]
    item = web(replicas=replicas, matchLabelKeys=["pod-template-hash"])
    item["spec"]["strategy"] = rolling("25%", 0)
    objects = [*(node(f"{zone}{number}", zone, cpu="4") for zone in "ab" for number in range(3)), *full, item]
    answer = told(objects, Rollout("deploy/web"), runs=1).answer()
    (strategy,) = [each for each in answer.remedies if each.code == "strategy"]
    item["spec"]["strategy"] = strategy.patch[0]["value"]
    assert (strategy.pending, item["spec"]["strategy"]["rollingUpdate"]) == (
        0,
        offered or {"maxSurge": 0, "maxUnavailable": 1},
    )
    assert not told(objects, Rollout("deploy/web"), runs=1).harm


def test_a_workload_whose_rollout_would_get_stuck_keeps_its_template() -> None:
    """Three pods of `big` wait before the drill, so a rollout of it cannot end. The others get the fix."""
    selector = {"matchLabels": {"app": "big"}}
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "6"}}}]
    spec: Json = {"containers": containers, "topologySpreadConstraints": [spread(labelSelector=selector)]}
    big = workload("Deployment", "big", 8, spec)
    big["metadata"]["uid"] = "d"
    labels = {"app": "big", "pod-template-hash": "1"}
    owners = [
        [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": True}]
        for kind, name, uid in (("Deployment", "big", "d"), ("ReplicaSet", "big-1", "r"))
    ]
    metadata = {"name": "big-1", "namespace": "shop", "uid": "r", "labels": labels, "ownerReferences": owners[0]}
    template = {"metadata": {"labels": labels}, "spec": spec}
    of_set = {"replicas": 8, "selector": {"matchLabels": labels}, "template": template}
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"big-{i}", "namespace": "shop", "labels": labels, "ownerReferences": owners[1]},
            "spec": spec | ({"nodeName": on} if on else {}),
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]} if on else {},
        }
        for i, on in enumerate(("a1", "a2", "b1", "b2", "c1", "", "", ""))
    ]
    stored: Json = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": of_set}
    ample = nodes(*"aaaaabbbbbc")
    answer = told([*ample, web("web-0", 3), web("web-1", 3), big, stored, *pods], Fail(at("zone=a"))).answer()
    honor = next(each for each in answer.remedies if each.code == "nodeTaintsPolicy")
    assert {each.object["name"] for each in honor.parts} == {"web-0", "web-1"}
    assert honor.says == "nodeTaintsPolicy: Honor on topology.kubernetes.io/zone of shop/web-0 and 1 more"
    assert (honor.pending_without, honor.pending) == (4, 2)


def test_a_budget_that_lacks_healthy_pods_blocks_no_drain_if_its_pending_pods_run() -> None:
    closed = node("c1", "c", unschedulable=True)
    objects = [*nodes("a", "a", "b", "b"), closed, web(replicas=4), budget(maxUnavailable=1)]
    answer = told(objects, Drain(at("node=a1"))).answer()
    (left,) = answer.steps[1].not_evicted
    assert left.why == "The disruption budget shop/web needs 3 healthy pods and has 2 currently"
    fix = answer.remedies[0]
    assert (fix.code, fix.command, fix.not_evicted) == ("uncordon", ("kubectl", "uncordon", "c1"), 0)
    text = " ".join(answer.text().split())
    assert text.startswith("no: 1 pod not evicted fix: kubectl uncordon c1 tried: the drain evicts every pod")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"minAvailable": 3}, "minAvailable 2 instead of 3"),
        ({"minAvailable": "100%"}, "minAvailable 2 instead of 100%"),
        ({"maxUnavailable": 0}, "maxUnavailable 1 instead of 0"),
    ],
)
def test_a_budget_that_blocks_a_drain_is_given_room_for_one_eviction(spec: Json, says: str) -> None:
    answer = told([*SIX, web(replicas=3), budget(**spec)], Drain(at("node=a1"))).answer()
    fix, *scaled = answer.remedies
    assert (fix.code, fix.says) == ("budget", f"{says} in the PodDisruptionBudget shop/web")
    more = ["4 replicas instead of 3 of shop/web"] if spec == {"minAvailable": 3} else []
    assert [each.says for each in scaled] == more
    assert (fix.not_evicted, fix.tried.verdict) == (0, "yes")
    text = " ".join(answer.text().split())
    assert all(f"fix: {each.says} (tried: the drain evicts every pod)" in text for each in answer.remedies)


def test_a_rollout_that_leaves_skew_names_the_constraint_and_counts_only_new_pods() -> None:
    answer = told([*nodes(*"abc"), web(replicas=6)], Rollout("shop/deploy/web"), runs=8).answer()
    ready = "the rollout of shop/web is complete, 6 pods are ready, and no pod is pending"
    assert answer.says == f"{ready}; shop/web ends with zone skew up to 3, over maxSkew 1"
    assert [each.code for each in answer.causes] == ["old-pods-count"]
    fix = answer.remedies[0]
    assert fix.says == "matchLabelKeys: [pod-template-hash] of shop/web"
    path = "/spec/template/spec/topologySpreadConstraints/0/matchLabelKeys"
    assert fix.patch == ({"op": "add", "path": path, "value": ["pod-template-hash"]},)
    assert f"fix: {fix.says} (tried: the rollout leaves no skew over maxSkew)" in " ".join(answer.text().split())
    own = web(replicas=6)
    own["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["matchLabelKeys"] = ["pod-template-hash"]
    kept = told([*nodes(*"abc"), own], Rollout("shop/deploy/web"), runs=8)
    assert (kept.left_skews, kept.answer().remedies) == ({}, ())
