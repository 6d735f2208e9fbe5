"""The way from an inventory to a status. Nothing is placed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory
from topospread.api.labels import Selector
from topospread.api.selector_text import nothing_selected
from topospread.cluster import PodClass
from topospread.errors import UsageError
from topospread.scheduling.cycle import Scheduler
from topospread.simulation.counted import PodOwners
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.placing import Progress
from topospread.simulation.run import Run, prepare
from topospread.workloads.planned import Workload
from topospread.workloads.scale import the_workload

from .constraints import spreads_of
from .members import Members, owners_of, workloads_of
from .one_workload import Asked, looked_at
from .refused import Refusals
from .result import RefusedPod, SpreadStatus, WorkloadStatus
from .risk import domains_at_risk, is_on_nodes, keys_at_risk, losses

# Bare pods, a workload each, but looked at together where they are alike: one is like the other but for its node.

Chosen = tuple[Workload, Members]
"""A workload and its pods on nodes."""


def looked_at_one_by_one(chosen: Iterable[Chosen], scheduler: Scheduler, asked: Asked) -> Iterator[WorkloadStatus]:
    """Yield the status of each workload, in order; bare pods of one class cost as much as one."""
    chosen = list(chosen)
    alike = _alike(chosen)
    known: dict[PodClass, _AlikePods] = {}
    for workload, members in chosen:
        pod_class = _only_class(workload, members)
        if pod_class is None:
            yield looked_at(workload, members, spreads_of(scheduler, workload, members), asked)
            continue
        if pod_class not in known:
            known[pod_class] = _AlikePods(workload, alike[pod_class], scheduler, asked)
        yield known[pod_class].one(workload)


class _AlikePods:
    """Bare pods of one class; whose pods its constraints count is the same for all of them."""

    def __init__(self, first: Workload, members: Members, scheduler: Scheduler, asked: Asked) -> None:
        self._model = looked_at(first, members, spreads_of(scheduler, first, members), asked)
        self._refused: dict[str, RefusedPod] = {each.name: each for each in self._model.refused}

    def one(self, workload: Workload) -> WorkloadStatus:
        refused = self._refused.get(workload.name)
        return with_fields(self._model, name=workload.name, existing=1, refused=() if refused is None else (refused,))


def _alike(chosen: Iterable[Chosen]) -> dict[PodClass, Members]:
    """Class → all the bare pods of it."""
    found: dict[PodClass, Members] = {}
    for workload, members in chosen:
        pod_class = _only_class(workload, members)
        if pod_class is not None:
            together = found.setdefault(pod_class, Members({pod_class: {}})).on[pod_class]
            for row, keys in members.on[pod_class].items():
                together.setdefault(row, []).extend(keys)
    return found


def _only_class(workload: Workload, members: Members) -> PodClass | None:
    """The class of a bare pod that is on a node."""
    return next(iter(members.classes)) if workload.kind == "Pod" and len(members.on) == 1 else None


class LookedFor(NamedTuple):
    """The workloads and topology keys that are looked for; ``None`` and nothing stand for all."""

    namespace: str | None
    selector: Selector | None
    keys: Collection[str]
    allow_empty: bool
    targets: Sequence[str] = ()


def status(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    options: SimulationOptions = PLAIN,
    *,
    namespace: str | None = None,
    selector: Selector | None = None,
    keys: Collection[str] = (),
    allow_empty: bool = False,
    progress: Progress | None = None,
) -> SpreadStatus:
    """Return the present spread of every workload's pods, and the risks.

    Pods without a node stay without one: `simulate` says where they would go.

    Args:
        inventory: the input, which is not changed.
        options: the control plane.
        namespace: look at workloads of this namespace; the pods of all namespaces are there all the same.
        selector: look at workloads whose pods have these labels.
        keys: look at these topology keys; by default at those of all constraints, at zone and at hostname.
        allow_empty: accept a selector that selects no workload.
        progress: told how many workloads of how many were looked at.

    Raises:
        InputError: an object that the API server would refuse.
        UsageError: if nothing is in the namespace, the selector selects nothing, or no node has a key.
    """
    options = replace(options, preemption=False)  # nobody is evicted: budgets are not asked
    run = prepare(inventory, options, with_spreads=False)
    return spread_of_run(run, LookedFor(namespace, selector, keys, allow_empty), progress)


def spread_of_run(run: Run, wanted: LookedFor, progress: Progress | None = None) -> SpreadStatus:
    """Return how the pods of a prepared run are spread; the run is left at its beginning.

    Raises:
        UsageError: if nothing is in the namespace, the selector selects nothing, or no node has a key.
    """
    with run.cluster.savepoint():
        for pod in run.plan.removed:
            run.cluster.add_pod(pod)
        return _spread_of(run, wanted, progress)


def _spread_of(run: Run, wanted: LookedFor, progress: Progress | None) -> SpreadStatus:
    found: list[tuple[Members, WorkloadStatus]] = []
    chosen = _chosen(run, wanted)
    asked = Asked(Refusals(run.scheduler), PodOwners(run.cluster, owners_of(run), ()))
    for done, looked in enumerate(looked_at_one_by_one(chosen, run.scheduler, asked)):
        if progress is not None:
            progress(done, len(chosen))
        found.append((chosen[done][1], _with_keys(looked, wanted.keys)))
    keys = tuple(wanted.keys) or keys_at_risk((each for _, each in found), run.cluster)
    told = [with_fields(each, losses=losses(each.kind, members, keys, run.cluster)) for members, each in found]
    workloads = tuple(sorted(told, key=goodness))
    return SpreadStatus(
        nodes=len(run.cluster.nodes),
        workloads=workloads,
        domains=domains_at_risk(workloads, keys, run.cluster),
        warnings=(*run.plan.inventory.warnings, *run.plan.warnings),
        notes=(*run.plan.inventory.notes, *run.plan.notes, *_surplus(run)),
    )


def _chosen(run: Run, wanted: LookedFor) -> list[tuple[Workload, Members]]:
    """The workloads that are looked for, with their pods.

    Raises:
        UsageError: if nothing is in the namespace, a target does not exist, the selector selects nothing, or no node
            has a key.
    """
    every = list(workloads_of(run.plan, run.owners))
    _check(run, every, wanted.namespace, wanted.keys)
    there = [each for each in every if wanted.namespace in (None, each.namespace)]
    if wanted.targets:
        keys = [(each.kind, each.namespace, each.name) for each in every]
        named = {the_workload(each, keys, wanted.namespace) for each in wanted.targets}
        there = [each for each, key in zip(every, keys, strict=True) if key in named]
    found = [(each, Members.found(each.existing, run.cluster)) for each in there]
    selector = wanted.selector
    if selector is None:
        return found
    selected = [each for each in found if _is_selected(run, *each, selector)]
    if not selected and not wanted.allow_empty:
        raise nothing_selected(selector)
    return selected


def _surplus(run: Run) -> list[str]:
    """Return notes on pods that their controllers no longer want."""
    number = sum(pod.spec.node_name is not None for pod in run.plan.removed)
    if not number:
        return []
    pods = "1 pod that its controller is" if number == 1 else f"{number} pods that their controllers are"
    return [f"{pods} about to delete, as there are more than replicas, still count in the skew"]


def _check(run: Run, every: list[Workload], namespace: str | None, keys: Collection[str]) -> None:
    namespaces = sorted({each.namespace for each in every})
    if namespace is not None and namespace not in namespaces:
        there_are = f"there are {', '.join(namespaces)}" if namespaces else "there are no workloads at all"
        raise UsageError(f'there is no workload in the namespace "{namespace}"; {there_are}')
    for key in keys:
        if not is_on_nodes(key, run.cluster):
            raise UsageError(f'no node has the label "{key}"')


def _is_selected(run: Run, workload: Workload, members: Members, selector: Selector) -> bool:
    """Return whether the workload's newest pods have the labels, or those of an owner that nobody knows."""
    if workload.template is not None:
        return selector.matches(workload.template.labels)
    return any(selector.matches(each.labels) for each in members.classes)


def _with_keys(found: WorkloadStatus, keys: Collection[str]) -> WorkloadStatus:
    """With the constraints that are looked at."""
    shown = tuple(each for each in found.constraints if not keys or each.topology_key in keys)
    return with_fields(found, constraints=shown)


def goodness(workload: WorkloadStatus) -> tuple[object, ...]:
    """The least comes first: the worst workload, and of those that are alike the first by name."""
    share = max((each.share for each in workload.worst_losses), default=0.0)
    return (
        -workload.hard_excess,
        -len(workload.refused),
        -workload.soft_excess,
        -share,
        workload.namespace,
        workload.name,
        workload.kind,
    )
