"""DefaultPreemption: which pods to evict so that a pending pod fits, and on which node.

Source: pkg/scheduler/framework/preemption/preemption.go, plugins/defaultpreemption/default_preemption.go.
It says what would be evicted; who carries it out is `simulate` or the live scheduler.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
import numpy as np

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.policy import PodDisruptionBudget
from topospread.cluster import Cluster, PodClass
from topospread.cluster.cluster import PodKey
from topospread.config.args import DefaultPreemptionArgs
from topospread.config.version_rules import since, until
from topospread.plugins.interface import UNRESOLVABLE, UNSCHEDULABLE, PluginError

from .dry_run import DryRun
from .go_sort import go_sorted
from .nominated_pods import promised_to_others
from .verdict import LEFT_OUT_BY_PRE_FILTER, Rejection, Verdict, fit_message
from .view import View

NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
_PRIORITY_OFFSET = 1 << 31


@dataclass(frozen=True, slots=True)
class PreemptionRules:
    """What of preemption is not the same in every Kubernetes version.

    Source: plugins/defaultpreemption/default_preemption.go, preemption/preemption.go.
    """

    tries_left_out: bool = until("1.26", "Preemption no longer tries nodes that PreFilter left out.")
    names_no_victims: bool = until(
        "1.23",
        "A node without a pod of lower priority: `No preemption victims found for incoming pod`; before, "
        "`No victims found on node NODE for preemptor pod POD`.",
    )
    asks_for_the_time: bool = until(
        "1.36",
        "Pods that the kubelet has not started yet are as important as their place on the node says. Before, each of "
        "two of them counted as started earlier than the other when it was asked for first: up to twelve came in the "
        "other order.",
    )
    counts_on: bool = until(
        "1.36",
        "Of several disruption budgets that select a victim those after the first that it breaks do not count it. "
        "Before, every one did.",
    )
    sorts_victims: bool = since(
        "1.30",
        "Victims are in the order of their priority. Before, those that break a disruption budget came first, and the "
        "first one's priority was taken for the highest when a node was picked.",
    )


class JustNow:
    """The start of a pod that has none where a comparison asks for the time: whichever it asks for first is earlier."""

    def __lt__(self, other: object) -> bool:
        return True


class Victim(msgspec.Struct, frozen=True):
    """A pod that may be evicted.

    Attributes:
        order: start time, or the place among those that have none, which are taken as started later.
    """

    key: PodKey
    pod_class: PodClass
    order: tuple[int, float | JustNow]

    @property
    def importance(self) -> tuple[int, tuple[int, float | JustNow]]:
        """Sorts more important pods first: higher priority, then started earlier (``MoreImportantVictim``)."""
        return (-self.pod_class.priority, self.order)


class Candidate(msgspec.Struct, frozen=True):
    """A node on which evicting the victims makes room; ``violations``: evictions that break a disruption budget."""

    node: str
    victims: tuple[Victim, ...]
    violations: int = 0


class Preemption(msgspec.Struct, frozen=True):
    """What preemption finds for a pod without a feasible node.

    Attributes:
        ineligible: why the pod may not preempt, "" when it may.
        candidates: nodes where it would help, in the order they were tried.
        picked: the candidates kube-scheduler may take: it draws among equals.
        message: its sentence when there is no candidate; else the errors of plugins that failed on other nodes.
    """

    ineligible: str = ""
    candidates: tuple[Candidate, ...] = ()
    picked: tuple[Candidate, ...] = ()
    message: str = ""

    @property
    def sentence(self) -> str:
        """What is added to the pod's event when preemption does not help."""
        words = self.ineligible or ("" if self.candidates else self.message)
        return f"preemption: {words}" if words else ""


@dataclass(slots=True)
class AllowedDisruptions:
    """Disruption budgets and how many evictions each still allows (``status.disruptionsAllowed``).

    Of several that select a pod none after the one that it breaks counts it, unless ``counts_on``. kube-scheduler goes
    through them in no order (client-go's ``threadSafeMap.List``); here it is that of their names.
    """

    budgets: Sequence[PodDisruptionBudget]
    counts_on: bool = False
    _selectors: list[Selector | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._selectors = [budget_selector(each) for each in self.budgets]

    def violating(self, victims: Iterable[Victim]) -> list[bool]:
        """Whether evicting each, in this order, breaks a budget (``FilterVictimsWithPDBViolation``)."""
        allowed = [(each.status.disruptions_allowed or 0) if each.status else 0 for each in self.budgets]
        return [self._breaks(victim, allowed) for victim in victims]

    def _breaks(self, victim: Victim, allowed: list[int]) -> bool:
        labels = victim.pod_class.labels
        if not labels:
            return False
        broken = False
        name = victim.key.partition("/")[2]
        for i, (budget, selector) in enumerate(zip(self.budgets, self._selectors, strict=True)):
            if budget.namespace != victim.pod_class.namespace or selector is None or not selector.matches(labels):
                continue
            if budget.status is not None and name in (budget.status.disrupted_pods or {}):
                continue
            allowed[i] -= 1
            if allowed[i] < 0:
                broken = True
                if not self.counts_on:
                    break
        return broken


class PreemptionSearch:
    """The search for one pending pod.

    Args:
        pod: its key.
        view: the view of its class, up to date.
        verdict: the verdict that left it without a node.
        candidates_wanted: the search ends once there are so many, one of them breaking no budget.
        rules: those of the Kubernetes version.
    """

    def __init__(
        self,
        pod: PodKey,
        view: View,
        verdict: Verdict,
        candidates_wanted: int | None = None,
        rules: PreemptionRules = PreemptionRules(),
    ) -> None:
        self._pod = pod
        self._view = view
        self._verdict = verdict
        self._cluster: Cluster = view.cluster
        budgets = self._cluster.objects.pod_disruption_budgets
        self._budgets = AllowedDisruptions([budgets[key] for key in sorted(budgets)], rules.counts_on)
        self._wanted = candidates_wanted
        self._rules = rules
        self._failed = Rejection(UNRESOLVABLE, "", ())

    def search(self) -> Preemption:
        """Dry-run preemption on every node that evictions can help."""
        row_of, lower = self._cluster.nodes.row_of, self._cluster.rows_below(self._view.pod_class.priority)
        promising = self._promising()
        tried = [each for each in promising if row_of[each] in lower] if lower else []
        candidates: list[Candidate] = []
        failures: Counter[Rejection] = Counter()
        for node in tried:
            found = self._on_node(node)
            if isinstance(found, Candidate):
                candidates.append(found)
                if self._enough(candidates):
                    break
            else:
                failures[found] += 1
        if candidates:
            errors = _aggregate([each.reasons[0] for each in failures if each.code == "Error"])
            return Preemption(candidates=tuple(candidates), picked=tuple(pick(candidates)), message=errors)
        failures += self._without_victims(promising, set(tried))
        nodes = len(self._verdict.nodes)
        failures[Rejection(UNRESOLVABLE, "", (NOT_HELPFUL,))] += nodes - len(promising)
        return Preemption(message=fit_message(nodes, list(failures), list(failures.values())))

    def _promising(self) -> list[str]:
        """The nodes that evictions may help."""
        verdict = self._verdict
        if verdict.error or not verdict.rejections:
            return []
        helps = np.array([bool(each.reasons) and self._may_help(each) for each in verdict.rejections])
        return [verdict.nodes[i] for i in np.flatnonzero(helps[verdict.blame] & (verdict.blame >= 0)).tolist()]

    def _without_victims(self, promising: Sequence[str], tried: Container[str]) -> Counter[Rejection]:
        """Why the nodes help nobody on which there is no pod that is less important."""
        if not self._rules.names_no_victims:
            number = sum(each not in tried for each in promising) if tried else len(promising)
            return Counter({Rejection(UNRESOLVABLE, "", (NO_VICTIMS,)): number})
        name = self._pod.partition("/")[2]
        words = (f"No victims found on node {each} for preemptor pod {name}" for each in promising if each not in tried)
        return Counter(Rejection(UNRESOLVABLE, "", (each,)) for each in words)

    def _may_help(self, rejection: Rejection) -> bool:
        """Whether evictions may help on a node that was rejected so (``nodesWherePreemptionMightHelp``)."""
        is_tried = rejection.plugin == LEFT_OUT_BY_PRE_FILTER and self._rules.tries_left_out
        return is_tried or rejection.code == UNSCHEDULABLE

    def _enough(self, candidates: list[Candidate]) -> bool:
        if self._wanted is None or len(candidates) < self._wanted:
            return False
        return any(not each.violations for each in candidates)

    def _on_node(self, node: str) -> Candidate | Rejection:
        """The fewest pods whose eviction makes room here (``SelectVictimsOnNode``), or why there is no room."""
        row = self._cluster.nodes.row_of[node]
        potential = self._potential_victims(row)
        with DryRun(self._view, row) as dry_run:
            for victim in potential:
                dry_run.remove(victim.key)
            if not self._fits(dry_run, row):
                return self._failed
            potential = self._most_important_first(potential)
            violating = self._budgets.violating(potential)
            victims: list[Victim] = []
            violations = 0
            for breaks in (True, False):
                for victim in [each for each, broken in zip(potential, violating, strict=True) if broken is breaks]:
                    dry_run.add(victim.key, victim.pod_class)
                    if not self._fits(dry_run, row):
                        dry_run.remove(victim.key)
                        victims.append(victim)
                        violations += breaks
        if self._rules.sorts_victims and any(violating) and not all(violating):
            victims = self._most_important_first(victims)
        return Candidate(node, tuple(victims), violations)

    def _most_important_first(self, victims: Sequence[Victim]) -> list[Victim]:
        orderly = not self._rules.asks_for_the_time or all(not waiting for waiting, _ in (v.order for v in victims))
        return go_sorted(victims, key=lambda victim: victim.importance, orderly=orderly)

    def _potential_victims(self, row: int) -> list[Victim]:
        priority = self._view.pod_class.priority
        started, pods = self._cluster.started, self._cluster.on_node[row]
        asks = self._rules.asks_for_the_time
        return [
            Victim(key, pods[key], _order(started.get(key), JustNow() if asks else float(place)))
            for place, key in enumerate(self._cluster.order.on(row))
            if pods[key].priority < priority
        ]

    def _fits(self, dry_run: DryRun, row: int) -> bool:
        """The filters beside pods the node is promised to, and if that passes, without them."""
        others = promised_to_others(self._pod, self._view.pod_class, self._cluster, row)
        if others:
            for key, each in others.items():
                dry_run.add(key, each)
            passes = dry_run.passes()
            if not passes:
                self._failed = self._first_rejection(row)
            for key in others:
                dry_run.remove(key)
            if not passes:
                return False
        if dry_run.passes():
            return True
        self._failed = self._first_rejection(row)
        return False

    def _first_rejection(self, row: int) -> Rejection:
        """What the first filter says that rejects the node, or that it failed."""
        only = np.array([row], dtype=np.int64)
        for each in self._view.plugins.filters:
            code = int(each.filter.filter(only)[0])
            if code:
                try:
                    status = each.filter.status(code)
                except PluginError as error:
                    return Rejection("Error", each.plugin, (str(error),))
                return Rejection(status.code, each.plugin, status.reasons)
        raise AssertionError("a node that no filter rejects passes")


def _aggregate(found: Iterable[str]) -> str:
    """Several errors as one (``utilerrors.Aggregate``)."""
    errors = list(dict.fromkeys(found))
    return errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else ""


def candidates_wanted(args: DefaultPreemptionArgs, nodes: int) -> int:
    """How many candidates kube-scheduler looks for (``calculateNumCandidates``)."""
    share = nodes * args.min_candidate_nodes_percentage // 100
    return min(max(share, args.min_candidate_nodes_absolute), nodes)


def pick(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates among which kube-scheduler draws, after its five steps (``pickOneNodeForPreemption``)."""
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
    """The latest is best: when the first of the most important victims started, negated.

    Pods that have not started count as started just now, the same on every node (``GetPodStartTime``).
    """
    highest = max(victim.pod_class.priority for victim in candidate.victims)
    waiting, started = min(victim.order for victim in candidate.victims if victim.pod_class.priority == highest)
    return (-1, 0.0) if waiting or isinstance(started, JustNow) else (0, -started)


def _order(started: str | None, otherwise: float | JustNow) -> tuple[int, float | JustNow]:
    return (0, datetime.fromisoformat(started).timestamp()) if started else (1, otherwise)


def budget_selector(budget: PodDisruptionBudget) -> Selector | None:
    """The budget's selector; ``None`` where it matches nothing: missing, empty or not valid."""
    try:
        selector = Selector.from_label_selector(budget.spec.selector)
    except InvalidSelectorError:
        return None
    return None if selector.empty else selector
