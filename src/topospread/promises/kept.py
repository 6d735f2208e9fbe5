"""Declared promises of one workload, each judged by what filters force: in every order of pods, whatever the scores.

The workload's pods are taken as still to come, so that a promise does not depend on where they are now. What they leave
now is judged as well, and for a Deployment every course of a rollout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from msgspec.structs import replace as with_fields

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.rollout import strategy_of, strategy_of_stateful_set
from topospread.api.workload import Deployment
from topospread.base import Word, worst
from topospread.guarantees.guarantee import answered
from topospread.guarantees.orders import SearchBudget, rows_of
from topospread.guarantees.questions import EndQuestion, LeftAfterLoss, NoPending, OrderEnd, SkewWithin
from topospread.guarantees.result import GuaranteeAnswer
from topospread.simulation.run import Run, SimulationOptions, prepare
from topospread.workloads.planned import Workload
from topospread.workloads.scale import short_target

from .fresh import LISTS, Designed, counts_revisions_alone, without_pods_of, workload_of
from .unscored import unscored
from .wants import Want
from .workload_drills import HOSTNAME, ZONE

Ground = Literal["none", "seen", "drawn", "proved"]
"""How a verdict was found: the state now, orders drawn at random, or all orders counted or searched."""
_WORDS: Mapping[str, Word] = {"always": "yes", "never": "no", "not always": "no", "not decided": "unknown"}
_LOSSES: Mapping[str, tuple[str, ...]] = {"zone-loss": ("zone",), "node-loss": ("node",), "drain": ("node",)}
_KEYS = {"zone": ZONE, "node": HOSTNAME}
_Ask = Callable[[Workload], EndQuestion]
"""Gives the question about a workload."""


@dataclass(frozen=True, slots=True)
class KeptPart:
    """One judgement on a promise.

    Attributes:
        when: ``now``, ``in every order`` or ``after a rollout``.
        answer: the search behind it, ``None`` if there was none.
    """

    when: str
    verdict: Word
    says: str
    ground: Ground
    answer: GuaranteeAnswer | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A promise and whether it is kept.

    Attributes:
        part: the judgement that decides the verdict.
    """

    want: Want
    verdict: Word
    part: KeptPart


@dataclass
class WorkloadPromises:
    """The judge of one workload's promises.

    Attributes:
        key: kind, namespace and name of the workload.
        sources: ``cluster`` and ``manifests`` of a drill's file.
    """

    inventory: Inventory
    options: SimulationOptions
    key: ObjectKey
    budget: SearchBudget
    sources: Mapping[str, object]
    unjudged: list[Unjudged] = field(default_factory=list)

    @cached_property
    def _now(self) -> Run:
        return prepare(self.inventory, self.options, with_spreads=False)

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
                yield self._rollout(want.least(replicas))
            case _:
                least = replicas // 2 + 1 if want.about == "quorum" else want.least(replicas)
                for loss in _LOSSES.get(want.about, ("zone", "node")):
                    yield from self._left(loss, least)

    def _left(self, loss: str, least: int) -> Iterator[KeptPart]:
        if self.workload.existing:
            now = LeftAfterLoss(loss, self.workload, least)
            rows = {id(self.workload): rows_of(self._now, self.workload.existing)}
            wrong = now.wrong(OrderEnd(self._now, (), rows))
            yield KeptPart("now", "no" if wrong else "yes", wrong, "seen")
        with_rollout = not self._is_alone(_KEYS[loss])
        yield from self._in_orders(lambda of: LeftAfterLoss(loss, of, least), with_rollout=with_rollout)

    def _is_alone(self, key: str) -> bool:
        """Return whether a rollout spreads new pods over a key as if there were no old ones."""
        gates = [each for each in (self.options.gates, self.options.apiserver_gates) if each is not None]
        by_labels = all(each.enabled("MatchLabelKeysInPodTopologySpread") for each in gates)
        return self._item is not None and counts_revisions_alone(self._item, key, by_labels=by_labels)

    def _in_orders(self, ask: _Ask, *, with_rollout: bool = True) -> Iterator[KeptPart]:
        """Yield the judgements on every order, and on every rollout of a Deployment that has one."""
        fresh = without_pods_of(self.inventory, self.key)
        yield self._asked("in every order", fresh, ask)
        item = self._item
        if with_rollout and isinstance(item, Deployment) and strategy_of(item) is not None and self.workload.replicas:
            yield self._asked("after a rollout", fresh, ask, short_target(self.key))

    def _asked(self, when: str, fresh: Inventory, ask: _Ask, rollout: str | None = None) -> KeptPart:
        found = answered(
            fresh,
            self._unscored,
            lambda run: [ask(_of(run, self.key))],
            self.budget,
            rollout=rollout,
            sources=self.sources,
        )
        (answer,) = found.answers
        self.unjudged += found.unjudged
        if fresh.pods != self.inventory.pods or rollout:
            answer = replace(answer, drill="")  # it would begin elsewhere
        verdict = _WORDS[answer.answer]
        says = answer.why or f"{answer.states} states of all orders searched"
        ground: Ground = ("drawn" if answer.drawn else "none") if verdict == "unknown" else "proved"
        return KeptPart(when, verdict, says, ground, answer)

    def _rollout(self, least: int) -> KeptPart:
        """Return whether the strategy keeps enough pods ready, which the controller never goes below."""
        item, replicas = self._item, self.workload.replicas
        if item is None:
            return KeptPart("in a rollout", "yes", f"a {self.key[0]} is not rolled out", "proved")
        if isinstance(item, Deployment):
            rolling = strategy_of(with_fields(item, spec=with_fields(item.spec, replicas=replicas)))
            unavailable = replicas if rolling is None else rolling.max_unavailable
        else:
            ordinal = strategy_of_stateful_set(item, replicas)
            unavailable = 0 if ordinal is None else ordinal.max_unavailable
        left = max(replicas - unavailable, 0)
        says = f"maxUnavailable {unavailable} leaves {left} of {replicas} ready"
        return KeptPart("in a rollout", "yes" if left >= least else "no", says, "proved")


def _of(run: Run, key: ObjectKey) -> Workload:
    return next(each for each in run.plan.workloads if (each.kind, each.namespace, each.name) == key)
