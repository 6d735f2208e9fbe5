"""The rejections of every node by all plugins, and the nodes that lack least.

kube-scheduler stops at a node's first rejection, and its message counts only first rejections. A fix must remove all
rejections of a node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from topospread.api.node import Node
from topospread.api.node_selection import Taint
from topospread.api.taints import UNSCHEDULABLE_TAINT, untolerated
from topospread.cluster.arrays import Bools, Ints
from topospread.plugins.interface import UNRESOLVABLE, Filter, PluginError, Status
from topospread.scheduling.framework import Framework
from topospread.scheduling.verdict import LEFT_OUT_BY_PRE_FILTER, Verdict
from topospread.scheduling.view import View
from topospread.simulation.pending import unmatched_labels

from .result import CoreObstacle, NearestNode, NodeObstacle, PluginVerdict

SPREAD = "PodTopologySpread"
RESOURCES = "NodeResourcesFit"
TAINTS = "TaintToleration"
UNSCHEDULABLE = "NodeUnschedulable"
AFFINITY = "NodeAffinity"
NOMINATED = "nominated pods"
"""Stands for a plugin's name: the pod does not fit on the node together with its nominated pods."""
_SHOWN_TAINTS = 5
_CORE = 4
_NO_KEY = 1 << 20
"""Stands for the excess of a skew: the node has no domain."""


@dataclass(frozen=True, slots=True)
class PluginSays:
    """One plugin's answer for every node: the codes of its filter, 0 for a node that passes."""

    plugin: str
    codes: Ints
    status: dict[int, Status]
    filter: Filter | None = None


class RejectionsPerNode:
    """All plugins' answers for every node, in the order of the verdict's nodes.

    Args:
        view: view of the pod's class, up to date.
        verdict: verdict of the same state.
    """

    def __init__(self, view: View, framework: Framework, verdict: Verdict) -> None:
        self.view = view
        self.cluster = view.cluster
        self.pod = view.pod_class.pod
        self.verdict = verdict
        row_of = view.cluster.nodes.row_of
        self.rows: Ints = np.fromiter((row_of[name] for name in verdict.nodes), np.int64, len(verdict.nodes))
        self._operators = framework.gates.enabled("TaintTolerationComparisonOperators")
        before = list(self._pre_filter(view))
        narrowed = before[0].codes != 0 if before and view.plugins.rejected is None else None
        self.says = [*before, *self._filters(view, narrowed)]
        self._shortages: dict[int, list[Shortage]] = {}
        self._nominated()

    def _pre_filter(self, view: View) -> Iterator[PluginSays]:
        plugins = view.plugins
        if plugins.rejected is not None:
            plugin, status = plugins.rejected
            own = Status(status.code, status.of(self.verdict.pod))
            yield PluginSays(plugin or "PreFilter", np.ones(len(self.rows), dtype=np.int64), {1: own})
        elif plugins.narrowed is not None:
            kept = np.fromiter((name in plugins.narrowed for name in self.verdict.nodes), np.bool_, len(self.rows))
            reason = f"node(s) didn't satisfy plugin(s) [{' '.join(plugins.narrowing)}]"
            status = Status("UnschedulableAndUnresolvable", (reason,))
            yield PluginSays(LEFT_OUT_BY_PRE_FILTER, (~kept).astype(np.int64), {1: status})

    def _filters(self, view: View, left_out: Bools | None) -> Iterator[PluginSays]:
        """Yield the filters' answers. ``left_out``: nodes that PreFilter left out; its plugins need not reject them
        again.
        """
        for each in view.plugins.filters:
            codes = each.filter.filter(self.rows)
            if left_out is not None and each.plugin in view.plugins.narrowing:
                codes = np.where(left_out, 0, codes)
            found = {code: _status(each.filter, code) for code in np.unique(codes[codes != 0]).tolist()}
            yield PluginSays(each.plugin, codes, found, each.filter)

    def _nominated(self) -> None:
        """Add the rejections of nodes that only nominated pods block."""
        closed = (self.verdict.blame >= 0) & (self.count == 0)
        if closed.any():
            status = Status("Unschedulable", ("node(s) were promised to pods of the same or a higher priority",))
            self.says.append(PluginSays(NOMINATED, closed.astype(np.int64), {1: status}))
            del self.count

    def node(self, position: int) -> Node | None:
        """Return the node at an index of the verdict."""
        return self.cluster.nodes.nodes[int(self.rows[position])]

    @cached_property
    def count(self) -> Ints:
        """Number of plugins that reject each node, int64[nodes]."""
        total = np.zeros(len(self.rows), dtype=np.int64)
        for each in self.says:
            total += each.codes != 0
        return total

    def passes_all_but(self, *plugins: str) -> Bools:
        """Return which nodes all other plugins pass, bool[nodes]."""
        result = np.ones(len(self.rows), dtype=np.bool_)
        for each in self.says:
            if each.plugin not in plugins:
                result &= each.codes == 0
        return result

    def rejected_by(self, plugin: str) -> Bools:
        """Return which nodes a plugin rejects, bool[nodes]."""
        result = np.zeros(len(self.rows), dtype=np.bool_)
        for each in self.says:
            if each.plugin == plugin:
                result |= each.codes != 0
        return result

    def rejections(self) -> tuple[PluginVerdict, ...]:
        """Return each plugin's rejections, in the profile's order."""
        result = []
        for each in self.says:
            rejects = each.codes != 0
            nodes = int(np.count_nonzero(rejects))
            if nodes:
                reasons: Counter[str] = Counter()
                codes, counts = np.unique(each.codes[rejects], return_counts=True)
                for code, number in zip(codes.tolist(), counts.tolist(), strict=True):
                    reasons.update(dict.fromkeys(each.status[code].reasons, number))
                alone = int(np.count_nonzero(rejects & (self.count == 1)))
                details = self._taints(rejects) if each.plugin == TAINTS else ()
                if each.plugin == AFFINITY:
                    selected = (f"{key}={value}" for key, value in (self.pod.spec.node_selector or {}).items())
                    details = tuple(unmatched_labels(self.pod.spec, self.cluster)) or tuple(selected)
                if each.plugin == RESOURCES and nodes == len(self.rows):
                    details = tuple(self._too_large())
                result.append(PluginVerdict(each.plugin, nodes, alone, dict(reasons), details))
        return tuple(result)

    def _too_large(self) -> Iterator[str]:
        """Yield the requests that exceed the whole of every node."""
        nodes = self.cluster.nodes
        for each in self.shortages(0):
            column = nodes.resources.get(each.resource)
            most = 0 if column is None else int(nodes.allocatable[self.rows, column].max())
            if each.requested > most:
                has = f"the largest node has {amount_words(each.resource, most)}" if most else "no node has any"
                yield f"{amount_words(each.resource, each.requested)} ({has})"

    def _taints(self, which: Bools) -> tuple[str, ...]:
        """Return the untolerated taints of some nodes, most frequent first."""
        found: Counter[str] = Counter()
        rows = self.rows[which]
        codes, counts = np.unique(self.cluster.nodes.taints[rows], return_counts=True)
        for code, number in zip(codes.tolist(), counts.tolist(), strict=True):
            for each in self.untolerated(code):
                found[shown_taint(each.key, each.value, each.effect)] += number
        return tuple(text for text, _ in found.most_common(_SHOWN_TAINTS))

    def untolerated(self, code: int) -> list[Taint]:
        """Return the taints that the pod does not tolerate in the taint set with this code."""
        taints = self.cluster.nodes.taint_sets[code]
        return untolerated(taints, self.pod.spec.tolerations or (), comparison_operators=self._operators)

    def tainted_by_cordon_alone(self) -> Bools:
        """Return which cordoned nodes have no untolerated taint except the cordon's, bool[nodes]."""
        both = self.rejected_by(UNSCHEDULABLE) & self.rejected_by(TAINTS)
        codes = self.cluster.nodes.taints[self.rows]
        only = [
            code
            for code in np.unique(codes[both]).tolist()
            if all(each.key == UNSCHEDULABLE_TAINT.key for each in self.untolerated(code))
        ]
        return both & np.isin(codes, only)

    def of_node(self, position: int) -> tuple[NodeObstacle, ...]:
        """Return all rejections of one node, with their numbers."""
        result = []
        for each in self.says:
            code = int(each.codes[position])
            if code:
                status = each.status[code]
                result.append(NodeObstacle(each.plugin, status.code, status.reasons, self._details(each, position)))
        return tuple(result)

    def _details(self, says: PluginSays, position: int) -> tuple[str, ...]:
        if says.plugin == TAINTS:
            left = self.untolerated(int(self.cluster.nodes.taints[self.rows[position]]))
            return tuple(shown_taint(each.key, each.value, each.effect) for each in left)
        if says.plugin == SPREAD:
            return tuple(self._sums(position))
        if says.plugin == UNSCHEDULABLE:
            return ("cordoned",)
        if says.plugin == AFFINITY:
            return tuple(self._not_selected(position))
        evidence = getattr(says.filter, "evidence", None)
        if evidence is not None:
            return tuple(evidence(int(self.rows[position])))
        return tuple(f"{short.words} short" for short in self.shortages(position) if says.plugin == RESOURCES)

    def _sums(self, position: int) -> Iterator[str]:
        """Yield the skews that forbid a node's domains, or the key that it lacks."""
        node = self.node(position)
        for each in self.verdict.arithmetic:
            if not each.hard or node is None:
                continue
            value = node.labels.get(each.topology_key)
            if value is None:
                yield f"no label {each.topology_key}"
            for domain in each.domains:
                if domain.name == value and not domain.allowed:
                    yield f"{value}: skew {domain.skew} > maxSkew {each.max_skew}"

    def _not_selected(self, position: int) -> Iterator[str]:
        """Yield the nodeSelector labels that a node lacks; nothing if the pod's affinity rejects the node."""
        node = self.node(position)
        labels = node.labels if node is not None else {}
        for key, wanted in (self.pod.spec.node_selector or {}).items():
            if key not in labels:
                yield f"no label {key}"
            elif labels[key] != wanted:
                yield f"{key} is {labels[key]}, not {wanted}"

    def shortages(self, position: int) -> list[Shortage]:
        """Return the resources that a node lacks."""
        found = self._shortages.get(position)
        if found is None:
            room = next((each.filter for each in self.says if each.plugin == RESOURCES), None)
            shortages = getattr(room, "shortages", None)
            found = [Shortage(*each) for each in shortages(int(self.rows[position]))] if shortages else []
            self._shortages[position] = found
        return found

    def admitted(self) -> tuple[NearestNode, ...]:
        """Return the kinds of nodes that topology spread admits, smallest shortage first.

        If topology spread alone rejects no node, return the kinds of all nodes: a looser constraint would not help.
        """
        spread = self.rejected_by(SPREAD)
        among = ~spread if np.any(spread & (self.count == 1)) else None
        return self.nearest(None, among, by_details=(TAINTS,))  # taints tell NotReady nodes from dedicated ones

    def nearest(
        self, most: int | None, among: Bools | None = None, by_details: tuple[str, ...] = ()
    ) -> tuple[NearestNode, ...]:
        """Return one node for each kind of rejections, fewest rejections first, then smallest shortage.

        Nodes that PreFilter excluded come last, because no change of these nodes makes them feasible. ``by_details``:
        plugins whose details distinguish kinds.
        """
        positions = np.flatnonzero(self.count > 0 if among is None else (self.count > 0) & among)
        if not len(positions):
            return ()
        refusing, excess = self._refusing()
        shortage = self._shortage_shares()
        rank = self.cluster.nodes.rank[self.rows]
        left_out = self.rejected_by(LEFT_OUT_BY_PRE_FILTER)
        columns = (rank, shortage, excess, np.bitwise_count(refusing), self.count, left_out)
        order = positions[np.lexsort([column[positions] for column in columns])]
        codes = np.column_stack([each.codes for each in self.says] + [refusing])
        detailed = [each for each in self.says if each.plugin in by_details]
        groups: dict[object, list[int]] = {}
        for position in order.tolist():
            told = (one for each in detailed if each.codes[position] for one in self._details(each, position))
            # Ignore a label's value after " is ": with hostnames, each node would be its own kind.
            kind = (codes[position].tobytes(), *(one.partition(" is ")[0] for one in told))
            groups.setdefault(kind, []).append(position)
        keys = [each.topology_key for each in self.verdict.arithmetic]
        found = list(groups.values())[:most]
        return tuple(self.near_node(each[0], keys, len(each) - 1) for each in found)

    def near_node(self, position: int, keys: list[str], alike: int = 0) -> NearestNode:
        """Return a node with all its rejections."""
        node = self.node(position)
        labels = node.labels if node is not None else {}
        domains = {key: labels[key] for key in keys if key in labels}
        return NearestNode(self.verdict.nodes[position], domains, alike, self.of_node(position))

    def core(self) -> tuple[CoreObstacle, ...]:
        """Return the fewest rejections that together cover every node. They alone keep the pod pending.

        Return none if a node is feasible, or if more than `_CORE` are needed.
        """
        if not len(self.rows) or not np.all(self.count > 0):
            return ()
        units = [(each, mask) for each, mask in self._units() if mask.any()]
        most = sorted((each.nodes for each, _ in units), reverse=True)
        for size in range(1, _CORE + 1):
            if sum(most[:size]) < len(self.rows):
                continue  # `size` units cannot cover all nodes; skip the many combinations
            for chosen in combinations(units, size):
                if np.all(np.logical_or.reduce([mask for _, mask in chosen])):
                    return tuple(each for each, _ in chosen)
        return ()

    def _units(self) -> Iterator[tuple[CoreObstacle, Bools]]:
        """Yield each reason of each plugin, and each hard constraint, with the nodes that it rejects."""
        cordoned = self.tainted_by_cordon_alone()
        for says in self.says:
            if says.plugin == SPREAD:
                yield from self._constraints(says.codes != 0)
                continue
            masks: dict[str, Bools] = {}
            for code, status in says.status.items():
                for reason in status.reasons:
                    masks[reason] = masks.get(reason, np.zeros(len(self.rows), np.bool_)) | (says.codes == code)
            for reason, mask in masks.items():
                rejects = mask & ~cordoned if says.plugin == TAINTS else mask
                yield CoreObstacle(says.plugin, reason, int(np.count_nonzero(rejects))), rejects

    def _constraints(self, rejected: Bools) -> Iterator[tuple[CoreObstacle, Bools]]:
        refusing, _ = self._refusing()
        for bit, each in enumerate(each for each in self.verdict.arithmetic if each.hard):
            mask = rejected & ((refusing >> bit) & 1).astype(np.bool_)
            yield CoreObstacle(SPREAD, "", int(np.count_nonzero(mask)), each.topology_key, each.max_skew), mask

    def _refusing(self) -> tuple[Ints, Ints]:
        """Return the hard constraints that reject each node, as bits, and the summed excess of their skews."""
        refusing = np.zeros(len(self.rows), dtype=np.int64)
        excess = np.zeros(len(self.rows), dtype=np.int64)
        for bit, each in enumerate(each for each in self.verdict.arithmetic if each.hard):
            column = self.cluster.nodes.labels(each.topology_key)
            over = np.zeros(len(column.values) + 1, dtype=np.int64)
            over[-1] = _NO_KEY
            skews = {domain.name: domain.skew for domain in each.domains}
            for code, name in enumerate(column.values):
                skew = skews.get(name, each.counts_itself - each.minimum)
                over[code] = max(skew - each.max_skew, 0)
            found = over[column.codes[self.rows]]
            refusing |= (found > 0).astype(np.int64) << bit
            excess += found
        return refusing, excess

    def _shortage_shares(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Return the largest missing share of the pod's requests, float64[nodes]; it can exceed 1."""
        shares = np.zeros(len(self.rows), dtype=np.float64)
        for position in np.flatnonzero(self.rejected_by(RESOURCES)).tolist():
            shares[position] = max((each.share for each in self.shortages(position)), default=0.0)
        return shares


def _status(plugin: Filter, code: int) -> Status:
    """Return the status of a filter's code. It can be a failure on nodes that kube-scheduler does not evaluate."""
    try:
        return plugin.status(code)
    except PluginError as error:
        return Status(UNRESOLVABLE, (str(error),))


@dataclass(frozen=True, slots=True)
class Shortage:
    """A resource that a node lacks; CPU in millicores, other resources in units."""

    resource: str
    requested: int
    used: int
    allocatable: int

    @property
    def missing(self) -> int:
        """Missing amount."""
        return self.requested - (self.allocatable - self.used)

    @property
    def share(self) -> float:
        """Missing amount as a share of the request."""
        return self.missing / max(self.requested, 1)

    @property
    def words(self) -> str:
        """Missing amount as text: ``300m cpu``, ``512Mi memory``."""
        return amount_words(self.resource, self.missing)


def amount_words(resource: str, amount: int) -> str:
    """Return an amount in Kubernetes' notation, rounded up to whole MiB above one MiB."""
    if resource == "cpu":
        text = f"{amount}m" if amount % 1000 else str(amount // 1000)
    elif resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        mebibyte = 1 << 20
        text = f"{-(-amount // mebibyte)}Mi" if amount >= mebibyte else str(amount)
    else:
        text = str(amount)
    return f"{text} {'pod' if resource == 'pods' and amount == 1 else resource}"


def shown_taint(key: str, value: str | None, effect: str) -> str:
    """Return a taint as ``key=value:effect``, the form of kubectl taint."""
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"
