"""The workloads whose pods a constraint counts in addition to the pods of its own workload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np

from topospread.api.labels import Selector
from topospread.cluster import Cluster
from topospread.cluster.arrays import Bools
from topospread.cluster.cluster import PodKey, pod_key
from topospread.controllers.planned import QueuedPod, Workload
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, counts_of

CountedPods = Mapping[str, int]
"""``Deployment/web`` → number of its counted pods, the constraint's own workload first; ``Pod`` for all bare pods.

Empty if only the workload's own pods are counted.
"""
_REMEMBERED = 64


class PodOwners:
    """The workload of each pod on a node.

    Args:
        cluster: the nodes and their pods, which must not change between two questions.
        owners: pod key → workload, for pods that existed before the run.
        queue: pods that the run had to place.
    """

    def __init__(self, cluster: Cluster, owners: Mapping[PodKey, Workload], queue: Iterable[QueuedPod]) -> None:
        self._cluster = cluster
        self._owners = owners
        self._queued = {pod_key(each.namespace, each.name): each.workload for each in queue}
        self._waited: dict[int, list[PodKey]] = {}
        for key, workload in self._queued.items():
            self._waited.setdefault(id(workload), []).append(key)
        self._latest: dict[tuple[str, Selector, bytes], dict[str, int]] = {}

    @cached_property
    def _of(self) -> dict[int, dict[str, Counter[int]]]:
        """Index of a pod class → owner → row → number of its pods. It visits every pod of the cluster."""
        whose: dict[tuple[int, int], tuple[str, list[int]]] = {}
        for row, pods in enumerate(self._cluster.on_node):
            for key, pod_class in pods.items():
                workload = self._owners.get(key) or self._queued.get(key)
                known = whose.get((pod_class.index, id(workload)))
                if known is None:
                    known = whose[pod_class.index, id(workload)] = _name(workload), []
                known[1].append(row)
        found: dict[int, dict[str, Counter[int]]] = {}
        for (index, _), (name, rows) in whose.items():
            found.setdefault(index, {}).setdefault(name, Counter()).update(rows)
        return found

    def counted_by(self, arithmetic: ConstraintArithmetic, workload: Workload) -> CountedPods:
        """Return workload → number of its pods that a workload's constraint counts."""
        selector = arithmetic.selects
        total = int(counts_of(arithmetic.domains).sum())
        if selector is None or not total:
            return {}
        nodes = self._cluster.nodes
        takes_part = nodes.labels(arithmetic.topology_key).codes[: nodes.size] >= 0
        rows = [nodes.row_of[name] for left in arithmetic.left_out for name in left.nodes]
        takes_part[np.array(rows, dtype=np.int64)] = False
        return self.counted(workload, selector, takes_part, total)

    def counted(self, workload: Workload, selector: Selector, takes_part: Bools, total: int) -> CountedPods:
        """Return workload → number of its pods that a selector counts.

        Args:
            workload: workload of the constraint.
            takes_part: whether the constraint counts the pods of each node, bool[rows].
            total: number of all pods that the constraint counts.
        """
        name = _name(workload)
        if self._own(workload, selector, takes_part) == total:
            return {}
        found = self._count_all(workload.namespace, selector, takes_part)
        # If the sums differ, the constraint also counts pods of other nodes (until 1.23, and for built-in defaults).
        # The workloads of those pods are not known here, so name none.
        if sum(found.values()) != total or found.keys() <= {name}:
            return {}
        return _OwnFirst(name, found)

    def _count_all(self, namespace: str, selector: Selector, takes_part: Bools) -> dict[str, int]:
        """Return owner → number of its counted pods, highest first; cached for workloads with equal selectors."""
        key = (namespace, selector, takes_part.tobytes())
        found = self._latest.get(key)
        if found is None:
            if len(self._latest) >= _REMEMBERED:
                self._latest.clear()
            classes = self._cluster.selections.classes(namespace, selector)
            counted: Counter[str] = Counter()
            for each in classes:
                if each.counted and selector.matches(each.labels):
                    for name, rows in self._of.get(each.index, {}).items():
                        counted[name] += sum(number for row, number in rows.items() if takes_part[row])
            found = self._latest[key] = dict(sorted((+counted).items(), key=lambda each: (-each[1], each[0])))
        return found

    def _own(self, workload: Workload, selector: Selector, takes_part: Bools) -> int:
        """Return the number of counted pods of one workload, without a visit to the other pods of the cluster."""
        cluster, owners = self._cluster, self._owners
        existing = (pod_key(each.namespace, each.name) for each in workload.existing)
        own = [key for key in existing if owners.get(key) is workload]
        own += (key for key in self._waited.get(id(workload), ()) if key not in owners)
        rows = ((key, cluster.placed[key]) for key in own if key in cluster.placed)
        classes = Counter(cluster.on_node[row][key] for key, row in rows if takes_part[row])
        counts = (each.counted and selector.matches(each.labels) for each in classes)
        return sum(number for number, counted in zip(classes.values(), counts, strict=True) if counted)


class _OwnFirst(Mapping[str, int]):
    """A mapping that iterates over one owner first. Workloads share the underlying counts."""

    def __init__(self, name: str, counted: Mapping[str, int]) -> None:
        self._name = name
        self._counted = counted

    def __getitem__(self, name: str) -> int:
        return self._counted[name]

    def __iter__(self) -> Iterator[str]:
        if self._name in self._counted:
            yield self._name
        yield from (each for each in self._counted if each != self._name)

    def __len__(self) -> int:
        return len(self._counted)


def _name(workload: Workload | None) -> str:
    return "Pod" if workload is None or workload.kind == "Pod" else f"{workload.kind}/{workload.name}"
