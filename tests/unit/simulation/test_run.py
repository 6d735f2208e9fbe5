"""A simulation before it places pods: the queue, owners, the cluster, and its notes."""

from __future__ import annotations

import pytest

from tests.unit.controllers.manifests import Json, inventory, node, pod, workload
from topospread.scheduling.cycle import Placement
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.run import PodOutcome, Run, prepare, repeated

WEB = workload("ReplicaSet", "web", replicas=3)


def there(name: str, owner: str = "ReplicaSet/web", **fields: str) -> Json:
    return pod(name, owner, "n", labels={"app": "web"}, **fields)


def run_of(*objects: Json, options: SimulationOptions = PLAIN) -> Run:
    return prepare(inventory(node("n"), *objects), options)


def test_pods_that_a_scale_down_removes_are_counted_before_the_run_only() -> None:
    run = run_of(WEB, there("web-a"), there("web-b"), options=SimulationOptions(scale={"rs/web": 1}))
    assert (len(run.plan.removed), run.queue, len(run.cluster.placed)) == (1, [], 1)
    assert {key: str(row) for key, row in run.owners.items() if key in run.cluster.placed} == {
        next(iter(run.cluster.placed)): "ReplicaSet default/web"
    }


@pytest.mark.parametrize(("nodes", "said"), [(99, "all"), (120, "only the first 100 feasible nodes")])
def test_sampling_notes_how_many_nodes_are_scored(nodes: int, said: str) -> None:
    options = SimulationOptions(sampling="kube")
    run = prepare(inventory(*(node(f"n{i}") for i in range(nodes)), WEB), options)
    assert f"sampling: {said} of {nodes} are scored" in run.plan.notes


def test_a_nominated_pod_takes_part_from_the_beginning() -> None:
    run = run_of(pod("waits", status={"nominatedNodeName": "n"}))
    assert run.cluster.nominated_node("default/waits") == "n"


def test_a_pod_like_the_last_rejected_one_shares_its_outcome() -> None:
    run = run_of(WEB)
    first, second, third = run.queue
    last = PodOutcome(Placement("default/x", None, message="full"), stamp=7)
    found = repeated(last, run, second)
    assert found is not None
    assert (found.placement.pod, found.placement.message, found.stamp) == (f"default/{second.name}", "full", 7)
    run.outcomes[id(third)] = kept = PodOutcome(Placement("default/y", None, message="full"))
    assert repeated(last, run, third) is kept
    assert kept.stamp == 7
    run.cluster.nominate(f"default/{first.name}", run.cluster.pod_class(first.pod), "n")
    assert repeated(last, run, first) is None
