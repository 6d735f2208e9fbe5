"""A change against the whole queue: what it pushes out, and whose skew grows."""

from __future__ import annotations

from tests.unit.why.test_suggest import OF, TAINTED, of_deployment
from topospread.answers.remedies import remedy_of, skew_words
from topospread.why.changes import Change, combined
from topospread.why.repeated_simulation import RepeatedSimulation
from topospread.why.what_if import Baselines, WhatIf

from .builders import (
    GPU,
    HOST,
    ZONE,
    by_kind,
    constraint,
    explained,
    node,
    pod,
    prepared,
    replica_set,
    replicas,
    spec,
    workload,
    zones,
)


def test_pods_that_a_change_pushes_out_are_named() -> None:
    nodes = [node("a", "zone-a", cpu="1"), node("b", "zone-b", cordoned=True, cpu="1")]
    objects = [*nodes, workload("Deployment", 2, OF), pod("late", of=spec(cpu="500m"), labels={"app": "other"})]
    found = by_kind(explained("deploy/web", *objects))
    assert found["maxSkew"].newly_pending == ("shop/late",)
    assert found["uncordon"].newly_pending == ()


def test_a_pod_that_is_evicted_during_a_trial_is_replaced_by_one_of_the_changed_template() -> None:
    urgent = pod("urgent", of=spec(cpu="700m", priority=10, nodeSelector={ZONE: "zone-a"}), labels={"app": "urgent"})
    owner = ("ReplicaSet", "web")
    nodes = [node("a", "zone-a", cpu="1"), node("bare", cpu="1")]
    there = [workload("ReplicaSet", 2, OF), pod("web-0", "a", OF, owner=owner)]
    found = by_kind(explained("rs/web", *nodes, *there, urgent))["whenUnsatisfiable"]
    assert (found.placed, found.wanted, found.evicted) == (2, 2, 1)


def test_a_change_must_do_better_than_the_rollout_that_brings_it() -> None:
    """A rollout alone places two small pods; nodeAffinityPolicy, which brings one too, would place no more."""
    of = spec(constraint(nodeAffinityPolicy="Ignore"))
    nodes = [node("a", "zone-a", cpu="1"), node("b", "zone-b", cpu="1"), node("c", "zone-c", cpu="1", taints=[GPU])]
    large = [workload("Deployment", 7, of), *replicas("abc", OF | spec(cpu="14"), [""] * 7)]
    found = explained("web-abc-0", *nodes, *large).suggestions
    restart = next(each for each in found if each.kind == "restart")
    assert (restart.placed, restart.complete) == (2, False)
    others = [each for each in found if each.means == "rollout" and each is not restart]
    assert others
    assert "nodeAffinityPolicy" not in {each.kind for each in others}
    assert all(each.placed > restart.placed for each in others)


def test_a_domain_that_no_longer_counts_is_named() -> None:
    found = of_deployment(3, *TAINTED)
    assert {kind for kind, each in found.items() if each.uncounted} == {"nodeTaintsPolicy"}
    assert found["nodeTaintsPolicy"].uncounted == ("zone-b",)


def test_another_workload_whose_skew_grows_is_named() -> None:
    honors = spec(constraint(app="db", nodeTaintsPolicy="Honor"))
    nodes = [*zones("ab"), node("c", "zone-c", cordoned=True)]
    others = [
        pod(f"db-{i}", at, honors, labels={"app": "db"}, owner=("StatefulSet", "db")) for i, at in enumerate("abab")
    ]
    others.append(workload("StatefulSet", 4, honors, "db"))
    picky = spec(nodeSelector={HOST: "c"})
    (change,) = explained("deploy/web", *nodes, *others, workload("Deployment", 1, picky)).suggestions[:1]
    assert change.kind == "uncordon"
    assert [(each.workload, each.skew, each.max_skew) for each in change.exceeds] == [("shop/db", 2, 1)]
    assert (
        skew_words(remedy_of(change).tried)
        == "; then zone skew 2 of shop/db, over maxSkew 1 (zone-c then counts with 0 pods)"
    )
    assert change.worse == (0, 1)


def test_deleting_more_pods_than_are_surplus_makes_the_controller_create_others() -> None:
    old, new = spec(constraint(maxSkew=3), cpu="700m"), spec(constraint(maxSkew=3), cpu="710m")
    nodes = [node("a", "zone-a", cpu="1"), node("b", "zone-b", cpu="1", cordoned=True), node("c", "zone-c", cpu="1")]
    sets = [replica_set("old", 4, old), replica_set("new", 1, new)]
    pods = [*replicas("old", old, ["a", "b", "c", ""]), *replicas("new", new, [""])]
    run = prepared(*nodes, workload("Deployment", 4, new), *sets, *pods)
    (web,) = [each for each in run.plan.workloads if each.kind == "Deployment"]
    assert web.template is not None
    simulation = RepeatedSimulation(run)
    baseline = Baselines(simulation.carry_out()).of(web)
    simulation.restore()
    assert (baseline.placed, baseline.wanted) == (3, 5)
    deleted = [
        Change("deletePod", f"delete {each.name}", {}, (), "cluster", (0.0,), deleted=(each,)) for each in web.existing
    ]
    search = WhatIf(simulation, web, baseline, web.template, {})
    one = search.try_out(deleted[0])
    two = search.try_out(combined((deleted[0], deleted[2])))
    assert one is not None
    assert (one.placed, one.wanted) == (3, 4), "one pod was surplus"
    assert two is not None
    assert (two.placed, two.wanted) == (3, 4), "the Deployment keeps four replicas"
