"""The answer of ``topospread simulate --orders``: do all the pods find nodes in every order?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from topospread.answer import Answer
from topospread.base import Base, Bounds
from topospread.errors import UsageError

from .words import counted

if TYPE_CHECKING:
    from topospread.simulation.orders import Orders as TriedOrders
    from topospread.simulation.orders import Range, WorkloadRange


class SpreadBounds(Base, frozen=True, kw_only=True):
    """One constraint of a workload over all orders."""

    topology_key: Annotated[str, Meta(description="Node label whose values are the domains.")]
    when_unsatisfiable: Annotated[str, Meta(description="`DoNotSchedule` (hard) or `ScheduleAnyway` (soft).")]
    max_skew: Annotated[int, Meta(description="Largest allowed skew.")]
    origin: Annotated[str, Meta(description="`pod`, `profile` or `system`: source of the constraint.")]
    skew: Annotated[Bounds, Meta(description="Skew afterwards.")]
    domains: Annotated[dict[str, Bounds], Meta(description="Eligible domain → matching pods afterwards.")]


class WorkloadBounds(Base, frozen=True, kw_only=True):
    """A workload over all orders."""

    kind: Annotated[str, Meta(description="Kind of the workload; `Pod` for a bare pod.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    replicas: Annotated[int, Meta(description="Pods that it wants.")]
    pending: Annotated[Bounds, Meta(description="Its pods without a node.")]
    same: Annotated[bool, Meta(description="Whether every order gave the same numbers.")]
    spread: Annotated[tuple[SpreadBounds, ...], Meta(description="Each constraint in force.")]


class Orders(Answer, frozen=True, kw_only=True):
    """Do all the pods find nodes in every order that was tried? Bounds are what was seen, not a proof."""

    PAGE: ClassVar[str] = "topospread.render.pages.orders:page"

    orders: Annotated[int, Meta(description="Number of orders that were tried.")]
    seed: Annotated[int, Meta(description="Seed of the random orders.")]
    pending: Annotated[Bounds, Meta(description="Pods that are pending.")]
    evicted: Annotated[Bounds, Meta(description="Pods that preemption evicts.")]
    all_placed: Annotated[int, Meta(description="Orders in which no pod is pending.")]
    nodes: Annotated[int, Meta(description="Number of nodes.")]
    workloads: Annotated[tuple[WorkloadBounds, ...], Meta(description="Workloads in input order.")]
    warnings: Annotated[tuple[str, ...], Meta(description="Sentences that a person must see.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Sentences that help a person.")] = ()


def orders_answer(found: TriedOrders, namespace: str | None = None) -> Orders:
    """Return what several orders gave as an answer.

    Args:
        found: the orders.
        namespace: the namespace that is shown; by default all. The verdict is about all pods.

    Raises:
        UsageError: if nothing is in the namespace.
    """
    known = {each.workload.namespace for each in found.workloads}
    if namespace is not None and namespace not in known:
        there_are = f"there are {', '.join(sorted(known))}" if known else "there are no workloads at all"
        raise UsageError(f'-n {namespace}: there is no workload in the namespace "{namespace}"; {there_are}')
    return Orders(
        kind="Orders",
        verdict=found.verdict,
        says=_says(found),
        unjudged=found.unjudged,
        orders=found.orders,
        seed=found.seed,
        pending=_bounds(found.pending),
        evicted=_bounds(found.evicted),
        all_placed=found.all_placed,
        nodes=found.given.nodes,
        workloads=tuple(_workload(each) for each in found.workloads if namespace in (None, each.workload.namespace)),
        warnings=tuple(found.given.warnings),
        notes=tuple(found.given.notes),
    )


def _says(found: TriedOrders) -> str:
    orders = counted(found.orders, "order")
    if not found.pending.high:
        return f"all pods find nodes in each of {orders}, drawn at random"
    bounds = _bounds(found.pending)
    if found.verdict == "unknown":
        return f"{bounds} {'pod is' if found.pending.high == 1 else 'pods are'} pending in {orders}"
    of = f"; in {found.all_placed} of {orders} no pod is pending" if found.all_placed else f", in each of {orders}"
    return f"{bounds} {'pod is' if found.pending.high == 1 else 'pods are'} pending{of}"


def _bounds(numbers: Range) -> Bounds:
    return Bounds(least=numbers.low, most=numbers.high)


def _workload(each: WorkloadRange) -> WorkloadBounds:
    return WorkloadBounds(
        kind=each.workload.kind,
        namespace=each.workload.namespace,
        name=each.workload.name,
        replicas=each.workload.replicas,
        pending=_bounds(each.pending),
        same=each.same,
        spread=tuple(
            SpreadBounds(
                topology_key=one.spread.topology_key,
                when_unsatisfiable=one.spread.when_unsatisfiable,
                max_skew=one.spread.max_skew,
                origin=one.spread.origin,
                skew=_bounds(one.skew),
                domains={name: _bounds(pods) for name, pods in one.domains.items()},
            )
            for one in each.spreads
        ),
    )
