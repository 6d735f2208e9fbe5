"""Which pods are evicted, which are left, and what is said of constraints that evictions do not mend."""

from __future__ import annotations

import pytest

from topospread.answers.rebalance import moved_domains, rebalance_answer
from topospread.api.selector_text import parse_selector
from topospread.config.gates import gates_for
from topospread.errors import UsageError
from topospread.rebalance import bounds

from .builders import HOST, ZONE, Json, budget, carried_out, node, nodes, rebalance_of, soft, spread, standing

THREE = nodes("a", "a", "b", "b", "c", "c")


def test_what_holds_needs_no_eviction() -> None:
    found = rebalance_of([*THREE, *standing({"a1": 2, "b1": 1, "c1": 1}, spread())])
    assert (found.moves, found.constraints, found.is_met, found.bound) == ((), (), True, 0)


def test_nodes_that_are_not_ready_are_named() -> None:
    silent = node("a2", "a", taints=[{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}])
    others = [each for each in THREE if each["metadata"]["name"] != "a2"]
    objects = [silent, *others, *standing({"a1": 1, "a2": 1, "b1": 1, "c1": 1}, spread())]
    (warning,) = rebalance_of(objects).warnings
    assert warning.startswith("1 node is not ready: a2. The controllers may replace 1 pod there, ")
    assert rebalance_of([*THREE, *standing({"a2": 1, "b1": 1, "c1": 1}, spread())]).warnings == ()


def test_pods_of_the_fullest_domain_go_until_the_skew_is_allowed() -> None:
    found = rebalance_of([*THREE, *standing({"a1": 3, "a2": 2, "b1": 1}, spread())])
    assert len(found.moves) == 3
    assert {each.node for each in found.moves} == {"a1", "a2"}
    (change,) = found.constraints
    assert (change.before, change.after) == ({"a": 5, "b": 1, "c": 0}, {"a": 2, "b": 2, "c": 2})
    assert found.is_proved


def test_one_eviction_helps_two_constraints_where_it_can() -> None:
    on_nodes = spread(1, topologyKey=HOST)
    found = rebalance_of([*THREE, *standing({"a1": 3, "b1": 1, "b2": 1, "c1": 1}, spread(), on_nodes)])
    assert len(found.moves) == 2
    assert found.is_proved


def test_the_result_needs_no_eviction() -> None:
    objects = [*THREE, *standing({"a1": 4, "a2": 3}, spread()), *standing({"a1": 3, "c1": 2}, spread(2), name="api")]
    found = rebalance_of(objects)
    assert found.moves
    assert rebalance_of(carried_out(objects, found.moves)).moves == ()


def test_a_soft_constraint_is_mended_where_it_is_asked_for() -> None:
    objects = [*THREE, *standing({"a1": 2, "a2": 1}, soft())]
    left = rebalance_of(objects)
    assert (left.moves, left.soft) == ((), 1)
    found = rebalance_of(objects, max_skew=1)
    assert len(found.moves) == 2
    assert found.constraints[0].skew_after <= 1


def test_no_budget_is_broken() -> None:
    objects = [*THREE, *standing({"a1": 3}, spread())]
    found = rebalance_of([*objects, budget("web", maxUnavailable=0)])
    assert found.moves == ()
    (unmet,) = found.unmet
    assert "The disruption budget shop/web needs 3 healthy pods and has 3 currently" in unmet.why
    assert len(rebalance_of([*objects, budget("web", maxUnavailable=1)]).moves) == 2


def test_a_pod_of_two_budgets_is_not_evicted() -> None:
    two = [budget("web", minAvailable=0), budget("web", minAvailable=0)]
    two[1]["metadata"] = two[1]["metadata"] | {"name": "other"}
    found = rebalance_of([*THREE, *standing({"a1": 3}, spread()), *two])
    assert found.moves == ()
    assert "more than one PodDisruptionBudget" in found.unmet[0].why


def test_nothing_is_evicted_that_would_be_left_pending() -> None:
    full = [node("a1", "a"), node("b1", "b", cpu="1")]
    blocked = standing({"b1": 1}, name="log", priority=0, cpu="1")
    blocked[1]["metadata"]["ownerReferences"] = []
    found = rebalance_of([*full, *standing({"a1": 2}, spread()), *blocked])
    assert found.moves == ()
    assert "finds no node: 0/2 nodes are available" in found.unmet[0].why
    assert not found.unmet[0].returns


def test_a_pod_in_the_way_makes_room() -> None:
    objects = [
        *(node("a1", "a", cpu="10"), node("b1", "b", cpu="1")),
        *standing({"a1": 2}, spread()),
        *standing({"b1": 1}, name="log"),
    ]
    found = rebalance_of(objects)
    assert [each.workload for each in found.moves] == ["ReplicaSet/log", "ReplicaSet/web"]
    assert found.is_met
    assert found.is_proved


def test_who_comes_back_is_told_with_what_helps() -> None:
    """Preferred affinity sends every pod to the zone that it came from."""
    near = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "web"}}}
    on_a1 = {"matchExpressions": [{"key": HOST, "operator": "In", "values": ["a1"]}]}
    prefers = {
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 9, "preference": on_a1}]},
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 9, "podAffinityTerm": near}]},
    }
    pods = standing({"a1": 4}, soft(), affinity=prefers)
    found = rebalance_of([node("a1", "a", cpu="100"), node("b1", "b", cpu="100"), *pods], max_skew=1)
    assert found.moves == ()
    (unmet,) = found.unmet
    assert unmet.returns
    assert "kube-scheduler undoes it" in unmet.why
    assert [(each.what, each.tried) for each in unmet.helps] == [("hard", True), ("cordon", True)]


def test_who_is_kept_out_of_where_pods_lack_is_told_with_why() -> None:
    """No scores send these back: their node selector, or a volume, lets them nowhere else."""
    pods = standing({"a1": 3}, soft(nodeAffinityPolicy="Ignore"), nodeSelector={ZONE: "a"})
    found = rebalance_of([node("a1", "a"), node("b1", "b"), *pods], max_skew=1)
    (unmet,) = found.unmet
    assert unmet.why.endswith(
        "on the same node, as no node of b takes it (1 node(s) didn't match Pod's node affinity/selector)"
    )
    assert "scores" not in unmet.why
    assert (unmet.returns, unmet.helps) == (True, ())
    answer = rebalance_answer(found)
    assert (answer.verdict, [each.code for each in answer.causes]) == ("no", ["placed-back"])
    assert answer.says.startswith(
        "no evictions help: 1 constraint is not restored; evicting the movable pods cannot restore all constraints"
    )


def test_nodes_are_named_once() -> None:
    """Where the label of a node's name is not its name, as in clouds, it is no second word for it."""
    there = [node(f"{zone}1", zone) for zone in "ab"]
    for each in there:
        each["metadata"]["labels"][HOST] = each["metadata"]["name"] + ".internal"
    found = rebalance_of([*there, *standing({"a1": 4}, spread(), spread(topologyKey=HOST))])
    move = found.moves[0]
    assert (move.namespace, move.name, move.node, move.target) == ("shop", "web-0", "a1", "b1")
    assert moved_domains(move) == [("a", "b")]


def test_bare_pods_and_those_of_daemon_sets_stay() -> None:
    pods = standing({"a1": 3}, spread())
    for each in pods[1:]:
        each["metadata"]["ownerReferences"] = []
    found = rebalance_of([*THREE, *pods])
    assert found.moves == ()


def test_only_what_is_chosen_is_mended() -> None:
    objects = [*THREE, *standing({"a1": 3}, spread()), *standing({"a2": 3}, spread(), name="api")]
    assert {each.workload for each in rebalance_of(objects, selector=parse_selector("app=api")).moves} == {
        "ReplicaSet/api"
    }
    with pytest.raises(UsageError, match=r"^-l app=apj selects no workload \(--allow-empty accepts that\)$"):
        rebalance_of(objects, selector=parse_selector("app=apj"))
    nobody = rebalance_of(objects, selector=parse_selector("app=apj"), allow_empty=True)
    assert nobody.notes[-1] == "no workload was checked: the selector matches no pods"
    assert not any("was checked" in each for each in rebalance_of(objects, selector=parse_selector("app=api")).notes)
    assert len(rebalance_of(objects, namespace="shop").moves) == 4
    with pytest.raises(UsageError, match="workloads: shop"):
        rebalance_of(objects, namespace="other")


def test_the_integer_program_knows_that_nothing_helps() -> None:
    only_a = {"nodeSelector": {"kubernetes.io/hostname": "a1"}}
    found = rebalance_of([*THREE, *standing({"a1": 3}, spread(nodeAffinityPolicy="Ignore"), **only_a)])
    assert found.impossible
    assert found.bound is None


def test_the_integer_program_adds_up_what_counts_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third constraint counts the pods of both workloads, so that by counts alone one eviction might help both."""
    both = spread(9, labelSelector={"matchExpressions": [{"key": "app", "operator": "Exists"}]})
    objects = [
        *nodes("a", "b"),
        *standing({"a1": 2}, spread()),
        *standing({"b1": 2}, spread(), both, name="api"),
    ]
    found = rebalance_of(objects)
    assert (len(found.moves), found.bound, found.bound_by) == (2, 2, "solver")
    monkeypatch.setattr(bounds, "has_solver", lambda: False)
    without = rebalance_of(objects)
    assert (without.moves, without.bound, without.bound_by) == (found.moves, 2, "search")


def test_without_time_the_counts_alone_bound() -> None:
    found = rebalance_of([*THREE, *standing({"a1": 3}, spread())], seconds=0)
    assert (found.bound, found.bound_by) == (2, "counts")


CLAIMS = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}


OTHER_SCHEDULER = {"schedulerName": "volcano"}


@pytest.mark.parametrize(
    ("unjudged", "what"), [(CLAIMS, "resourceClaims"), (OTHER_SCHEDULER, 'schedulerName "volcano"')]
)
def test_no_pod_that_cannot_be_judged_is_evicted(unjudged: Json, what: str) -> None:
    """Whether the new pod finds a node depends on the part, so nobody can say whether evictions help."""
    found = rebalance_of([*THREE, *standing({"a1": 3}, spread(), **unjudged)])
    assert found.moves == ()
    answer = rebalance_answer(found)
    assert answer.verdict == "unknown"
    assert answer.says.startswith("no evictions of judged pods help: 1 constraint is not restored")
    assert [each.what for each in answer.unjudged] == [what]
    assert all(key.startswith("shop/web-") for key in answer.unjudged[0].pods)


def test_what_judged_filters_refuse_everywhere_is_left_whatever_the_claim_says() -> None:
    full = [node("a1", "a"), node("b1", "b", cpu="1")]
    blocked = standing({"b1": 1}, name="log", priority=0, cpu="1")
    blocked[1]["metadata"]["ownerReferences"] = []
    answer = rebalance_answer(rebalance_of([*full, *standing({"a1": 2}, spread(), **CLAIMS), *blocked]))
    assert (answer.verdict, answer.unjudged) == ("no", ())


@pytest.mark.parametrize(
    ("unjudged", "what"), [(CLAIMS, "resourceClaims"), (OTHER_SCHEDULER, 'schedulerName "volcano"')]
)
def test_waiting_pods_that_cannot_be_judged_are_bracketed(unjudged: Json, what: str) -> None:
    """The room that mends the skew may be taken by a pod that waits."""
    there = [node("a1", "a"), node("b1", "b", cpu="1")]
    web = standing({"a1": 2}, spread())
    waits = standing({"b1": 1}, name="gpu", nodeSelector={HOST: "b1"}, **unjudged)
    del waits[-1]["spec"]["nodeName"]
    assert rebalance_answer(rebalance_of([*there, *web])).verdict == "yes"
    found = rebalance_answer(rebalance_of([*there, *web, *waits]))
    assert [each.what for each in found.unjudged] == [what]
    assert (found.verdict, len(found.evictions)) == ("unknown", 1)
    roomy = rebalance_answer(rebalance_of([node("a1", "a"), node("b1", "b"), *web, *waits]))
    assert (roomy.verdict, roomy.assumed) == (
        "yes",
        (f"the same whether pods with {what} find no node or any node",),
    )


def test_no_eviction_of_a_plan_can_be_left_out() -> None:
    """Web's pods first take the room of big's, so that big needs a third eviction; with big first two do."""
    made = [node(f"n{at:02}", "abc"[at % 3], cpu="4") for at in range(18) if at != 4]
    web = dict.fromkeys(["n00", "n03"], 2) | dict.fromkeys(["n06", "n09", "n12", "n15", "n01", "n07", "n10", "n02"], 1)
    big = dict.fromkeys(["n02", "n05", "n08", "n11", "n14", "n17", "n06", "n09"], 1)
    found = rebalance_of([*made, *standing(web, spread()), *standing(big, spread(2), name="big", cpu="3")])
    assert [each.workload for each in found.moves] == ["ReplicaSet/big"] * 2 + ["ReplicaSet/web"] * 4
    assert found.is_proved


@pytest.mark.parametrize("app", ["web", "other"])
def test_a_workload_without_a_budget_is_a_warning(app: str) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": "shop"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}},
    }
    found = rebalance_of([*THREE, *standing({"a1": 3}, spread()), budget])
    warned = any(each.startswith("shop/web has no PodDisruptionBudget") for each in found.warnings)
    assert (bool(found.moves), warned) == (True, app != "web")


def test_pods_of_a_group_stay_and_other_pods_move() -> None:
    member: Json = {"schedulingGroup": {"podGroupName": "g"}}
    objects = [*THREE, *standing({"a1": 3}, spread(), **member), *standing({"a1": 3}, spread(), name="api")]
    policy = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    kind = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup"}
    objects.append(kind | {"metadata": {"name": "g", "namespace": "shop"}, "spec": policy})
    on = {"GenericWorkload": True}
    apiserver = gates_for("1.37", on, component="apiserver")
    found = rebalance_of(objects, gates=gates_for("1.37", on), apiserver_gates=apiserver)
    assert {each.workload for each in found.moves} == {"ReplicaSet/api"}
    (unmet,) = found.unmet
    assert unmet.why == "no surplus pod may be evicted: it would disrupt the PodGroup shop/g"
    assert rebalance_answer(found).verdict == "no"
