"""Check the declared promises of one workload in every order of pods, whatever the scores.

All pods of the workload count as incoming, so a promise does not depend on their current nodes. The current
placement is checked as well, and for a Deployment every course of a rollout.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import Literal

import msgspec
from msgspec.structs import replace as with_fields

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.labels import Selector
from topospread.api.policy import PodDisruptionBudget
from topospread.api.promises import Want
from topospread.api.rollout import strategy_of, strategy_of_stateful_set
from topospread.api.workload import Deployment
from topospread.base import Bounds, Word, worst
from topospread.controllers.autoscaling import Autoscaling
from topospread.controllers.planned import Workload
from topospread.controllers.scale import short_target
from topospread.drill.placed_pods import without_pods_of
from topospread.drill.steps import Rollout
from topospread.scheduling.disruption_budgets import budget_selector
from topospread.simulation.budgets import desired_healthy, replicas_of
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run, prepare
from topospread.simulation.unscored import unscored
from topospread.status.members import ready_pods
from topospread.text import counted

from .asking import Asking
from .fresh import (
    LISTS,
    Designed,
    counts_revisions_alone,
    workload_of,
)
from .order_answer import GuaranteeAnswer, OrderStep
from .order_drills import drill_file, strategy_file
from .orders import SearchBudget, rows_of
from .questions import LOSSES, EndQuestion, LeftAfterLoss, NoPending, OrderEnd, SkewWithin
from .rollout_orders import counted_rollout
from .workload_drills import WorkloadDrills

Ground = Literal["none", "seen", "played", "drawn", "proved"]
"""Basis of a verdict: no basis, the current state, one simulation, random orders, or all orders (counted or searched).
"""
_WORDS: Mapping[str, Word] = {"always": "yes", "never": "no", "not always": "no", "not decided": "unknown"}
_LOSSES: Mapping[str, tuple[str, ...]] = {"zone-loss": ("zone",), "node-loss": ("node",), "drain": ("node",)}
_Ask = Callable[[Workload], EndQuestion]
"""Gives the question about a workload."""


@dataclass(frozen=True, slots=True)
class KeptPart:
    """One check of a promise.

    Attributes:
        when: ``now``, ``in every order``, ``after every rollout`` or ``in one simulation``; for a broken promise ``in
            some order`` or ``after some rollout``.
        answer: the result of the search; ``None`` if nothing was searched.
    """

    when: str
    verdict: Word
    says: str
    ground: Ground
    answer: GuaranteeAnswer | None = None

    def __str__(self) -> str:
        return told(self.when, self.says)


_SOME = {
    "now": "as the pods are placed,",
    "in some order": "in one possible order,",
    "in one simulation": "in one simulation,",
    "after some rollout": "after one possible rollout,",
}


def told(when: str, says: str) -> str:
    """Return a check as a clause, such as ``in one possible order, …``."""
    return says if says.startswith("by counting") else f"{_SOME.get(when, f'{when}:')} {says}"


@dataclass(frozen=True, slots=True)
class Kept:
    """A promise and its verdict.

    Attributes:
        part: the check that decides the verdict.
    """

    want: Want
    verdict: Word
    part: KeptPart


@dataclass(frozen=True, slots=True)
class Fewest:
    """The fewest pods that a loss or drain leaves.

    Attributes:
        orders: fewest pods over all orders.
        rolled: fewest pods after any rollout; ``None`` if rollouts do not matter.
        now: pods left in the current state; ``None`` if no pod has a node.
    """

    orders: Bounds
    rolled: Bounds | None
    now: int | None

    @property
    def bounds(self) -> Bounds:
        """The fewest in every order and every course of a rollout."""
        parts = [self.orders, *([] if self.rolled is None else [self.rolled])]
        return Bounds(least=min(each.least for each in parts), most=min(each.most for each in parts))


@dataclass
class WorkloadPromises:
    """Checks the promises of one workload.

    Attributes:
        key: kind, namespace and name of the workload.
        sources: ``cluster`` and ``manifests`` of a drill's file.
        askings: cache of prepared searches: ``None`` → orders, Deployment → its rollouts.
        shared: the current state, if prepared for several workloads. Then orders are counted but not searched.
        now: zone, node or "" (no loss) → pods that the loss leaves now, if already counted.
        is_fresh: whether the inventory has no pods of the workload.
        undecided: answers without a decision about the fewest pods after a loss.
        only_whole: whether to search orders only if the limit on states can be enough for all orders.
        sized: other number of replicas → the checks with it.
        counted: loss → the fewest pods that it leaves.
    """

    inventory: Inventory
    options: SimulationOptions
    key: ObjectKey
    budget: SearchBudget
    sources: Mapping[str, object]
    unjudged: list[Unjudged] = field(default_factory=list)
    askings: dict[str | None, Asking] = field(default_factory=dict)
    shared: Run | None = None
    now: Mapping[str, int | None] = field(default_factory=dict)
    undecided: list[GuaranteeAnswer] = field(default_factory=list)
    is_fresh: bool = False
    only_whole: bool = False
    sized: dict[int, WorkloadPromises] = field(default_factory=dict)
    counted: dict[str, Fewest] = field(default_factory=dict)

    @cached_property
    def _now(self) -> Run:
        if self.is_fresh:
            return self._asking(None).run
        return self.shared or prepare(self.inventory, self.options, with_spreads=False)

    @property
    def starting(self) -> int:
        """Number of pods on nodes that are not ready, which promises do not count."""
        placed = rows_of(self._now, self.workload.existing)
        return len(placed) - len(self._end_now.placed[id(self.workload)])

    @property
    def _end_now(self) -> OrderEnd:
        ready = list(ready_pods(self.workload.existing, self._now.cluster))
        return OrderEnd(self._now, (), {id(self.workload): rows_of(self._now, ready)}, is_now=True)

    @cached_property
    def workload(self) -> Workload:
        """The workload as it is now."""
        return _of(self._now, self.key)

    @cached_property
    def _item(self) -> Designed | None:
        return workload_of(self.inventory, self.key) if self.key[0] in LISTS else None

    @cached_property
    def _unscored(self) -> SimulationOptions:
        return unscored(self.options)

    def kept(self, wants: Sequence[Want]) -> Iterator[Kept]:
        """Yield each promise with its verdict."""
        for want in wants:
            parts: list[KeptPart] = []
            for part in self._parts(want):
                parts.append(part)
                if part.verdict == "no":
                    break
            verdict = worst(each.verdict for each in parts)
            deciding = [each for each in parts if each.verdict == verdict]
            yield Kept(want, verdict, deciding[-1 if verdict == "yes" else 0])

    def kept_at_every_size(self, wants: Sequence[Want]) -> Iterator[Kept]:
        """Yield each promise with its verdict for all numbers of replicas that an autoscaler allows."""
        scaling = self.workload.autoscaling
        for found in self.kept(wants):
            is_fixed = scaling is None or scaling.asked or not scaling.replicas
            yield found if is_fixed or scaling is None or found.verdict == "no" else self._rescaled(found, scaling)

    def _rescaled(self, found: Kept, scaling: Autoscaling) -> Kept:
        """Return the first other size that breaks the promise or leaves it open, else the verdict for all sizes."""
        sizes, until = range(max(scaling.least, 1), scaling.most + 1), time.monotonic() + self.budget.seconds
        ends = {sizes[0], sizes[-1]} if sizes else set()
        between = [] if self._is_monotone(found.want) else sizes
        allows, worst_one = f"HorizontalPodAutoscaler {scaling.name} allows", found
        for number in chain(sorted(ends), (each for each in between if each not in ends)):
            if number == self.workload.replicas:
                continue
            if number not in ends and time.monotonic() > until:
                says = f"{allows} {sizes[0]} to {sizes[-1]} replicas, too many to judge in {self.budget.seconds:g} s"
                return Kept(found.want, "unknown", KeptPart("at every size", "unknown", says, "none"))
            one = next(self._of_size(number).kept([found.want]))
            if worst((one.verdict, worst_one.verdict)) != worst_one.verdict:
                answer = None if one.part.answer is None else replace(one.part.answer, write=None)
                says = f"{one.part.says} ({allows} {counted(number, 'replica')})"
                worst_one = replace(one, part=replace(one.part, says=says, answer=answer))
            if worst_one.verdict == "no":
                break
        if worst_one.verdict == "yes" and len(sizes) > 1:
            says = f"{found.part.says}; {allows} {sizes[0]} to {sizes[-1]}, and all are judged".removeprefix("; ")
            return replace(found, part=replace(found.part, says=says))
        return worst_one

    def _is_monotone(self, want: Want) -> bool:
        """Return whether a promise that holds for one number of replicas holds for all smaller or all larger numbers.

        More equal pods never help a pending pod, and never take a pod from a domain. A rollout's steps and percentages
        depend on the number.
        """
        if want.percent or want.about in ("quorum", "skew"):
            return False
        losses = _LOSSES.get(want.about, ())
        return not self._is_rolled or want.about == "rollout" or all(self._is_alone(LOSSES[each]) for each in losses)

    def _of_size(self, number: int) -> WorkloadPromises:
        """Return the checks of the workload with another number of replicas, all of them incoming."""
        if number not in self.sized:
            scale = {**(self.options.scale or {}), "/".join((self.key[1], self.key[0], self.key[2])): number}
            options = replace(self.options, scale=scale)
            self.sized[number] = WorkloadPromises(
                self._fresh, options, self.key, self.budget, {}, unjudged=self.unjudged, is_fresh=True
            )
        return self.sized[number]

    def _parts(self, want: Want) -> Iterator[KeptPart]:
        replicas = self.workload.replicas
        match want.about:
            case "never-waits":
                yield from self._in_orders(NoPending)
            case "skew":
                item = self._item
                constraints = [] if item is None else item.spec.template.spec.topology_spread_constraints or []
                alone = all(self._is_alone(each.topology_key or "") for each in constraints)
                yield from self._in_orders(lambda of: SkewWithin(want.number, of), with_rollout=not alone)
            case "rollout":
                found = self._rollout(want.least(replicas))
                if found.verdict == "yes":
                    yield from self._left("", want.least(replicas))  # pods may lack a node
                yield found
            case _:
                least = want.least(replicas)
                if want.about == "drain" and self.budget_least >= least:
                    yield from self._left("", least)  # pods may lack a node
                    says = f"budgets keep {self.budget_least} of {replicas} ready"
                    says += ", so a drain does not end" if self.blocking_budgets else ""
                    yield KeptPart("while a node drains", "yes", says, "proved")
                    return
                for loss in _LOSSES.get(want.about, ("zone", "node")):
                    yield from self._left(loss, least, is_drain=want.about == "drain")

    def _left(self, loss: str, least: int, *, is_drain: bool = False) -> Iterator[KeptPart]:
        def ask(of: Workload) -> LeftAfterLoss:
            return LeftAfterLoss(loss, of, least, *(("drain", self.budget_least) if is_drain else ()))

        if self.workload.existing:
            yield self._left_now(ask(self.workload))
        with_rollout = bool(loss) and not self._is_alone(LOSSES[loss]) and self._is_rolled
        for rollout in (None, short_target(self.key)) if with_rollout else (None,):
            of_zones = loss == "node" and self.is_in_zones
            # In orders, the count for nodes includes the count for zones.
            part = self._by_zone(least, rollout, deep=False) if of_zones and rollout else None
            part = part or self._asked(ask, rollout)
            if part.verdict == "unknown" and of_zones:
                part = self._by_zone(least, rollout) or part
            yield self._played(part, loss, least) if self._is_simulated(part, loss, is_drain=is_drain) else part

    def _by_zone(self, least: int, rollout: str | None, *, deep: bool = True) -> KeptPart | None:
        """Return the proof that a node's loss leaves enough pods, because a zone's loss does; ``None`` without one."""
        when = "after every rollout" if rollout else "in every order"
        rollout = None if self._is_alone(LOSSES["zone"]) else rollout
        part = self._asked(lambda of: LeftAfterLoss("zone", of, least), rollout, deep=deep)
        says = f"{part.says}; every node is in one zone"
        return replace(part, when=when, says=says) if part.verdict == "yes" else None

    @cached_property
    def is_in_zones(self) -> bool:
        """True if every node has a zone, and no two nodes with one hostname have different zones.

        In every state, a node's loss then takes no more pods than its zone's loss.
        """
        found = [(each.labels.get(LOSSES["node"]), each.labels.get(LOSSES["zone"])) for each in self.inventory.nodes]
        pairs = {(name, zone) for name, zone in found if name is not None}
        return all(zone is not None for _, zone in found) and len(pairs) == len(dict(pairs))

    def _is_simulated(self, part: KeptPart, loss: str, *, is_drain: bool) -> bool:
        """Return whether to simulate a loss because a pod group prevents the search of orders."""
        return part.verdict == "unknown" and bool(loss) and not is_drain and self.orders_unsearched

    def _played(self, part: KeptPart, loss: str, least: int) -> KeptPart:
        """Return an undecided check with the result of one simulation, which may break the promise."""
        steps = () if part.when == "in every order" else (Rollout(short_target(self.key)),)
        drills = WorkloadDrills(self.inventory, self.options, self.key, says_how_spread=False)
        if drills.play(*steps).unjudged:
            return part
        left, domain = min((fewest, domain) for domain, fewest, _ in drills.losses(LOSSES[loss], *steps))
        says = f"losing {domain} leaves {left} of {self.workload.replicas}"
        if left < least:
            return KeptPart("in one simulation", "no", says, "played")
        return replace(part, says=f"{part.says}; in one simulation {says}", ground="played")

    def is_own(self, part: Unjudged) -> bool:
        """Return whether a part that is not judged concerns pods of the workload."""
        queued = (each for asking in self.askings.values() for each in asking.queue)
        own = {f"{each.namespace}/{each.name}" for each in queued if key_of(each.workload) == self.key}
        return not own.isdisjoint(part.pods)

    @property
    def orders_unsearched(self) -> bool:
        """True if drills judge the workload's pods, but their orders or rollouts are not searched."""
        return any(each.leaves_orders_of(_of(each.run, self.key)) for each in self.askings.values())

    def _left_now(self, question: LeftAfterLoss) -> KeptPart:
        """Return the check of the current state. A broken promise gets a Drill file if every pod is ready."""
        end = self._end_now
        if not (wrong := question.wrong(end)):
            return KeptPart("now", "yes", "", "seen")
        names, of = self._now.cluster.nodes.names, f"{self.key[0]}/{self.key[2]}"
        order = tuple(
            OrderStep(self.key[1], of, pod.name, names[row], does="stands")
            for pod in self.workload.existing
            for row in rows_of(self._now, [pod])
        )
        write = partial(drill_file, self._now, order, self.sources, question)
        is_whole = len(order) == len(end.placed[id(self.workload)]) == self.workload.replicas
        answer = GuaranteeAnswer(str(question), "never", 0, 0, order, wrong, write if is_whole else None)
        return KeptPart("now", "no", wrong, "seen", answer)

    def fewest(self, loss: str) -> Fewest:
        """Return the fewest pods that the loss of any one zone or node leaves."""
        if loss not in self.counted:
            self.counted[loss] = self._fewest(loss)
        return self.counted[loss]

    def _fewest(self, loss: str) -> Fewest:
        now = self.now[loss] if self.now else self.now_left(loss)
        names = {each.labels.get(LOSSES[loss]) for each in self.inventory.nodes}
        replicas = self.workload.replicas
        highest = replicas if None in names or not names else replicas - -(-replicas // len(names))
        highest = 0 if self.shared_domain(loss) else highest
        zone = self.fewest("zone") if loss == "node" and self.is_in_zones else None
        orders = self._between(loss, highest, None, 0 if zone is None else zone.orders.least)
        rolled = None
        if self._is_rolled and not self._is_alone(LOSSES[loss]):
            least = 0 if zone is None else (zone.rolled or zone.orders).least
            rolled = self._between(loss, min(highest, orders.most), short_target(self.key), least)
        return Fewest(orders, rolled, now)

    def surely_left(self, loss: str, *, rolled: bool = False) -> int:
        """Return the proved number of pods that a loss ("": none) leaves in every order, or after any rollout."""
        asking, item = self._asking(None), self._item
        workload = _of(asking.run, self.key)
        if rolled:
            own = [each for each in asking.queue if each.workload is workload]
            others = [each for each in asking.queue if each.workload is not workload]
            begun = counted_rollout(asking.run, workload, item, own, others)
            if begun is None or (isinstance(item, Deployment) and item.spec.paused):
                return 0
            asking = replace(asking, queue=own, begun=begun)
        return asking.surely_left(loss, workload)

    def drained(self, lost: Fewest) -> Fewest:
        """Return the fewest pods that stay ready while any one node drains.

        A budget may keep more pods ready than other nodes have, but it cannot keep a pod without a node.

        Args:
            lost: the fewest pods that the loss of a node leaves.
        """
        floor, placed = self.budget_least, Bounds.exactly(self.workload.replicas)
        if floor > lost.bounds.least:
            placed = self._between("", self.workload.replicas, None)
        there = self.now[""] if self.now else self.now_left("")

        def kept(left: Bounds, placed: Bounds) -> Bounds:
            return Bounds(least=max(left.least, min(floor, placed.least)), most=max(left.most, min(floor, placed.most)))

        return Fewest(
            kept(lost.orders, placed),
            None if lost.rolled is None else kept(lost.rolled, placed),
            None if lost.now is None or there is None else max(lost.now, min(floor, there)),
        )

    def shared_domain(self, loss: str) -> str:
        """Return why the loss of one zone or node takes all pods of a group; "" if it may leave some."""
        return self._asking(None).shared_domain(self.workload, loss)

    def now_left(self, loss: str) -> int | None:
        """Return the fewest pods that the loss of one zone or node ("": no loss) leaves now.

        ``None`` if no pod has a node.
        """
        end = self._end_now
        return LeftAfterLoss(loss, self.workload, 0).left(end) if rows_of(self._now, self.workload.existing) else None

    def _between(self, loss: str, highest: int, rollout: str | None, proved: int = 0) -> Bounds:
        """Return bounds on the fewest pods that are left: counting gives the lower bound, orders the upper bound.

        Args:
            loss: zone or node; "" counts all pods with a node.
            highest: upper bound on the result.
            rollout: Deployment whose rollouts are searched; ``None`` to search orders.
            proved: lower bound that is already proved.
        """
        asking, most, until = self._asking(rollout), highest, time.monotonic() + self.budget.seconds
        workload = _of(asking.run, self.key)
        least = max(asking.surely_left(loss, workload), proved)
        if least < most:
            gathered = asking.gathered(LeftAfterLoss(loss, workload, most))
            most = most if gathered is None or gathered.left is None else min(most, gathered.left)

        def question(run: Run) -> LeftAfterLoss:
            return LeftAfterLoss(loss, _of(run, self.key), most)

        while least < most and self.shared is None and time.monotonic() < until:
            answer = asking.answer(question)
            if answer.answer == "always":
                return Bounds.exactly(most)
            if not answer.fails:
                self.undecided.append(answer)
                break
            most = most - 1 if answer.left is None else answer.left
        return Bounds(least=min(least, most), most=most)

    @property
    def _is_rolled(self) -> bool:
        item = self._item
        return isinstance(item, Deployment) and strategy_of(item) is not None and self.workload.replicas > 0

    def _is_alone(self, key: str) -> bool:
        """Return whether a rollout spreads new pods over a key regardless of its old pods."""
        return self._item is not None and counts_revisions_alone(self._item, key, self.options)

    def _in_orders(self, ask: _Ask, *, with_rollout: bool = True) -> Iterator[KeptPart]:
        """Yield the checks of every order, and of every rollout of a Deployment."""
        yield self._asked(ask)
        if with_rollout and self._is_rolled:
            yield self._asked(ask, short_target(self.key))

    @cached_property
    def _fresh(self) -> Inventory:
        return self.inventory if self.is_fresh else without_pods_of(self.inventory, self.key)

    def _asked(self, ask: _Ask, rollout: str | None = None, *, deep: bool = True) -> KeptPart:
        answer = self._answered(ask, rollout, deep=deep)
        verdict = _WORDS[answer.answer]
        when = ("after {} rollout" if rollout else "in {} order").format("some" if verdict == "no" else "every")
        says = answer.why or f"all orders searched ({answer.states} states)"
        asking = self._asking(rollout)
        refused = asking.refused(_of(asking.run, self.key)) if verdict == "no" else ""
        if refused and refused not in says:
            says = f"{says}: {refused}"
        if answer.lacks == "budget" and answer.states:
            drawn = f", {answer.drawn} random orders keep it" if answer.drawn else ""
            says = f"{answer.why.partition('; ')[0]}{drawn}"
        ground: Ground = ("drawn" if answer.drawn else "none") if verdict == "unknown" else "proved"
        return KeptPart(when, verdict, says, ground, answer)

    def _answered(self, ask: _Ask, rollout: str | None, *, deep: bool) -> GuaranteeAnswer:
        asking = self._asking(rollout)
        coming = Counter(id(each.workload) for each in asking.queue)
        # A lower bound on the states: each workload may have any number of its pods placed.
        states = math.prod(1 + each for each in coming.values())
        deep = deep and (not self.only_whole or rollout is not None or states <= self.budget.states)
        found = asking.answer(lambda run: ask(_of(run, self.key)), deep=deep)
        orders = f"counting does not decide, and {len(asking.queue)} pods have too many orders to search"
        why = f"{orders}; raise --states"
        if len(coming) > 1:
            why = f"{orders}, because {len(coming)} workloads are to be placed: apply only this workload's file"
        return found if deep or found.lacks != "budget" else replace(found, why=why)

    def _asking(self, rollout: str | None) -> Asking:
        if rollout not in self.askings:
            sources = {**self.sources, "fresh": ["/".join((self.key[1], self.key[0], self.key[2]))]}
            begun = Asking.begin(self._fresh, self._unscored, self.budget, rollout=rollout, sources=sources)
            self.askings[rollout] = begun
            self.unjudged += begun.unjudged_parts
        return self.askings[rollout]

    def _rollout(self, least: int) -> KeptPart:
        if self._item is None:
            return KeptPart("in a rollout", "yes", f"a {self.key[0]} is not rolled out", "proved")
        left = self.rolling_least()
        says = f"the strategy leaves {left} of {self.workload.replicas} ready"
        if left >= least:
            return KeptPart("in a rollout", "yes", says, "proved")
        write = partial(strategy_file, self.workload, least, self.sources)
        return KeptPart("in a rollout", "no", says, "proved", GuaranteeAnswer("", "never", 0, 0, (), says, write))

    @cached_property
    def own_budgets(self) -> frozenset[str]:
        """``NAMESPACE/NAME`` of the PodDisruptionBudgets that select the workload's pods."""
        own = self.workload
        labels = own.template.labels if own.template is not None else {}
        found = budgets_over(self.inventory, own.namespace, labels)
        return frozenset(f"{own.namespace}/{budget.metadata.name}" for budget, _ in found)

    @property
    def blocking_budgets(self) -> tuple[str, ...]:
        """Budgets that let no pod be evicted, so that a drain of a node with a pod of the workload does not end."""
        return tuple(sorted(self.own_budgets)) if self.budget_least >= self.workload.replicas > 0 else ()

    @cached_property
    def budget_least(self) -> int:
        """Number of pods that PodDisruptionBudgets keep ready, even if all nodes are drained at once."""
        own, least = self.workload, 0
        labels = own.template.labels if own.template is not None else {}
        budgets = [*budgets_over(self.inventory, own.namespace, labels)]
        if len(budgets) > 1:
            return own.replicas  # the API server does not evict a ready pod that two budgets select
        for budget, selector in budgets:
            others = [
                each
                for each in self._now.plan.workloads
                if each is not own and each.namespace == own.namespace and each.template is not None
                and selector.matches(each.template.labels)
            ]  # fmt: skip
            wanted = desired_healthy(budget, replicas_of([own, *others]))
            least = max(least, wanted - sum(each.replicas for each in others))
        return min(least, own.replicas)

    def rolling_least(self) -> int:
        """Return the pods that the strategy keeps ready in a rollout."""
        item, replicas = self._item, self.workload.replicas
        if isinstance(item, Deployment):
            rolling = strategy_of(with_fields(item, spec=with_fields(item.spec, replicas=replicas)))
            return 0 if rolling is None else max(replicas - rolling.max_unavailable, 0)
        ordinal = None if item is None else strategy_of_stateful_set(item, replicas)
        return replicas if ordinal is None else max(replicas - ordinal.max_unavailable, 0)


def budgets_over(
    inventory: Inventory, namespace: str, labels: Mapping[str, str]
) -> Iterator[tuple[PodDisruptionBudget, Selector]]:
    """Yield the disruption budgets that select pods with these labels."""
    for each in inventory.pod_disruption_budgets:
        selector = budget_selector(each) if (each.metadata.namespace or "default") == namespace else None
        if selector is not None and selector.matches(labels):
            yield each, selector


def likeness_of(inventory: Inventory, item: Designed) -> str:
    """Return the fields that promises depend on as text, without names, images and the workload's own labels."""
    labels, pod = item.spec.template.metadata.labels or {}, item.spec.template.spec
    containers = [with_fields(each, image=None, name="") for each in pod.containers or ()]
    spec = with_fields(
        item.spec, template=with_fields(item.spec.template, spec=with_fields(pod, containers=containers))
    )
    budgets = [each.spec for each, _ in budgets_over(inventory, item.namespace, labels)]
    text = msgspec.json.encode((item.kind, spec, budgets)).decode()
    for name, value in labels.items():
        text = text.replace(f'"{name}":"{value}"', f'"{name}":""')
    return text


def _of(run: Run, key: ObjectKey) -> Workload:
    return next(each for each in run.plan.workloads if key_of(each) == key)
