"""DefaultPreemption: the pods to evict so that a pending pod fits, and the node. The caller evicts them.

Source: pkg/scheduler/framework/preemption/preemption.go, plugins/defaultpreemption/default_preemption.go.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import msgspec
import numpy as np

from topospread.api.timestamps import seconds
from topospread.cluster import NO_ROW, Cluster, PodClass
from topospread.cluster.arrays import Ints
from topospread.cluster.cluster import PodKey
from topospread.config.args import DefaultPreemptionArgs
from topospread.config.version_rules import since, until
from topospread.plugins.interface import UNRESOLVABLE, UNSCHEDULABLE, PluginError

from .disruption_budgets import DisruptionBudgets
from .dry_run import DryRun, passes_as_it_is
from .go_sort import go_sorted
from .nominated_pods import Beside, nominated_for_others
from .verdict import LEFT_OUT_BY_PRE_FILTER, Rejection, Verdict, fit_message
from .view import View

T = TypeVar("T")
Pods = tuple[tuple[PodKey, PodClass], ...]
"""(pod key, its class) for each of several pods on one node."""

_MEMORIES = 8
"""Number of pod classes for which the results of dry runs are kept."""
NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
_PRIORITY_OFFSET = 1 << 31


@dataclass(frozen=True, slots=True)
class PreemptionRules:
    """The differences between Kubernetes versions in preemption.

    Source: plugins/defaultpreemption/default_preemption.go, preemption/preemption.go.
    """

    tries_left_out: bool = until("1.26", "Preemption ignores nodes that PreFilter left out.")
    names_no_victims: bool = until(
        "1.23",
        "The reason for a node without pods of lower priority is `No preemption victims found for "
        "incoming pod`; before, `No victims found on node NODE for preemptor pod POD`.",
    )
    asks_for_the_time: bool = until(
        "1.36",
        "Victims that the kubelet has not started yet keep their order on the node. Before, up to "
        "twelve of them were reversed.",
    )
    counts_on: bool = until(
        "1.36",
        "If several disruption budgets select a victim, only budgets up to the first broken one count "
        "it. Before, all of them did.",
    )
    sorts_victims: bool = since(
        "1.30",
        "Victims are ordered by priority. Before, victims that break a disruption budget came first, "
        "and the first one's priority counted as the highest.",
    )


class MissingStartTime:
    """The start time of a pod without one, in versions that read the current time at each comparison.

    The left side of a comparison reads the time first, so it is always earlier.
    """

    def __lt__(self, other: object) -> bool:
        return True


class Victim(msgspec.Struct, frozen=True):
    """A pod that may be evicted.

    Attributes:
        order: (0, start time). A pod without a start time counts as started later: (1, position on the node).
    """

    key: PodKey
    pod_class: PodClass
    order: tuple[int, float | MissingStartTime]

    @property
    def importance(self) -> tuple[int, tuple[int, float | MissingStartTime]]:
        """Sort key, more important pods first: higher priority, then earlier start (``MoreImportantVictim``)."""
        return (-self.pod_class.priority, self.order)


class Candidate(msgspec.Struct, frozen=True):
    """A node where evicting the victims makes room; ``violations``: evictions that break a PodDisruptionBudget."""

    node: str
    victims: tuple[Victim, ...]
    violations: int = 0


class Preemption(msgspec.Struct, frozen=True):
    """The result of preemption for a pod without a feasible node.

    Attributes:
        ineligible: why the pod may not preempt; "" if it may.
        candidates: nodes where preemption would help, in the order of evaluation.
        picked: equally good best candidates, of which kube-scheduler uses one.
        message: kube-scheduler's message if there is no candidate, else the errors of plugins on other nodes.
        keeps_promise: whether the pod keeps its nomination, because it may not preempt or preemption failed.
    """

    ineligible: str = ""
    candidates: tuple[Candidate, ...] = ()
    picked: tuple[Candidate, ...] = ()
    message: str = ""
    keeps_promise: bool = False

    @property
    def sentence(self) -> str:
        """The sentence added to the pod's event if preemption does not help."""
        words = self.ineligible or ("" if self.candidates else self.message)
        return f"preemption: {words}" if words else ""


class NodeResult(msgspec.Struct, frozen=True):
    """The result of a dry run on one node.

    Attributes:
        found: victims on the node, or why evictions do not help.
        potential: key and class of the potential victims, most important first; empty for a rejection.
        violating: whether each potential victim's eviction breaks a PodDisruptionBudget.
    """

    found: Candidate | Rejection
    potential: Pods = ()
    violating: tuple[bool, ...] = ()


class NodeResults:
    """Cached dry runs of one pod class.

    A result is valid until its node's pods change. All results are dropped if any node changes, or any pod that a
    cluster-wide plugin of the class counts.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self._cluster = view.cluster
        self._position = self._cluster.journal.position
        self._reordered = self._cluster.reordered
        self._by_row: dict[int, NodeResult] = {}

    def catch_up(self) -> None:
        """Drop results that changes may have invalidated."""
        cluster, known = self._cluster, self._by_row
        changes = cluster.journal.since(self._position, self.view)
        if (
            changes is None
            or self._reordered != cluster.reordered
            or any(pod_class is None and row != NO_ROW for row, pod_class, _ in changes)
            or self.view.hears_of(changes)
        ):
            known.clear()
        else:
            for row, _, _ in changes:
                known.pop(row, None)
        self._position, self._reordered = cluster.journal.position, cluster.reordered

    def get(self, row: int) -> NodeResult | None:
        """Return the result for a node; ``None`` if it is not cached or the node has nominated pods."""
        return None if row in self._cluster.nominated else self._by_row.get(row)

    def put(self, row: int, result: NodeResult) -> None:
        """Store the result for a node."""
        if row not in self._cluster.nominated:
            self._by_row[row] = result


class SharedSearches:
    """State that searches on one cluster share: compiled PodDisruptionBudgets and cached dry runs."""

    def __init__(self, cluster: Cluster) -> None:
        self.budgets = DisruptionBudgets(cluster.objects)
        self._journal = cluster.journal
        self._results: OrderedDict[int, NodeResults] = OrderedDict()

    def results(self, view: View) -> NodeResults | None:
        """Return the cached dry runs for a view's class, after outdated results are dropped.

        Return ``None`` if a savepoint is open, or if filters read more than pods and nodes.
        """
        claims = view.pod_class.volumes or view.pod_class.pod.spec.resource_claims
        if self._journal.is_marked or claims or view.can_fail:
            return None
        found = self._results.pop(id(view), None)
        if found is None or found.view is not view:
            found = NodeResults(view)
        self._results[id(view)] = found
        if len(self._results) > _MEMORIES:
            self._results.popitem(last=False)
        found.catch_up()
        return found


class PreemptionSearch:
    """The search for victims for one pending pod.

    Args:
        view: view of the pod's class, up to date.
        verdict: verdict that rejected the pod on all nodes.
        shared: state that searches on the cluster share.
        candidates_wanted: number of candidates that ends the search once one of them breaks no budget.
        rules: rules of the Kubernetes version.
    """

    def __init__(
        self,
        view: View,
        verdict: Verdict,
        shared: SharedSearches,
        candidates_wanted: int | None = None,
        rules: PreemptionRules = PreemptionRules(),
    ) -> None:
        self._pod = verdict.pod
        self._view = view
        self._verdict = verdict
        self._cluster: Cluster = view.cluster
        self._budgets = shared.budgets.allowed(counts_on=rules.counts_on)
        self._known = shared.results(view)
        self._alike: dict[Hashable, tuple[int, ...] | Rejection] = {}
        self._wanted = candidates_wanted
        self._rules = rules

    def search(self) -> Preemption:
        """Dry-run preemption on every node that evictions can help."""
        row_of, lower = self._cluster.nodes.row_of, self.search_rows()
        promising, nodes = self._promising(), self._verdict.nodes
        tried = [nodes[i] for i in promising.tolist() if row_of[nodes[i]] in lower] if lower else []
        candidates: list[Candidate] = []
        one_breaks_no_budget = False
        failures: Counter[Rejection] = Counter()
        for node in tried:
            found = self._on_node(node)
            if isinstance(found, Candidate):
                candidates.append(found)
                one_breaks_no_budget |= not found.violations
                if one_breaks_no_budget and self._wanted is not None and len(candidates) >= self._wanted:
                    break
            else:
                failures[found] += 1
        errors = _aggregate([each.reasons[0] for each in failures if each.code == "Error"])
        if candidates or errors:
            picked = tuple(pick(candidates)) if candidates else ()
            return Preemption(candidates=tuple(candidates), picked=picked, message=errors, keeps_promise=not candidates)
        failures += self._without_victims(promising, tried)
        failures[Rejection(UNRESOLVABLE, "", (NOT_HELPFUL,))] += len(nodes) - len(promising)
        return Preemption(message=fit_message(len(nodes), list(failures), list(failures.values())))

    def search_rows(self) -> Collection[int]:
        """Return the rows with pods that may be victims."""
        return self._cluster.rows_below(self._view.pod_class.priority)

    def _promising(self) -> Ints:
        """Return the indexes in ``verdict.nodes`` of nodes where evictions may help."""
        verdict = self._verdict
        if verdict.error or not verdict.rejections:
            return np.zeros(0, dtype=np.int64)
        helps = np.array([bool(each.reasons) and self._may_help(each) for each in verdict.rejections])
        return np.flatnonzero(helps[verdict.blame] & (verdict.blame >= 0))

    def _without_victims(self, promising: Ints, tried: Sequence[str]) -> Counter[Rejection]:
        """Return the number of each rejection of promising nodes without pods of lower priority (not ``tried``)."""
        if not self._rules.names_no_victims:
            return Counter({Rejection(UNRESOLVABLE, "", (NO_VICTIMS,)): len(promising) - len(tried)})
        name, left = self._pod.partition("/")[2], set(tried)
        others = (each for i in promising.tolist() if (each := self._verdict.nodes[i]) not in left)
        words = (f"No victims found on node {each} for preemptor pod {name}" for each in others)
        return Counter(Rejection(UNRESOLVABLE, "", (each,)) for each in words)

    def _may_help(self, rejection: Rejection) -> bool:
        """Return whether evictions may remove a rejection (``nodesWherePreemptionMightHelp``)."""
        is_tried = rejection.plugin == LEFT_OUT_BY_PRE_FILTER and self._rules.tries_left_out
        return is_tried or rejection.code == UNSCHEDULABLE

    def _on_node(self, node: str) -> Candidate | Rejection:
        """Return the fewest victims on a node, or why evictions do not help (``SelectVictimsOnNode``)."""
        row = self._cluster.nodes.row_of[node]
        known = self._known.get(row) if self._known is not None else None
        if known is None or known.violating != self._budgets.violating(known.potential):
            known = self._tried(node, row)
        if self._known is not None:
            self._known.put(row, known)
        return known.found

    def _tried(self, node: str, row: int) -> NodeResult:
        potential = self._most_important_first(self._potential_victims(row))
        pods = tuple([(each.key, each.pod_class) for each in potential])
        violating = self._budgets.violating(pods)
        evicted = self._evicted(row, pods, violating)
        if not evicted:  # for example, an extender rejects the node, so no victim is needed for the filters
            evicted = Rejection("Error", "", (f'expected at least one victim pod on node "{node}"',))
        if isinstance(evicted, Rejection):
            return NodeResult(evicted)
        victims = [potential[place] for place in evicted]
        if self._rules.sorts_victims and any(violating) and not all(violating):
            victims = self._most_important_first(victims)
        return NodeResult(Candidate(node, tuple(victims), sum(violating[place] for place in evicted)), pods, violating)

    def _evicted(self, row: int, pods: Pods, violating: tuple[bool, ...]) -> tuple[int, ...] | Rejection:
        """Return the victims as indexes into ``pods``, the potential victims.

        If filters read only sums over the node's pods, the result is cached by the node's state and the pods' classes.
        """
        if row in self._cluster.nominated or not self._decided_by_sums[row]:
            return self._dry_run(row, pods, violating)[0]
        classes = tuple([pod_class for _, pod_class in pods])
        key = (self._cluster.nodes.state(row), classes, violating)
        known = self._alike.get(key)
        if known is None:
            known, is_local = self._dry_run(row, pods, violating)
            if is_local:
                self._alike[key] = known
        return known

    @cached_property
    def _decided_by_sums(self) -> list[bool]:
        passes: list[bool] = passes_as_it_is(self._view).tolist()
        return passes

    def _dry_run(self, row: int, pods: Pods, violating: tuple[bool, ...]) -> tuple[tuple[int, ...] | Rejection, bool]:
        """Remove all potential victims, then add back pods while the incoming pod fits, budget-protected pods first.

        Return the victims' indexes in ``pods``, or the node's rejection if it stays infeasible without the pods. Also
        return whether the result depends only on sums over the node's pods.
        """
        others = nominated_for_others(self._pod, self._view.pod_class, self._cluster, row)
        with DryRun(self._view, row) as dry_run:
            for key, _ in pods:
                dry_run.remove(key)
            rejection = rejection_of(dry_run, others)
            if rejection is not None:
                return rejection, dry_run.is_local
            evicted = []
            for place in sorted(range(len(pods)), key=lambda place: not violating[place]):
                dry_run.add(*pods[place])
                if rejection_of(dry_run, others) is not None:
                    dry_run.remove(pods[place][0])
                    evicted.append(place)
            return tuple(evicted), dry_run.is_local

    def _most_important_first(self, victims: Sequence[Victim]) -> list[Victim]:
        orderly = not self._rules.asks_for_the_time or all(not waiting for waiting, _ in (v.order for v in victims))
        return go_sorted(victims, key=lambda victim: victim.importance, orderly=orderly)

    def _potential_victims(self, row: int) -> list[Victim]:
        priority = self._view.pod_class.priority
        started, pods = self._cluster.started, self._cluster.on_node[row]
        asks = self._rules.asks_for_the_time
        return [
            Victim(key, pods[key], start_order(started.get(key), MissingStartTime() if asks else float(place)))
            for place, key in enumerate(self._cluster.order.on(row))
            if pods[key].priority < priority
        ]


def rejection_of(dry_run: DryRun, others: Beside) -> Rejection | None:
    """Return the node's first rejection after its nominated pods ``others`` are added, else without them."""
    for beside in (others, {}) if others else ({},):
        for key, pod_class in beside.items():
            dry_run.add(key, pod_class)
        rejection = None if dry_run.passes() else _first_rejection(dry_run)
        for key in beside:
            dry_run.remove(key)
        if rejection is not None:
            return rejection
    return None


def _first_rejection(dry_run: DryRun) -> Rejection:
    """Return the rejection of the first filter that rejects the node, or the filter's error."""
    rejecting, code = dry_run.rejecting()
    try:
        status = rejecting.filter.status(code)
    except PluginError as error:
        return Rejection("Error", rejecting.plugin, (str(error),))
    return Rejection(status.code, rejecting.plugin, status.reasons)


def _aggregate(found: Iterable[str]) -> str:
    """Return the distinct messages of several errors as one message (``utilerrors.Aggregate``)."""
    errors = list(dict.fromkeys(found))
    return errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else ""


def candidates_wanted(args: DefaultPreemptionArgs, nodes: int) -> int:
    """Return the number of candidates that kube-scheduler searches for (``calculateNumCandidates``)."""
    share = nodes * args.min_candidate_nodes_percentage // 100
    return min(max(share, args.min_candidate_nodes_absolute), nodes)


def pick(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that remain after kube-scheduler's five criteria (``pickOneNodeForPreemption``)."""
    left = list(candidates)
    for badness in (_violations, _highest_priority, _sum_of_priorities, _victims, _earliest_start):
        if len(left) == 1:
            break
        least = min(badness(each) for each in left)
        left = [each for each in left if badness(each) == least]
    return left


def _violations(candidate: Candidate) -> float:
    return candidate.violations


def _highest_priority(candidate: Candidate) -> float:
    return candidate.victims[0].pod_class.priority


def _sum_of_priorities(candidate: Candidate) -> float:
    return sum(victim.pod_class.priority + _PRIORITY_OFFSET for victim in candidate.victims)


def _victims(candidate: Candidate) -> float:
    return len(candidate.victims)


def _earliest_start(candidate: Candidate) -> tuple[int, float]:
    """Return the negated earliest start of the most important victims; the latest start is best.

    Pods without a start time count as started now, equally on every node (``GetPodStartTime``).
    """
    highest = max(victim.pod_class.priority for victim in candidate.victims)
    waiting, started = min(victim.order for victim in candidate.victims if victim.pod_class.priority == highest)
    return (-1, 0.0) if waiting or isinstance(started, MissingStartTime) else (0, -started)


def start_order(started: str | None, otherwise: T) -> tuple[int, float | T]:
    """Return the sort key of a pod's start time. Pods without a start time come last, sorted by ``otherwise``."""
    moment = seconds(started)
    return (1, otherwise) if moment is None else (0, moment)
