"""Bare pods, a workload each, but looked at together where they are alike: one is like the other but for its node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace as with_fields

from topospread.cluster import PodClass
from topospread.scheduling.cycle import Scheduler
from topospread.workloads.planned import Workload

from .constraints import spreads_of
from .members import Members
from .one_workload import Asked, looked_at
from .result import RefusedPod, WorkloadStatus

Chosen = tuple[Workload, Members]
"""A workload and its pods on nodes."""


def looked_at_one_by_one(chosen: Iterable[Chosen], scheduler: Scheduler, asked: Asked) -> Iterator[WorkloadStatus]:
    """What `looked_at` says of each workload, in their order; of bare pods of a class at the cost of one."""
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
