"""Goals of a rebalancing: constraints with their current counts and distances from holding.

The counts come from the PodTopologySpread plugin's own state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import msgspec
import numpy as np

from topospread.cluster import PodClass
from topospread.cluster.arrays import Codes, Ints
from topospread.controllers.planned import Workload
from topospread.plugins.interface import PluginError
from topospread.plugins.pod_topology_spread import lacks_domains
from topospread.plugins.spread_constraints import Constraint
from topospread.plugins.spread_counts import CountedConstraint, Spread
from topospread.scheduling.cycle import Scheduler

from .distance import best_level


class Goal(msgspec.Struct, frozen=True, eq=False):
    """A constraint of a workload's newest pods that should hold.

    Attributes:
        place: index among the class's hard or soft constraints.
        highest: the allowed skew.
        wanted: whether to fix it; other goals must only not get worse.
    """

    workload: Workload
    pod_class: PodClass
    wanted: bool
    place: int
    hard: bool
    constraint: Constraint
    highest: int

    @property
    def topology_key(self) -> str:
        """The topology key of the constraint."""
        return self.constraint.topology_key

    def may_count(self, pod_class: PodClass) -> bool:
        """Return whether the constraint's selector matches pods of a class."""
        return pod_class.namespace == self.pod_class.namespace and self.constraint.selector.matches(pod_class.labels)


class GoalCounts(msgspec.Struct, frozen=True, eq=False):
    """The current counts of a goal's constraint.

    Attributes:
        codes: codes of the domains in the key's column, int32[domains].
        matching: matching pods, int64[domains].
        minimum_is_zero: whether there are fewer domains than minDomains.
        counted: the plugin's constraint with its counts.
    """

    goal: Goal
    codes: Codes
    matching: Ints
    minimum_is_zero: bool
    counted: CountedConstraint
    spread: Spread

    @property
    def names(self) -> list[str]:
        """Names of the eligible domains."""
        return [self.counted.column.values[code] for code in self.codes.tolist()]

    @property
    def skew(self) -> int:
        """The skew as kube-scheduler computes it."""
        least = 0 if self.minimum_is_zero else int(self.matching.min(initial=1 << 40))
        return max(int(self.matching.max(initial=0)) - (least if len(self.matching) else 0), 0)

    @property
    def excess(self) -> int:
        """The skew minus the allowed skew, at least 0."""
        return max(self.skew - self.goal.highest, 0)

    @property
    def squares(self) -> int:
        """The sum of squared counts. Smaller is more even."""
        return int((self.matching * self.matching).sum())

    @property
    def distance(self) -> int:
        """The fewest pods that must move."""
        return best_level(self.matching, self.goal.highest, minimum_is_zero=self.minimum_is_zero)[0]

    def giving(self) -> Codes:
        """Return the codes of domains that can lose a pod without needing another one."""
        moves, level = best_level(self.matching, self.goal.highest, minimum_is_zero=self.minimum_is_zero)
        if not moves:
            return self.codes[:0]
        beyond = self.matching > level + self.goal.highest
        too_few = int(np.maximum(level - self.matching, 0).sum())
        leaving = int(np.maximum(self.matching - level - self.goal.highest, 0).sum())
        return self.codes[beyond if leaving >= too_few and beyond.any() else self.matching > level]

    def receiving(self) -> Codes:
        """Return the codes of domains that should receive a pod."""
        _, level = best_level(self.matching, self.goal.highest, minimum_is_zero=self.minimum_is_zero)
        few = self.matching < level
        return self.codes[few if few.any() else self.matching < level + self.goal.highest]


def counts_of(goal: Goal, scheduler: Scheduler) -> GoalCounts:
    """Return the current counts for a goal."""
    spread = spread_of(goal.pod_class, scheduler)
    assert spread is not None, "a goal's class has constraints"
    counted = (spread.hard if goal.hard else spread.soft)[goal.place]
    counts = counted.counts_by_domain()
    counts.make_room()
    codes = np.flatnonzero(counts.nodes > 0).astype(np.int32)
    lacks = lacks_domains(len(codes), counted.constraint.min_domains)
    return GoalCounts(goal, codes, counts.at(codes).astype(np.int64), lacks, counted, spread)


def spread_of(pod_class: PodClass, scheduler: Scheduler) -> Spread | None:
    """Return a class's constraints with current counts; None without constraints or if the class is unjudged."""
    try:
        view = scheduler.view(pod_class)
    except PluginError:
        return None
    return next((each for each in view.plugins.watchers if isinstance(each, Spread)), None)


def goals_of(
    workloads: Iterable[Workload], scheduler: Scheduler, max_skew: int | None, wanted: Iterable[Workload]
) -> Iterator[Goal]:
    """Yield the goals of all workloads: DoNotSchedule constraints, and with ``max_skew`` also ScheduleAnyway ones."""
    chosen = {id(each) for each in wanted}
    for workload in workloads:
        if workload.template is None or workload.kind in ("DaemonSet", "Node"):
            continue
        pod_class = scheduler.cluster.shared_class(workload.template)
        spread = spread_of(pod_class, scheduler)
        if spread is None:
            continue
        own = partial(Goal, workload, pod_class, id(workload) in chosen)
        for place, each in enumerate(spread.hard):
            yield own(place, True, each.constraint, each.constraint.max_skew)
        for place, each in enumerate(spread.soft if max_skew is not None else ()):
            if each.constraint.origin != "system":
                yield own(place, False, each.constraint, max_skew or 0)
