"""The sample of nodes that kube-scheduler considers in clusters of 100 nodes or more.

kube-scheduler takes one node of each zone in turn, starts where the last pod's walk ended, and stops when it has found
enough feasible nodes. Only these nodes are scored. The result is exact for ``parallelism: 1``; several workers stop a
few nodes earlier or later. Sampling is used only on request.
Source: pkg/scheduler/schedule_one.go, pkg/scheduler/backend/cache/node_tree.go, component-helpers' ``GetZoneKey``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import chain, zip_longest

import msgspec
import numpy as np

from topospread.cluster import NO_ROW, Cluster
from topospread.cluster.arrays import Ints
from topospread.cluster.zone_key import zone_key
from topospread.config.version_rules import rules_for, since, until

from .evaluate import first_failure, walkable
from .framework import Framework
from .view import View

MIN_FEASIBLE_NODES = 100
"""Minimum number of feasible nodes to find. In smaller clusters, kube-scheduler considers every node."""
_MIN_PERCENTAGE = 5

_NO_ROWS: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class SamplingRules:
    """The differences between Kubernetes versions in the walk over nodes."""

    narrowed_wrap: bool = until(
        "1.26",
        "The next pod's walk starts at a position among all nodes. Before, only nodes left by PreFilter counted.",
    )
    unscored_first: bool = since("1.30", "A profile without score plugins takes the first feasible node.")


class Sample(msgspec.Struct, frozen=True):
    """The nodes of one sampled search.

    Attributes:
        rows: feasible nodes, in the order of the search.
        evaluated: number of nodes that were evaluated, including rejected nodes.
    """

    rows: Ints
    evaluated: int


def nodes_to_find(nodes: int, percentage: int | None) -> int:
    """Return the number of feasible nodes that ends a walk (``numFeasibleNodesToFind``).

    ``percentage``: percentageOfNodesToScore. 0 and ``None`` mean the adaptive share: 50 %, minus 1 % for every 125
    nodes.
    """
    if nodes < MIN_FEASIBLE_NODES:
        return nodes
    share = percentage or max(50 - nodes // 125, _MIN_PERCENTAGE)
    return max(nodes * share // 100, MIN_FEASIBLE_NODES)


_Order = tuple[dict[str, dict[str, int]], dict[int, tuple[str, str]], Ints]
"""(zone → node → row, row → (node, zone), rows in order)."""


class NodeOrder:
    """Rows in the order of kube-scheduler's snapshots: one node of each zone in turn (``nodeTree.list``).

    Zones, and nodes within a zone, are in the order in which they were added. A node that changes its zone moves when
    the next node is added or removed.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._zones: dict[str, dict[str, int]] = {}
        self._known: dict[int, tuple[str, str]] = {}
        self._rows = _NO_ROWS
        self._before: list[tuple[int, _Order]] = []
        self._take(range(cluster.nodes.size))
        self._position = cluster.journal.join(self)

    def rows(self) -> Ints:
        """Return all rows in order, int64[nodes]."""
        self.catch_up()
        return self._rows

    def catch_up(self) -> bool:
        """Apply the journal's added, changed and removed nodes."""
        journal = self._cluster.journal
        changes = journal.since(self._position, self)
        if changes is None:
            self._take(range(self._cluster.nodes.size))
        elif rows := [row for row, pod_class, what in changes if pod_class is None and not what and row != NO_ROW]:
            if journal.is_marked:
                self._before.append((self._position, self._order()))
            self._take(rows)
        self._position = journal.position
        return True

    def rewind(self, position: int) -> None:
        """Restore the order of an earlier position, so nodes that were removed and restored keep their places."""
        while self._before and self._before[-1][0] >= position:
            self._zones, self._known, self._rows = self._before.pop()[1]
        self._position = position

    def _order(self) -> _Order:
        return {zone: dict(names) for zone, names in self._zones.items()}, dict(self._known), self._rows

    def _take(self, rows: Iterable[int]) -> None:
        came_or_went = [self._take_one(row) for row in rows]
        if any(came_or_went):
            turns = zip_longest(*(zone.values() for zone in self._zones.values()))
            in_turn = [row for row in chain.from_iterable(turns) if row is not None]
            self._rows = np.array(in_turn, dtype=np.int64)

    def _take_one(self, row: int) -> bool:
        """Update one row. Return whether its node was added or removed."""
        node = self._cluster.nodes.nodes[row]
        now = None if node is None else (node.name, zone_key(node))
        before = self._known.get(row)
        if now == before:
            return False
        if before is not None:
            name, zone = before
            del self._known[row], self._zones[zone][name]
            if not self._zones[zone]:
                del self._zones[zone]
        if now is not None:
            name, zone = now
            self._known[row] = now
            self._zones.setdefault(zone, {})[name] = row
        return before is None or now is None or before[0] != now[0]


class Sampler:
    """Samples nodes for one pod after another. All profiles share the position where the next walk starts."""

    def __init__(self, cluster: Cluster) -> None:
        self._order = NodeOrder(cluster)
        self._start = 0

    def sample(
        self,
        view: View,
        framework: Framework,
        blocked: Collection[int] = (),
        refused: int = -1,
        within: Ints | None = None,
    ) -> Sample:
        """Return the sample for a pod, and move the start of the next walk (``findNodesThatFitPod``).

        Args:
            blocked: rows where the pod does not fit together with the node's nominated pods.
            refused: row of the pod's own nominated node, which was found infeasible.
            within: the only rows to consider; ``None`` for all.

        Raises:
            PluginError: if a plugin fails on a node, which ends the search.
        """
        order = self._order.rows()
        if within is not None:
            order = order[np.isin(order, within)]
        plugins = view.plugins
        if plugins.rejected is not None or not len(order):
            return Sample(_NO_ROWS, 0)
        rules = rules_for(SamplingRules, framework.gates)
        walk = order if plugins.narrowed is None else order[np.isin(order, walkable(view))]
        found, walked = self._walk(view, walk, _wanted(framework, rules, len(walk)), blocked)
        failure = first_failure(view, walked, blocked) if view.can_fail else None
        if failure is not None:
            walked = walked[: failure.place]
        evaluated = len(walked) + (refused >= 0 and refused not in walked)
        wrap = len(walk) if rules.narrowed_wrap else len(order)
        self._start = (self._start + evaluated) % max(wrap, 1)
        if failure is not None:
            raise failure.error
        return Sample(found, evaluated)

    def _walk(self, view: View, walk: Ints, wanted: int, blocked: Collection[int]) -> tuple[Ints, Ints]:
        """Return the first ``wanted`` feasible rows, and all rows before the next feasible row, both in walk order."""
        ahead = np.roll(walk, -(self._start % max(len(walk), 1)))
        passes = view.feasible(ahead)
        if blocked:
            passes &= ~np.isin(ahead, list(blocked))
        places = np.flatnonzero(passes)
        if len(places) <= wanted:
            return ahead[places], ahead
        return ahead[places[:wanted]], ahead[: places[wanted]]


def _wanted(framework: Framework, rules: SamplingRules, nodes: int) -> int:
    profile = framework.profile
    if rules.unscored_first and not profile.enabled("score"):
        return min(nodes, 1)
    return nodes_to_find(nodes, profile.percentage_of_nodes_to_score)
