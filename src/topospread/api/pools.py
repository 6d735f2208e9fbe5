"""Node pools that an autoscaler grows: labels and resources of their nodes, and limits on their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

import msgspec

from topospread.api.well_known_labels import ARCH, HOSTNAME, OS, ZONE

from .meta import Annotations, ObjectMeta
from .node import Node, NodeSpec, NodeStatus
from .node_selection import Taint
from .quantity import Quantity, parse_quantity

_LEAST, _MOST = 60, 110
"""Allowed range of a node's allocatable amount, in percent of its pool's: kubelet reservations and machines vary."""


class Limits(msgspec.Struct, frozen=True):
    """Limits shared by several pools, as in a Karpenter NodePool.

    Attributes:
        label: label of the nodes that count towards the limits.
        milli: resource → limit in thousandths; the resource ``nodes`` limits the number of nodes.
    """

    label: tuple[str, str]
    milli: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NodePool:
    """A pool of equal nodes.

    Attributes:
        name: name of the pool and prefix of new nodes.
        labels: labels of its nodes, including the zone, without the hostname.
        amounts: resource → allocatable quantity of a node, as text.
        least: minimum number of nodes.
        most: maximum number of nodes; ``None`` for no limit.
        limits: limits shared with other pools.
        price: price of one node in any unit; ``None`` if unknown.
    """

    name: str
    labels: Mapping[str, str]
    amounts: Mapping[str, str]
    taints: tuple[Taint, ...] = ()
    least: int = 0
    most: int | None = None
    limits: Limits | None = field(default=None, repr=False)
    price: Fraction | None = None

    @property
    def zone(self) -> str:
        """The zone of the pool's nodes; "" if it has none."""
        return self.labels.get(ZONE, "")

    @property
    def size(self) -> tuple[Quantity, Quantity, str]:
        """A sort key: cpu and memory of one node, then the pool's name."""
        none = parse_quantity("0")
        amounts = {name: parse_quantity(self.amounts[name]) for name in ("cpu", "memory") if name in self.amounts}
        return amounts.get("cpu", none), amounts.get("memory", none), self.name

    def node(self, name: str, beside: Iterable[Node] = ()) -> Node:
        """Return a new node with the pool's labels and the kubelet's labels for os, arch and hostname.

        Args:
            name: name of the node.
            beside: existing nodes. Os and arch are those of the first of them that belongs to the pool, else linux and
                amd64.
        """
        like = next((each.labels for each in beside if self.has(each)), {})
        by_kubelet = {key: like.get(key, value) for key, value in ((OS, "linux"), (ARCH, "amd64"))}
        return Node(
            api_version="v1",
            kind="Node",
            metadata=ObjectMeta(
                name=name, labels={**by_kubelet, HOSTNAME: name, **self.labels}, annotations=Annotations(pool=self.name)
            ),
            spec=NodeSpec(taints=list(self.taints) or None),
            status=NodeStatus(allocatable=dict(self.amounts), capacity=dict(self.amounts)),
        )

    def has(self, node: Node) -> bool:
        """Return whether a node belongs to the pool.

        The node must have the pool's labels, and either its pool annotation or about its cpu and memory.
        """
        if not self.labels or not self.labels.items() <= node.labels.items():
            return False
        if (annotations := node.metadata.annotations) is not None and annotations.pool is not None:
            return annotations.pool == self.name
        status = node.status
        of_node = status.allocatable or status.capacity or {}
        for name in ("cpu", "memory"):
            shape, free, whole = (_milli(each, name) for each in (self.amounts, of_node, status.capacity or {}))
            if free and shape != whole and not _LEAST * shape <= 100 * free <= _MOST * shape:
                return False
        return True

    def may_grow(self, nodes: Iterable[Node]) -> bool:
        """Return whether the limits allow one more node."""
        own = list(nodes)
        if self.most is not None and sum(map(self.has, own)) >= self.most:
            return False
        limits = self.limits
        if limits is None:
            return True
        key, value = limits.label
        together: list[Mapping[str, str | int | float | None]] = [dict(self.amounts)]
        together += ((each.status.allocatable or {}) for each in own if each.labels.get(key) == value)
        return all(sum(_milli(each, name) for each in together) <= most for name, most in limits.milli.items())


def _milli(amounts: Mapping[str, str | int | float | None], name: str) -> int:
    return 1000 if name == "nodes" else parse_quantity(amounts.get(name) or "0").milli_value()


def new_names(pool: NodePool, nodes: Iterable[Node]) -> Iterator[str]:
    """Yield names for new nodes of a pool, without names of existing nodes."""
    taken = {each.name for each in nodes}
    number = 0
    while True:
        number += 1
        name = f"{pool.name}-new-{number}"
        if name not in taken:
            yield name


def at_least(nodes: list[Node], pools: Iterable[NodePool]) -> list[Node]:
    """Return ``nodes`` and, for each pool with fewer nodes than its minimum, the missing nodes."""
    found = list(nodes)
    for pool in pools:
        names = new_names(pool, found)
        missing = pool.least - sum(map(pool.has, found))
        found += [pool.node(name, found) for name in islice(names, max(missing, 0))]
    return found


def on_paper(pools: Iterable[NodePool], nodes: Iterable[Node]) -> dict[str, dict[str, list[str]]]:
    """Return topology key → domain that no node has → names of the pools whose new nodes would have it."""
    there = list(nodes)
    known = {label for node in there for label in node.labels.items()}
    found: dict[str, dict[str, list[str]]] = {}
    for pool in pools:
        for label in pool.labels.items() if pool.may_grow(there) else ():
            if label not in known:
                found.setdefault(label[0], {}).setdefault(label[1], []).append(pool.name)
    return found
