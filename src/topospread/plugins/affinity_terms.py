"""Compiled terms of inter-pod affinity, which tell whether a term matches a pod.

Source: k8s.io/kube-scheduler/framework/types.go (AffinityTerm, getNamespacesFromPodAffinityTerm).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace as with_fields

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.node import Namespace
from topospread.api.node_selection import PodAffinity, PodAffinityTerm
from topospread.api.pod import Pod
from topospread.cluster import PodClass
from topospread.cluster.pod_class import has_pod_affinity

NO_LABELS: Mapping[str, str] = {}


class Term(msgspec.Struct, frozen=True):
    """A term. It matches pods by their labels, in namespaces that it selects by name or by labels.

    Attributes:
        weight: weight of a preferred term, 0 for a required term.
    """

    topology_key: str
    selector: Selector
    namespaces: frozenset[str]
    namespace_selector: Selector
    weight: int = 0

    def matches(self, pods: Pod | PodClass, namespace_labels: Mapping[str, str]) -> bool:
        """Return whether the term matches a pod or class; ``namespace_labels``: labels of the pod's namespace."""
        named = pods.namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)
        return named and self.selector.matches(pods.labels)

    def resolved(self, namespaces: Iterable[Namespace], *, keeps_selector: bool = False) -> Term:
        """Return the term with its namespace selector replaced by names, as kube-scheduler does for the incoming pod.

        An empty selector is kept, because it also matches namespaces whose Namespace object is unknown. With
        ``keeps_selector``, a selector that matches empty labels is also kept, and later evaluated on empty labels.
        """
        if self.namespace_selector.empty:
            return self
        named = {each.name for each in namespaces if self.namespace_selector.matches(each.labels)}
        kept = keeps_selector and self.namespace_selector.matches(NO_LABELS)
        rest = Selector.everything() if kept else Selector.nothing()
        return with_fields(self, namespaces=self.namespaces | named, namespace_selector=rest)


@dataclass(frozen=True, slots=True)
class Terms:
    """All terms of a pod, by kind.

    Attributes:
        namespaces: namespaces whose pods any term can match; ``None`` for all, if a term selects namespaces by labels.
    """

    affinity: tuple[Term, ...] = ()
    anti_affinity: tuple[Term, ...] = ()
    preferred_affinity: tuple[Term, ...] = ()
    preferred_anti_affinity: tuple[Term, ...] = ()
    problems: tuple[str, ...] = field(default=())
    namespaces: frozenset[str] | None = field(init=False)

    def __post_init__(self) -> None:
        named = frozenset[str]().union(*(term.namespaces for term in self.every))
        by_labels = any(not term.namespace_selector.selects_nothing for term in self.every)
        object.__setattr__(self, "namespaces", None if by_labels else named)

    @property
    def every(self) -> tuple[Term, ...]:
        """The terms of all four kinds."""
        return (*self.affinity, *self.anti_affinity, *self.preferred_affinity, *self.preferred_anti_affinity)

    @property
    def any(self) -> bool:
        """True if the pod has any term."""
        return bool(self.every)

    def resolved(self, namespaces: Iterable[Namespace], *, keeps_selector: bool = False) -> Terms:
        """Return the terms with namespace selectors replaced by names (`Term.resolved`)."""
        every = list(namespaces)
        kinds = (self.affinity, self.anti_affinity, self.preferred_affinity, self.preferred_anti_affinity)
        affinity, anti_affinity, preferred, preferred_anti = (
            tuple(term.resolved(every, keeps_selector=keeps_selector) for term in terms) for terms in kinds
        )
        return Terms(affinity, anti_affinity, preferred, preferred_anti, self.problems)

    def without_namespace_selectors(self) -> Terms:
        """Return the terms with only the namespaces that they list."""
        kinds = (self.affinity, self.anti_affinity, self.preferred_affinity, self.preferred_anti_affinity)
        affinity, anti_affinity, preferred, preferred_anti = (
            tuple(with_fields(term, namespace_selector=Selector.nothing()) for term in terms) for terms in kinds
        )
        return Terms(affinity, anti_affinity, preferred, preferred_anti, self.problems)


NO_TERMS = Terms()


def terms_of(pod_class: PodClass, *, namespace_selectors: bool = True) -> Terms:
    """Return the compiled terms of a class, cached in the class. ``problems`` has the errors of invalid terms.

    Without ``namespace_selectors``, a term with a namespaceSelector matches only the namespaces that it lists.
    """
    known = pod_class.affinity_terms
    if not isinstance(known, Terms):
        known = _terms_of(pod_class)
        if not namespace_selectors:
            known = known.without_namespace_selectors()
        pod_class.affinity_terms = known
    return known


def _terms_of(pod_class: PodClass) -> Terms:
    affinity = pod_class.pod.spec.affinity
    if affinity is None or not has_pod_affinity(pod_class.pod):
        return NO_TERMS
    problems: list[str] = []
    near, away = affinity.pod_affinity, affinity.pod_anti_affinity
    return Terms(
        _required(near, pod_class, "requiredAffinityTerms", problems),
        _required(away, pod_class, "requiredAntiAffinityTerms", problems),
        _preferred(near, pod_class, "preferredAffinityTerms", problems),
        _preferred(away, pod_class, "preferredAntiAffinityTerms", problems),
        problems=tuple(problems),
    )


def _required(given: PodAffinity | None, pod_class: PodClass, name: str, problems: list[str]) -> tuple[Term, ...]:
    terms = (given.required_during_scheduling_ignored_during_execution if given else None) or ()
    return _compiled([(term, 0) for term in terms], pod_class, name, problems)


def _preferred(given: PodAffinity | None, pod_class: PodClass, name: str, problems: list[str]) -> tuple[Term, ...]:
    terms = (given.preferred_during_scheduling_ignored_during_execution if given else None) or ()
    weighted = [(each.pod_affinity_term, each.weight) for each in terms if each.pod_affinity_term is not None]
    return _compiled(weighted, pod_class, name, problems)


def _compiled(
    terms: list[tuple[PodAffinityTerm, int]], pod_class: PodClass, name: str, problems: list[str]
) -> tuple[Term, ...]:
    try:
        return tuple(_term(term, weight, pod_class.namespace) for term, weight in terms)
    except InvalidSelectorError as error:
        problems.append(f"{name}: {error}")
        return ()


def _term(term: PodAffinityTerm, weight: int, namespace: str) -> Term:
    own = not term.namespaces and term.namespace_selector is None
    return Term(
        topology_key=term.topology_key,
        selector=Selector.from_label_selector(term.label_selector),
        namespaces=frozenset({namespace} if own else term.namespaces or ()),
        namespace_selector=Selector.from_label_selector(term.namespace_selector),
        weight=weight,
    )
