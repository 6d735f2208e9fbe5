"""Pods that get the next best node of the equal pods before them, without being scored anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from conformance.generators.batching import cases
from conformance.judging.cases import profiles_of
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.scheduling import batching
from topospread.scheduling.batching import Batch, ScoredNodes
from topospread.scheduling.cycle import Placement, Scheduler
from topospread.scheduling.framework import Framework
from topospread.scheduling.select_host import AmongEquals, top_of_heap

Json = dict[str, Any]
NO_DEFAULTS = {"name": "PodTopologySpread", "args": {"defaultingType": "List"}}
PREFERRED = [
    {"weight": weight, "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": [value]}]}}
    for weight, value in ((100, "best"), (20, "good"))
]


def config(*args: Json, **more: object) -> Json:
    profile: Json = {"schedulerName": "default-scheduler", "pluginConfig": list(args), **more}
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]}


def scheduler(
    given: Json, version: str = "1.37", gates: dict[str, bool] | None = None, *, sampled: bool = False
) -> Scheduler:
    """Three nodes for one pod each: the first is preferred most, the second less, the third has most room."""
    values = gates_for(version, gates or {})
    cluster = Cluster()
    for each in (("a", "best", "4"), ("b", "good", "1100m"), ("c", "none", "40")):
        cluster.add_node(node(*each))
    frameworks = {name: Framework(each, values) for name, each in profiles_of({"config": given}, values).items()}
    return Scheduler(cluster, frameworks, sampled=sampled)


def node(name: str, disk: str, cpu: str) -> Node:
    amounts = {"cpu": cpu, "memory": "64Gi", "pods": "1"}
    given = {"metadata": {"name": name, "labels": {"disk": disk}}, "status": {"allocatable": amounts}}
    return msgspec.convert(given, Node, strict=False)


def pod(name: str, labels: dict[str, str] | None = None, **spec: object) -> Pod:
    requests = {"cpu": "1", "memory": "16Gi"}
    prefers: Json = {"preferredDuringSchedulingIgnoredDuringExecution": PREFERRED}
    given: Json = {
        "containers": [{"name": "c", "resources": {"requests": requests}}],
        "affinity": {"nodeAffinity": prefers},
    }
    metadata = {"name": name, "namespace": "default", "labels": labels or {"app": "web"}}
    return msgspec.convert({"metadata": metadata, "spec": given | spec}, Pod, strict=False)


def placed(made: Scheduler, pods: Sequence[Pod]) -> list[Placement]:
    return [made.schedule(each) for each in pods]


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("version", ["1.35", "1.36", "1.37"])
def test_the_second_pod_gets_the_node_that_was_second_best_for_the_first(version: str, sampled: bool) -> None:
    """Node a is full then, so a new search gives b, which alone is preferred, all points of NodeAffinity."""
    made = scheduler(config(NO_DEFAULTS), version, sampled=sampled)
    found = placed(made, [pod("p0"), pod("p1"), pod("p2")])
    assert [(each.node, each.hinted) for each in found] == [("a", False), ("c", True), ("b", True)]


@pytest.mark.parametrize(
    ("given", "version", "gates"),
    [
        (config(NO_DEFAULTS), "1.34", {}),
        (config(NO_DEFAULTS), "1.37", {"OpportunisticBatching": False}),
        (config(), "1.37", {}),
        (config(NO_DEFAULTS) | {"extenders": [{"urlPrefix": "http://x", "bindVerb": "bind"}]}, "1.37", {}),
        (config(NO_DEFAULTS), "1.35", {"DRAExtendedResource": True}),
    ],
    ids=["before 1.35", "gate off", "default constraints", "an extender", "devices in 1.35"],
)
def test_nothing_is_reused(given: Json, version: str, gates: dict[str, bool]) -> None:
    made = scheduler(given, version, gates)
    found = placed(made, [pod("p0"), pod("p1"), pod("p2")])
    assert [(each.node, each.hinted) for each in found] == [("a", False), ("b", False), ("c", False)]


@pytest.mark.parametrize(
    "between",
    [
        lambda made: made.schedule(pod("other", {"app": "other"}, nodeSelector={"disk": "no"})),
        lambda made: made.passed_over(1),
        lambda made: made.cluster.put_node(node("c", "none", "41")),
    ],
    ids=["a pod that fails", "a pod whose failure was known", "a node that changes"],
)
def test_a_batch_ends(between: Callable[[Scheduler], object]) -> None:
    made = scheduler(config(NO_DEFAULTS))
    made.schedule(pod("p0"))
    between(made)
    assert made.schedule(pod("p1")).node == "b"


def test_a_batch_ends_after_half_a_second_of_a_clock() -> None:
    for later, node in ((500_000_000, "c"), (500_000_001, "b")):
        now = [0]
        made = scheduler(config(NO_DEFAULTS), sampled=True)
        made.runs_by(lambda now=now: now[0])  # type: ignore[misc]
        made.schedule(pod("p0"))
        now[0] = later
        assert made.schedule(pod("p1")).node == node


def test_after_many_pods_a_batch_that_would_change_the_node_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_SURE", 0)
    made = scheduler(config(NO_DEFAULTS))
    made.schedule(pod("p0"))
    found = made.schedule(pod("p1"))
    assert (found.node, found.message) == (
        None,
        "not judged: kube-scheduler reuses an earlier pod's scores for half a second, which may be over",
    )


def test_nodes_come_out_as_gos_heap_has_them() -> None:
    """Five equal nodes: ``heap.Pop`` puts the last to the top, and a node that is added again comes to the end."""
    made = scheduler(config(NO_DEFAULTS))
    view = made.view(made.cluster.shared_class(pod("p")))
    rows = view.cluster.nodes.there[0]

    def taken(among: AmongEquals | None) -> list[str]:
        scored = ScoredNodes(view, rows, among)
        scored._total = [1] * len(rows)
        return [scored.pop()[0] for _ in range(len(rows))]

    assert taken(None) == ["a", "b", "c"]
    assert taken(top_of_heap) == ["a", "c", "b"]


def test_scoring_late_gives_the_nodes_of_scoring_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hints = 0
    for case in cases(7, 60):
        pods = [each["create"] for each in case["steps"] if each.get("create", {}).get("kind") == "Pod"]
        found = []
        for late in (True, False):
            values = gates_for("1.37", case["featureGates"])
            cluster = Cluster()
            for each in case["objects"]:
                if each["kind"] == "Node":
                    cluster.add_node(msgspec.convert(each, Node, strict=False))
                elif each["kind"] == "Pod":
                    cluster.add_pod(msgspec.convert(each, Pod, strict=False))
            frameworks = {name: Framework(each, values) for name, each in profiles_of(case, values).items()}
            made = Scheduler(cluster, frameworks)
            if not late:  # a clock that stands still, and a search within all nodes
                made.runs_by(lambda: 0)
                made._search.within = cluster.nodes.there[0]
            placements = placed(made, [msgspec.convert(each, Pod, strict=False) for each in pods if not volumes(each)])
            found.append([(each.pod, each.node) for each in placements])
            hints += sum(each.hinted for each in placements) if late else 0
        assert found[0] == found[1], json.dumps(case)
    assert hints > 20


def volumes(given: Json) -> bool:
    return "volumes" in given["spec"]


def test_a_profile_without_batches_has_none() -> None:
    assert not scheduler(config())._search.batches
    assert all(isinstance(each, Batch) for each in scheduler(config(NO_DEFAULTS))._search.batches.values())
