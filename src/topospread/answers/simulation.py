"""The answer of ``topospread simulate``: do all the pods find nodes?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from topospread.answer import Answer
from topospread.base import Base, Bounds
from topospread.errors import InputError, UsageError
from topospread.simulation.missed_selectors import missed_selectors
from topospread.simulation.result import EvictedPod, Placement
from topospread.text import did_you_mean, not_in_namespace
from topospread.traffic.result import ExpectedTraffic

from .spread import PendingPods, Pool, SpreadOutcome, pending_pods, pool_of, spread_outcome
from .words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from topospread.admission.dropped_fields import UnusedField
    from topospread.simulation.result import Simulation as Simulated
    from topospread.simulation.result import WorkloadResult

    from .pending_pods import Fixes

_ELSEWHERE = "in another order (--orders), pods of other namespaces that are not judged may take the room of these pods"
_POOLS = 4
"""Most pools named in the first line."""


class AutoscalerBounds(Base, frozen=True, kw_only=True):
    """The HorizontalPodAutoscaler of a workload."""

    name: Annotated[str, Meta(description="Name of the HorizontalPodAutoscaler.")]
    min_replicas: Annotated[int, Meta(description="Fewest replicas.")]
    max_replicas: Annotated[int, Meta(description="Most replicas.")]
    given_replicas: Annotated[int, Meta(description="Replicas in the workload's own spec.")]


class PlacedWorkload(Base, frozen=True, kw_only=True):
    """A workload after the simulation."""

    kind: Annotated[str, Meta(description="Kind of the workload; `Pod` for a bare pod.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    replicas: Annotated[int, Meta(description="Desired pods.")]
    autoscaler: Annotated[
        AutoscalerBounds | None, Meta(description="Replicas that its autoscaler allows; null without an autoscaler.")
    ]
    existing: Annotated[int, Meta(description="Its pods on nodes before the simulation.")]
    placed: Annotated[int, Meta(description="Its pods on nodes after the simulation, including earlier pods.")]
    placed_bounds: Annotated[
        Bounds, Meta(description="Least and most pods on nodes; both are `placed` if every pod is judged.")
    ]
    pending: Annotated[int, Meta(description="Its pods without a node, created or not.")]
    constraints: Annotated[tuple[SpreadOutcome, ...], Meta(description="Each constraint in force.")]
    notes: Annotated[tuple[str, ...], Meta(description="Sentences about the workload.")]


class RemovedPod(Base, frozen=True, kw_only=True):
    """A pod that ``--scale`` removed."""

    pod: Annotated[str, Meta(description="NAMESPACE/NAME of the pod.")]
    node: Annotated[str | None, Meta(description="Node that it was on; null if it had none.")]


class UnusedInput(Base, frozen=True, kw_only=True):
    """An input field that has no effect."""

    kind: Annotated[str, Meta(description="Kind of the object.")]
    namespace: Annotated[str | None, Meta(description="Namespace of the object; null for kinds without one.")]
    name: Annotated[str, Meta(description="Name of the object.")]
    path: Annotated[str, Meta(description="`spec.topologySpreadConstraints[0].minDomains`")]
    feature_gate: Annotated[
        str | None, Meta(description="Gate that is off; null for a field that the version does not know.")
    ]


class Simulation(Answer, frozen=True, kw_only=True, dict=True):
    """Do all the pods find nodes?"""

    PAGE: ClassVar[str] = "topospread.render.pages.simulation:page"

    open_pods: Annotated[
        tuple[str, ...],
        Meta(description="NAMESPACE/NAME of pods whose outcome depends on unjudged parts of these or other pods."),
    ] = ()
    nodes: Annotated[int, Meta(description="Number of nodes.")]
    placements: Annotated[tuple[Placement, ...], Meta(description="Pods that were to be placed, in queue order.")]
    workloads: Annotated[tuple[PlacedWorkload, ...], Meta(description="Workloads in input order.")]
    pending: Annotated[tuple[PendingPods, ...], Meta(description="Pods that stay pending, grouped.")]
    evictions: Annotated[tuple[EvictedPod, ...], Meta(description="Pods that preemption evicted, in order.")]
    removed: Annotated[tuple[RemovedPod, ...], Meta(description="Pods that `--scale` removed.")]
    pools: Annotated[tuple[Pool, ...], Meta(description="The pools of `--pools`, by name.")]
    skipped: Annotated[dict[str, int], Meta(description="Kind → objects that were skipped.")]
    dropped_fields: Annotated[tuple[UnusedInput, ...], Meta(description="Fields that the API server does not keep.")]
    ignored_fields: Annotated[
        tuple[UnusedInput, ...], Meta(description="Fields that the API server keeps and kube-scheduler ignores.")
    ]
    untried: Annotated[int, Meta(description="Changes that were not tried because of the limit on work.")] = 0
    searched: Annotated[bool, Meta(description="Whether changes were tried.")] = False
    elsewhere: Annotated[
        int, Meta(description="Pending pods in namespaces that `-n` leaves out, without unjudged pods.")
    ] = 0
    traffic: Annotated[ExpectedTraffic | None, Meta(description="Expected traffic, with `--traffic`.")] = None
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings for the user.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Notes for the user.")] = ()

    def placement(self, name: str, namespace: str | None = None) -> Placement:
        """Return the placement of a pod. A session's answer also has the pods that were on nodes before.

        Args:
            name: name of the pod.
            namespace: its namespace; by default the only namespace with such a pod.

        Raises:
            InputError: if the simulation placed no such pod, or several.
        """
        every = [*self.placements, *self._bound()]
        found = [each for each in every if each.name == name and namespace in (None, each.namespace)]
        if len(found) == 1:
            return found[0]
        pod = f"{namespace}/{name}" if namespace is not None else name
        if found:
            namespaces = ", ".join(each.namespace for each in found)
            raise InputError(f"pod {pod} is in several namespaces: {namespaces}; add namespace=…")
        names = {f"{each.namespace}/{each.name}": each.name for each in every}
        others = f"the simulation has {listed(list(names), 3)}" if names else "the simulation has no pod"
        known = {each: shown for shown, each in names.items()}
        raise InputError(f"pod {pod} not found{did_you_mean(name, known, others, most=2)}")

    @staticmethod
    def _bound() -> tuple[Placement, ...]:
        """Return the pods that were on nodes before. A session replaces this function; JSON leaves the pods out."""
        return ()

    def frame(self, rows: str) -> Any:
        """Return one list as a data frame, like `Answer.frame`.

        In a session's answer, ``frame("placements")`` ends with the pods that were on nodes before. They have no score.
        """
        bound = self._bound() if rows == "placements" else ()
        return super(Simulation, replace(self, placements=(*self.placements, *bound))).frame(rows)


def simulation_answer(
    result: Simulated,
    namespace: str | None = None,
    *,
    traffic: ExpectedTraffic | None = None,
) -> Simulation:
    """Return the answer for a simulation.

    Args:
        result: the simulation.
        namespace: namespace to show; by default all. The verdict is about its pods.
        traffic: expected traffic afterwards.

    Raises:
        UsageError: if the namespace has no pods.
    """
    if namespace is not None:
        _check_namespace(result, namespace)

    def shown(each: str) -> bool:
        return namespace is None or each == namespace

    def of_shown(pod: str) -> bool:
        return shown(pod.partition("/")[0])

    remedies, untried, searched, causes = _fixes(result, namespace)
    pending = tuple(
        pending_pods(each, causes.get(f"{each.namespace}/{each.pods[0]}"))
        for each in result.pending
        if shown(each.namespace)
    )
    workloads = tuple(_workload(each, result) for each in result.workloads if shown(each.namespace))
    others = {f"{each.namespace}/{pod}" for each in result.pending if not shown(each.namespace) for pod in each.pods}
    certain = others.difference(result.open_pods)
    worst = max(pending, key=lambda each: len(each.pods) if each.causes else -1, default=None)
    opened, own = tuple(filter(of_shown, result.open_pods)), {pod for part in result.unjudged for pod in part.pods}
    if own.issuperset(opened):  # else pods of other namespaces decide
        own = set(filter(of_shown, own))
    beside = [_ELSEWHERE] if len(others) > len(certain) and not opened else []
    return Simulation(
        kind="Simulation",
        verdict=result.verdict_in(namespace),
        says=_says(result, workloads, pending, (len(certain), len(others) - len(certain))),
        causes=worst.causes if worst is not None else (),
        remedies=remedies,
        untried=untried,
        searched=searched,
        unjudged=tuple(
            replace(each, pods=pods) for each in result.unjudged if (pods := tuple(filter(own.__contains__, each.pods)))
        ),
        open_pods=opened,
        nodes=result.nodes,
        placements=tuple(each for each in result.placements if shown(each.namespace)),
        workloads=workloads,
        pending=pending,
        evictions=tuple(each for each in result.evictions if shown(each.namespace) or of_shown(each.preemptor)),
        removed=tuple(RemovedPod(pod=pod, node=node or None) for pod, node in result.removed.items() if of_shown(pod)),
        pools=tuple(map(pool_of, result.pools)),
        skipped=dict(sorted(result.skipped.items())),
        dropped_fields=tuple(_unused(result.unused, "dropped")),
        ignored_fields=tuple(_unused(result.unused, "ignored")),
        elsewhere=len(certain),
        traffic=traffic,
        warnings=(
            *result.warnings,
            *missed_selectors((f"{each.namespace}/{each.name}", each.constraints) for each in workloads),
        ),
        notes=(*result.notes, *beside),
    )


def _fixes(result: Simulated, namespace: str | None) -> Fixes:
    if not result.pending:
        return (), 0, False, {}
    from .pending_pods import fixes_of  # imports the search, which is not needed if every pod is placed

    return fixes_of(result, namespace)


def names(result: Simulated, namespace: str | None = None) -> str:
    """Return ``pod/NAME NODE``, one line for each pod in queue order; ``<none>`` for a pending pod.

    Raises:
        UsageError: if the namespace has no pods.
    """
    if namespace is not None:
        _check_namespace(result, namespace)
    shown = (each for each in result.placements if namespace in (None, each.namespace))
    return "".join(f"pod/{each.name} {each.node or '<none>'}\n" for each in shown)


def _check_namespace(result: Simulated, namespace: str) -> None:
    known = {each.namespace for each in result.workloads} | {each.namespace for each in result.placements}
    if namespace not in known:
        raise UsageError(f"-n {namespace}: {not_in_namespace(namespace, known)}")


def _says(
    result: Simulated,
    workloads: tuple[PlacedWorkload, ...],
    pending: tuple[PendingPods, ...],
    elsewhere: tuple[int, int],
) -> str:
    """Return the verdict's sentence: ``2 of 8 pods of shop/web are pending``.

    Args:
        result: the simulation.
        workloads: the workloads that are shown.
        pending: their pending pods.
        elsewhere: pending pods and unjudged pods in other namespaces.
    """
    opened = {pod for pod in result.open_pods if pod.partition("/")[0] in {each.namespace for each in workloads}}
    judged = [(each, pod) for each in pending for pod in each.pods if f"{each.namespace}/{pod}" not in opened]
    words = [f"{pods} {word}" for pods, word in zip(elsewhere, ("pending", "not judged"), strict=True) if pods]
    besides = f"; in other namespaces {', '.join(words)}" if words else ""
    parts = []
    if judged:
        owners = {(each.namespace, each.workload) for each, _ in judged}
        total = max(_sum(workloads, owners)[1], len(judged))
        if total == 1:
            parts.append(f"{_name(owners)} is pending")
        else:
            verb = "is" if len(judged) == 1 else "are"
            parts.append(f"{len(judged)} of {counted(total, 'pod')} of {_name(owners)} {verb} pending")
    if opened:
        owners = {
            (each.namespace, each.workload) for each in result.placements if f"{each.namespace}/{each.name}" in opened
        }.intersection((each.namespace, f"{each.kind}/{each.name}") for each in workloads)
        bounds, total = _sum(workloads, owners)
        parts += [f"{bounds} of {counted(total, 'pod')} of {_name(owners)} find nodes"] if owners else []
    nodes, grown = counted(result.nodes, "node"), [each for each in result.pools if each.added]
    if grown:
        added = listed([f"{len(each.added)} of {each.name}" for each in grown], _POOLS)
        nodes += f", {sum(len(each.added) for each in grown)} of them added: {added}"
    if parts:
        return f"{'; '.join(parts)} ({nodes}){besides}"
    placed = sum(each.placed - each.existing for each in workloads)
    if not placed:
        return f"no pod is to be placed on {nodes}{besides}"
    landed = [each for each in result.placements if each.node is not None]
    if len(landed) == placed == 1:
        return f"{landed[0].namespace}/{landed[0].name} finds a node: {landed[0].node}{besides}"
    return f"all {counted(placed, 'pod')} find nodes ({nodes}){besides}"


def _sum(workloads: Iterable[PlacedWorkload], of: set[tuple[str, str]]) -> tuple[Bounds, int]:
    """Return (pods of these workloads that have nodes, all their pods)."""
    found = [each for each in workloads if (each.namespace, f"{each.kind}/{each.name}") in of]
    placed = sum((each.placed_bounds for each in found), Bounds.exactly(0))
    return placed, sum(each.placed + each.pending for each in found)


def _name(owners: set[tuple[str, str]]) -> str:
    if len(owners) > 1:
        return f"{len(owners)} workloads"
    [(namespace, workload)] = owners
    return f"{namespace}/{workload.partition('/')[2]}"


def _workload(each: WorkloadResult, result: Simulated) -> PlacedWorkload:
    scaled = each.autoscaling
    return PlacedWorkload.like(
        each,
        autoscaler=None
        if scaled is None
        else AutoscalerBounds(
            name=scaled.name, min_replicas=scaled.least, max_replicas=scaled.most, given_replicas=scaled.given
        ),
        placed_bounds=result.bounds.get(f"{each.namespace}/{each.kind}/{each.name}", Bounds.exactly(each.placed)),
        constraints=tuple(map(spread_outcome, each.spread)),
        notes=tuple(each.notes),
    )


def _unused(fields: Collection[UnusedField], outcome: str) -> Iterator[UnusedInput]:
    for each in fields:
        if each.outcome == outcome:
            yield UnusedInput.like(each, namespace=each.namespace or None, feature_gate=each.gate or None)
