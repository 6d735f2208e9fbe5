"""The effect of a change: pods that move or are pending, skew that grows, new findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from topospread.lint.rule import Finding
from topospread.simulation.comparison import Comparison, PlacementChange, SpreadChange


@dataclass(frozen=True, slots=True)
class Review:
    """A change of manifests.

    Attributes:
        comparison: the two simulated states; pods that only the new state has count as newly pending.
        new: lint findings that only the new state has.
        gone: lint findings that only the old state has.
        notes: notes on reading that only the new state has.
        left_out: labels of the new state's workloads that lint did not place.
    """

    comparison: Comparison
    new: tuple[Finding, ...] = ()
    gone: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def exceeded(self) -> tuple[SpreadChange, ...]:
        """Constraints whose skew has grown beyond their maxSkew, including constraints of new workloads."""
        known = {(each.namespace, each.kind, each.name) for each in self.comparison.before.workloads}
        return tuple(
            each
            for each in self.comparison.spreads
            if each.after is not None
            and each.after.skew > each.after.max_skew
            and (
                each.after.skew > each.before.skew
                if each.before is not None
                else (each.workload.namespace, each.workload.kind, each.workload.name) not in known
            )
        )

    @property
    def pending(self) -> tuple[PlacementChange, ...]:
        """Pods that are pending only after the change, including pods of new workloads."""
        return self.comparison.newly_pending

    @property
    def reasons(self) -> list[str]:
        """The reasons why the change makes things worse, a few words each."""
        bad = [each for each in self.new if each.severity != "hint"]
        earlier = [each.before for each in self.exceeded if each.before is not None]
        larger = sum(each.skew > each.max_skew for each in earlier)
        numbers = (
            (len(self.pending), "pod is newly pending", "pods are newly pending"),
            (len(self.comparison.newly_gone), "evicted pod is not recreated", "evicted pods are not recreated"),
            (len(self.exceeded) - larger, "skew newly exceeds maxSkew", "skews newly exceed maxSkew"),
            (larger, "skew above maxSkew grows", "skews above maxSkew grow"),
            (sum(each.severity == "error" for each in bad), "new error", "new errors"),
            (sum(each.severity == "warning" for each in bad), "new warning", "new warnings"),
        )
        return [f"{number} {one if number == 1 else many}" for number, one, many in numbers if number]


def only_in(ours: Iterable[Finding], theirs: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that the other state does not have.

    A finding is the same if only its line, list index or a number in its message changed. The most similar findings are
    matched first.
    """
    left, others = list(ours), list(theirs)
    ways: Sequence[Callable[[Finding], object]] = (
        lambda each: (each.rule, each.place.object, each.place.field, each.message),
        lambda each: (each.rule, each.place.object, each.message),
        lambda each: (each.rule, each.place.object, each.place.field),
    )
    for way in ways:
        there = Counter(map(way, others))
        matched: Counter[object] = Counter()
        still = []
        for each in left:
            key = way(each)
            if matched[key] < there[key]:
                matched[key] += 1
            else:
                still.append(each)
        unmatched = []
        for other in others:
            key = way(other)
            if matched[key]:
                matched[key] -= 1
            else:
                unmatched.append(other)
        left, others = still, unmatched
    return tuple(left)
