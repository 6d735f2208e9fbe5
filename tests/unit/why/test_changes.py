"""Changes of a pod's spec: their patches, and what they make of a pod."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.node_selection import Taint
from topospread.api.pod import Pod
from topospread.plugins.spread_constraints import Constraint
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import prepare
from topospread.why.changes import Change, combined, constraint_changes, max_skew_change, toleration_change
from topospread.why.own_constraints import in_force
from topospread.why.owner import Owned, owned

from .builders import HOST, ZONE, constraint, inventory, pod, spec, workload, zones

PATH = "/spec/template/spec/topologySpreadConstraints"


def parts(*objects: dict[str, Any]) -> tuple[Owned, list[Constraint]]:
    """The owner of the first pod that waits, and its constraints in force."""
    given = inventory(*zones(), *objects)
    run = prepare(given, SimulationOptions())
    view = run.scheduler.view(run.cluster.shared_class(run.queue[0].pod))
    constraints = in_force(view)
    found = owned(given, run.queue[0], constraints, has_pods=False)
    assert found is not None
    return found, constraints


def of_deployment(*constraints: dict[str, Any]) -> tuple[Owned, list[Constraint]]:
    return parts(workload("Deployment", 1, spec(*constraints)))


def changed(change: Change, of: dict[str, Any]) -> list[dict[str, Any]]:
    """The constraints of a pod with the change."""
    assert change.of_pod is not None
    before = msgspec.convert(pod("web", of=of), Pod)
    data: list[dict[str, Any]] = msgspec.to_builtins(change.of_pod(before).spec.topology_spread_constraints)
    return data


def kinds(changes: list[Change]) -> dict[str, Change]:
    return {each.kind: each for each in changes}


def test_a_larger_max_skew_replaces_the_value_in_its_place() -> None:
    of = spec(constraint(HOST), constraint(ZONE))
    owner, (_, second) = of_deployment(constraint(HOST), constraint(ZONE))
    change = max_skew_change(owner, second, 3)
    assert change.patch == ({"op": "replace", "path": f"{PATH}/1/maxSkew", "value": 3},)
    assert [each["maxSkew"] for each in changed(change, of)] == [1, 3]
    assert change.title == f"maxSkew 3 instead of 1 on {ZONE}"


def test_a_policy_that_is_not_there_is_added_and_one_that_is_there_replaced() -> None:
    owner, (first,) = of_deployment(constraint())
    assert kinds(list(constraint_changes(owner, first, 3)))["nodeTaintsPolicy"].patch[0]["op"] == "add"
    owner, (first,) = of_deployment(constraint(nodeTaintsPolicy="Ignore"))
    assert kinds(list(constraint_changes(owner, first, 3)))["nodeTaintsPolicy"].patch[0]["op"] == "replace"


def test_what_the_constraint_has_already_is_not_proposed() -> None:
    owner, (first,) = of_deployment(constraint(nodeTaintsPolicy="Honor"))
    assert list(kinds(list(constraint_changes(owner, first, 3)))) == ["whenUnsatisfiable"]


def test_affinity_is_honoured_where_it_was_ignored() -> None:
    owner, (first,) = of_deployment(constraint(nodeAffinityPolicy="Ignore"))
    change = kinds(list(constraint_changes(owner, first, 3)))["nodeAffinityPolicy"]
    assert change.patch == ({"op": "replace", "path": f"{PATH}/0/nodeAffinityPolicy", "value": "Honor"},)


def test_min_domains_becomes_what_there_is() -> None:
    owner, (first,) = of_deployment(constraint(minDomains=5))
    assert kinds(list(constraint_changes(owner, first, 3)))["minDomains"].patch == (
        {"op": "replace", "path": f"{PATH}/0/minDomains", "value": 3},
    )
    assert "minDomains" not in kinds(list(constraint_changes(owner, first, 0))), "there is no minDomains 0"


def test_a_soft_constraint_cannot_have_min_domains() -> None:
    owner, (first,) = of_deployment(constraint(minDomains=5))
    assert kinds(list(constraint_changes(owner, first, 3)))["whenUnsatisfiable"].patch == (
        {"op": "replace", "path": f"{PATH}/0/whenUnsatisfiable", "value": "ScheduleAnyway"},
        {"op": "remove", "path": f"{PATH}/0/minDomains"},
    )


def test_a_hard_constraint_beside_a_soft_one_of_its_key_goes_altogether() -> None:
    both = [constraint(), constraint(when="ScheduleAnyway")]
    owner, constraints = of_deployment(*both)
    change = kinds(list(constraint_changes(owner, constraints[0], 3)))["whenUnsatisfiable"]
    assert change.patch == ({"op": "remove", "path": f"{PATH}/0"},)
    assert [each["whenUnsatisfiable"] for each in changed(change, spec(*both))] == ["ScheduleAnyway"]


def test_tolerations_go_behind_those_that_are_there() -> None:
    taint = Taint(key="dedicated", value="gpu", effect="NoSchedule")
    wanted = {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
    owner, _ = of_deployment(constraint())
    (operation,) = toleration_change(owner, [taint]).patch
    assert operation == {"op": "add", "path": "/spec/template/spec/tolerations", "value": [wanted]}
    owner, _ = parts(workload("Deployment", 1, spec(tolerations=[{"key": "a", "operator": "Exists"}])))
    (operation,) = toleration_change(owner, [taint]).patch
    assert operation == {"op": "add", "path": "/spec/template/spec/tolerations/-", "value": wanted}


def test_a_taint_without_a_value_is_tolerated_by_its_key() -> None:
    owner, _ = of_deployment(constraint())
    change = toleration_change(owner, [Taint(key="location", effect="NoExecute")])
    assert change.patch[0]["value"] == [{"key": "location", "operator": "Exists", "effect": "NoExecute"}]
    assert change.title == "tolerate location:NoExecute"


def test_a_pod_that_exists_is_given_a_toleration_as_it_is() -> None:
    owner, _ = parts(pod("web", of=spec(constraint())))
    assert toleration_change(owner, [Taint(key="location", effect="NoSchedule")]).means == "in place"


def test_two_changes_are_one_patch_after_the_other() -> None:
    of = spec(constraint(HOST), constraint(ZONE))
    owner, (first, second) = of_deployment(constraint(HOST), constraint(ZONE))
    both = combined([max_skew_change(owner, first, 2), max_skew_change(owner, second, 3)])
    assert [each["value"] for each in both.patch] == [2, 3]
    assert [each["maxSkew"] for each in changed(both, of)] == [2, 3]
    assert both.kind == "maxSkew+maxSkew"
