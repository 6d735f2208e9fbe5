"""Objects that name no namespace, where the cluster has their like in another one: what a person should be told.

A chart rendered for one namespace and read for another appears a second time beside what is there; kubectl would do the
same, and nobody means it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from topospread.api.inventory import ObjectKey
from topospread.api.meta import KubeObject
from topospread.text import listed

_SHOWN = 3


def notes_on_namesakes(there: Iterable[KubeObject], placed: Collection[ObjectKey]) -> Iterator[str]:
    """A sentence for each namespace, or several, in which an API server stored objects of the same kind and name.

    Args:
        there: what there is; of it only what was stored is looked at, and no controller owns.
        placed: keys of objects that name no namespace, with the one that they were put into.
    """
    if not placed:
        return
    stored: dict[tuple[str, str], list[str]] = {}
    for item in there:
        if item.metadata.uid and item.metadata.namespace and item.metadata.controller is None:
            stored.setdefault((item.kind, item.name), []).append(item.namespace)
    elsewhere: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for kind, namespace, name in placed:
        found = stored.get((kind, name), [])
        if found and namespace not in found:
            elsewhere.setdefault((namespace, tuple(sorted(found))), []).append(f"{kind} {name}")
    for (namespace, others), names in elsewhere.items():
        go, them = ("names no namespace and goes", "it") if len(names) == 1 else ("name no namespace and go", "them")
        where = ", ".join(others[:_SHOWN]) + (" …" if len(others) > _SHOWN else "")
        beside = "one" if len(names) == 1 else "their like"
        shown = listed(names, _SHOWN)
        yield f"{shown} {go} to {namespace}, beside {beside} in {where}: -n {others[0]} puts {them} there"
