"""The queue with a workload's pods made anew."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from topospread.api.pod import Pod
from topospread.why.replacement import Replacement, replaced
from topospread.why.result import Means

from .builders import constraint, node, pod, prepared, replica_set, replicas, spec, workload

OF = spec(constraint())


def hurried(each: Pod) -> Pod:
    return replace(each, spec=replace(each.spec, priority=7))


def anew(means: Means, *objects: dict[str, Any]) -> Replacement:
    """The pods of the workload web made anew, of a higher priority."""
    run = prepared(node("a", "zone-a"), *objects)
    web = next(each for each in run.plan.workloads if each.name == "web")
    return replaced(run.queue, run.plan.workloads, web, hurried, means)


def test_a_rollout_makes_every_replica_anew_and_takes_the_old_ones_away() -> None:
    found = anew(
        "rollout", workload("Deployment", 3, OF), replica_set("abc", 3, OF), *replicas("abc", OF, ["a", "", ""])
    )
    assert (len(found.made), [each.name for each in found.gone], found.kept) == (3, ["web-abc-0"], 0)
    assert {each.pod.spec.priority for each in found.made} == {7}


def test_a_replica_sets_pods_on_nodes_stay() -> None:
    there = pod("web-0", "a", OF, owner=("ReplicaSet", "web"))
    found = anew("new pods", workload("ReplicaSet", 3, OF), there)
    assert (len(found.made), found.gone, found.kept) == (2, (), 1)


def test_pods_of_a_stateful_set_are_made_one_after_the_other_in_order() -> None:
    there = pod("web-0", "a", OF, owner=("StatefulSet", "web"))
    found = anew("rollout", workload("StatefulSet", 3, OF), there)
    assert [each.name for each in found.made] == ["web-0", "web-1", "web-2"]
    assert [each.after.name if each.after else None for each in found.made] == [None, "web-0", "web-1"]
    assert found.made[0].pod.spec.node_name is None


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_other_pods_keep_their_place_in_the_queue(kind: str) -> None:
    found = anew("rollout", pod("before"), workload(kind, 1, OF), pod("after"))
    assert len(found.queue) == 3
    assert found.queue[0] is found.made[0], "a higher priority goes first"
    assert [each.name for each in found.queue[1:]] == ["before", "after"]


def test_what_is_created_again_comes_behind_all_that_wait() -> None:
    found = anew("recreate", workload("Job", 1, OF), pod("after"))
    assert [each.name for each in found.queue] == ["after"], "whatever the priority: it is there when room is freed"
    assert found.later == found.made
