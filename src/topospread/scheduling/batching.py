"""Batches: kube-scheduler places a pod by the node scores of the pod before it if both have the same signature.

kube-scheduler keeps the scored nodes of a profile's last pod for half a second. If the next attempt is for a pod with
the same signature, the best remaining node is a *hint*: the pod gets the node if the node passes the filters. A new
search may find another node, for three reasons: nodes were added since, scores stay normalised over nodes that are now
full, and nodes with equal scores are in another order.

Source: pkg/scheduler/framework/runtime/batch.go, pkg/scheduler/framework/sorted_nodes.go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from topospread.api.pod import Pod
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints
from topospread.cluster.cluster import PodKey
from topospread.config.version_rules import rules_for, since
from topospread.plugins.interface import CanBeIdle, offers

from .evaluate import first_failure
from .framework import Framework
from .pod_signature import Signer
from .select_host import AmongEquals, top_of_heap
from .view import View

_LONGEST = 500_000_000
"""Nanoseconds after which scores are no longer reused (``maxBatchAge``)."""
_SURE = 100
"""Number of pods that kube-scheduler is assumed to place within `_LONGEST`."""

Hint = tuple[int, int]
"""(row, total score that its node had when it was scored)."""


@dataclass(frozen=True, slots=True)
class BatchingRules:
    """The differences between Kubernetes versions in batches."""

    rescores: bool = since(
        "1.37", "A batch continues if the last pod's node is not full; this node is rescored. Before, the batch ended."
    )
    skips_nominated: bool = since("1.37", "A pod with a nominated node uses up no node of a batch.")


class Incoming(NamedTuple):
    """A pod to schedule; ``nominated``: its nominated node; "" without one."""

    pod: Pod
    pod_class: PodClass
    key: PodKey
    nominated: str


class ScoredNodes:
    """Scored nodes; `pop` removes the best one.

    Args:
        rows: feasible rows, in the order of evaluation.
        among: choice among nodes with equal totals; ``None`` takes the first by name. With `top_of_heap`, the nodes are
            kept in the order of kube-scheduler's heap.
    """

    def __init__(self, view: View, rows: Ints, among: AmongEquals | None) -> None:
        self._nodes = view.cluster.nodes
        self._among = among
        self._raw = {each.plugin: each.score.score(rows) for each in view.plugins.scores}
        self.names = [self._nodes.names[row] for row in rows.tolist()]
        self._normalize(view, rows)

    def __len__(self) -> int:
        return len(self._left)

    def _normalize(self, view: View, rows: Ints) -> None:
        """Compute the total scores of all nodes from the raw scores. With `top_of_heap`, build the heap."""
        total = np.zeros(len(rows), dtype=np.int64)
        for each in view.plugins.scores:
            if offers(each.score, CanBeIdle) and each.score.idle:
                continue  # kube-scheduler skips this score, even if it ran for earlier pods of the batch
            raw = self._raw.get(each.plugin)
            if raw is None:
                raw = np.zeros(len(rows), dtype=np.int64)
            total += each.weight * (raw if each.normalized is None else each.normalized.normalize(raw, rows))
        self._total: list[int] = total.tolist()
        self._left = list(range(len(rows)))
        if self._among is top_of_heap:
            for place in reversed(range(len(rows) // 2)):
                self._down(place)

    def add(self, view: View, row: int) -> bool:
        """Score one more node and normalise all scores again. Return False if a remaining node no longer exists."""
        names = [self.names[place] for place in self._left]
        rows = [self._nodes.row_of.get(name, -1) for name in names]
        if -1 in rows:
            return False
        one = np.array([row], dtype=np.int64)
        fresh = {each.plugin: each.score.score(one) for each in view.plugins.scores}
        none = np.zeros(len(rows), dtype=np.int64)
        kept = {name: self._raw[name][self._left] if name in self._raw else none for name in fresh}
        self._raw = {name: np.concatenate((kept[name], points)) for name, points in fresh.items()}
        self.names = [*names, self._nodes.names[row]]
        self._normalize(view, np.array([*rows, row], dtype=np.int64))
        return True

    def pop(self) -> tuple[str, int]:
        """Remove the best node. Return its name and total score."""
        left = self._left
        if self._among is top_of_heap:
            left[0], left[-1] = left[-1], left[0]
            taken = left.pop()
            self._down(0)
        else:
            highest = max(self._total[place] for place in left)
            best = [place for place in left if self._total[place] == highest]
            taken = self._chosen(best)
            left.remove(taken)
        return self.names[taken], self._total[taken]

    def drop_last(self) -> None:
        """Remove the node of the last row. Call it before any `pop`, and not with `top_of_heap`."""
        self._left.pop()

    def _chosen(self, best: list[int]) -> int:
        rows = [self._nodes.row_of.get(self.names[place], -1) for place in best]
        if self._among is None or -1 in rows:
            return min(best, key=self.names.__getitem__)
        row = self._among(np.array(rows, dtype=np.int64), np.arange(len(rows)))
        return best[rows.index(row)]

    def _down(self, place: int) -> None:
        """Move a node down as far as its children are better (container/heap)."""
        left, total = self._left, self._total
        while (child := 2 * place + 1) < len(left):
            if child + 1 < len(left) and total[left[child + 1]] > total[left[child]]:
                child += 1
            if total[left[child]] <= total[left[place]]:
                return
            left[place], left[child] = left[child], left[place]
            place = child


class Batch:
    """The scored nodes of a profile's last pod.

    Without a clock, a batch does not expire, but any change of the cluster except the last pod's binding ends it.

    Args:
        view: function that returns the current view of a class.
        among: choice among nodes with equal totals; ``None`` takes the first by name.

    Attributes:
        clock: function that returns the time in nanoseconds; ``None`` without a clock.
    """

    def __init__(
        self, framework: Framework, cluster: Cluster, view: Callable[[PodClass], View], among: AmongEquals | None
    ) -> None:
        self._cluster = cluster
        self._view = view
        self.among = among
        self._rules = rules_for(BatchingRules, framework.gates)
        self._signer = Signer(framework, cluster.objects)
        self.signs = self._signer.signs
        self.clock: Callable[[], int] | None = None
        self._attempt, self._last, self._stamp = -1, "", -1
        self._of: Incoming | None = None
        self._signature: Hashable = None
        self._scored: ScoredNodes | None = None
        self._made, self._hints = 0, 0

    @property
    def may_be_over(self) -> bool:
        """True if, without a clock, so many pods got hints that kube-scheduler's batch may have expired."""
        return self.clock is None and self._hints > _SURE

    def hint(self, view: View, incoming: Incoming, attempt: int) -> Hint | None:
        """Return the best remaining node if the pod continues the batch, else ``None``.

        Return ``None`` also if a new search surely finds the same node. ``attempt``: number of this attempt; it must
        be one higher than at the last call for the batch to continue.
        """
        follows, self._attempt = attempt == self._attempt + 1, attempt
        row = self._cluster.nodes.row_of.get(self._last)
        if not follows or row is None or not self._goes_on(incoming):
            self._last = ""
            return None
        self._last = ""
        assert self._of is not None, "there is a batch"
        last = np.array([row], dtype=np.int64)
        failed = view.can_fail and first_failure(view, last) is not None
        fits = not failed and bool(view.feasible(last)[0])
        if failed or (fits and not self._rules.rescores):
            return None
        stands_still = self.clock is None and self.among is not top_of_heap
        if (
            stands_still
            and self._of.pod_class is incoming.pod_class
            and (fits or not (self._scored or view.relative_scores))
        ):
            self._scored = None
            return None
        scored = self._scored = self._scored or self._scored_late(row)
        if (fits and not scored.add(view, row)) or not len(scored):
            return None
        self._hints += 1
        name, total = scored.pop()
        return self._cluster.nodes.row_of.get(name, -1), total

    def _goes_on(self, incoming: Incoming) -> bool:
        """Return whether a pod may reuse the scores; the last pod's node is not checked (``batchStateCompatible``)."""
        if self._of is None or (self._scored is not None and not len(self._scored)):
            return False
        pod, pod_class, _, nominated = incoming
        if pod is not self._of.pod and self._signature != self._signer.signature(pod, pod_class):
            return False
        if self.clock is None:
            over = self._stamp != self._cluster.journal.stamp
        else:
            over = self.clock() > self._made + _LONGEST
        return not over and not (nominated and self._rules.skips_nominated)

    def _scored_late(self, last: int) -> ScoredNodes:
        """Score the other nodes of the last search now. ``last``: row of the node that the search chose."""
        assert self._of is not None, "there is a batch"
        view = self._view(self._of.pod_class)
        rows = np.flatnonzero(view.node_local.open[: self._cluster.nodes.size])
        rows = rows[view.feasible(rows) & (rows != last)]
        scored = ScoredNodes(view, np.append(rows, last), self.among)
        scored.drop_last()
        return scored

    def store(
        self, incoming: Incoming, row: int, hint: Hint | None, scored: ScoredNodes | None, *, late: bool = False
    ) -> None:
        """Store the chosen node of a pod. Begin a new batch unless the node is the pod's hint.

        Args:
            row: row of the chosen node.
            hint: result of `hint` for the pod.
            scored: scored nodes without the chosen node; ``None`` if no node was scored.
            late: whether `hint` scores the other nodes when it needs them.
        """
        self._last = self._cluster.nodes.names[row]
        if hint is not None and hint[0] == row:
            return
        self._signature = self._signer.signature(incoming.pod, incoming.pod_class)
        lasts = self._signature is not None and (late or scored is not None)
        self._of, self._scored = (incoming, scored) if lasts else (None, None)
        self._hints = 0
        self._made = 0 if self.clock is None else self.clock()

    def settled(self) -> None:
        """Record the current state of the cluster after the last pod's binding; any later change ends the batch."""
        self._stamp = self._cluster.journal.stamp
