"""Indexes of objects by labels and of selectors by required labels, to find matches without checking every pair.

A selector is evaluated once for each distinct set of labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Generic, TypeVar
from weakref import ref

from .labels import Selector

Item = TypeVar("Item")
LabelInNamespace = tuple[str, str, str]
"""(namespace, key, value) of a label."""


class LabelSet(Generic[Item]):
    """A distinct set of labels in a namespace, with its objects.

    Attributes:
        items: number in the order of addition → object with these labels.
        selecting: weak references to the matching selections of `topospread.cluster.selections`.
    """

    __slots__ = ("items", "labels", "namespace", "selecting")

    def __init__(self, namespace: str, labels: Mapping[str, str]) -> None:
        self.namespace = namespace
        self.labels = labels
        self.items: dict[int, Item] = {}
        self.selecting: list[ref[Any]] = []


class LabelIndex(Generic[Item]):
    """Objects, indexed by their namespace and labels."""

    def __init__(self) -> None:
        self._sets: dict[tuple[str, frozenset[tuple[str, str]]], LabelSet[Item]] = {}
        self._by_label: dict[LabelInNamespace, dict[LabelSet[Item], None]] = {}
        self._by_namespace: dict[str, dict[LabelSet[Item], None]] = {}
        self._added = 0

    def __len__(self) -> int:
        """Return the number of distinct sets of labels."""
        return len(self._sets)

    def add(self, namespace: str, labels: Mapping[str, str], item: Item) -> LabelSet[Item]:
        """Add an object and return its set of labels."""
        key = (namespace, frozenset(labels.items()))
        found = self._sets.get(key)
        if found is None:
            found = self._sets[key] = LabelSet(namespace, labels)
            self._by_namespace.setdefault(namespace, {})[found] = None
            for name, value in labels.items():
                self._by_label.setdefault((namespace, name, value), {})[found] = None
        found.items[self._added] = item
        self._added += 1
        return found

    def remove(self, found: LabelSet[Item], item: Item) -> None:
        """Remove an object; its set of labels is removed with the last object."""
        del found.items[next(number for number, each in found.items.items() if each is item)]
        if found.items:
            return
        del self._sets[found.namespace, frozenset(found.labels.items())]
        _discard(self._by_namespace, found.namespace, found)
        for name, value in found.labels.items():
            _discard(self._by_label, (found.namespace, name, value), found)

    def matching(self, namespace: str, selector: Selector) -> Iterator[LabelSet[Item]]:
        """Yield a namespace's sets of labels that a selector matches, in any order."""
        if selector.selects_nothing:
            return iter(())
        candidates: Iterable[LabelSet[Item]] = self._by_namespace.get(namespace, ())
        fewest = len(self._by_namespace.get(namespace, ()))
        for each in selector.requirements:
            if each.operator in ("=", "In"):
                having = [self._by_label.get((namespace, each.key, value), {}) for value in set(each.values)]
                number = sum(map(len, having))
                if number < fewest:
                    candidates, fewest = chain.from_iterable(having), number
        return (found for found in candidates if selector.matches(found.labels))

    def selected(self, namespace: str, selector: Selector) -> list[Item]:
        """Return a namespace's objects that a selector matches, in the order of addition."""
        found = chain.from_iterable(each.items.items() for each in self.matching(namespace, selector))
        return [item for _, item in sorted(found, key=lambda each: each[0])]


class SelectorIndex(Generic[Item]):
    """Selectors with a namespace and an item each, indexed by one of the selector's required labels."""

    def __init__(self) -> None:
        self._by_label: dict[LabelInNamespace, dict[int, tuple[Selector, Item]]] = {}
        self._by_namespace: dict[str, dict[int, tuple[Selector, Item]]] = {}
        self._added = 0

    def add(self, namespace: str, selector: Selector, item: Item) -> int:
        """Add a selector and return its number for removal."""
        self._added += 1
        for found in self._places(namespace, selector):
            found[self._added] = (selector, item)
        return self._added

    def remove(self, namespace: str, selector: Selector, number: int) -> None:
        """Remove the selector with the number that `add` returned."""
        for each in selector.requirements:
            for value in each.values if each.operator in ("=", "In") else ():
                place = (namespace, each.key, value)
                if self._by_label.get(place, {}).pop(number, None) and not self._by_label[place]:
                    del self._by_label[place]
        if self._by_namespace.get(namespace, {}).pop(number, None) and not self._by_namespace[namespace]:
            del self._by_namespace[namespace]

    def matching(self, namespace: str, labels: Mapping[str, str]) -> list[Item]:
        """Return the items of a namespace's selectors that match labels, in the order in which they were added."""
        found = dict(self._by_namespace.get(namespace, ()))
        for name, value in labels.items():
            found |= self._by_label.get((namespace, name, value), {})
        return [item for _, (selector, item) in sorted(found.items(), key=_number) if selector.matches(labels)]

    def _places(self, namespace: str, selector: Selector) -> list[dict[int, tuple[Selector, Item]]]:
        """Return the dicts in which a selector is stored, one for each value of one of its requirements.

        It is the requirement whose values have the fewest selectors so far.
        """
        if selector.selects_nothing:
            return []
        required = [each for each in selector.requirements if each.operator in ("=", "In") and each.values]
        if not required:
            return [self._by_namespace.setdefault(namespace, {})]
        places = [[(namespace, each.key, value) for value in set(each.values)] for each in required]
        best = min(places, key=lambda each: sum(len(self._by_label.get(place, ())) for place in each))
        return [self._by_label.setdefault(place, {}) for place in best]


def _number(entry: tuple[int, tuple[Selector, Item]]) -> int:
    return entry[0]


Key = TypeVar("Key")
Element = TypeVar("Element")


def _discard(groups: dict[Key, dict[Element, None]], key: Key, element: Element) -> None:
    del groups[key][element]
    if not groups[key]:
        del groups[key]
