"""Whether what an eviction came to in a cluster helps as much as was foretold; it asks no cluster.

Of equally good nodes kube-scheduler takes another than the plan, and the domains may change places: what counts is how
far each constraint is from holding then. A pod whose own constraints were not to be mended has to go where it was told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from .distance import distance
from .result import ConstraintChange, PodMove


class Foretold:
    """The counts of the constraints as the plan has them, and as they come out, move by move."""

    def __init__(self, constraints: Iterable[ConstraintChange]) -> None:
        self._constraints: dict[tuple[str, str], list[_Counted]] = {}
        for each in constraints:
            key = each.namespace, f"{each.kind}/{each.name}"
            self._constraints.setdefault(key, []).append(_Counted(each))

    def surprise(self, move: PodMove, domains: dict[str, str]) -> str:
        """Why a move came out worse than it was foretold, "" where it did not; it is counted.

        ``domains``: topology key → where the new pod is, of the keys of the move.
        """
        own = self._constraints.get((move.namespace, move.workload), [])
        worse = [each for each in own if each.moves_worse(move, domains)]
        if not own:
            return next(self._elsewhere(move, domains), "")
        return next((self._said(each.key, move, domains) for each in worse), "")

    def _elsewhere(self, move: PodMove, domains: dict[str, str]) -> Iterator[str]:
        for key, (_, foretold) in move.domains.items():
            if domains[key] != foretold:
                yield self._said(key, move, domains)

    @staticmethod
    def _said(key: str, move: PodMove, domains: dict[str, str]) -> str:
        return f"{key} is {domains[key] or 'missing'} there, which helps less than {move.domains[key][1] or 'none'}"


class _Counted:
    """One constraint."""

    def __init__(self, change: ConstraintChange) -> None:
        self.key = change.topology_key
        self._highest = change.highest
        self._foretold, self._real = Counter(change.before), Counter(change.before)
        self._eligible = list(change.before)

    def moves_worse(self, move: PodMove, domains: dict[str, str]) -> bool:
        """Whether the constraint is farther from holding than it was to be after this move."""
        source, target = move.domains[self.key]
        for counts, to in ((self._foretold, target), (self._real, domains[self.key])):
            counts[source] -= 1
            counts[to] += 1
        return self._distance(self._real) > self._distance(self._foretold)

    def _distance(self, counts: Counter[str]) -> int:
        return distance(np.array([counts[each] for each in self._eligible], dtype=np.int64), self._highest)
