"""Upper bound on the nodes that pods in any order can close to one pod, by counting alone.

Some nodes reject a pod from the beginning, because of taints or placed pods. Incoming pods take room (NodeResourcesFit)
and ports (NodePorts), repel other pods (InterPodAffinity), and skew domains (PodTopologySpread). Each of these effects
closes a bounded number of nodes. If a pod has more candidates than all effects can close together, some node always
accepts it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from topospread.api.node import Namespace
from topospread.cluster import PodClass
from topospread.cluster.arrays import Bools, Ints
from topospread.cluster.nodes import PODS
from topospread.plugins.affinity_terms import NO_LABELS, terms_of
from topospread.plugins.interface import PluginError
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.plugins.without_pre_filter import FailingScore
from topospread.scheduling.cycle import Scheduler
from topospread.simulation.run import spread_of

_OF_THE_NODE = frozenset(
    {"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodeDeclaredFeatures", "VolumeZone"}
)
"""Filters whose result does not depend on incoming pods."""
_COUNTED = frozenset({"NodePorts", "NodeResourcesFit", "InterPodAffinity", "PodTopologySpread"})
_OF_VOLUMES = frozenset({"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding"})
"""Plugins whose result never changes for a pod with its own claims, while no volume or CSI limit exists."""
_MOST_CLASSES = 100
"""Above this number of classes, all incoming pods are assumed to be feasible on all nodes."""
_NO_CLAIM_OF_VOLUMES = frozenset({"EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits"})


@dataclass(frozen=True, slots=True)
class IncomingPods:
    """The incoming pods by pod class.

    Attributes:
        classes: ``index`` of a class → the class, and the number of its incoming pods.
        goes_on: whether pods are also deleted, as in a rollout. Then domains may lose their pods.
        at_once: the most of these pods that exist at the same time; ``None`` for no limit.
    """

    classes: Mapping[int, tuple[PodClass, int]]
    goes_on: bool = False
    at_once: int | None = None

    @classmethod
    def of(cls, classes: Iterable[PodClass], *, goes_on: bool = False, at_once: int | None = None) -> IncomingPods:
        """Return the incoming pods with these classes, one for each pod."""
        every = list(classes)
        numbers = Counter(each.index for each in every)
        return cls({each.index: (each, numbers[each.index]) for each in every}, goes_on, at_once)

    def beside(self, pod_class: PodClass) -> list[tuple[PodClass, int]]:
        """Return (class, number of incoming pods) pairs, without one pod of this class."""
        own = pod_class.index
        return [(each, number - (each.index == own)) for each, number in self.classes.values()]


@dataclass(frozen=True, slots=True)
class _Reach:
    """Rows that may accept a class's pods, and topology key → maximum of the class's incoming pods in one domain."""

    rows: Ints
    most: Mapping[str, int]


class BlockedNodes:
    """Counts the nodes that other pods can close to the pods of one class.

    Args:
        reach: ``index`` of an incoming class → where its pods may be; missing classes may be anywhere.
    """

    def __init__(
        self, scheduler: Scheduler, pod_class: PodClass, coming: IncomingPods, reach: Mapping[int, _Reach] | None = None
    ) -> None:
        self._reach = reach or {}
        self._scheduler = scheduler
        self._cluster = scheduler.cluster
        self._class = pod_class
        self._coming = coming
        self._others = coming.beside(pod_class)
        number = sum(number for _, number in self._others)
        self._most = number if coming.at_once is None else min(number, coming.at_once - 1)

    def open_nodes(self) -> int:
        """Return a lower bound on the nodes that accept a pod of the class at every moment; 0 if unknown.

        Raises:
            PluginError: if kube-scheduler could not judge the pod.
        """
        rows = self.candidates()
        if rows is None or not len(rows):
            return 0
        hard = [each for each in spread_of(self._scheduler, self._class) if each.hard]
        rows = rows[np.all([self._takes_part(each, rows) for each in hard], axis=0)] if hard else rows
        found = len(rows) - self._closed(rows, hard)
        for each in hard:
            if each.min_domains <= len(each.domains):
                found = max(found, self._open_in_the_emptiest(each, rows, [other for other in hard if other != each]))
        return max(found, 0)

    def is_open_among(self, chosen: Bools, hard: Sequence[ConstraintArithmetic]) -> bool:
        """Return whether at any time at least one node, perhaps another each time, is proved to accept a pod.

        Args:
            chosen: [nodes.size], the admitted nodes.
            hard: the class's hard constraints.

        Raises:
            PluginError: if kube-scheduler could not judge the pod.
        """
        rows = self.candidates()
        if rows is None:
            return False
        rows = rows[chosen[rows]]
        rows = rows[np.all([self._takes_part(each, rows) for each in hard], axis=0)]
        return len(rows) > self._closed(rows, ())

    def _open_in_the_emptiest(self, own: ConstraintArithmetic, rows: Ints, others: list[ConstraintArithmetic]) -> int:
        """Return the fewest open nodes of any domain: the emptiest domain admits every pod, and any may be emptiest."""
        nodes = self._cluster.nodes
        codes = nodes.labels(own.topology_key).codes[rows]
        keys = [
            nodes.labels(key).codes for key in (*(key for key, _ in self._apart), *(o.topology_key for o in others))
        ]
        known: dict[tuple[object, ...], int] = {}
        for code in self._codes(own):
            domain = rows[codes == code]
            # Domains of one node with equal free resources and label keys have equal counts: compute the count once.
            room = (nodes.allocatable[domain] - nodes.used[domain]).tobytes()
            alike = (room, *(each[domain].item() >= 0 for each in keys)) if len(domain) == 1 else (code,)
            if alike not in known:
                known[alike] = len(domain) - self._closed(domain, others, own)
        return min(known.values(), default=0)

    def _codes(self, constraint: ConstraintArithmetic) -> list[int]:
        column = self._cluster.nodes.labels(constraint.topology_key)
        return [column.values.index(each.name) for each in constraint.domains]

    def _takes_part(self, constraint: ConstraintArithmetic, rows: Ints) -> Bools:
        codes = self._cluster.nodes.labels(constraint.topology_key).codes[rows]
        return np.isin(codes, self._codes(constraint))

    def candidates(self) -> Ints | None:
        """Return rows that only the counted effects can close; ``None`` if another plugin may change its answer."""
        cluster, spec = self._cluster, self._class.pod.spec
        framework = self._scheduler.framework_of(self._class)
        if (
            spec.resource_claims
            or (cluster.objects.resource_slices and self._class.may_need_devices)
            or spec.scheduling_gates
            or cluster.nominated
            or not self._own_volumes()
        ):
            return None
        if terms_of(self._class).affinity or terms_of(self._class).problems:
            return None
        prepared = framework.prepare(self._class, cluster)
        known = _OF_THE_NODE | _COUNTED | _OF_VOLUMES | (frozenset() if self._class.volumes else _NO_CLAIM_OF_VOLUMES)
        filters = [each for each in prepared.filters if each.plugin != "PodTopologySpread"]
        failing = any(isinstance(each.score, FailingScore) for each in prepared.scores)
        is_known = not prepared.unjudged and {each.plugin for each in filters} <= known
        if prepared.rejected is not None or failing or not is_known:
            return None
        rows: Ints = np.flatnonzero(cluster.nodes.alive).astype(np.int64)
        if prepared.narrowed is not None:
            known_rows = [cluster.nodes.row_of[each] for each in prepared.narrowed if each in cluster.nodes.row_of]
            rows = rows[np.isin(rows, known_rows)]
        for each in filters:
            rows = rows[each.filter.filter(rows) == 0] if len(rows) else rows
        return rows

    def _own_volumes(self) -> bool:
        """Return whether the pod alone uses its volumes, and they are provisioned after it has a node."""
        refs = set(self._class.volumes)
        if not refs:
            return True
        objects, use = self._cluster.objects, self._cluster.volume_use
        if objects.persistent_volumes or objects.csi_nodes or objects.csi_storage_capacities:
            return False
        shared = any(number and refs & set(each.volumes) for each, number in self._others)
        claims = all(each.source == "persistentVolumeClaim" for each in refs)
        return claims and not shared and not any(use.users.get(each) for each in refs)

    def _closed(
        self, rows: Ints, hard: Sequence[ConstraintArithmetic], share: ConstraintArithmetic | None = None
    ) -> int:
        """Return an upper bound on the rows that reject the pod at one moment."""
        return (
            self._without_room(rows, share)
            + self._with_ports_taken(rows)
            + sum(self._most_rows(key, rows, number) for key, number in self._apart)
            + sum(self._skewed(each, rows) for each in hard)
        )

    @cached_property
    def _amounts(self) -> list[tuple[PodClass, Ints, int]]:
        """(class, amount of each resource that a pod takes, number of pods) for the other incoming pods."""
        return [(each, each.taken(self._cluster.nodes), number) for each, number in self._others if number]

    def _reaching(self, rows: Ints) -> list[tuple[PodClass, Ints, int]]:
        """Return the entries of `_amounts` whose pods may be on these rows."""
        reach = self._reach
        return [
            each
            for each in self._amounts
            if each[0].index not in reach or bool(np.isin(reach[each[0].index].rows, rows).any())
        ]

    def reach(self) -> _Reach | None:
        """Return where pods of the class may be; ``None`` if this may change."""
        rows = self.candidates()
        if rows is None:
            return None
        names, most = {self._cluster.nodes.names[row] for row in rows.tolist()}, dict[str, int]()
        for each in () if self._coming.goes_on else spread_of(self._scheduler, self._class):
            uncounted = {name for out in each.left_out if "Policy" in out.reason for name in out.nodes}
            if each.hard and each.counts_itself and not names & uncounted:
                coming = matching(self._scheduler, self._class, each, self._coming.classes.values())
                counted = coming + sum(domain.matching for domain in each.domains)
                # maxSkew allowed the last pod of the class in each domain, so it limits the domain's pods.
                here = most_in_domains(each, counted, each.max_skew, 1)
                most[each.topology_key] = min(most.get(each.topology_key, here), here)
        return _Reach(rows, most)

    def _without_room(self, rows: Ints, share: ConstraintArithmetic | None) -> int:
        """Return an upper bound on the rows that other pods can fill: the sum over the requested resources.

        Args:
            rows: the rows.
            share: constraint whose emptiest domain consists of these rows. It has at most an equal share of the counted
                pods.
        """
        nodes = self._cluster.nodes
        reaching = self._reaching(rows)
        counted, limit = [], 0
        if share is not None:
            most = {index: each.most.get(share.topology_key, self._most) for index, each in self._reach.items()}
            reaching = [(each, taken, min(number, most.get(each.index, number))) for each, taken, number in reaching]
            counted = [each for each in reaching if counts_pod(self._scheduler, self._class, share, each[0])]
            coming = min(matching(self._scheduler, self._class, share, self._others), self._most)
            limit = (sum(each.matching for each in share.domains) + coming) // len(share.domains)
        apart = {each[0].index for each in counted}
        others = [each for each in reaching if each[0].index not in apart]
        shared = min(limit, sum(number for _, _, number in counted))
        pods = min(self._most, shared + sum(number for _, _, number in others))
        found, fewest = 0, np.full(len(rows), pods + 1, dtype=np.int64)
        columns = {PODS: 1} | {nodes.resource(name): amount for name, amount in self._class.request.items() if amount}
        for column, amount in columns.items():
            largest = max((int(taken[column]) for _, taken, _ in reaching), default=0)
            if not largest:
                continue
            at_most = shared * max((int(taken[column]) for _, taken, _ in counted), default=0)
            total = min(at_most, sum(int(taken[column]) * number for _, taken, number in counted))
            total += sum(int(taken[column]) * number for _, taken, number in others)
            spare = np.maximum(nodes.allocatable[rows, column] - nodes.used[rows, column] - amount + 1, 0)
            fewest = np.minimum(fewest, -(-spare // largest))
            found += int(np.searchsorted(np.cumsum(np.sort(spare)), total, side="right"))
        # A node is filled by whole pods, so the number of pods is a second limit.
        return min(found, int(np.searchsorted(np.cumsum(np.sort(fewest)), pods, side="right")))

    def _with_ports_taken(self, rows: Ints) -> int:
        if not self._class.host_ports:
            return 0
        return min(len(rows), sum(number for each, number in self._others if each.host_ports))

    @cached_property
    def _apart(self) -> list[tuple[str, int]]:
        """(topology key, number of other pods) pairs: anti-affinity keeps the pod out of these pods' domains."""
        namespaces = self._cluster.objects.namespaces
        found: list[tuple[str, int]] = []
        for other, number in self._others:
            pairs = [(term, other) for term in terms_of(self._class).anti_affinity]
            pairs += [(term, self._class) for term in terms_of(other).anti_affinity]
            keys = {
                term.topology_key
                for term, meant in pairs
                if number and term.matches(meant, _labels_of(meant, namespaces))
            }
            found += [(key, number) for key in keys]
        return found

    def _most_rows(self, key: str, rows: Ints, domains: int) -> int:
        """Return the most rows that `domains` domains of the key hold."""
        codes = self._cluster.nodes.labels(key).codes[rows]
        sizes = np.sort(np.bincount(codes[codes >= 0])) if len(codes[codes >= 0]) else np.zeros(0, dtype=np.int64)
        return int(sizes[::-1][:domains].sum())

    def _skewed(self, constraint: ConstraintArithmetic, rows: Ints) -> int:
        """Return the number of rows in domains that other pods can fill until the constraint rejects the pod."""
        minimum = 0 if self._coming.goes_on else constraint.minimum
        counts = np.array([each.matching for each in constraint.domains], dtype=np.int64)
        short = np.sort(np.maximum(minimum + constraint.max_skew + 1 - constraint.counts_itself - counts, 0))
        number = min(matching(self._scheduler, self._class, constraint, self._others), self._most)
        domains = int(np.searchsorted(np.cumsum(short), number, side="right"))
        return self._most_rows(constraint.topology_key, rows, domains)


def keeps_away(pod_class: PodClass, key: str, others: Iterable[PodClass], namespaces: Mapping[str, Namespace]) -> bool:
    """Return whether a pod of the class avoids every domain of the key that holds a pod of the other classes."""
    terms = [each for each in terms_of(pod_class).anti_affinity if each.topology_key == key]
    return all(any(term.matches(other, _labels_of(other, namespaces)) for term in terms) for other in others)


def _labels_of(pod_class: PodClass, namespaces: Mapping[str, Namespace]) -> Mapping[str, str]:
    """Return the labels of a class's namespace."""
    return namespaces[pod_class.namespace].labels if pod_class.namespace in namespaces else NO_LABELS


def matching(
    scheduler: Scheduler,
    pod_class: PodClass,
    constraint: ConstraintArithmetic,
    classes: Iterable[tuple[PodClass, int]],
) -> int:
    """Return an upper bound on the pods of `classes` that a constraint counts."""
    return sum(number for each, number in classes if counts_pod(scheduler, pod_class, constraint, each))


def counts_pod(scheduler: Scheduler, pod_class: PodClass, constraint: ConstraintArithmetic, other: PodClass) -> bool:
    """Return whether a class's constraint may count pods of ``other``; True if labels depend on the node."""
    if other.namespace != pod_class.namespace:
        return False
    if constraint.selects is None or scheduler.topology_labels is not None:
        return True
    return constraint.selects.matches(other.labels)


def most_in_domains(constraint: ConstraintArithmetic, pods: int, skew: int, inside: int) -> int:
    """Return the most counted pods in `inside` domains if no domain received a pod beyond the skew."""
    if constraint.lacks_domains:
        return skew * inside
    others = max(len(constraint.domains) - inside, 0)
    return max(min(inside * (least + skew), pods - others * least) for least in range(pods + 1))


def open_to_all(scheduler: Scheduler, coming: IncomingPods, of: Iterable[PodClass] | None = None) -> int:
    """Return a lower bound on the nodes that are open to any pod at every moment; 0 if none is certain.

    Args:
        scheduler: the scheduler, on its cluster.
        coming: the incoming pods.
        of: classes of pods to count for; by default all incoming classes.
    """
    if scheduler.topology_labels is not None:
        return 0  # selectors may match labels that a pod gets from its node
    classes = [each for each, _ in coming.classes.values()]
    try:
        for each in classes:
            if each.affinity_terms is None:
                scheduler.framework_of(each).prepare(each, scheduler.cluster)  # compiles the affinity terms
        asked = classes if of is None else list({each.index: each for each in of}.values())
        found = min((BlockedNodes(scheduler, each, coming).open_nodes() for each in asked), default=0)
        if found or len(classes) > _MOST_CLASSES:
            return found
        # Only incoming pods are deleted, so a node that rejects a pod without incoming pods always rejects it.
        reach = {each.index: its for each in classes if (its := _reach_of(scheduler, each, coming)) is not None}
        return min((BlockedNodes(scheduler, each, coming, reach).open_nodes() for each in asked), default=0)
    except PluginError:
        return 0


def _reach_of(scheduler: Scheduler, pod_class: PodClass, coming: IncomingPods) -> _Reach | None:
    try:
        return BlockedNodes(scheduler, pod_class, coming).reach()
    except PluginError:
        return None
