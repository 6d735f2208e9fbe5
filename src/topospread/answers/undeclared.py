"""Promises that a change no longer declares, or declares with a lower number."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Annotated

from msgspec import Meta

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.promises import Want
from topospread.base import Base
from topospread.errors import Place, UsageError
from topospread.promise.fresh import LISTS, Designed, simulated_replicas


class UndeclaredPromise(Base, frozen=True, kw_only=True):
    """A promise of the old state that the new state does not declare."""

    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    promise: Annotated[str, Meta(description="The promise, for example `zone-loss>=4`.")]
    weaker: Annotated[str, Meta(description="The weaker promise that the new state declares instead; empty if none.")]
    file: Annotated[str, Meta(description="File of the old declaration; of an old revision `REVISION:FILE`.")]
    line: Annotated[int | None, Meta(description="Line in the file; null if it is not known.")]


def undeclared(
    old: Inventory,
    new: Inventory,
    wants_of: Callable[[Inventory, ObjectKey, Designed], Mapping[Want, Place]],
    gone: Collection[ObjectKey],
    unreadable: dict[str, None],
) -> Iterator[UndeclaredPromise]:
    """Yield the promises that only the old state declares.

    Args:
        old: the objects of the old state and the cluster.
        new: the objects of the new state and the cluster.
        wants_of: gives promise → place of its declaration.
        gone: workloads without pods in the new state, which are left out.
        unreadable: receives the error of each invalid promise of OLD, and of workloads with unchanged annotations.

    Raises:
        UsageError: if a changed or new workload declares a promise that is not valid.
    """
    for kind, attribute in LISTS.items():
        before = {(each.namespace, each.name): each for each in getattr(old, attribute)}
        for item in getattr(new, attribute):
            was, key = before.get((item.namespace, item.name)), (kind, item.namespace or "default", item.name)
            try:
                now = wants_of(new, key, item)
            except UsageError as error:
                if was is None or was.metadata.annotations != item.metadata.annotations:
                    raise
                unreadable[str(error)] = None
                continue
            try:
                then = {} if was is None or key in gone else wants_of(old, key, was)
            except UsageError as error:
                unreadable[str(error)] = None
                continue
            for want, place in then.items() if then.keys() - now.keys() else ():
                replicas = simulated_replicas(new, key)
                if not any(each.includes(want, replicas) for each in now):
                    yield UndeclaredPromise(
                        kind=kind,
                        namespace=key[1],
                        name=key[2],
                        promise=str(want),
                        weaker=next((str(each) for each in now if each.about == want.about), ""),
                        file=place.source,
                        line=place.line,
                    )
