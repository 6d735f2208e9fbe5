"""The answer of ``topospread status``: pending pods by cause, exceeded constraints, and the pods that a loss takes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace as with_fields
from itertools import islice
from typing import Annotated, ClassVar

from msgspec import Meta, field
from msgspec.structs import replace

from topospread.answer import Answer, Cause, Remedy, Tried, Unjudged
from topospread.api.inventory import Inventory, key_of
from topospread.api.labels import Selector
from topospread.base import Word
from topospread.controllers.node_lifecycle import is_silent
from topospread.controllers.planned import Workload
from topospread.rebalance.at_once import moves_at_once
from topospread.rebalance.result import Rebalance
from topospread.simulation.missed_selectors import missed_selectors
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.pending import reasons_by_domain
from topospread.simulation.placing import Progress
from topospread.simulation.run import Run, prepare
from topospread.status.result import DomainRisk, WorkloadStatus
from topospread.status.status import LookedFor, spread_of_run
from topospread.traffic.result import ExpectedTraffic
from topospread.why.explain import Waiting, explain_pending

from .asked import asked_of, input_words
from .causes import all_tainted
from .pending_pods import Pending, pending_groups
from .words import agreeing, counted, in_order, listed, noun_of

_MOST_CAUSES = 3
_MOST_LOOKED_AT = 100
"""Maximum number of exceeded workloads whose domains are checked for taints."""


class Status(Answer, frozen=True, kw_only=True):
    """Does every pod have a node, and does every hard constraint hold?"""

    PAGE: ClassVar[str] = "topospread.render.pages.status:page"

    kind: str = "Status"
    nodes: Annotated[int, Meta(description="Number of nodes.")] = 0
    pending: Annotated[tuple[Pending, ...], Meta(description="Pods without a node by cause, most pods first.")] = ()
    exceeded: Annotated[int, Meta(description="Number of chosen workloads that exceed a hard constraint.")] = 0
    next: Annotated[
        tuple[str, ...], Meta(description="Words of `topospread rebalance`, if it may help and was not tried.")
    ] = ()
    waiting: Annotated[
        bool, Meta(description="Whether the question is only about pending pods; then constraints are not checked.")
    ] = False
    workloads: Annotated[
        tuple[WorkloadStatus, ...],
        Meta(description="Worst first, by hard constraints, refused pods, soft constraints and the loss of a domain."),
    ] = ()
    not_ready: Annotated[
        dict[str, tuple[str, ...]],
        Meta(description="Name of each node that is not Ready → its pods of these workloads, as NAMESPACE/NAME."),
    ] = field(default_factory=dict)
    domains: Annotated[
        tuple[DomainRisk, ...], Meta(description="Domains that hold pods, for each topology key the worst first.")
    ] = ()
    traffic: Annotated[
        ExpectedTraffic | None, Meta(description="With `--traffic`: the expected requests of Services.")
    ] = None
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings for the user.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Further sentences.")] = ()

    def with_min_skew(self, skew: int) -> Status:
        """Return the status limited to constraints with at least this skew, and their workloads."""
        restricted = [
            replace(each, constraints=tuple(one for one in each.constraints if one.skew >= skew))
            for each in self.workloads
        ]
        return replace(self, workloads=tuple(each for each in restricted if each.constraints))


def status(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    options: SimulationOptions = PLAIN,
    *,
    targets: Sequence[str] = (),
    waiting: bool = False,
    namespace: str | None = None,
    selector: Selector | None = None,
    keys: Collection[str] = (),
    allow_empty: bool = False,
    suggest: bool = True,
    typed: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Status:
    """Return the status of a cluster's pods and constraints.

    Args:
        inventory: the input, which is not changed.
        options: the control plane.
        targets: show these workloads, ``[NAMESPACE/]KIND/NAME``; by default all.
        waiting: show only pending pods; the verdict is only about them.
        namespace: show workloads of this namespace; pods of all namespaces count.
        selector: show workloads whose pods have these labels.
        keys: show these topology keys; by default the keys of all constraints, zone and hostname.
        allow_empty: accept a selector that selects no workload.
        suggest: try changes that would help pending pods.
        typed: command-line words for the same input, used in suggested commands; by default the files that were read.
        progress: receives the number of examined workloads, then of examined pods.

    Returns:
        The answer. Its verdict is no if a pod finds no node or a hard constraint is exceeded.

    Raises:
        InputError: if the API server denies an object.
        UsageError: if the namespace is empty, the selector matches no workload, or no node has a topology key.
    """
    run = prepare(inventory, with_fields(options, tries_groups=True), with_spreads=False)
    spread = spread_of_run(run, LookedFor(namespace, selector, keys, allow_empty, targets), progress)
    shown = {key_of(each) for each in spread.workloads}
    chosen = {each for each in run.plan.workloads if key_of(each) in shown}
    explained = None
    if any(each.workload in chosen for each in (*run.plan.queue, *run.plan.gated, *run.plan.refused)):
        explained = explain_pending(inventory, run, chosen, suggest=suggest, progress=progress)
    placements = () if explained is None else explained.simulation.placements
    pending = () if explained is None else tuple(pending_groups(inventory, explained, shown))
    exceeded, workloads = spread.exceeded, spread.workloads
    if waiting:
        exceeded = ()
    elif exceeded:
        workloads = tuple(_with_closed_domains(run, workloads))
        exceeded = tuple(each for each in workloads if each.hard_excess)
    if waiting:
        owners = {owner for each in pending for owner in each.workloads}
        workloads = tuple(each for each in workloads if f"{each.namespace}/{each.kind}/{each.name}" in owners)
    to_create = sum(each.node is not None and each.workload_key in shown for each in placements)
    remedies = [each.remedies[0] for each in pending if each.remedies]
    words = input_words(inventory) if typed is None else typed
    if namespace and words is not None and "-n" not in words:
        words = [*words, "-n", namespace]
    then: tuple[str, ...] = ()
    if exceeded:
        found = moves_at_once(inventory, options, namespace) if suggest else None
        if found is None or (found.moves and not found.mends_all):
            then = () if words is None else ("topospread", "rebalance", *words)
        elif found.moves:
            remedies.insert(1, _evictions(found, exceeded, words, namespace))
    unjudged = (
        *(() if explained is None else _unjudged_parts(explained, pending)),
        *(() if waiting else _unjudged_workloads(workloads)),
    )
    not_ready = {} if waiting else _not_ready(run, chosen)
    no = any(each.verdict == "no" for each in pending) or bool(exceeded)
    verdict: Word = "no" if no else "unknown" if unjudged else "yes"
    return Status(
        verdict=verdict,
        says=_says(verdict, pending, unjudged, None if waiting else exceeded, to_create)
        + (f"; {counted(len(not_ready), 'node')} {agreeing('are', len(not_ready))} not Ready" if not_ready else "")
        + f" ({counted(spread.nodes, 'node')}, {counted(len(spread.workloads), 'workload')})",
        causes=(
            *[each.causes[0] for each in pending if each.causes][:_MOST_CAUSES],
            *islice(_of_skews(exceeded), _MOST_CAUSES),
        ),
        remedies=tuple(remedies),
        unjudged=unjudged,
        on=asked_of(inventory, options),
        nodes=spread.nodes,
        pending=pending,
        next=then,
        exceeded=len(exceeded),
        waiting=waiting,
        workloads=workloads,
        not_ready=not_ready,
        domains=() if waiting else spread.domains,
        warnings=(
            *spread.warnings,
            *(
                ()
                if waiting
                else missed_selectors(
                    (f"{each.namespace}/{each.name}", (one for one in each.constraints if not one.revision))
                    for each in workloads
                )
            ),
        ),
        notes=spread.notes,
    )


def _not_ready(run: Run, chosen: Iterable[Workload]) -> dict[str, tuple[str, ...]]:
    """Return the name of each node that is not Ready → its pods of the chosen workloads."""
    found: dict[str, list[str]] = {
        each.name: [] for each in run.cluster.nodes.nodes if each is not None and is_silent(each)
    }
    for pod in (pod for each in chosen for pod in each.existing) if found else ():
        if (pods := found.get(pod.spec.node_name or "")) is not None:
            pods.append(f"{pod.namespace}/{pod.name}")
    return {name: tuple(pods) for name, pods in found.items()}


def _unjudged_parts(waiting: Waiting, pending: Iterable[Pending]) -> Iterator[Unjudged]:
    """Yield the unjudged parts that concern the shown pods."""
    shown = {pod for each in pending if each.verdict == "unknown" for pod in each.pods}
    for part in waiting.simulation.unjudged:
        pods = tuple(pod for pod in part.pods if pod in shown)
        if pods or shown:
            yield replace(part, pods=pods)


def _unjudged_workloads(workloads: Iterable[WorkloadStatus]) -> Iterator[Unjudged]:
    for each in workloads:
        if each.problem:
            because = f"the constraints of {each.namespace}/{each.name} cannot be read: {each.problem}"
            yield Unjudged(what="constraints", because=because, field="spec.topologySpreadConstraints")


def _of_skews(exceeded: Sequence[WorkloadStatus]) -> Iterator[Cause]:
    constraints = [each for workload in exceeded for each in workload.constraints if each.hard and each.excess]
    closed: dict[tuple[str, ...], list[str]] = {}
    for workload in exceeded:
        for domains in {each.closed for each in workload.constraints if each.closed}:
            closed.setdefault(domains, []).append(f"{workload.namespace}/{workload.name}")
    for domains, names in closed.items():
        verb = "counts with the fewest pods, and takes" if len(domains) == 1 else "count with the fewest pods, and take"
        says = f"{listed(domains, 2)} {verb} none: all nodes there are tainted (nodeTaintsPolicy: Ignore)"
        yield Cause(code="zone-gone-counts", says=f"{listed(names, 2)}: {says}", objects=domains)
    if any(not (each.counted or each.closed) for each in constraints):
        says = "maxSkew applies when a pod is placed, and nothing moves pods afterwards"
        yield Cause(code="skew-remains", says=says)
    if any(each.counted for each in constraints):
        says = "the constraint counts pods of other workloads, which their own constraints place"
        yield Cause(code="others-counted", says=says)


def _with_closed_domains(run: Run, workloads: Sequence[WorkloadStatus]) -> Iterator[WorkloadStatus]:
    """Yield the workloads; exceeded constraints name the domains whose taints keep the minimum low."""
    rows = {key_of(each): each.template for each in run.plan.workloads}
    for number, workload in enumerate(workloads):
        template = rows.get(key_of(workload))
        if template is None or not workload.hard_excess or number >= _MOST_LOOKED_AT:
            yield workload
            continue
        verdict = run.scheduler.verdict(template, workload.name)
        closed: dict[tuple[int, str], tuple[str, ...]] = {}
        for arithmetic in () if verdict.error else verdict.arithmetic:
            fewest = arithmetic.minimum_domains
            rejected = reasons_by_domain(arithmetic, verdict, run.cluster)
            if all(
                all_tainted(rejected.get(each.name, {}), each.nodes)
                for each in arithmetic.domains
                if each.name in fewest
            ):
                closed[arithmetic.position, arithmetic.topology_key] = fewest
        yield replace(
            workload,
            constraints=tuple(
                replace(each, closed=closed.get((each.position, each.topology_key), ()))
                if each.hard and each.excess and not each.revision
                else each
                for each in workload.constraints
            ),
        )


def _evictions(
    found: Rebalance, exceeded: Sequence[WorkloadStatus], typed: Sequence[str] | None, namespace: str | None
) -> Remedy:
    of = f" of namespace {namespace}" if namespace else ""
    most = "" if found.is_proved else "at most "
    wanted = sum(each.replicas for each in exceeded)
    return Remedy(
        code="rebalance",
        says=f"after {most}{counted(len(found.moves), 'eviction')} every hard constraint{of} holds",
        command=() if typed is None else ("topospread", "rebalance", *typed),
        tried=Tried(verdict="yes", places=wanted, of=wanted, evicts=len(found.moves)),
    )


def _says(
    verdict: Word,
    pending: Sequence[Pending],
    unjudged: Sequence[Unjudged],
    exceeded: Sequence[WorkloadStatus] | None,
    to_create: int,
) -> str:
    """Return the verdict in one sentence.

    Args:
        exceeded: exceeded workloads; None if only pending pods are shown.
    """
    no = [each for each in pending if each.verdict == "no"]
    pods = sum(len(each.pods) for each in no)
    unknown = {pod for each in pending if each.verdict == "unknown" for pod in each.pods}
    unknown |= {pod for each in unjudged for pod in each.pods}
    parts = []
    if pods:
        reasons = f" for {len(no)} causes" if len(no) > 1 else ""
        parts.append(f"{counted(pods, 'pod')} {'is' if pods == 1 else 'are'} pending{reasons}")
    if unknown:
        number = f"{len(unknown)} more" if pods else counted(len(unknown), "pod")
        parts.append(f"{number} {agreeing('are', len(unknown))} not judged")
    elif verdict == "unknown":
        parts.append("constraints cannot be judged")
    if exceeded:
        parts.append(_exceeded_words(exceeded))
    if not parts:
        node = "every pod has a node"
        if to_create:
            node = f"{counted(to_create, 'pod')} without a node can be placed"
        parts.append(node if exceeded is None else f"{node}, and every hard constraint holds")
    return "; ".join(parts)


def _exceeded_words(exceeded: Sequence[WorkloadStatus]) -> str:
    found = [(each, one) for each in exceeded for one in each.constraints if one.hard and one.excess]
    workload, worst = max(found, key=lambda each: each[1].excess)
    detail = f"{workload.namespace}/{workload.name} has skew {worst.skew} over {noun_of(worst.topology_key)}s"
    number = "1 hard constraint is" if len(found) == 1 else f"{len(found)} hard constraints are"
    others = in_order({f"{each.namespace}/{each.name}" for each, _ in found if each is not workload})
    also = f", also {listed(others, 2)}" if others else ""
    return f"{number} exceeded: {detail}, maxSkew {worst.max_skew}{also}"
