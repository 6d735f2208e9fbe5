"""Placing the pods of a run: in queue order, with preemption, and again where a later placement may help."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

from topospread.scheduling.cycle import Placement
from topospread.scheduling.verdict import Verdict
from topospread.workloads.planned import QueuedPod

from .budgets import Budgets
from .evictions import evict
from .pending import LatestBinds
from .run import Outcome, Run

Progress = Callable[[int, int], None]
"""Told how many pods of how many were tried."""


def place_all(run: Run, progress: Progress | None = None) -> None:
    """Try every pod of the queue in its order, then again those that a pod placed since might help.

    kube-scheduler tries a pending pod again when something happens that a plugin which rejected it waits for.
    """
    run.budgets = Budgets(run.cluster)
    binds = LatestBinds(run.cluster)
    _place(run, list(range(len(run.queue))), progress)
    while True:
        binds.catch_up()
        waiting = [i for i, queued in enumerate(run.queue) if _worth_another_try(run, queued, binds)]
        if not waiting:
            break
        _place(run, waiting, None)
    run.budgets.restore()
    _name_the_first(run)


def _name_the_first(run: Run) -> None:
    """All pods that a StatefulSet has not created wait for the same one in the end: the first that is pending."""
    first: dict[int, QueuedPod] = {}
    for queued in run.queue:
        outcome = run.outcomes[id(queued)]
        if queued.after is None or not _is_not_created(outcome):
            continue
        first[id(queued)] = awaited = first.get(id(queued.after), queued.after)
        outcome.placement = _not_created(queued, awaited)


def _is_not_created(outcome: Outcome) -> bool:
    return outcome.pending and outcome.verdict is None and not outcome.evicted


def _not_created(queued: QueuedPod, awaited: QueuedPod) -> Placement:
    message = f"not created: its StatefulSet waits for {awaited.name}, which is pending"
    return Placement(f"{queued.namespace}/{queued.name}", None, message=message)


def _place(run: Run, positions: list[int], progress: Progress | None) -> None:
    """Try pods in the order of the queue: priority first, then position; evicted ones join in."""
    queue = run.queue
    heap = [(-queue[i].priority, i) for i in positions]
    heapify(heap)
    tried = 0
    while heap:
        _, i = heappop(heap)
        known = len(queue)
        _try(run, queue[i])
        for added in range(known, len(queue)):
            heappush(heap, (-queue[added].priority, added))
        tried += 1
        if progress is not None:
            progress(tried, tried + len(heap))


def _try(run: Run, queued: QueuedPod) -> None:
    if queued.after is not None:
        before = run.outcome(queued.after)
        if before is None or before.pending:
            run.outcomes[id(queued)] = Outcome(_not_created(queued, queued.after))
            return
    scheduler = run.scheduler
    placement = scheduler.schedule(queued.pod, queued.name)
    outcome = Outcome(placement)
    if placement.node is None:
        outcome.verdict = scheduler.pending_verdict(queued.pod, queued.name)
        # kube-scheduler does not look for victims where there is no node at all (``ErrNoNodesAvailable``).
        failed = bool(outcome.verdict.error) or not outcome.verdict.nodes
        if run.options.preemption and not failed and scheduler.preempts(queued.pod):
            _preempt(run, queued, outcome, outcome.verdict)
    if outcome.placement.node is not None:
        run.placed_here[outcome.placement.pod] = queued
    outcome.position = run.cluster.journal.position
    run.outcomes[id(queued)] = outcome


def _preempt(run: Run, queued: QueuedPod, outcome: Outcome, verdict: Verdict) -> None:
    """Evict for the pod where that helps, and let it take the node it is then nominated for."""
    if run.budgets is not None:
        run.budgets.recount()
    found = run.scheduler.pending_preemption(queued.pod, verdict)
    candidate = run.scheduler.pick(found)
    if candidate is None:
        outcome.preemption = found
        return
    evict(run, candidate, queued)
    outcome.nominated = candidate.node
    outcome.placement = run.scheduler.schedule(queued.pod, queued.name, nominated=candidate.node)


def _worth_another_try(run: Run, queued: QueuedPod, binds: LatestBinds) -> bool:
    outcome = run.outcomes[id(queued)]
    if not outcome.pending or outcome.evicted:
        return False
    if queued.after is not None and _is_not_created(outcome):
        before = run.outcome(queued.after)
        return before is not None and not before.pending
    return binds.may_help(queued.namespace, outcome.verdict, outcome.position)
