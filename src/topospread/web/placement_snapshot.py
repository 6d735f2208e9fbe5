"""The pods on nodes at one moment, in columns: the data of a map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from topospread.api.inventory import ObjectKey, key_of
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster.arrays import Bools, Ints
from topospread.cluster.nodes import CPU, MEMORY, PODS
from topospread.controllers.node_lifecycle import is_silent
from topospread.drill.drill_state import DrillState
from topospread.drill.pods import FollowedPod
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.simulation.run import Run, spreads
from topospread.status.members import owners_of

NOWHERE = -1
"""Node row of a pending pod."""

Spreads = dict[ObjectKey, tuple[ConstraintArithmetic, ...]]


@dataclass(frozen=True, slots=True)
class WorkloadRow:
    """A workload with its desired replicas and a pod of its newest template; ``None`` if unknown."""

    key: ObjectKey
    replicas: int
    template: Pod | None = None


@dataclass(frozen=True, slots=True)
class PodColumns:
    """Pods as columns.

    Attributes:
        names: pod → its name.
        workload: pod → row of its workload, int64[pods].
        node: pod → row of its node, `NOWHERE` for a pending pod, int64[pods].
        terminating: pod → whether it is being deleted, bool[pods].
    """

    names: list[str]
    workload: Ints
    node: Ints
    terminating: Bools


@dataclass(frozen=True)
class PlacementSnapshot:
    """The placement at one moment.

    Attributes:
        nodes: in the order of the input.
        allocatable, used: node → millicores, bytes and pods, int64[nodes, 3].
        silent: names of NotReady nodes whose kubelets stopped reporting.
        spreads: workload → its constraints with counts.
    """

    nodes: list[Node]
    allocatable: Ints
    used: Ints
    silent: frozenset[str]
    workloads: list[WorkloadRow]
    pods: PodColumns
    spreads: Spreads

    def row_of(self, name: str) -> int | None:
        """Return a node's row; ``None`` for an unknown name."""
        return next((row for row, each in enumerate(self.nodes) if each.name == name), None)


def snapshot_of(state: DrillState) -> PlacementSnapshot:
    """Return the present state of a drill."""
    return _snapshot(state.run, state.pods.by_key.values(), state.down)


def snapshot_as_read(run: Run, pods: Iterable[FollowedPod]) -> PlacementSnapshot:
    """Return the state as read, before pods are placed or removed."""
    owners = owners_of(run)
    there = list(pods)
    for pod in run.plan.removed:
        if pod.spec.node_name:
            run.cluster.add_pod(pod)
            owner = owners.get(f"{pod.namespace}/{pod.name}")
            there.append(FollowedPod(pod, pod.namespace, pod.name, owner, pod.spec.node_name))
    return _snapshot(run, there, set())


def _snapshot(run: Run, pods: Iterable[FollowedPod], down: set[str]) -> PlacementSnapshot:
    table = run.cluster.nodes
    rows = np.flatnonzero(table.alive[: table.size])
    place = {table.names[row]: position for position, row in enumerate(rows.tolist())}
    amounts = [CPU, MEMORY, PODS]
    workloads: dict[ObjectKey, int] = {}
    named = {key_of(each): each for each in run.plan.workloads}
    names: list[str] = []
    columns: list[tuple[int, int, bool]] = []
    for pod in pods:
        key = key_of(pod.workload) if pod.workload is not None else ("Pod", pod.namespace, pod.name)
        names.append(pod.name)
        row = workloads.setdefault(key, len(workloads))
        columns.append((row, place.get(pod.node, NOWHERE), pod.terminating))
    for key in named:
        workloads.setdefault(key, len(workloads))
    filled = np.array(columns, dtype=np.int64).reshape(len(columns), 3)
    found = spreads(run)
    return PlacementSnapshot(
        nodes=[node for row in rows.tolist() if (node := table.nodes[row]) is not None],
        allocatable=table.allocatable[rows][:, amounts].copy(),
        used=table.used[rows][:, amounts].copy(),
        silent=frozenset(down | {each.name for each in table.nodes if each is not None and is_silent(each)}),
        workloads=[
            WorkloadRow(key, named[key].replicas, named[key].template) if key in named else WorkloadRow(key, 1)
            for key in workloads
        ],
        pods=PodColumns(names, filled[:, 0], filled[:, 1], filled[:, 2].astype(bool)),
        spreads={key_of(each): found[id(each)] for each in run.plan.workloads if id(each) in found},
    )
