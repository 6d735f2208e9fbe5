"""Placement of a run's pods in the order of kube-scheduler's queue (`virtual_queue`), with preemption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as with_fields

from msgspec.structs import replace

from topospread.cluster import PodClass
from topospread.cluster.cluster import pod_key
from topospread.controllers.planned import QueuedPod
from topospread.plugins.interface import NotJudgedError
from topospread.scheduling.cycle import Placement
from topospread.scheduling.preemption import Preemption

from .budgets import Budgets
from .evictions import MOST_PREEMPTIONS, evict
from .outcome import not_asked
from .run import PodOutcome, Run, note_placed, repeated
from .virtual_queue import VirtualQueue

Progress = Callable[[int, int], None]
"""Function that receives the number of pods scheduled so far and the total."""

Grow = Callable[[Run, VirtualQueue], bool]
"""Function that adds nodes for pending pods. It returns whether it added any."""

IN_VAIN = f"evicted other pods {MOST_PREEMPTIONS} times, but recreated pods take the room each time"


def place_all(run: Run, progress: Progress | None = None, grow: Grow | None = None) -> None:
    """Place the pods in the order of kube-scheduler's queue, until no attempt would change anything.

    ``grow``: function that is then called to add nodes. If it adds any, placing continues.
    """
    budgets = run.budgets = Budgets(run.cluster)
    queue = VirtualQueue(run)
    if run.options.tries_groups and run.scheduler.has_groups:
        from .group_attempts import take_in_groups

        take_in_groups(run, queue)
    place_waiting(run, queue, progress=progress)
    while grow is not None and grow(run, queue):
        place_waiting(run, queue, progress=progress)
    budgets.restore()
    if queue.groups is not None:
        from .group_attempts import outcomes_of_waiting

        run.outcomes |= outcomes_of_waiting(run, queue)
    for queued in run.queue:
        if id(queued) not in run.outcomes:  # its controller recreated it with scheduling gates
            run.outcomes[id(queued)] = PodOutcome(not_asked(queued))
    # All pods that a StatefulSet has not created wait for its first pending pod.
    first: dict[int, QueuedPod] = {}
    for queued in run.queue:
        outcome = run.outcomes[id(queued)]
        if queued.after is None or not (outcome.pending and outcome.verdict is None and not outcome.evicted):
            continue
        first[id(queued)] = awaited = first.get(id(queued.after), queued.after)
        outcome.placement = _not_created(queued, awaited)


def place_waiting(run: Run, queue: VirtualQueue, until: int | None = None, progress: Progress | None = None) -> None:
    """Place the queued pods until no attempt would change anything.

    ``until``: limit of the virtual time (`VirtualQueue.next`).
    """
    tried = 0
    while True:
        passed_over = queue.pass_over()
        run.scheduler.passed_over(passed_over)
        tried += passed_over
        queued = queue.next(until)
        if queued is None:
            return
        if queue.group is None:
            _try(run, queue, queued)
        else:
            from .group_attempts import try_group_at_hand

            try_group_at_hand(run, queue)
        tried += 1
        if progress is not None:
            progress(tried, tried + len(queue))


def _not_created(queued: QueuedPod, awaited: QueuedPod) -> Placement:
    message = f"not created: its StatefulSet waits for {awaited.name}, which is pending"
    return Placement(f"{queued.namespace}/{queued.name}", None, message=message)


def _try(run: Run, queue: VirtualQueue, queued: QueuedPod) -> None:
    if queued.after is not None:
        before = run.outcome(queued.after)
        if before is None or before.pending:
            run.outcomes[id(queued)] = PodOutcome(_not_created(queued, queued.after))
            queue.hold(queued)
            return
    last = queue.refused_last(queued)
    outcome = None if last is None else repeated(last, run, queued)
    if outcome is not None:
        run.scheduler.passed_over(1)
    else:
        outcome = _placed(run, queue, queued)
        pod_class = run.cluster.shared_class(queued.pod)
        if outcome.pending and not run.scheduler.framework_of(pod_class).asks(pod_class):
            queue.refusals.note(pod_class, outcome)
    run.outcomes[id(queued)] = outcome
    if outcome.placement.node is not None:
        note_placed(run, queued, outcome.placement.pod)
        queue.bound(queued, outcome.placement.pod)
        return
    queue.failed(outcome.verdict)


def _placed(run: Run, queue: VirtualQueue, queued: QueuedPod) -> PodOutcome:
    """Schedule a pod: bind it, or record why no node is feasible, and try preemption."""
    scheduler, before = run.scheduler, run.outcome(queued)
    promised = run.cluster.nominated_node(pod_key(queued.namespace, queued.name))
    placement = scheduler.schedule(queued.pod, queued.name, nominated=promised)
    outcome = PodOutcome(placement)
    if before is not None:
        outcome.nominated, outcome.preempted = before.nominated, before.preempted
        outcome.unjudged = before.unjudged
    if placement.node is None:
        outcome.verdict = scheduler.pending_verdict(queued.pod, queued.name)
        # kube-scheduler does not run preemption in a cluster without nodes (``ErrNoNodesAvailable``).
        failed = placement.unbound or bool(outcome.verdict.error) or not outcome.verdict.nodes
        asks = run.options.preemption and not failed and scheduler.preempts(queued.pod)
        if not failed and scheduler.release_claim(queued.pod, queued.name, outcome.verdict):
            return outcome  # PostFilter may have deallocated the claim; the stamp makes the queue try the pod again
        if asks and _preempt(run, queue, queued, outcome):
            return outcome
        if outcome.verdict.error and outcome.verdict.unjudged:
            outcome.unjudged = outcome.verdict.unjudged
        if promised and not (outcome.preemption is not None and outcome.preemption.keeps_promise):
            run.cluster.withdraw(outcome.placement.pod)
    outcome.stamp = run.cluster.journal.stamp
    return outcome


def _unjudged_victims(run: Run, pod_class: PodClass) -> tuple[NotJudgedError, ...]:
    if not run.scheduler.has_groups or run.options.assumes_unjudged:
        return ()
    from topospread.scheduling.pod_groups import unjudged_victims

    found = unjudged_victims(run.cluster, pod_class, run.scheduler.framework_of(pod_class).gates)
    return () if found is None else (found,)


def _preempt(run: Run, queue: VirtualQueue, queued: QueuedPod, outcome: PodOutcome) -> bool:
    """Evict pods for a pending pod if that helps, and nominate the node for it (preemption/executor.go).

    Return whether pods were evicted. Otherwise record in ``outcome`` why not.
    """
    assert outcome.verdict is not None, "the pod was scheduled and rejected"
    if run.budgets is not None:
        run.budgets.recount()
    if outcome.preempted == MOST_PREEMPTIONS:
        outcome.preemption = Preemption(message=IN_VAIN)
        return False
    found = run.scheduler.pending_preemption(queued.pod, outcome.verdict)
    candidate = run.scheduler.pick(found)
    pod_class = run.cluster.shared_class(queued.pod)
    extenders = run.scheduler.framework_of(pod_class).extenders(pod_class, "preemptVerb")
    group = _unjudged_victims(run, pod_class)
    unjudged = outcome.verdict.unjudged or extenders or group
    if (candidate is not None and unjudged) or group:
        # Evictions might help, but that depends on a filter or extender which topospread does not model.
        outcome.placement = replace(outcome.placement, message=str(unjudged[0]))
        outcome.verdict = with_fields(outcome.verdict, unjudged=unjudged, error=str(unjudged[0]))
        return False
    if candidate is None:
        outcome.preemption = found
        return False
    queue.preempts()
    for gone in evict(run, [victim.key for victim in candidate.victims], queued):
        queue.evicted(gone)
    promised = run.cluster.nominated.get(run.cluster.nodes.row_of[candidate.node], {})
    for other in [other for other, each in promised.items() if each.priority < pod_class.priority]:
        run.cluster.withdraw(other)
    run.cluster.nominate(outcome.placement.pod, pod_class, candidate.node)
    queue.created()
    outcome.nominated = candidate.node
    outcome.preempted += 1
    return True
