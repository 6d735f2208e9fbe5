"""Fill a cluster with replicas, placed by the scheduling cycle, until the first stays pending.

Nothing is evicted for them, and pods that are already pending stay pending.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from itertools import groupby
from typing import Any, TypeVar

from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.pod import Pod
from topospread.api.well_known_labels import ZONE
from topospread.cluster.cluster import pod_key
from topospread.controllers.planned import QueuedPod, Workload
from topospread.drill.forked import answers, can_fork, cores
from topospread.drill.interruption import Interrupted
from topospread.errors import UsageError
from topospread.plugins.interface import NotJudgedError
from topospread.plugins.pod_group_members import group_key
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.scheduling.verdict import Verdict
from topospread.simulation.options import SimulationOptions
from topospread.simulation.outcome import not_asked
from topospread.simulation.pending import pending_group, reasons_by_domain_of
from topospread.simulation.placing import place_all
from topospread.simulation.result import DomainOutcome, PendingGroup
from topospread.simulation.run import PodOutcome, Run, prepare, spreads

from .result import Capacity, DomainRoom, KeyRoom, TargetRoom
from .wanted import Share, check_shares, copies, with_pod, within_quotas

Progress = Callable[[int, int | None], None]
Item = TypeVar("Item")
Answer = TypeVar("Answer")
_FIRST = 1024
_GROWTH = 8


@dataclass(frozen=True, slots=True)
class CapacityQuestion:
    """The replicas to fit into a cluster, as it is and after losses.

    Attributes:
        shares: workloads with their replicas per round; empty if `pod` is set.
        limit: maximum number of rounds; a round is the pod, or all shares once.
    """

    shares: tuple[Share, ...]
    pod: Pod | None
    limit: int
    options: SimulationOptions


@dataclass(frozen=True, slots=True)
class ParallelRun:
    """Runs independent computations in parallel.

    Attributes:
        workers: number of parallel processes; by default one for each core.
        progress: receives the number of finished items and the total.
    """

    workers: int | None = None
    progress: Progress | None = None

    def answers(self, ask: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """Return the answers for items, in their order.

        Raises:
            Exception: the exception of a function call.
            Interrupted: on Ctrl-C, with the answers so far.
        """
        if can_fork():
            return answers(ask, items, self.workers or cores(), self.progress)
        found: list[Answer] = []
        try:
            found.extend(map(ask, items))
        except KeyboardInterrupt:
            raise Interrupted(found) from None
        return found


@dataclass(frozen=True, slots=True)
class SomeAnswers:
    """The answers that were finished when the work was interrupted.

    Attributes:
        answers: in the order of the complete answer.
        of: planned number of answers.
    """

    answers: Sequence[Any]
    of: int

    def far(self, one: str, many: str) -> str:
        """Return ``after 2 of 3 losses``."""
        if not self.of:
            return f"before the first {one}"
        return f"after {len(self.answers)} of {self.of} {one if self.of == 1 else many}"


@dataclass(slots=True)
class _TargetPods:
    """The pods of one target to place, in order. The target already lacks the first ``missing`` pods."""

    row: Workload
    share: int
    replicas: int
    there: int
    queue: list[QueuedPod]
    missing: int
    placed: int = 0


@dataclass(slots=True)
class FilledCluster:
    """A simulation to which replicas are added. Its queue has only pods of other workloads.

    Attributes:
        rounds: complete rounds beyond the missing pods.
        nodes: node of each placed pod of the targets.
        last: the pod that found no node, and its verdict.
    """

    run: Run
    wanted: list[_TargetPods]
    waiting: Counter[str]
    rounds: int = 0
    nodes: list[str] = field(default_factory=list)
    last: tuple[QueuedPod, PodOutcome] | None = None

    def denied(self, row: Workload) -> tuple[QueuedPod, PodOutcome] | None:
        """Return the first pod of a target that the API server denies; None if it creates all."""
        refused = (each for each in self.run.plan.refused if each.workload is row)
        return next(((each, PodOutcome(not_asked(each))) for each in refused), None)

    @property
    def created(self) -> int:
        """The number of complete rounds that the API server admits, at most the prepared rounds."""
        return min((len(each.queue) - each.missing) // each.share for each in self.wanted)


def capacity_of(settled: Inventory, question: CapacityQuestion, progress: Progress | None = None) -> Capacity:
    """Return how many replicas fit into a stable cluster.

    Args:
        settled: the cluster after its pending pods were placed where they fit.
        progress: receives the number of placed rounds.

    Raises:
        UsageError: if a target is missing, or its pods have another scheduler.
        Interrupted: on Ctrl-C, with the complete rounds, if there are any.
    """
    rounds, known = min(question.limit, _FIRST), None
    while True:
        filled = None
        try:
            filled = prepared(settled, question, rounds)
            fill(filled, question, progress)
        except KeyboardInterrupt:
            if filled is not None and filled.rounds > (known.rounds if known is not None else 0):
                # interrupted: the incomplete round does not count
                filled.last = None
                for each in filled.wanted:
                    each.placed = each.missing + filled.rounds * each.share
                del filled.nodes[sum(each.placed for each in filled.wanted) :]
                known = _capacity(filled, question)
            if known is None:
                raise
            raise Interrupted(known) from None
        enough = filled.last is not None or rounds >= question.limit
        if enough or filled.rounds < rounds:
            return _capacity(filled, question)
        known, rounds = _capacity(filled, question), min(question.limit, rounds * _GROWTH)


def prepared(settled: Inventory, question: CapacityQuestion, rounds: int) -> FilledCluster:
    """Return the cluster, and the pods of this many rounds.

    Pending pods are attempted first, because nodes may be new.
    """
    options = with_fields(question.options, preemption=False, scale=None, one_of_many=True)
    if question.pod is not None:
        inventory, key = with_pod(settled, question.pod)
        run = prepare(inventory, options, with_spreads=False)
        own = [each for each in (*run.queue, *run.plan.refused) if key_of(each.workload) == key]
        wanted = [_TargetPods(each.workload, 1, 0, 0, copies(each, rounds, run.plan), 0) for each in own]
    else:
        probe = prepare(settled, options, with_spreads=False)
        rows = {key_of(each): each for each in probe.plan.workloads if each.template is not None}
        keys = check_shares(question.shares, rows)
        # During a rollout, surge pods exist in addition to the replicas. Rounds count pods in addition to both.
        there = {share: max(rows[key].replicas, len(rows[key].existing)) for share, key in keys.items()}
        admitted, denied = within_quotas(probe.plan, [(rows[key], share.number) for share, key in keys.items()], rounds)
        more = {share: there[share] + number for share, number in zip(keys, admitted, strict=True)}
        scale = {f"{key[1]}/{key[0].lower()}/{key[2]}": more[share] for share, key in keys.items()}
        run = prepare(settled, with_fields(options, scale=scale), with_spreads=False)
        missing = Counter(key_of(each.workload) for each in probe.queue)
        after = {key_of(each): each for each in run.plan.workloads}
        if denied is not None:
            denied.workload = after[key_of(denied.workload)]
            run.plan.refused.insert(0, denied)
        queues: dict[ObjectKey, list[QueuedPod]] = {key: [] for key in keys.values()}
        for each in run.queue:
            queues.get(key_of(each.workload), []).append(each)
        wanted = [
            _TargetPods(
                after[key], share.number, rows[key].replicas, len(rows[key].existing), queues[key], missing[key]
            )
            for share, key in keys.items()
        ]
    refused = {id(each.workload) for each in run.plan.refused}
    if not wanted or not all(each.queue or id(each.row) in refused for each in wanted):
        what = question.pod.name if question.pod is not None else ", ".join(each.target for each in question.shares)
        raise UsageError(f"{what}: kube-scheduler ignores its pods because of their scheduling gates")
    return FilledCluster(run, wanted, _place_others(run, {key_of(each.row) for each in wanted}))


def _place_others(run: Run, targets: set[ObjectKey]) -> Counter[str]:
    """Place other pending pods, such as DaemonSet pods on new nodes. Return workload → how many stay pending."""
    others = [each for each in run.queue if key_of(each.workload) not in targets]
    run.queue = others
    place_all(run)
    pending = [each for each in others if run.outcomes[id(each)].pending]
    if run.scheduler.has_groups:
        from topospread.simulation.group_attempts import give_up

        for group in {key for each in pending if (key := group_key(each.pod)) is not None}:
            words = f"the PodGroup {group[1]}, whose pods of several workloads wait"
            give_up(run, group, NotJudgedError("podGroups", "spec.schedulingGroup", words))
    pending += run.plan.refused
    return Counter(f"{each.namespace}/{each.workload.name}" for each in pending if key_of(each.workload) not in targets)


def fill(
    filled: FilledCluster,
    question: CapacityQuestion,
    progress: Progress | None = None,
    grow: Callable[[FilledCluster, QueuedPod], bool] | None = None,
) -> None:
    """Place the missing pods, then complete rounds, until a pod finds no node.

    Args:
        progress: receives the number of complete rounds.
        grow: function that adds a node for a pending pod, and returns whether to attempt the pod again.
    """
    for wanted in filled.wanted:
        for _, missing in groupby(wanted.queue[: wanted.missing], key=lambda each: group_key(each.pod)):
            if not _place(filled, wanted, [*missing], grow, at_once=True):
                return
    position = {id(each): each.missing for each in filled.wanted}
    while filled.rounds < question.limit:
        for wanted in filled.wanted:
            begin = position[id(wanted)]
            pods = wanted.queue[begin : begin + wanted.share]
            if not _place(filled, wanted, pods, grow):
                return
            if len(pods) < wanted.share:
                filled.last = filled.denied(wanted.row)
                return
            position[id(wanted)] = begin + wanted.share
        filled.rounds += 1
        if progress is not None and not filled.rounds % 100:
            progress(filled.rounds, None)


def _place(
    filled: FilledCluster,
    wanted: _TargetPods,
    pods: Sequence[QueuedPod],
    grow: Callable[[FilledCluster, QueuedPod], bool] | None,
    *,
    at_once: bool = False,
) -> bool:
    """Place pods one by one. Return whether all found nodes. ``at_once``: pods of one PodGroup are placed together."""
    run = filled.run
    at_once = at_once and bool(pods) and _is_grouped(run, pods[0]) and not any(each.after for each in pods)
    for batch in [pods] if at_once else ([each] for each in pods):
        rest = batch
        while rest:
            outcomes = _tried(run, rest, at_once=at_once)
            tried, rest = rest, [each for each, one in zip(rest, outcomes, strict=True) if one.pending]
            wanted.placed += len(tried) - len(rest)
            filled.nodes += [one.placement.node for one in outcomes if one.placement.node is not None]
            if rest and (grow is None or not grow(filled, rest[0])):
                last = next(one for one in outcomes if one.pending)
                if last.verdict is None and not last.placement.unbound:
                    last.verdict = run.scheduler.pending_verdict(rest[0].pod, rest[0].name)
                filled.last = rest[0], last
                return False
    return True


def _is_grouped(run: Run, queued: QueuedPod) -> bool:
    return group_key(queued.pod) in (run.cluster.objects.whole_groups or ())


def _tried(run: Run, pods: Sequence[QueuedPod], *, at_once: bool) -> list[PodOutcome]:
    if _is_grouped(run, pods[0]):
        from topospread.simulation.group_attempts import try_more

        outcomes = try_more(run, pods, all_exist=at_once)
        if outcomes is not None:
            return outcomes
    placed = []
    for each in pods:
        promised = run.cluster.nominated_node(pod_key(each.namespace, each.name))
        placed.append(PodOutcome(run.scheduler.schedule(each.pod, each.name, nominated=promised)))
    return placed


def _capacity(filled: FilledCluster, question: CapacityQuestion) -> Capacity:
    run = filled.run
    targets = tuple(
        TargetRoom(
            each.row.kind,
            each.row.namespace,
            each.row.name,
            each.share,
            each.replicas,
            each.there,
            max(each.missing - each.placed, 0),
            filled.rounds * each.share,
            each.placed,
        )
        for each in filled.wanted
    )
    pending, verdict, evicts = None, None, ""
    if filled.last is not None:
        queued, outcome = filled.last
        verdict = outcome.verdict
        pending = pending_group(queued.workload, (queued.name,), outcome, run.cluster)
        evicts = _evicts(run, queued, verdict, question)
    keys = tuple(_keys(filled, pending, verdict))
    short = min(filled.wanted, key=lambda each: (len(each.queue) - each.missing) // each.share)
    denied = filled.denied(short.row)
    return Capacity(
        filled.rounds,
        targets,
        keys,
        pending,
        filled.waiting,
        len(run.cluster.nodes),
        evicts,
        filled.created if denied else None,
        pending_group(denied[0].workload, (denied[0].name,), denied[1], run.cluster) if denied else None,
    )


def _evicts(run: Run, queued: QueuedPod, verdict: Verdict | None, question: CapacityQuestion) -> str:
    scheduler = run.scheduler
    asks = verdict is not None and not verdict.error and bool(verdict.nodes) and question.options.preemption
    if not asks or verdict is None or not scheduler.preempts(queued.pod) or _is_grouped(run, queued):
        return ""
    candidate = scheduler.pick(scheduler.pending_preemption(queued.pod, verdict))
    return "" if candidate is None else ", ".join(each.key for each in candidate.victims)


def _keys(filled: FilledCluster, pending: PendingGroup | None, verdict: Verdict | None) -> Iterator[KeyRoom]:
    """Yield the targets' topology keys, hard constraints first, and zone."""
    run = filled.run
    rows = {id(each.row) for each in filled.wanted}
    found = [one for row, each in spreads(run).items() if row in rows for one in each]
    first: dict[str, ConstraintArithmetic | None] = {}
    for one in sorted(found, key=lambda one: not one.hard):
        first.setdefault(one.topology_key, one)
    if any(node is not None and ZONE in node.labels for node in run.cluster.nodes.nodes):
        first.setdefault(ZONE, None)
    outcomes = {one.topology_key: (one, each) for one, each in (pending.outcomes if pending is not None else ())}
    for key, constraint in first.items():
        arithmetic, domains = outcomes.get(key, (constraint, ()))
        if arithmetic is not None and not domains:
            domains = tuple(DomainOutcome(each, {}) for each in arithmetic.domains)
        hard = arithmetic if arithmetic is not None and arithmetic.hard else None
        rooms = tuple(_domains(filled, key, verdict))
        yield KeyRoom(key, rooms, hard, {each.domain.name: each for each in domains})


def _domains(filled: FilledCluster, key: str, verdict: Verdict | None) -> Iterator[DomainRoom]:
    cluster = filled.run.cluster
    label = {node.name: node.labels.get(key, "") for node in cluster.nodes.nodes if node is not None}
    more, nodes = Counter(label[each] for each in filled.nodes), Counter(label.values())
    judged = verdict is not None and not verdict.error
    rejected = reasons_by_domain_of(key, verdict, cluster) if judged and verdict is not None else {}
    for name in sorted(nodes):
        if name or more[name]:
            yield DomainRoom(name, more[name], nodes[name], rejected.get(name, {}))
