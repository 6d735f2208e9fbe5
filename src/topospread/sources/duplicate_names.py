"""Warn if a manifest without a namespace has the name of an object in another namespace.

Such a manifest is read as a second object in the default namespace, like in kubectl, which is usually a mistake.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from topospread.api.inventory import ObjectKey
from topospread.api.meta import KubeObject
from topospread.text import listed

_SHOWN = 3


def notes_on_namesakes(there: Iterable[KubeObject], placed: Collection[ObjectKey]) -> Iterator[str]:
    """Yield notes on objects of `placed` whose kind and name exist only in other namespaces of the cluster.

    Args:
        there: all objects. Only stored objects without a controller are compared.
        placed: keys of objects without a namespace, with the assigned namespace.
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
        go, exist, them = ("names no namespace, so it is", "exists", "it")
        if len(names) > 1:
            go, exist, them = ("name no namespace, so they are", "exist", "them")
        where = ", ".join(others[:_SHOWN]) + (" …" if len(others) > _SHOWN else "")
        shown = listed(names, _SHOWN)
        yield f"{shown} {go} put in {namespace}, but {exist} in {where}: add -n {others[0]} to put {them} there"
