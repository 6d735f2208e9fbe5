"""An index of pods and templates by namespace and label, for fast selector matching."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from topospread.api.labels import Selector

from .pod_source import PodSource

Item = TypeVar("Item")


class PodsByLabel(Generic[Item]):
    """Items, each found by its pods or template. Of equal kind, namespace and name, the last item counts."""

    def __init__(self, items: Iterable[tuple[PodSource, Item]]) -> None:
        named = {(type(pods.item), pods.item.namespace, pods.item.name): (pods, item) for pods, item in items}
        self._by_label: dict[tuple[str, str, str], list[tuple[PodSource, Item]]] = {}
        self._by_namespace: dict[str, list[tuple[PodSource, Item]]] = {}
        for pods, item in named.values():
            space = pods.item.namespace
            self._by_namespace.setdefault(space, []).append((pods, item))
            for key, value in pods.labels.items():
                self._by_label.setdefault((space, key, value), []).append((pods, item))

    def __iter__(self) -> Iterator[Item]:
        return (item for found in self._by_namespace.values() for _, item in found)

    def selected(self, namespace: str, selector: Selector) -> list[Item]:
        """Return the items in a namespace whose pods match a selector, in input order."""
        wanted = [each for each in selector.requirements if each.operator in ("=", "In") and len(each.values) == 1]
        found = [self._by_label.get((namespace, each.key, each.values[0]), []) for each in wanted]
        candidates = min(found, key=len) if found else self._by_namespace.get(namespace, [])
        return [item for pods, item in candidates if selector.matches(pods.labels)]
