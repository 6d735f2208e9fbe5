"""Counts of a workload's constraints by domain."""

from __future__ import annotations

from tests.unit.status.test_status import NODES, ZONE, constraint, node, only, pods, replica_set, spec, status, thing


def test_pods_outside_of_every_domain_are_of_the_whole() -> None:
    found = only(status(node("x1"), *NODES, *replica_set(spec(), ["a1", "x1", "x1"])))
    assert [(each.domain, each.lost, each.of) for each in found.losses if each.topology_key == ZONE] == [("a", 1, 3)]


def test_older_pods_have_a_line_of_their_own_where_they_count_otherwise() -> None:
    given = spec(constraint(matchLabelKeys=["pod-template-hash"]), constraint(2, "ScheduleAnyway"))
    template = {"metadata": {"labels": {"app": "web"}}, "spec": given}
    wanted = {"replicas": 4, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    deployment = thing("Deployment", "web", "apps/v1", spec=wanted)
    objects = [deployment]
    for revision, where in (("old", ["a1", "a1"]), ("new", ["b1"])):
        labels = {"app": "web", "pod-template-hash": revision}
        reference = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "name": "web",
            "uid": "Deployment-web",
            "controller": True,
        }
        of = {"labels": labels, "ownerReferences": [reference]}
        of["annotations"] = {"deployment.kubernetes.io/revision": "1" if revision == "old" else "2"}
        of["creationTimestamp"] = f"2026-01-0{1 if revision == 'old' else 2}T00:00:00Z"
        body = {"replicas": len(where), "selector": {"matchLabels": labels}}
        body["template"] = {"metadata": {"labels": labels}, "spec": given}
        owner = thing("ReplicaSet", f"web-{revision}", "apps/v1", metadata=of, spec=body)
        objects += [owner, *pods(where, labels, given, owner, f"web-{revision}")]
    found = next(each for each in status(*NODES, *objects).workloads if each.kind == "Deployment")
    hard = [(each.revision, each.skew) for each in found.constraints if each.hard]
    assert len(hard) == 2
    assert dict(hard)[""] in (1, 2)
    assert sorted(skew for _, skew in hard) == [1, 2]
    assert len([each for each in found.constraints if not each.hard]) == 1


def test_a_tainted_domain_is_named_as_the_cause_of_a_skew() -> None:
    taint = {"key": "batch", "value": "only", "effect": "NoSchedule"}
    nodes = [*NODES, node("d1", "d", taints=[taint])]
    where = ["a1", "b1", "c1"] * 2
    answer = status(*nodes, *replica_set(spec(constraint()), where))
    assert answer.workloads[0].constraints[0].closed == ("d",)
    (cause,) = answer.causes
    assert cause.code == "zone-gone-counts"
    assert cause.says.startswith("shop/web: d counts with the fewest pods, and takes none: all nodes there are tainted")
    waiting = thing("Pod", "large", spec=spec(nodeSelector={"no": "node"}))
    assert f"why: {cause.says}" in status(*nodes, *replica_set(spec(constraint()), where), waiting).text(width=200)


def test_a_domain_that_pods_may_still_take_is_not_named() -> None:
    taint = {"key": "batch", "value": "only", "effect": "NoSchedule"}
    nodes = [*NODES, node("d1", "d", taints=[taint]), node("d2", "d")]
    (cause,) = status(*nodes, *replica_set(spec(constraint()), ["a1", "b1", "c1"] * 2)).causes
    assert cause.code == "skew-remains"
