"""What would let a pending pod in: only what was tried, smallest first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import topospread
from topospread.why import what_if
from topospread.why.explain import explain
from topospread.why.result import Explanation, Suggestion

from .builders import GPU, ZONE, by_kind, constraint, explained, node, pod, replica_set, replicas, spec, workload, zones

OF = spec(constraint())
TAINTED = [*zones("a"), node("b", "zone-b", taints=[GPU])]
"""Zone b holds the minimum and takes nothing."""


def of_deployment(count: int, *nodes: dict[str, Any], of: dict[str, Any] = OF) -> dict[str, Suggestion]:
    return by_kind(explained("deploy/web", *nodes, workload("Deployment", count, of)))


def test_changes_that_keep_the_skew_come_first_then_the_smallest() -> None:
    found = explained("deploy/web", *TAINTED, workload("Deployment", 3, OF)).suggestions
    assert [(each.kind, [(one.skew, one.max_skew) for one in each.exceeds]) for each in found] == [
        ("nodeTaintsPolicy", []),
        ("toleration", []),
        ("newNode", []),
        ("maxSkew", [(3, 1)]),
        ("whenUnsatisfiable", [(3, 1)]),
    ]
    assert all((each.placed, each.wanted, each.lets_in, each.complete) == (3, 3, 2, True) for each in found)


def test_a_change_that_replaces_no_pod_comes_before_a_rollout_that_keeps_the_skew() -> None:
    """The uncordoned zone counts again for another workload, none of whose pods moves."""
    of_other = spec(constraint(app="other", nodeTaintsPolicy="Honor"))
    others = [
        pod(f"other-{at}", on, of_other, labels={"app": "other"}, owner=("ReplicaSet", "other"))
        for at, on in enumerate("aabb")
    ]
    found = explained(
        "deploy/web",
        *zones("ab"),
        node("c", "zone-c", cordoned=True),
        workload("Deployment", 3, OF),
        replica_set("1", 3, OF),
        *replicas("1", OF, ["a", "b", ""]),
        workload("ReplicaSet", 4, of_other, "other"),
        *others,
    ).suggestions
    assert [(each.kind, each.replaces) for each in found[:2]] == [("uncordon", 0), ("nodeTaintsPolicy", 2)]
    assert [(each.skew, each.workload) for each in found[0].exceeds] == [(2, "shop/other")]


def test_a_change_that_places_more_pods_comes_first() -> None:
    cordoned = [node(f"b{i}", "zone-b", cpu="1", cordoned=True) for i in range(2)]
    found = explained("deploy/web", *zones("a"), *cordoned, workload("Deployment", 6, OF)).suggestions
    placed = [each.placed for each in found]
    assert placed == sorted(placed, reverse=True)
    assert placed[-1] < placed[0] == 6


def test_the_smallest_max_skew_that_places_all() -> None:
    change = of_deployment(5, *TAINTED)["maxSkew"]
    assert change.patch[0]["value"] == 5
    assert change.title == f"maxSkew 5 instead of 1 on {ZONE}"


def test_a_max_skew_that_places_only_some_is_left_out_where_another_change_places_all() -> None:
    nodes = [node("a", "zone-a", cpu="1"), node("b", "zone-b", taints=[GPU])]
    found = of_deployment(3, *nodes)
    assert "maxSkew" not in found, "zone a has room for two"
    assert found["toleration"].complete


def test_min_domains_is_lowered_to_what_there_is() -> None:
    found = of_deployment(4, *zones("ab"), of=spec(constraint(minDomains=3)))
    assert found["minDomains"].patch[0]["value"] == 2


def test_nothing_of_the_constraints_where_they_are_not_to_blame() -> None:
    found = by_kind(explained("web", node("a", "zone-a", cpu="1"), pod("there", "a", spec(cpu="1")), pod("web", of=OF)))
    assert set(found) == {"free", "newNode"}
    assert found["free"].title == "free 500m cpu on a in zone-a"


def test_taints_of_nodes_that_are_not_ready_are_not_to_be_tolerated() -> None:
    sick = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    assert "toleration" not in of_deployment(3, *zones("a"), node("b", "zone-b", taints=[sick]))


def test_a_pod_is_created_anew_and_a_toleration_added_to_it_as_it_is() -> None:
    found = by_kind(explained("web", *TAINTED, pod("there", "a", OF), pod("web", of=OF)))
    assert (found["maxSkew"].means, found["toleration"].means) == ("recreate", "in place")


def test_the_pod_that_a_controller_of_old_has_left_over_may_go() -> None:
    new = spec(constraint(), cpu="400m")
    objects = [
        *zones("ab"),
        node("c", "zone-c", cordoned=True),
        workload("Deployment", 5, new),
        replica_set("old", 5, OF),
        replica_set("new", 1, new),
        *replicas("old", OF, ["a", "a", "b", "b", "c"]),
        *replicas("new", new, [""]),
    ]
    explanation = explained("web-new-0", *objects)
    found = by_kind(explanation)
    assert (explanation.wanted, explanation.pending) == (6, 1)
    assert (
        found["deletePod"].title
        == "delete web-old-0, a pod of the old ReplicaSet, on a; 4 more of them remain to be replaced"
    )
    assert found["deletePod"].patch == ({"op": "remove", "path": ""},)
    assert (found["deletePod"].placed, found["deletePod"].wanted) == (5, 5)
    assert (found["maxSkew"].means, found["maxSkew"].wanted, found["maxSkew"].lets_in) == ("rollout", 5, 1)


def of_an_older_revision(new: Any) -> Explanation:
    """A pod of the old revision waits; the template changed since."""
    objects = [workload("Deployment", 3, new), replica_set("old", 3, OF), *replicas("old", OF, ["a", "", ""])]
    return explained("web-old-1", *TAINTED, *objects)


def test_a_pod_of_an_older_revision_is_helped_by_the_newest_template() -> None:
    found = by_kind(of_an_older_revision(spec(constraint(maxSkew=4))))
    assert set(found) == {"rollout", "newNode"}, "the constraints need no further change"
    assert (found["rollout"].patch, found["rollout"].placed, found["rollout"].wanted) == ((), 3, 3)


def test_where_the_newest_template_does_not_help_it_is_the_one_that_is_changed() -> None:
    found = by_kind(of_an_older_revision(spec(constraint(maxSkew=2))))
    assert "rollout" not in found
    assert found["maxSkew"].title == f"maxSkew 4 instead of 2 on {ZONE}"


def test_a_max_skew_has_to_do_for_the_rollout_with_old_pods_there_too() -> None:
    found = by_kind(of_an_older_revision(spec(constraint(maxSkew=3))))
    assert "rollout" not in found, "old and new pods count for each other"
    assert found["maxSkew"].title == f"maxSkew 4 instead of 3 on {ZONE}"
    by_revision = constraint(maxSkew=3, matchLabelKeys=["pod-template-hash"])
    assert by_kind(of_an_older_revision(spec(by_revision)))["rollout"].complete


def test_a_file_that_the_object_was_read_from_is_told(tmp_path: Path) -> None:
    path = tmp_path / "web.json"
    items = [*TAINTED, workload("Deployment", 3, OF, uid=False)]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    found = by_kind(explain(topospread.load(str(path)), "deploy/web"))
    assert (found["maxSkew"].means, found["maxSkew"].file) == ("create", str(path))
    assert found["newNode"].file == ""


def test_pods_alone_are_explained_as_their_deployment_would_make_them() -> None:
    found = by_kind(explained("web-abc-1", *TAINTED, *replicas("abc", OF, ["a", "", ""])))
    assert found["maxSkew"].object["kind"] == "Deployment"
    assert (found["maxSkew"].patch[0]["value"], found["maxSkew"].placed, found["maxSkew"].wanted) == (3, 3, 3)


def test_effort_is_bounded_and_what_was_not_tried_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if, "EFFORT", 5)
    explanation = explained("deploy/web", *TAINTED, workload("Deployment", 3, OF))
    assert explanation.suggestions == ()
    assert explanation.untried > 0


def test_many_constraints_make_a_change_dearer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if, "EFFORT", 250)
    tried = [
        explained("web", *TAINTED, pod("web", of=spec(*(constraint(f"key-{n}") for n in range(number))))).untried
        for number in (2, 100)
    ]
    assert tried[0] == 0 < tried[1]


def test_nothing_is_tried_when_nothing_is_asked() -> None:
    explanation = explained("deploy/web", *TAINTED, workload("Deployment", 3, OF), suggest=False)
    assert (explanation.suggestions, explanation.untried) == ((), 0)


def test_a_pod_that_the_template_would_make_otherwise_is_made_anew_before_anything_else_is_changed() -> None:
    """The template was edited while its ReplicaSet was not read: the labels do not tell that the pod is older."""
    large, small = spec(constraint(), cpu="14"), spec(constraint())
    objects = [workload("Deployment", 3, small), *replicas("abc", large, ["", "", ""])]
    explanation = explained("web-abc-0", *zones(), *objects)
    found = explanation.suggestions
    assert (found[0].kind, found[0].patch, found[0].placed) == ("restart", (), 3)
    assert {each.kind for each in found} <= {"restart", "newNode", "free"}, "no other change of the template is needed"


def requests(*nodes: dict[str, Any], pods: int, cpu: str) -> list[str]:
    found = explained("deploy/web", *nodes, workload("Deployment", pods, spec(cpu=cpu)))
    return [each.title for each in found.suggestions if each.kind == "requests"]


def test_a_request_is_reduced_no_more_than_places_all_the_pods() -> None:
    """Closed nodes have the same room as open ones, and other open ones have less."""
    room = {"a": "6910m", "b": "6910m", "c": "4810m", "d": "4310m", "e": "4010m"}
    nodes = [node(name, cpu=cpu) for name, cpu in room.items()]
    closed = [node("f", cpu="6910m", taints=[GPU]), node("g", cpu="6910m", taints=[GPU])]
    assert requests(*nodes, *closed, pods=2, cpu="7") == ["cpu request 6910m instead of 7000m"]
    assert requests(*nodes, *closed, pods=4, cpu="7") == ["cpu request 4310m instead of 7000m"]


def test_a_reduced_request_may_be_a_share_of_a_nodes_room() -> None:
    assert requests(node("a", cpu="7"), pods=3, cpu="3") == ["cpu request 2333m instead of 3000m"]
    assert requests(node("a", cpu="6"), node("b", cpu="2"), pods=3, cpu="5") == ["cpu request 2 instead of 5"]
    assert requests(node("a", cpu="6"), node("b", cpu="1"), pods=3, cpu="4") == ["cpu request 2 instead of 4"]


def test_a_request_of_two_resources_is_reduced_only_where_that_of_one_does_not_do() -> None:
    memory = {"resources": {"requests": {"cpu": "4", "memory": "20Gi"}}}
    of = {"containers": [{"name": "c", "image": "i", **memory}]}
    found = explained("deploy/web", node("a"), node("b", cpu="3"), workload("Deployment", 1, of)).suggestions
    assert [each.title for each in found if each.kind == "requests"] == ["memory request 16384Mi instead of 20480Mi"]


def test_a_new_revision_has_all_its_pods_whether_a_surplus_pod_is_deleted_or_not() -> None:
    new = spec()
    objects = [workload("Deployment", 3, new), replica_set("old", 3, OF), replica_set("new", 1, new)]
    pods = [*replicas("old", OF, ["a"] * 3), *replicas("new", new, [""])]
    for cpu, changes in (("1", "toleration+uncordon+free"), ("2", "toleration+uncordon")):
        closed = node("a", cpu=cpu, taints=[GPU], cordoned=True)
        found = by_kind(explained("deploy/web", closed, *objects, *pods))
        assert (found[changes].placed, found[changes].wanted) == (3, 3)
        assert found.keys() == {changes, changes.replace("toleration+uncordon", "uncordon+untaint")}


def test_one_change_of_a_node_is_preferred_to_several_of_another() -> None:
    full = [pod("full", "b", spec(cpu="3900m"), labels={"app": "full"})]
    nodes = [node("b", "zone-b", taints=[GPU | {"key": "other"}]), node("c", "zone-c", taints=[GPU])]
    found = explained("deploy/web", *nodes, *full, workload("Deployment", 1, spec())).suggestions
    assert [each.kind for each in found] == ["toleration"]
