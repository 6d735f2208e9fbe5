"""The result of a finished run (`Simulation`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat

from topospread.api.well_known_labels import ZONE
from topospread.cluster.cluster import pod_key
from topospread.controllers.planned import QueuedPod, Workload
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, counts_of
from topospread.scheduling.cycle import Placement
from topospread.scheduling.watching import WatchingScheduler

from .counted import CountedPods, PodOwners
from .extender_notes import extender_notes
from .pending import pending_group, reasons_by_domain
from .result import (
    DomainSpreads,
    Exceeded,
    PendingGroup,
    Simulation,
    WorkloadResult,
    WorkloadSpread,
)
from .result import Placement as PodPlacement
from .run import PodOutcome, Run, spreads
from .unknown import unjudged_of


def exceeded(
    before: ConstraintArithmetic, after: ConstraintArithmetic, counted: CountedPods, of_soft: Callable[[], Exceeded]
) -> Exceeded:
    """Return why a constraint's skew exceeds maxSkew; "" if it does not.

    A hard constraint limits the placement of the workload's own pods, so it was exceeded before, or other workloads'
    pods exceed it.

    Args:
        before, after: counts before and after the workload's pods were placed.
        counted: workloads whose pods are counted; empty if all are the workload's own.
        of_soft: the reason if the constraint is soft and its workload's new pods exceed it.
    """
    if after.skew <= after.max_skew:
        return ""
    grew = counts_of(after.domains).sum() > counts_of(before.domains).sum()
    if before.skew > before.max_skew or not grew:
        return "before"
    if counted:
        return "others"
    if after.hard:
        return "before"
    return of_soft()


def _excess_of_soft(run: Run, now: ConstraintArithmetic, placed: Sequence[QueuedPod]) -> Exceeded:
    """Return why pods exceed a soft constraint: ``full``, ``scores`` or ``sampled``, as in `Exceeded`.

    It checks the last pod that was placed in a domain with the highest count, after this pod and all later pods of the
    workload are removed.

    Args:
        run: the run at its end.
        now: the counts of the constraint.
        placed: the workload's pods that found nodes, in this order.
    """
    cluster, nodes = run.cluster, run.cluster.nodes
    column = nodes.labels(now.topology_key)
    most = max(each.matching for each in now.domains)
    fullest = {column.code(each.name) for each in now.domains if each.matching == most}

    def code(node: str) -> int:
        return int(column.codes[nodes.row_of[node]])

    is_in_fullest = (code(cluster.assigned_node(_key(each))) in fullest for each in reversed(placed))
    later = next((after for after, found in enumerate(is_in_fullest, 1) if found), 0)
    if not later:
        return "full"
    with cluster.savepoint():
        for each in placed[-later:]:
            cluster.unbind(_key(each))
        verdict = run.scheduler.verdict(placed[-later].pod, placed[-later].name)
        own = (each for each in verdict.arithmetic if each.position == now.position and not each.hard)
        fewest = {column.code(name) for each in own for name in each.minimum_domains}
        if not any(code(node) in fewest for node in verdict.feasible):
            return "full"
    return "sampled" if run.options.sampling == "kube" else "scores"


def _key(queued: QueuedPod) -> str:
    return pod_key(queued.namespace, queued.name)


Rejected = dict[str, dict[str, int]]
"""Domain → reason → number of nodes."""


def result_of(run: Run) -> Simulation:
    """Return the result of a run."""
    before = run.before
    after = spreads(run)
    planned = run.plan
    tried = [(queued, run.outcomes[id(queued)]) for queued in run.queue if not run.outcomes[id(queued)].evicted]
    tried += [(queued, PodOutcome(not_asked(queued))) for queued in (*planned.gated, *planned.refused)]
    zones = {each.name: each.labels.get(ZONE) for each in run.cluster.nodes.nodes if each is not None}
    placements = [_placement(queued, outcome, zones) for queued, outcome in tried]
    placed: dict[int, list[QueuedPod]] = {}
    for queued, outcome in tried:
        if not outcome.pending:
            placed.setdefault(id(queued.workload), []).append(queued)
    waiting = {id(queued.workload): queued for queued, outcome in reversed(tried) if outcome.pending}
    missing = Counter(id(queued.workload) for queued, outcome in tried if outcome.pending)
    new = Counter(id(queued.workload) for queued, _ in tried)
    owners = PodOwners(run.cluster, run.owners, run.queue)
    workloads = []
    for each in planned.workloads:
        now = after.get(id(each), ())
        says_more = bool(new[id(each)]) and (missing[id(each)] > 0 or any(map(_uneven, now)))
        rejected = _rejected(run, each, now, waiting.get(id(each))) if says_more else [{} for _ in now]
        whose = [owners.counted_by(one, each) for one in now]
        of_soft = partial(_excess_of_soft, run, placed=placed.get(id(each), []))
        spread = tuple(map(_spread, before.get(id(each), ()), now, rejected, whose, repeat(of_soft)))
        workloads.append(_workload(each, new[id(each)], missing[id(each)], spread))
    return Simulation(
        placements=tuple(placements),
        workloads=tuple(workloads),
        pending=tuple(_pending(tried, run)),
        nodes=len(run.cluster.nodes),
        skipped=planned.inventory.skipped,
        evictions=tuple(run.evictions),
        removed={f"{pod.namespace}/{pod.name}": pod.spec.node_name or "" for pod in planned.removed},
        unused=tuple(planned.unused),
        warnings=(*planned.inventory.warnings, *planned.warnings),
        notes=(
            *planned.inventory.notes,
            *planned.notes,
            *_capacity_notes(run),
            *_order_may_decide(run),
            *extender_notes(run),
            *_batch_notes(outcome.placement for _, outcome in tried),
        ),
        bound=partial(_bound, run, zones),
        verdicts=run.scheduler.verdicts if isinstance(run.scheduler, WatchingScheduler) else {},
        unjudged=unjudged_of(
            (part, f"{queued.namespace}/{queued.name}")
            for queued, outcome in tried
            if outcome.pending
            for part in outcome.unjudged
        ),
    )


def _capacity_notes(run: Run) -> list[str]:
    """Return notes on CSI drivers with new volumes: the run does not reduce their CSIStorageCapacity."""
    objects, known = run.cluster.objects, {each.name for each in run.plan.inventory.persistent_volumes}
    made = Counter(
        each.spec.csi.driver
        for each in objects.persistent_volumes.values()
        if each.name not in known and each.spec.csi is not None
    )
    publishing = [
        name for name in made if name in objects.csi_drivers and objects.csi_drivers[name].spec.storage_capacity
    ]
    return [
        f"{made[name]} new volume{'s' if made[name] > 1 else ''} of {name}: the simulation does not subtract them from "
        "the capacity that the driver publishes (CSIStorageCapacity)"
        for name in sorted(publishing)
    ]


IN_ONE_ORDER = "are placed in the order of the input, but controllers create them at the same time"
"""Part of the note on other orders of pods."""


def _order_may_decide(run: Run) -> list[str]:
    """Return a note if other pods might be pending in another order of the workloads' pods."""
    pending = {queued.priority for queued in run.queue if run.outcomes[id(queued)].verdict and _is_new(run, queued)}
    workloads = {id(queued.workload) for queued in run.queue if not queued.created and queued.priority in pending}
    if len(workloads) < 2 or run.options.one_of_many:
        return []
    return [
        f"pods of {len(workloads)} workloads {IN_ONE_ORDER}, so other pods may be pending; try other orders with "
        "simulate --orders 20"
    ]


def _batch_notes(placements: Iterable[Placement]) -> list[str]:
    """Return a note on the pods that got their nodes from a batch, without new scores."""
    hinted = [each for each in placements if each.hinted]
    if not hinted:
        return []
    first = f"{hinted[0].pod} on {hinted[0].node}"
    others = f" and {len(hinted) - 1} more" if hinted[1:] else ""
    return [f"{first}{others}: not scored again, taken from an earlier equal pod's scores (OpportunisticBatching)"]


def _is_new(run: Run, queued: QueuedPod) -> bool:
    return not queued.created and run.outcomes[id(queued)].pending


def _placement(queued: QueuedPod, outcome: PodOutcome, zones: Mapping[str, str | None]) -> PodPlacement:
    placement = outcome.placement
    return PodPlacement(
        namespace=queued.namespace,
        name=queued.name,
        workload=f"{queued.workload.kind}/{queued.workload.name}",
        node=placement.node,
        zone=zones.get(placement.node or ""),
        message=outcome.message_of(f"{queued.namespace}/{queued.name}"),
        score=placement.score,
        nominated_node=outcome.nominated or None,
    )


def _bound(run: Run, zones: Mapping[str, str | None]) -> tuple[PodPlacement, ...]:
    """Return the pods that were on nodes before the run and were not evicted."""
    evicted = {f"{each.namespace}/{each.name}" for each in run.evictions}
    found = []
    for pod in run.plan.bound:
        key, node = pod_key(pod.namespace, pod.name), pod.spec.node_name or ""
        owner = run.owners.get(key)
        if key not in evicted:
            whose = f"{owner.kind}/{owner.name}" if owner is not None else f"Pod/{pod.name}"
            found.append(PodPlacement(pod.namespace, pod.name, whose, node, zones.get(node), "", None, None))
    return tuple(found)


def not_asked(queued: QueuedPod) -> Placement:
    """Return the result for a pod that kube-scheduler does not schedule."""
    return Placement(f"{queued.namespace}/{queued.name}", None, message=queued.waits)


def _workload(workload: Workload, new: int, missing: int, spread: tuple[WorkloadSpread, ...]) -> WorkloadResult:
    existing = len(workload.existing)
    return WorkloadResult(
        kind=workload.kind,
        namespace=workload.namespace,
        name=workload.name,
        replicas=workload.replicas,
        existing=existing,
        placed=existing + new - missing,
        pending=missing,
        spread=spread,
        notes=tuple(workload.notes),
        autoscaling=workload.autoscaling,
    )


def _uneven(arithmetic: ConstraintArithmetic) -> bool:
    counts = counts_of(arithmetic.domains)
    return len(counts) > 1 and bool(counts.max() - counts.min() > 1)


def _rejected(
    run: Run, workload: Workload, after: Sequence[ConstraintArithmetic], waiting: QueuedPod | None
) -> list[Rejected]:
    """Return for each constraint why each domain rejects one more pod.

    Each pod with ephemeral volumes has its own claims, so only a real pod can be checked: the pending pod ``waiting``.
    For such a workload without one, the result is empty.
    """
    pod, name = workload.template, ""
    if not after or pod is None:
        return []
    if any(volume.ephemeral is not None for volume in pod.spec.volumes or ()):
        if waiting is None:
            return [{} for _ in after]
        pod, name = waiting.pod, waiting.name
    verdict = run.scheduler.verdict(pod, name)
    return [reasons_by_domain(each, verdict, run.cluster) for each in after]


def _spread(
    was: ConstraintArithmetic,
    now: ConstraintArithmetic,
    rejected: Rejected,
    counted: CountedPods,
    of_soft: Callable[[ConstraintArithmetic], Exceeded],
) -> WorkloadSpread:
    return WorkloadSpread(
        topology_key=now.topology_key,
        when_unsatisfiable=now.when_unsatisfiable,
        max_skew=now.max_skew,
        origin=now.origin,
        skew=now.skew,
        domains=DomainSpreads(was.domains, now.domains, rejected),
        arithmetic=now,
        counted=counted,
        exceeded=exceeded(was, now, counted, partial(of_soft, now)),
    )


def _pending(tried: Iterable[tuple[QueuedPod, PodOutcome]], run: Run) -> list[PendingGroup]:
    """Return pending pods grouped by workload and message, in queue order."""
    groups: dict[tuple[int, str], tuple[Workload, list[str], PodOutcome]] = {}
    for queued, outcome in tried:
        if outcome.pending:
            key = (id(queued.workload), outcome.message_of(""))
            groups.setdefault(key, (queued.workload, [], outcome))[1].append(queued.name)
    return [pending_group(workload, tuple(names), outcome, run.cluster) for workload, names, outcome in groups.values()]
