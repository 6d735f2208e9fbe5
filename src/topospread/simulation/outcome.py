"""The result of a finished run as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat

import numpy as np

from topospread.cluster import Cluster
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
    Reasons,
    Simulation,
    WorkloadResult,
    WorkloadSpread,
)
from .result import Placement as PodPlacement
from .run import PodOutcome, Run, spreads
from .unknown import unjudged_of


def exceeded(
    before: ConstraintArithmetic, after: ConstraintArithmetic, counted: CountedPods, takes_more: bool
) -> Exceeded:
    """Return why a constraint's skew exceeds maxSkew; "" if it does not.

    A hard constraint limits only placements of the workload's own pods. So its excess existed before, or is due to
    another workload's pods.

    Args:
        before, after: counts before and after the workload's pods were placed.
        counted: workloads whose pods are counted; empty if all are the workload's own.
        takes_more: whether a domain with the fewest pods has a node that is feasible for one more pod.
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
    return "scores" if takes_more else "full"


def fewest_take_more(arithmetic: ConstraintArithmetic, rejected: Mapping[str, Reasons], cluster: Cluster) -> bool:
    """Return whether a domain with the fewest pods has a node that is feasible for one more pod."""
    nodes = cluster.nodes
    column = nodes.labels(arithmetic.topology_key)
    codes = column.codes[: nodes.size]
    there = np.bincount(codes[codes >= 0], minlength=len(column.values))
    return any(sum(rejected.get(name, {}).values()) < there[column.code(name)] for name in arithmetic.minimum_domains)


Rejected = dict[str, dict[str, int]]
"""Domain → reason → number of nodes."""


def result_of(run: Run) -> Simulation:
    """Return the result of a run."""
    before = run.before
    after = spreads(run)
    planned = run.plan
    tried = [(queued, run.outcomes[id(queued)]) for queued in run.queue if not run.outcomes[id(queued)].evicted]
    tried += [(queued, PodOutcome(not_asked(queued))) for queued in (*planned.gated, *planned.refused)]
    placements = [_placement(queued, outcome) for queued, outcome in tried]
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
        spread = tuple(map(_spread, before.get(id(each), ()), now, rejected, whose, repeat(run)))
        workloads.append(_workload(each, new[id(each)], missing[id(each)], spread))
    return Simulation(
        placements=tuple(placements),
        workloads=tuple(workloads),
        pending=tuple(_pending(tried, run)),
        nodes=len(run.cluster.nodes),
        skipped=planned.inventory.skipped,
        foreign=planned.foreign,
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
        verdicts=run.scheduler.verdicts if isinstance(run.scheduler, WatchingScheduler) else {},
        unjudged=unjudged_of(
            (part, f"{queued.namespace}/{queued.name}")
            for queued, outcome in tried
            if outcome.pending
            for part in outcome.unjudged
        ),
    )


def _capacity_notes(run: Run) -> list[str]:
    """Return notes on drivers whose published capacity decided, but was not reduced by the run's own volumes."""
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
        f"{made[name]} volume{'s' if made[name] > 1 else ''} of {name} would be made: the capacity that it publishes "
        "(CSIStorageCapacity) is taken as it is, not reduced by them"
        for name in sorted(publishing)
    ]


def _order_may_decide(run: Run) -> list[str]:
    """Return notes on pending pods that might be placed if the workloads' pods came in another order."""
    pending = {queued.priority for queued in run.queue if run.outcomes[id(queued)].verdict and _is_new(run, queued)}
    workloads = {id(queued.workload) for queued in run.queue if not queued.created and queued.priority in pending}
    if len(workloads) < 2 or run.options.one_of_many:
        return []
    return [
        f"pods of {len(workloads)} workloads are placed in the order of the input; controllers create them at once, "
        "and others may be pending then: --orders 20 tries that"
    ]


def _batch_notes(placements: Iterable[Placement]) -> list[str]:
    """Return a note on the pods that got a node from the batch of the pods before."""
    hinted = [each for each in placements if each.hinted]
    if not hinted:
        return []
    first = f"{hinted[0].pod} on {hinted[0].node}"
    others = f" and {len(hinted) - 1} more" if hinted[1:] else ""
    return [f"{first}{others}: not scored anew, the next best for the equal pods before (OpportunisticBatching)"]


def _is_new(run: Run, queued: QueuedPod) -> bool:
    return not queued.created and run.outcomes[id(queued)].pending


def _placement(queued: QueuedPod, outcome: PodOutcome) -> PodPlacement:
    placement = outcome.placement
    return PodPlacement(
        namespace=queued.namespace,
        name=queued.name,
        workload=f"{queued.workload.kind}/{queued.workload.name}",
        node=placement.node,
        message=placement.message,
        score=placement.score,
        nominated_node=outcome.nominated or None,
    )


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

    Pods with ephemeral volumes have their own claims, so a pending pod is needed; without one the result is empty.
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
    was: ConstraintArithmetic, now: ConstraintArithmetic, rejected: Rejected, counted: CountedPods, run: Run
) -> WorkloadSpread:
    takes_more = now.skew > now.max_skew and fewest_take_more(now, rejected, run.cluster)
    why = exceeded(was, now, counted, takes_more)
    return WorkloadSpread(
        topology_key=now.topology_key,
        when_unsatisfiable=now.when_unsatisfiable,
        max_skew=now.max_skew,
        origin=now.origin,
        skew=now.skew,
        domains=DomainSpreads(was.domains, now.domains, rejected),
        arithmetic=now,
        counted=counted,
        exceeded="sampled" if why == "scores" and run.options.sampling == "kube" else why,
    )


def _pending(tried: Iterable[tuple[QueuedPod, PodOutcome]], run: Run) -> list[PendingGroup]:
    """Return pending pods grouped by workload and message, in queue order."""
    groups: dict[tuple[int, str], tuple[Workload, list[str], PodOutcome]] = {}
    for queued, outcome in tried:
        if outcome.pending:
            key = (id(queued.workload), outcome.placement.message)
            groups.setdefault(key, (queued.workload, [], outcome))[1].append(queued.name)
    return [pending_group(workload, tuple(names), outcome, run.cluster) for workload, names, outcome in groups.values()]
