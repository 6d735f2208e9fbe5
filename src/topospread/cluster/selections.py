"""Which pod classes each selector that is being asked about matches; found once a selector, kept up as classes come."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakValueDictionary, finalize, ref

from topospread.api.label_index import LabelIndex, LabelSet, SelectorIndex
from topospread.api.labels import Selector

from .pod_class import PodClass


class Selection:
    """The pod classes of a namespace that a selector matches by their labels, those to come included.

    Attributes:
        sets: the sets of labels of these classes (`PodClass.label_set`).
    """

    __slots__ = ("__weakref__", "sets")

    def __init__(self, sets: set[LabelSet[PodClass]]) -> None:
        self.sets = sets

    @property
    def classes(self) -> Iterator[PodClass]:
        """The classes, in no order."""
        return (each for found in self.sets for each in found.items.values())


class Selections:
    """A cluster's pod classes by their labels, and the selections that somebody still holds."""

    def __init__(self) -> None:
        self._labelled: LabelIndex[PodClass] = LabelIndex()
        self._held: WeakValueDictionary[tuple[str, Selector], Selection] = WeakValueDictionary()
        self._selectors: SelectorIndex[ref[Selection]] = SelectorIndex()

    def __len__(self) -> int:
        """How many selections are held."""
        return len(self._held)

    def of(self, namespace: str, selector: Selector) -> Selection:
        """What a selector selects; everybody who asks for the same gets the same."""
        known = self._held.get((namespace, selector))
        if known is None:
            known = Selection(set(self._labelled.matching(namespace, selector)))
            self._held[namespace, selector] = known
            number = self._selectors.add(namespace, selector, ref(known))
            finalize(known, self._selectors.remove, namespace, selector, number)
        return known

    def classes(self, namespace: str, selector: Selector) -> Iterator[PodClass]:
        """The classes that a selector selects now, in no order."""
        return (each for found in self._labelled.matching(namespace, selector) for each in found.items.values())

    def add(self, pod_class: PodClass) -> None:
        """Take note of a class that is new."""
        found = pod_class.label_set = self._labelled.add(pod_class.namespace, pod_class.labels, pod_class)
        if len(found.items) == 1:
            for each in self._selectors.matching(found.namespace, found.labels):
                if (selection := each()) is not None:
                    selection.sets.add(found)

    def remove(self, pod_class: PodClass) -> None:
        """Forget a class."""
        found, pod_class.label_set = pod_class.label_set, None
        assert found is not None, "the class was added"
        self._labelled.remove(found, pod_class)
        if not found.items:
            for each in self._selectors.matching(found.namespace, found.labels):
                if (selection := each()) is not None:
                    selection.sets.discard(found)
