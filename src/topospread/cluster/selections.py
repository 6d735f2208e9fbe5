"""The pod classes that each selector in use matches, and the number of their pods on each node.

A selector is evaluated once for each distinct set of labels, however many readers use it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Protocol, TypeVar
from weakref import WeakValueDictionary, finalize, ref

from topospread.api.label_index import LabelIndex, LabelSet, SelectorIndex
from topospread.api.labels import Selector

from .pod_class import PodClass


class PodCounter(Protocol):
    """Data that is derived from a selection's pods, such as counts by domain."""

    def add(self, row: int, delta: int) -> object:
        """Count a pod that was placed on the row's node (+1) or removed from it (−1)."""


Counter = TypeVar("Counter", bound=PodCounter)


class Selection:
    """The pod classes of a namespace whose labels a selector matches, including future classes.

    Attributes:
        sets: label sets of these classes (`PodClass.label_set`).
        on_node: row → number of matched pods that are not terminating, without zeros; valid after `counting`.
    """

    __slots__ = ("__weakref__", "_counters", "_known", "is_counting", "on_node", "sets")

    def __init__(self, sets: set[LabelSet[PodClass]]) -> None:
        self.sets = sets
        self.is_counting = False
        self.on_node: dict[int, int] = {}
        self._known: WeakValueDictionary[Hashable, PodCounter] = WeakValueDictionary()
        self._counters: list[ref[PodCounter]] = []

    def counting(self) -> Selection:
        """Count the pods by node from now on. Return the selection itself."""
        if not self.is_counting:
            self.is_counting = True
            on_node = self.on_node
            for each in self.classes:
                if each.counted:
                    for row, pods in each.occupancy.items():
                        on_node[row] = on_node.get(row, 0) + pods
        return self

    def shared(self, key: Hashable, make: Callable[[], Counter]) -> Counter:
        """Return the counter of a key; call ``make`` if it does not exist."""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = make()
            if len(self._counters) >= 2 * len(self._known):  # at least half of the weak references are dead
                self._counters = [each for each in self._counters if each() is not None]
            self._counters.append(ref(known))
        return known  # type: ignore[return-value]  # a key belongs to one kind of counter

    def count(self, row: int, delta: int) -> None:
        """Count a pod that was placed on the row's node (+1) or removed from it (−1)."""
        if not self.is_counting:
            return
        pods = self.on_node.get(row, 0) + delta
        if pods:
            self.on_node[row] = pods
        else:
            del self.on_node[row]
        for each in self._counters:
            if (counter := each()) is not None:
                counter.add(row, delta)

    @property
    def classes(self) -> Iterator[PodClass]:
        """Yield the classes, unordered."""
        return (each for found in self.sets for each in found.items.values())


class Selections:
    """A cluster's pod classes indexed by labels, and all selections that are in use."""

    def __init__(self) -> None:
        self._labelled: LabelIndex[PodClass] = LabelIndex()
        self._held: WeakValueDictionary[tuple[str, Selector], Selection] = WeakValueDictionary()
        self._selectors: SelectorIndex[ref[Selection]] = SelectorIndex()

    def __len__(self) -> int:
        """Return the number of selections in use."""
        return len(self._held)

    def of(self, namespace: str, selector: Selector) -> Selection:
        """Return the selection of a selector; all users of the selector share it."""
        known = self._held.get((namespace, selector))
        if known is None:
            known = Selection(set(self._labelled.matching(namespace, selector)))
            self._held[namespace, selector] = known
            reference = ref(known)
            for each in known.sets:
                each.selecting = [*(other for other in each.selecting if other() is not None), reference]
            number = self._selectors.add(namespace, selector, reference)
            finalize(known, self._selectors.remove, namespace, selector, number)
        return known

    def classes(self, namespace: str, selector: Selector) -> Iterator[PodClass]:
        """Yield the classes that a selector matches now, unordered."""
        return (each for found in self._labelled.matching(namespace, selector) for each in found.items.values())

    def add(self, pod_class: PodClass) -> None:
        """Add a new class."""
        found = pod_class.label_set = self._labelled.add(pod_class.namespace, pod_class.labels, pod_class)
        if len(found.items) == 1:
            found.selecting = self._selectors.matching(found.namespace, found.labels)
            for each in found.selecting:
                if (selection := each()) is not None:
                    selection.sets.add(found)

    def count(self, pod_class: PodClass, row: int, delta: int) -> None:
        """Count a pod in every selection that matches it; terminating pods do not count."""
        if pod_class.counted:
            assert pod_class.label_set is not None, "a class with pods is in the cluster"
            for each in pod_class.label_set.selecting:
                if (selection := each()) is not None:
                    selection.count(row, delta)

    def remove(self, pod_class: PodClass) -> None:
        """Remove a class."""
        found, pod_class.label_set = pod_class.label_set, None
        assert found is not None, "the class was added"
        self._labelled.remove(found, pod_class)
        if not found.items:
            for each in self._selectors.matching(found.namespace, found.labels):
                if (selection := each()) is not None:
                    selection.sets.discard(found)
