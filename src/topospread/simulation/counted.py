"""The workloads whose pods a constraint counts in addition to the pods of its own workload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from topospread.api.labels import Selector
from topospread.cluster import Cluster, PodClass
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
    """An index of the workload of each pod on a node. It is not updated after it is built.

    Args:
        cluster: the nodes and their pods.
        owners: pod key → workload, for pods that existed before the run.
        queue: pods that the run had to place.
    """

    def __init__(self, cluster: Cluster, owners: Mapping[PodKey, Workload], queue: Iterable[QueuedPod]) -> None:
        self._cluster = cluster
        queued = {pod_key(each.namespace, each.name): each.workload for each in queue}
        self._of: dict[int, dict[str, Counter[int]]] = {}
        self._latest: dict[tuple[str, Selector, bytes], dict[str, int]] = {}
        self._classes: dict[tuple[str, str], set[int]] = {}
        rows_of: dict[tuple[int, int], list[int]] = {}
        whose: list[tuple[PodClass, str, list[int]]] = []
        for row, pods in enumerate(cluster.on_node):
            for key, pod_class in pods.items():
                workload = owners.get(key) or queued.get(key)
                rows = rows_of.get((pod_class.index, id(workload)))
                if rows is None:
                    rows = rows_of[pod_class.index, id(workload)] = []
                    whose.append((pod_class, _name(workload), rows))
                rows.append(row)
        for pod_class, name, rows in whose:
            self._of.setdefault(pod_class.index, {}).setdefault(name, Counter()).update(rows)
            self._classes.setdefault((pod_class.namespace, name), set()).add(pod_class.index)

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
        space = workload.namespace
        name = _name(workload)
        own = self._count(self._classes.get((space, name), ()), selector, takes_part)
        if own[name] == total:
            return {}
        found = self._count_all(space, selector, takes_part)
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
            counted = self._count((each.index for each in classes), selector, takes_part)
            found = self._latest[key] = dict(sorted(counted.items(), key=lambda each: (-each[1], each[0])))
        return found

    def _count(self, classes: Iterable[int], selector: Selector, takes_part: Bools) -> Counter[str]:
        """Return owner → number of its counted pods of these classes."""
        found: Counter[str] = Counter()
        for index in classes:
            pod_class = self._cluster.classes[index]
            if index in self._of and pod_class.counted and selector.matches(pod_class.labels):
                for name, rows in self._of[index].items():
                    found[name] += sum(number for row, number in rows.items() if takes_part[row])
        return +found


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
