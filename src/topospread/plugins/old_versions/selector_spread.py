"""SelectorSpread until 1.28: prefers nodes and zones with fewer pods of the same Service or controller.

Its name in 1.18 is DefaultPodTopologySpread. It only scores pods without their own topology spread constraints. Source:
plugins/selectorspread/selector_spread.go, in 1.18 plugins/defaultpodtopologyspread. All versions are equal except for
the selector (`default_selector`).
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints, Rows, grown
from topospread.cluster.selections import Selection
from topospread.cluster.zone_key import zone_key
from topospread.plugins.default_selector import SelectorOf, default_selector, looked_up
from topospread.plugins.domain_counts import matching_pods, pods_on
from topospread.plugins.group_columns import GroupColumn
from topospread.plugins.interface import MAX_NODE_SCORE, Prepared, Scope

_ZONE_SHARE = 2.0 / 3.0
_NO_ZONE = -1


class SelectorSpread:
    """Scores pods without topology spread constraints.

    Args:
        name: the plugin's name in the version.
        selector_of: function that finds the selector, as for PodTopologySpread's default constraints.
    """

    def __init__(self, name: str = "SelectorSpread", selector_of: SelectorOf = default_selector) -> None:
        self.name = name
        self._selector_of = selector_of

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Score; skip pods with their own constraints."""
        if pod_class.pod.spec.topology_spread_constraints:
            return Prepared()
        selector = self._selector_of(pod_class, cluster.objects)
        score = _SpreadScore(matching_pods(cluster, pod_class.namespace, selector, empty_counts=False), cluster)
        return Prepared(score=score, watcher=score, reads=looked_up(pod_class))


class _SpreadScore:
    """The score and its watcher. A zone's pods are summed over its feasible nodes, so nodes cannot be grouped."""

    scope = Scope.CLUSTER
    layout = 0

    def __init__(self, pods: Selection, cluster: Cluster) -> None:
        self._pods = pods
        self._nodes = cluster.nodes
        self._numbers: dict[str, int] = {"": _NO_ZONE}
        self._zones: Ints = np.full(cluster.nodes.capacity, _NO_ZONE, dtype=np.int64)
        for row in range(cluster.nodes.size):
            self._place(row)

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """Return the number of pods on each node that the selector matches, int64[rows] (``countMatchingPods``)."""
        return pods_on(self._pods, rows)

    def normalize(self, raw: Ints, rows: Rows) -> Ints:
        """Return 100 for no pod and 0 for the most pods; the zone has two thirds of the weight (``NormalizeScore``)."""
        points = _fewer(raw)
        zones = self._zones[rows]
        in_zone = zones != _NO_ZONE
        if in_zone.any():
            by_zone = np.bincount(zones[in_zone], weights=raw[in_zone], minlength=len(self._numbers)).astype(np.int64)
            # Zones without a feasible node have the count 0 here, which does not change the maximum.
            zone_points = _fewer(by_zone)[np.where(in_zone, zones, 0)]
            points = np.where(in_zone, points * (1.0 - _ZONE_SHARE) + _ZONE_SHARE * zone_points, points)
        return points.astype(np.int64)

    def counts_pods_of(self, pod_class: PodClass) -> bool:
        return pod_class.counted and (pod_class.label_set is None or pod_class.label_set in self._pods.sets)

    def on_nodes(self, rows: Collection[int]) -> None:
        self._zones = grown(self._zones, self._nodes.capacity, _NO_ZONE)
        for row in rows:
            self._place(row)

    def columns(self) -> list[GroupColumn] | None:
        return None

    def _place(self, row: int) -> None:
        node = self._nodes.nodes[row]
        zone = zone_key(node) if node is not None else ""
        self._zones[row] = self._numbers.setdefault(zone, len(self._numbers) - 1)


def _fewer(counts: Ints) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return a score for each count: 100 for no pod, 0 for the highest count, float64[counts]."""
    most = int(counts.max(initial=0))
    if not most:
        return np.full(len(counts), float(MAX_NODE_SCORE))
    shares: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = MAX_NODE_SCORE * ((most - counts) / most)
    return shares
