"""Compute the spread status of an inventory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory, key_of
from topospread.api.labels import Selector
from topospread.api.selector_text import nothing_selected
from topospread.cluster import PodClass
from topospread.cluster.cluster import pod_key
from topospread.controllers.planned import Workload
from topospread.controllers.scale import the_workload
from topospread.errors import UsageError
from topospread.scheduling.cycle import Scheduler
from topospread.simulation.counted import PodOwners
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.placing import Progress
from topospread.simulation.run import Run, prepare
from topospread.text import listed, not_in_namespace

from .constraints import spreads_of
from .members import Members, owners_of, ready_pods, workloads_of
from .one_workload import Asked, looked_at
from .refused import Refusals
from .result import RefusedPod, SpreadStatus, WorkloadStatus
from .risk import domains_at_risk, is_on_nodes, keys_at_risk, losses

# Each bare pod is a workload, but equal pods are evaluated together, because they differ only in their node.

Chosen = tuple[Workload, Members]
"""A workload and its placed pods."""


def looked_at_one_by_one(chosen: Iterable[Chosen], scheduler: Scheduler, asked: Asked) -> Iterator[WorkloadStatus]:
    """Yield the status of each workload, in order. Equal bare pods are evaluated once."""
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
    """Bare pods of one class, which share one status. The owners of counted pods are computed once."""

    def __init__(self, first: Workload, members: Members, scheduler: Scheduler, asked: Asked) -> None:
        self._model = looked_at(first, members, spreads_of(scheduler, first, members), asked)
        self._refused: dict[str, RefusedPod] = {each.name: each for each in self._model.refused}

    def one(self, workload: Workload) -> WorkloadStatus:
        refused = self._refused.get(workload.name)
        return with_fields(self._model, name=workload.name, existing=1, refused=() if refused is None else (refused,))


def _alike(chosen: Iterable[Chosen]) -> dict[PodClass, Members]:
    """Return class → all its bare pods."""
    found: dict[PodClass, Members] = {}
    for workload, members in chosen:
        pod_class = _only_class(workload, members)
        if pod_class is not None:
            together = found.setdefault(pod_class, Members({pod_class: {}})).on[pod_class]
            for row, keys in members.on[pod_class].items():
                together.setdefault(row, []).extend(keys)
    return found


def _only_class(workload: Workload, members: Members) -> PodClass | None:
    """Return the class of a placed bare pod; None for other workloads."""
    return next(iter(members.classes)) if workload.kind == "Pod" and len(members.on) == 1 else None


class LookedFor(NamedTuple):
    """The workloads and topology keys to show. None and empty values mean all."""

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
    """Return the current spread of every workload's pods, and the risks.

    Pending pods are not placed; use `simulate` for that.

    Args:
        inventory: the input, which is not changed.
        options: the control plane.
        namespace: show workloads of this namespace; pods of all namespaces count.
        selector: show workloads whose pods have these labels.
        keys: show these topology keys; by default those of all constraints, zone and hostname.
        allow_empty: accept a selector that selects no workload.
        progress: receives the number of evaluated workloads and the total.

    Raises:
        InputError: if the API server denies an object.
        UsageError: if the namespace is empty, the selector matches no workload, or no node has a topology key.
    """
    options = replace(options, preemption=False)  # without evictions, budgets are not needed
    run = prepare(inventory, options, with_spreads=False)
    return spread_of_run(run, LookedFor(namespace, selector, keys, allow_empty), progress)


def spread_of_run(run: Run, wanted: LookedFor, progress: Progress | None = None) -> SpreadStatus:
    """Return the spread of a prepared simulation's pods, without changing the simulation.

    Raises:
        UsageError: if the namespace is empty, the selector matches no workload, or no node has a topology key.
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
        shown = tuple(each for each in looked.constraints if not wanted.keys or each.topology_key in wanted.keys)
        found.append((chosen[done][1], with_fields(looked, constraints=shown)))
    keys = tuple(wanted.keys) or keys_at_risk((each for _, each in found), run.cluster)
    told = [
        with_fields(
            each,
            losses=losses(each.kind, members, keys, run.cluster),
            ready=len(list(ready_pods(workload.existing, run.cluster))),
        )
        for (workload, members), (_, each) in zip(chosen, found, strict=True)
    ]
    workloads = tuple(sorted(told, key=goodness))
    return SpreadStatus(
        nodes=len(run.cluster.nodes),
        workloads=workloads,
        domains=domains_at_risk(workloads, keys, run.cluster),
        warnings=(*run.plan.inventory.warnings, *run.plan.warnings),
        notes=(*run.plan.inventory.notes, *run.plan.notes, *_surplus(run), *_unready(workloads)),
    )


def _chosen(run: Run, wanted: LookedFor) -> list[tuple[Workload, Members]]:
    """Return the selected workloads with their pods."""
    every = list(workloads_of(run.plan, run.owners))
    _check(run, every, wanted.namespace, wanted.keys)
    there = [each for each in every if wanted.namespace in (None, each.namespace)]
    if wanted.targets:
        keys = [key_of(each) for each in every]
        named = {the_workload(each, keys, wanted.namespace) for each in wanted.targets}
        there = [each for each, key in zip(every, keys, strict=True) if key in named]
    found = [
        (each, Members.found((pod_key(pod.namespace, pod.name) for pod in each.existing), run.cluster))
        for each in there
    ]
    selector = wanted.selector
    if selector is None:
        return found
    selected = [each for each in found if _is_selected(*each, selector)]
    if not selected and not wanted.allow_empty:
        raise nothing_selected(selector)
    return selected


def _unready(workloads: Iterable[WorkloadStatus]) -> list[str]:
    unready = [each for each in workloads if each.ready < each.existing]
    number = sum(each.existing - each.ready for each in unready)
    if not number:
        return []
    pods = "1 pod with a node is" if number == 1 else f"{number} pods with nodes are"
    return [f"{pods} not ready: {listed([f'{each.namespace}/{each.name}' for each in unready], 3)}"]


def _surplus(run: Run) -> list[str]:
    number = sum(pod.spec.node_name is not None for pod in run.plan.removed)
    if not number:
        return []
    pods = "1 pod that its controller is" if number == 1 else f"{number} pods that their controllers are"
    return [f"{pods} about to delete, as there are more than replicas, still count in the skew"]


def _check(run: Run, every: list[Workload], namespace: str | None, keys: Collection[str]) -> None:
    namespaces = {each.namespace for each in every}
    if namespace is not None and namespace not in namespaces:
        raise UsageError(not_in_namespace(namespace, namespaces))
    for key in keys:
        if not is_on_nodes(key, run.cluster):
            raise UsageError(f'no node has the label "{key}"; list labels with: kubectl get nodes --show-labels')


def _is_selected(workload: Workload, members: Members, selector: Selector) -> bool:
    """Return whether the workload's newest pods match the selector; for an unknown owner, any pod."""
    if workload.template is not None:
        return selector.matches(workload.template.labels)
    return any(selector.matches(each.labels) for each in members.classes)


def goodness(workload: WorkloadStatus) -> tuple[object, ...]:
    """Return a sort key: worst workload first, then by name."""
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
