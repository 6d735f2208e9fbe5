"""The answer of ``topospread simulate --orders``: do all the pods find nodes in every order?"""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from topospread.answer import Answer
from topospread.base import Bounds
from topospread.errors import UsageError
from topospread.simulation.orders import Orders as TriedOrders
from topospread.simulation.orders import WorkloadBounds
from topospread.text import not_in_namespace

from .words import counted


class Orders(Answer, frozen=True, kw_only=True):
    """Do all pods find nodes in every simulated order? The bounds are observations, not proofs."""

    PAGE: ClassVar[str] = "topospread.render.pages.orders:page"

    orders: Annotated[int, Meta(description="Number of orders that were tried.")]
    seed: Annotated[int, Meta(description="Seed of the random orders.")]
    pending: Annotated[Bounds, Meta(description="Pods that are pending.")]
    evicted: Annotated[Bounds, Meta(description="Pods that preemption evicts.")]
    all_placed: Annotated[int, Meta(description="Orders in which no pod is pending.")]
    nodes: Annotated[int, Meta(description="Number of nodes.")]
    workloads: Annotated[tuple[WorkloadBounds, ...], Meta(description="Workloads in input order.")]
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings for the user.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Notes for the user.")] = ()


def orders_answer(found: TriedOrders, namespace: str | None = None) -> Orders:
    """Return the answer for the results of several orders.

    Args:
        found: the orders.
        namespace: namespace to show; by default all, as for the orders.

    Raises:
        UsageError: if the namespace has no pods.
    """
    known = {each.namespace for each in found.workloads}
    if namespace is not None and namespace not in known:
        raise UsageError(f"-n {namespace}: {not_in_namespace(namespace, known)}")
    return Orders.like(
        found,
        kind="Orders",
        says=_says(found),
        nodes=found.given.nodes,
        workloads=tuple(each for each in found.workloads if namespace in (None, each.namespace)),
        warnings=tuple(found.given.warnings),
        notes=tuple(found.given.notes),
    )


def _says(found: TriedOrders) -> str:
    orders = counted(found.orders, "order")
    bounds = found.pending
    if not bounds.most:
        return f"all pods find nodes in each of {orders}, drawn at random"
    if found.verdict == "unknown":
        return f"{bounds} {'pod is' if bounds.most == 1 else 'pods are'} pending in {orders}"
    of = f"; in {found.all_placed} of {orders} no pod is pending" if found.all_placed else f", in each of {orders}"
    return f"{bounds} {'pod is' if bounds.most == 1 else 'pods are'} pending{of}"
