"""The pod classes of a cluster, indexed by identity. Classes without pods are dropped after a while."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import takewhile
from typing import TypeVar

from msgspec.structs import replace

from topospread.api.label_index import SelectorIndex
from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.node_selection import NodeSelectorTerm
from topospread.api.pod import Pod
from topospread.api.requests import RequestRules

from .pod_class import (
    Cost,
    PodClass,
    affinity_terms,
    has_pod_affinity,
    identity,
    namespaces_asked,
    namespaces_named,
    resources_of,
    signature,
)
from .selections import Selections

# All pods of a DaemonSet share one general class. They differ only in the node that their affinity requires.
# Source: pkg/controller/daemon/util/daemonset_util.go (`ReplaceDaemonSetPodNodeNameNodeAffinity`).

_NODE_NAME_FIELD = "metadata.name"


def own_node(pod: Pod) -> str:
    """Return the node that a DaemonSet's pod requires, if its affinity is as the controller writes it; else ""."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return ""
    required = affinity.node_affinity.required_during_scheduling_ignored_during_execution
    terms = required.node_selector_terms if required is not None else None
    if not terms or len(terms) != 1 or pod.spec.node_name not in (None, "", node := _named(terms[0])):
        return ""
    owner = pod.metadata.controller
    return node if owner is not None and owner.kind == "DaemonSet" else ""


def without_pin(pod: Pod) -> Pod:
    """Return the pod without its required node affinity, which names only its node."""
    affinity = pod.spec.affinity
    assert affinity is not None, "a node-pinned pod has an affinity"
    assert affinity.node_affinity is not None, "a node-pinned pod has a node affinity"
    node_affinity = replace(affinity.node_affinity, required_during_scheduling_ignored_during_execution=None)
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, node_affinity=node_affinity)))


def _named(term: NodeSelectorTerm) -> str:
    fields = term.match_fields
    if term.match_expressions or not fields or len(fields) != 1:
        return ""
    (field,) = fields
    one = field.key == _NODE_NAME_FIELD and field.operator == "In" and field.values and len(field.values) == 1
    return field.values[0] if one and field.values else ""


_IDLE_KEPT = 512
_REMEMBERED = 1 << 13

Key = TypeVar("Key", bound=Hashable)


class PodClasses:
    """The classes that have placed pods, and classes that recently had or were looked up.

    A dropped class whose pod is placed is added again. Two equal classes may then exist, which does no harm.

    Attributes:
        every: index → class. An index is never reused; a class that is added again gets a new index.
        made: index of the next class.
        selections: classes by selector.
    """

    def __init__(self, rules: RequestRules) -> None:
        self._rules = rules
        self.every: dict[int, PodClass] = {}
        self.selections = Selections()
        self.made = 0
        # By index: _idle (classes without pods, oldest first) and _with_affinity (classes with terms, ascending).
        # _asking: namespace that terms may match, None for any → classes by index. _numbers: index → entries in _terms.
        # _there: priority → classes with placed pods by index. _by_identity: `_key` → (signature, class).
        self._idle: dict[int, PodClass] = {}
        self._by_identity: dict[Hashable, list[tuple[tuple[object, ...], PodClass]]] = {}
        self._costs: dict[bytes, Cost] = {}
        self._asking: dict[str | None, dict[int, PodClass]] = {}
        self._terms: SelectorIndex[PodClass] = SelectorIndex()
        self._numbers: dict[int, list[tuple[str, Selector, int]]] = {}
        self._with_affinity: dict[int, PodClass] = {}
        self._of_object: dict[int, tuple[Pod, PodClass]] = {}
        self._there: dict[int, dict[int, PodClass]] = {}

    def of(self, pod: Pod, *, is_placed: bool = False) -> PodClass:
        """Return the class of a pod. ``is_placed``: ``spec.nodeName`` is where the pod runs, not a requirement."""
        node_name = "" if is_placed else pod.spec.node_name or ""
        own = own_node(pod)
        if not own:
            return self._of(pod, node_name, is_node_pinned=False)
        general = self._of(without_pin(pod), node_name, is_node_pinned=True)
        return general if is_placed else general.pinned_to(pod, own)

    def _of(self, pod: Pod, node_name: str, *, is_node_pinned: bool) -> PodClass:
        alike = self._by_identity.get((node_name, is_node_pinned, identity(pod)), ())
        described = signature(pod)
        for other, existing in alike:
            if other == described:
                return existing
        pod_class = PodClass(self.made, pod, node_name, self._rules, self._cost(pod))
        pod_class.is_node_pinned = is_node_pinned
        self.made += 1
        self._enter(pod_class, described)
        self._note_idle(pod_class)
        return pod_class

    def of_object(self, pod: Pod) -> PodClass:
        """Return the class of a pod object that many replicas share. It is cached by the object's id."""
        known = self._of_object.get(id(pod))
        if known is not None and known[0] is pod:
            self.keep(known[1])
            return known[1]
        pod_class = self.of(pod)
        if not pod_class.pinned_node:
            if len(self._of_object) >= _REMEMBERED:
                self._of_object.clear()
            self._of_object[id(pod)] = (pod, pod_class)
        return pod_class

    def asking(self, namespace: str) -> Iterable[PodClass]:
        """Return the classes whose affinity terms may match pods of a namespace."""
        return (*self._asking.get(None, {}).values(), *self._asking.get(namespace, {}).values())

    def meaning(self, pod_class: PodClass) -> Iterable[PodClass]:
        """Return the classes with an affinity term that may match pods of a class. A class may occur twice."""
        return (*self._asking.get(None, {}).values(), *self._terms.matching(pod_class.namespace, pod_class.labels))

    def asking_since(self, index: int) -> list[PodClass]:
        """Return the classes with at least this index that have inter-pod affinity terms."""
        newest_first = reversed(self._with_affinity.items())  # classes are added in order of their indexes
        return [each for _, each in takewhile(lambda entry: entry[0] >= index, newest_first)]

    def first_pod_came(self, pod_class: PodClass) -> None:
        """Mark a class as in use after its first pod was placed."""
        if self._idle.pop(pod_class.index, None) is None and self.every.get(pod_class.index) is not pod_class:
            self._take_up(pod_class)
        self._there.setdefault(pod_class.priority, {})[pod_class.index] = pod_class

    def keep(self, pod_class: PodClass) -> None:
        """Add a dropped class again."""
        if self.every.get(pod_class.index) is not pod_class:
            self._take_up(pod_class)
            self._note_idle(pod_class)

    def _take_up(self, pod_class: PodClass) -> None:
        """Add a dropped class again, with a new index."""
        pod_class.index = self.made
        self.made += 1
        self._enter(pod_class, signature(pod_class.pod))

    def last_pod_went(self, pod_class: PodClass) -> None:
        """Mark a class as idle after its last pod was removed."""
        _drop(self._there, pod_class.priority, pod_class.index)
        self._note_idle(pod_class)

    def rows_below(self, priority: int) -> set[int]:
        """Return the rows of nodes with pods of a lower priority."""
        lower = (classes for each, classes in self._there.items() if each < priority)
        return {row for classes in lower for each in classes.values() for row in each.occupancy}

    def _enter(self, pod_class: PodClass, described: tuple[object, ...]) -> None:
        pod, index = pod_class.pod, pod_class.index
        self.every[index] = pod_class
        self.selections.add(pod_class)
        self._by_identity.setdefault(_key(pod_class), []).append((described, pod_class))
        for namespace in namespaces_asked(pod):
            self._asking.setdefault(namespace, {})[index] = self._with_affinity[index] = pod_class
        if has_pod_affinity(pod):
            self._numbers[index] = [
                (*place, self._terms.add(*place, pod_class)) for place in _places_of_terms(pod_class.pod)
            ]

    def _note_idle(self, pod_class: PodClass) -> None:
        idle = self._idle
        idle[pod_class.index] = pod_class
        if len(idle) > _IDLE_KEPT + (len(self.every) - len(idle)) // 4:
            for index in list(idle)[: _IDLE_KEPT // 4]:
                self._let_go(idle.pop(index))

    def _let_go(self, pod_class: PodClass) -> None:
        pod, index = pod_class.pod, pod_class.index
        del self.every[index]
        if self._of_object.get(id(pod), (None, None))[1] is pod_class:
            del self._of_object[id(pod)]
        self.selections.remove(pod_class)
        self._with_affinity.pop(index, None)
        for namespace in namespaces_asked(pod):
            _drop(self._asking, namespace, index)
        for place in self._numbers.pop(index, ()):
            self._terms.remove(*place)
        key = _key(pod_class)
        alike = [each for each in self._by_identity[key] if each[1] is not pod_class]
        if alike:
            self._by_identity[key] = alike
        else:
            del self._by_identity[key]

    def _cost(self, pod: Pod) -> Cost:
        resources = resources_of(pod)
        if resources is None:
            return Cost(pod, self._rules)
        known = self._costs.get(resources)
        if known is None:
            if len(self._costs) >= _REMEMBERED:
                self._costs.clear()
            known = self._costs[resources] = Cost(pod, self._rules)
        return known


def _places_of_terms(pod: Pod) -> Iterator[tuple[str, Selector]]:
    """Yield namespace and selector of the affinity terms that list namespaces, without invalid selectors."""
    for term in affinity_terms(pod):
        try:
            selector = Selector.from_label_selector(term.label_selector)
        except InvalidSelectorError:
            continue
        yield from ((namespace, selector) for namespace in namespaces_named(term, pod))


def _key(pod_class: PodClass) -> Hashable:
    return (pod_class.node_name, pod_class.is_node_pinned, identity(pod_class.pod))


def _drop(table: dict[Key, dict[int, PodClass]], key: Key, index: int) -> None:
    entries = table[key]
    del entries[index]
    if not entries:
        del table[key]
