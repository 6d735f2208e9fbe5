"""What would let a pending pod in: only what was tried, smallest first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import topospread
from topospread.explanation import Suggestion, attempts

from .builders import (
    GPU,
    HOST,
    ZONE,
    by_kind,
    constraint,
    explained,
    node,
    pod,
    replica_set,
    replicas,
    spec,
    workload,
    zones,
)

OF = spec(constraint())
TAINTED = [*zones("a"), node("b", "zone-b", taints=[GPU])]
"""Zone b holds the minimum and takes nothing."""


def of_deployment(count: int, *nodes: dict[str, Any], of: dict[str, Any] = OF) -> dict[str, Suggestion]:
    return by_kind(explained("deploy/web", *nodes, workload("Deployment", count, of)))


def test_the_changes_come_smallest_first() -> None:
    found = explained("deploy/web", *TAINTED, workload("Deployment", 3, OF)).suggestions
    assert [each.kind for each in found] == [
        "nodeTaintsPolicy",
        "maxSkew",
        "toleration",
        "whenUnsatisfiable",
        "newNode",
    ]
    assert all((each.placed, each.wanted, each.lets_in, each.complete) == (3, 3, 2, True) for each in found)


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


def test_two_constraints_that_contradict_each_other_are_changed_together() -> None:
    of = spec(constraint(ZONE), constraint(HOST))
    nodes = [node("a", "zone-a"), node("b", "zone-b", cpu="100m")]
    pair = of_deployment(2, *nodes, of=of)
    assert pair["maxSkew+maxSkew"].title == f"maxSkew 2 instead of 1 on {ZONE}, and maxSkew 2 instead of 1 on {HOST}"
    assert [each["value"] for each in pair["maxSkew+maxSkew"].patch] == [2, 2]


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
    assert found["deletePod"].title == "delete web-old-0, a pod of the old ReplicaSet, on a"
    assert found["deletePod"].patch == ({"op": "remove", "path": ""},)
    assert (found["deletePod"].placed, found["deletePod"].wanted) == (5, 5)
    assert (found["maxSkew"].means, found["maxSkew"].wanted, found["maxSkew"].lets_in) == ("rollout", 5, 1)


def test_pods_that_a_change_pushes_out_are_named() -> None:
    nodes = [node("a", "zone-a", cpu="1"), node("b", "zone-b", cordoned=True, cpu="1")]
    objects = [*nodes, workload("Deployment", 2, OF), pod("late", of=spec(cpu="500m"), labels={"app": "other"})]
    found = by_kind(explained("deploy/web", *objects))
    assert found["maxSkew"].newly_pending == ("shop/late",)
    assert found["uncordon"].newly_pending == ()


def test_a_file_that_the_object_was_read_from_is_told(tmp_path: Path) -> None:
    path = tmp_path / "web.json"
    items = [*TAINTED, workload("Deployment", 3, OF, uid=False)]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    found = by_kind(topospread.explain(topospread.load(str(path)), "deploy/web"))
    assert (found["maxSkew"].means, found["maxSkew"].file) == ("create", str(path))
    assert found["newNode"].file == ""


def test_pods_alone_are_explained_as_their_deployment_would_make_them() -> None:
    found = by_kind(explained("web-abc-1", *TAINTED, *replicas("abc", OF, ["a", "", ""])))
    assert found["maxSkew"].object["kind"] == "Deployment"
    assert (found["maxSkew"].patch[0]["value"], found["maxSkew"].placed, found["maxSkew"].wanted) == (3, 3, 3)


def test_effort_is_bounded_and_what_was_not_tried_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "EFFORT", 5)
    explanation = explained("deploy/web", *TAINTED, workload("Deployment", 3, OF))
    assert explanation.suggestions == ()
    assert explanation.untried > 0


def test_nothing_is_tried_when_nothing_is_asked() -> None:
    explanation = explained("deploy/web", *TAINTED, workload("Deployment", 3, OF), suggest=False)
    assert (explanation.suggestions, explanation.untried) == ((), 0)
