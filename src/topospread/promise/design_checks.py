"""The checks of a design, by drills and by all orders of pods. `design` searches for designs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from topospread.api.inventory import Inventory
from topospread.api.promises import Want
from topospread.api.taints import UNSCHEDULABLE_TAINT, tolerates
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.controllers.draining import treatment
from topospread.controllers.node_lifecycle import is_silent
from topospread.controllers.scale import short_target
from topospread.drill.steps import Drain, NodeChoice, Rollout
from topospread.text import agreeing, counted

from .asking import Asking
from .fresh import counts_revisions_alone, workload_of
from .kept import Kept, WorkloadPromises, budgets_over
from .orders import SearchBudget
from .questions import LOSSES
from .wants import Intent, Survival
from .workload_drills import WorkloadDrills

FailedCheck = Literal[
    "placed", "lost", "rollout", "after rollout", "drained", "drains", "blocked", "returned", "skew", "never-waits"
]
_CHECKS: dict[str, FailedCheck] = {
    "drain": "drains", "rollout": "rollout", "skew": "skew", "never-waits": "never-waits"
}  # fmt: skip
RUNS = 3
"""Number of drills of each rollout, with different random choices."""


@dataclass(frozen=True, slots=True)
class DesignFailure:
    """A want that a design does not keep.

    Attributes:
        key: topology key of the want; "" if it has none.
        says: a clause such as ``the loss of zone a can leave 2 of 6``, or a function that runs drills to compute it.
        is_wanted: whether the user asked for it; otherwise it is a useful extra.
    """

    check: FailedCheck
    key: str
    says: str | Callable[[], str]
    is_wanted: bool = True

    @property
    def text(self) -> str:
        """The failure as a clause."""
        return self.says if isinstance(self.says, str) else self.says()


@dataclass(frozen=True)
class DesignChecks:
    """The checks of one design.

    Attributes:
        drills: the start of the drills.
        unscored: the same start, but a pod may go to any feasible node; without random choices, to the first by name.
        whole: the input with the design, whose pods may come in any order.
        states: maximum number of states to search for each guarantee.
        undecided: collects a sentence for each undecided question → whether the design is unproved because of it.
        askings: prepared searches, shared by designs that differ only in budgets.
    """

    drills: WorkloadDrills
    unscored: WorkloadDrills
    whole: Inventory
    intent: Intent
    states: int
    undecided: dict[str, bool]
    askings: dict[str | None, Asking] = field(default_factory=dict)

    @property
    def phrases(self) -> tuple[str, ...]:
        """The checks, a phrase each."""
        how = "a drill for each, before and after a rollout, and every order of pods, on any node that filters let in"
        told = [f"{each}: {how}" for each in self._losses]
        unnoticed = ["each node lost, and each drained: a drill for each"] if self.intent.unnoticed else []
        return (*told, *unnoticed, "all nodes drained one after the other: a drill")

    @property
    def _losses(self) -> tuple[Survival, ...]:
        return self.intent.of_domains

    def failures(self) -> Iterator[DesignFailure]:
        """Yield failures, cheap checks first; a caller that wants one takes only the first."""
        yield from self._placed()
        for each in self._losses:
            yield from self._lost(each)
        yield from self._rollout()
        for each in self._losses:
            yield from self._after_rollout(each)
        if self.intent.unnoticed:
            yield from self._drained()
        yield from self._all_drained()
        for each in self._losses:
            yield from self._orders(each)
        for want in self.intent.others:
            kept = self._judged(want)
            if kept.verdict == "unknown":
                self.undecided[f"whether {want} {kept.part}"] = True
            elif kept.verdict == "no":
                text = f"not {want}: {kept.part}"
                key = kept.part.says.rpartition(" on ")[2] if want.about == "skew" else ""
                yield DesignFailure(_CHECKS[want.about], key, text)
        for each in self._losses:
            yield from self._returned(each)

    def _surely_left(self, loss: str, *, rolled: bool = False) -> int:
        """Return the proved number of pods that a loss leaves, which makes drills unnecessary; 0 without a proof."""
        given = self.drills.inventory
        changes = given.resource_quotas or self.drills.options.pools or self.drills.may_preempt
        if changes or any(map(is_silent, given.nodes)) or (loss and loss not in LOSSES):
            return 0
        return self._judge.surely_left(loss, rolled=rolled)

    @cached_property
    def _rolled_least(self) -> int:
        """The proved number of pods that every rollout keeps ready; 0 without a proof."""
        return self._judge.rolling_least() if self._surely_left("", rolled=True) == self.intent.replicas else 0

    def _placed(self) -> Iterator[DesignFailure]:
        if self._surely_left("") == self.intent.replicas:
            return
        found = self.drills.play()
        if found.begun < self.intent.replicas:
            waits = f"{self.intent.replicas - found.begun} of {self.intent.replicas} pods find no node"
            yield DesignFailure("placed", "", waits)

    def _lost(self, wanted: Survival) -> Iterator[DesignFailure]:
        if self._surely_left(wanted.word) >= wanted.left:
            return
        for domain, fewest, begun in self.unscored.losses(wanted.key):
            if fewest < wanted.left:
                text = f"the loss of {wanted.word} {domain} can leave {fewest} of {begun}"
                yield DesignFailure("lost", wanted.key, text)

    def _rollout(self) -> Iterator[DesignFailure]:
        if self._rolled_least >= max(self.intent.least("rollout"), 1):
            return
        found = self.drills.play(Rollout(short_target(self.drills.key)), runs=RUNS)
        if found.stuck or found.pending:
            yield DesignFailure("rollout", "", f"a rollout may not end: {found.why or 'pods wait'}")
        elif found.fewest < self.intent.least("rollout"):
            yield DesignFailure("rollout", "", f"a rollout may leave {found.fewest} of {found.begun} ready")

    def _after_rollout(self, wanted: Survival) -> Iterator[DesignFailure]:
        if self._surely_left(wanted.word, rolled=True) >= wanted.left:
            return
        if self.drills.key[0] != "Deployment":
            yield from self._rolled(wanted)
            self.undecided[f"whether {wanted} after every rollout: rollouts are drilled {RUNS} times each"] = False
        elif not self._counts_revisions_alone(wanted.key):
            text = f"a rollout counts old and new pods together, so its final skew over {wanted.key} has no bound"
            yield DesignFailure(
                "after rollout", wanted.key, lambda: next((each.text for each in self._rolled(wanted)), text)
            )
        elif min(self._rolled_least, self._surely_left(wanted.word)) < wanted.left:
            yield from self._rolled(wanted)

    def _rolled(self, wanted: Survival) -> Iterator[DesignFailure]:
        step = Rollout(short_target(self.drills.key))
        for domain, fewest, begun in self.unscored.losses(wanted.key, step, runs=RUNS):
            if fewest < wanted.left:
                text = f"after a rollout the loss of {wanted.word} {domain} can leave {fewest} of {begun}"
                yield DesignFailure("after rollout", wanted.key, text)

    def _counts_revisions_alone(self, key: str) -> bool:
        """Return whether a rollout's new pods ignore its old pods; only ``matchLabelKeys`` makes them do so."""
        begin = self.drills
        return counts_revisions_alone(workload_of(begin.inventory, begin.key), key, begin.options)

    def _drained(self) -> Iterator[DesignFailure]:
        for node in self.drills.inventory.nodes:
            found = self.drills.play(Drain(NodeChoice("node", node.name)))
            if found.left:
                yield DesignFailure(
                    "drained", HOSTNAME, f"a drain of node {node.name} cannot evict {counted(found.left, 'pod')}"
                )
            elif found.pending:
                are = f"{counted(found.pending, 'pod')} {agreeing('are', found.pending)}"
                yield DesignFailure("drained", HOSTNAME, f"after a drain of node {node.name} {are} pending")

    def _all_drained(self) -> Iterator[DesignFailure]:
        least = self.intent.least("drain")
        is_wanted = self.intent.unnoticed or any(each.about == "drain" for each in self.intent.others)
        if is_wanted and least < self.intent.replicas and self._judge.blocking_budgets:
            yield DesignFailure("blocked", "", f"a drain does not end: budgets keep all {self.intent.replicas} pods")
            return
        if self._is_drained:
            fewest = 0
        elif not self.drills.may_preempt and self._judge.budget_least >= least:
            return
        else:
            fewest = self.drills.play(
                *(Drain(NodeChoice("node", each.name)) for each in self.drills.inventory.nodes)
            ).fewest
        if fewest < least:
            begun = self.drills.play().begun
            yield DesignFailure("drains", "", f"drains of all nodes can leave {fewest} of {begun} ready")

    @property
    def _is_drained(self) -> bool:
        """True if drains evict each pod of the workload, and none finds a node again."""
        given, options = self.drills.inventory, self.drills.options
        item = workload_of(given, self.drills.key)
        tolerations = item.spec.template.spec.tolerations or ()
        finds_node = (
            options.config or options.pools or any(tolerates(each, UNSCHEDULABLE_TAINT) for each in tolerations)
        )
        is_held = any(treatment(each) == "refused" for each in given.pods) or any(
            budgets_over(given, item.namespace, item.spec.template.metadata.labels or {})
        )
        return not (finds_node or is_held)

    def _orders(self, wanted: Survival) -> Iterator[DesignFailure]:
        if wanted.key not in (ZONE, HOSTNAME):
            self.undecided[f"whether {wanted} in every order of pods: only zones and nodes are checked"] = False
            return
        kept = self._judged(wanted.promise)
        if kept.verdict == "unknown":
            self.undecided[f"whether {wanted} {kept.part}"] = True
        elif kept.verdict == "no":
            yield DesignFailure("lost", wanted.key, str(kept.part))

    @cached_property
    def _judge(self) -> WorkloadPromises:
        options = replace(self.drills.options.answered_by, preemption=False)
        budget = SearchBudget(self.states, 10.0)
        judge = WorkloadPromises(self.whole, options, self.drills.key, budget, {}, askings=self.askings, is_fresh=True)
        return replace(judge, only_whole=True)

    def _judged(self, want: Want) -> Kept:
        return next(self._judge.kept([want]))

    def _returned(self, wanted: Survival) -> Iterator[DesignFailure]:
        for domain in self.drills.held(wanted.key):
            found = self.drills.lose(wanted.key, domain)
            is_wanted = self.intent.unnoticed and wanted.key == HOSTNAME
            lacking = found.begun - found.ready
            if lacking > 0:
                waits = f"after the loss of {wanted.word} {domain} {lacking} {agreeing('are', lacking)} not ready again"
                why = f": {found.why}" if found.why else ""
                yield DesignFailure("returned", wanted.key, f"{waits}{why}", is_wanted)
