"""A search that uses the results of earlier searches finds the same as one that starts from nothing."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.policy import PodDisruptionBudget
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

FRAMEWORKS = {"default-scheduler": Framework(default_profile("1.37"), gates_for("1.37"))}
NODES, APPS, ZONE = ("n0", "n1", "n2", "n3"), ("a", "b"), "zone"
SELECTS_A = {"matchLabels": {"app": "a"}}
SPREAD = {
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTS_A}
    ]
}
AWAY = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ZONE, "labelSelector": SELECTS_A}]
        }
    }
}


def pod(name: str, app: str, cpu: int, priority: int, **spec: Any) -> Pod:
    container = {"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}
    metadata = {"name": name, "namespace": "default", "labels": {"app": app}}
    return msgspec.convert(
        {"metadata": metadata, "spec": {"containers": [container], "priority": priority, **spec}}, Pod
    )


def budget(app: str, allowed: int) -> PodDisruptionBudget:
    metadata = {"name": app, "namespace": "default"}
    spec = {"selector": {"matchLabels": {"app": app}}}
    return msgspec.convert(
        {"metadata": metadata, "spec": spec, "status": {"disruptionsAllowed": allowed}}, PodDisruptionBudget
    )


changes = st.one_of(
    st.tuples(st.just("pod"), st.integers(0, 9), st.sampled_from(APPS), st.integers(1, 2), st.sampled_from(NODES)),
    st.tuples(st.just("delete"), st.integers(0, 9)),
    st.tuples(st.just("budget"), st.sampled_from(APPS), st.integers(0, 2)),
    st.tuples(st.just("nominate"), st.sampled_from(NODES)),
    st.tuples(st.just("start"), st.integers(0, 9), st.integers(0, 9)),
)


@given(
    steps=st.lists(st.lists(changes, max_size=6), min_size=2, max_size=6),
    wants=st.sampled_from([{}, SPREAD, AWAY]),
    cpu=st.integers(2, 4),
)
def test_results_of_earlier_searches_change_nothing(steps: list[list[Any]], wants: dict[str, Any], cpu: int) -> None:
    cluster = Cluster()
    for number, name in enumerate(NODES):
        metadata = {"name": name, "labels": {ZONE: f"z{number % 2}"}}
        allocatable = {"cpu": "4", "pods": "5"}
        cluster.add_node(msgspec.convert({"metadata": metadata, "status": {"allocatable": allocatable}}, Node))
        for place in range(4):
            there = pod(f"{name}-{place}", APPS[place % 2], 1, place, nodeName=name)
            cluster.add_pod(there)
    kept = Scheduler(cluster, FRAMEWORKS)
    incoming = pod("new", "a", cpu, 9, **wants)
    for step in steps:
        for change in step:
            carry_out(cluster, change)
        verdict = kept.verdict(incoming)
        if not verdict.feasible:
            found = kept.preemption(incoming, verdict, exhaustive=True)
            assert found == Scheduler(cluster, FRAMEWORKS).preemption(incoming, verdict, exhaustive=True)


def carry_out(cluster: Cluster, change: Any) -> None:
    match change:
        case ("pod", number, app, size, node):
            cluster.add_pod(pod(f"p{number}", app, size, number % 3, nodeName=node))
        case ("delete", number):
            cluster.delete_pod(f"default/p{number}")
        case ("budget", app, allowed):
            cluster.objects.put(budget(app, allowed))
        case ("nominate", node):
            cluster.nominate("default/other", cluster.shared_class(pod("other", "b", 1, 9)), node)
        case ("start", number, second):
            key = f"default/p{number}"
            if key in cluster.placed:
                node = cluster.nodes.names[cluster.placed[key]]
                before = cluster.on_node[cluster.placed[key]][key].pod
                started = {"startTime": f"2026-01-01T00:00:0{second}Z"}
                spec = msgspec.to_builtins(before.spec) | {"nodeName": node}
                metadata = {"name": f"p{number}", "namespace": "default", "labels": before.labels}
                cluster.add_pod(msgspec.convert({"metadata": metadata, "spec": spec, "status": started}, Pod))
