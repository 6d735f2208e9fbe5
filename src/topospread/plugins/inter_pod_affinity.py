"""InterPodAffinity places pods in the same topology domain as other pods, or in another (plugins/interpodaffinity).

Filter: required affinity and anti-affinity of the incoming pod, and required anti-affinity of existing pods.
Score: preferred terms of the incoming pod and of existing pods, and required affinity terms of existing pods, weighted
by ``hardPodAffinityWeight``.
Counts are kept by pod class and topology domain and updated from the journal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topospread.api.node import Namespace
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.cluster.nodes import NodeTable
from topospread.cluster.pod_class import has_pod_affinity
from topospread.config.args import InterPodAffinityArgs
from topospread.config.version_rules import by_version, gated, since

from .affinity_requeueing import AffinityHintRules, affinity_registrations
from .affinity_tally import Tally
from .affinity_terms import NO_LABELS, Term, Terms, terms_of
from .cluster_event import Registration
from .group_columns import GroupColumn
from .interface import MAX_NODE_SCORE, UNRESOLVABLE, UNSCHEDULABLE, Listener, Prepared, Scope, Status, length

REASON_AFFINITY = "node(s) didn't match pod affinity rules"
REASON_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
REASON_EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"
_AFFINITY, _ANTI_AFFINITY, _EXISTING = 1, 2, 3
_REASONS = {_AFFINITY: REASON_AFFINITY, _ANTI_AFFINITY: REASON_ANTI_AFFINITY, _EXISTING: REASON_EXISTING}


@dataclass(frozen=True, slots=True)
class InterPodAffinityRules:
    """The differences between Kubernetes versions."""

    skips_pods: bool = since(
        "1.27",
        "A pod without required terms that no running pod's anti-affinity matches is skipped, also "
        "with nominated pods.",
    )
    namespace_selectors: bool = gated("PodAffinityNamespaceSelector")
    keeps_namespace_selector: bool = by_version(
        {"1.18": False, "1.34": True, "1.37": False},
        {
            "1.34": "In terms of the incoming pod, a namespaceSelector that matches namespaces without labels "
            "(`DoesNotExist`, `NotIn`) selects every namespace.",
            "1.37": "A namespaceSelector selects the namespaces that match it, as before 1.34.",
        },
    )


class InterPodAffinity:
    """The plugin InterPodAffinity.

    It ignores matchLabelKeys and mismatchLabelKeys, because the API server merges them into the selectors.
    """

    name = "InterPodAffinity"

    def __init__(
        self,
        args: InterPodAffinityArgs | None = None,
        rules: InterPodAffinityRules | None = None,
        hint_rules: AffinityHintRules | None = None,
    ) -> None:
        self._args = args or InterPodAffinityArgs()
        self._rules = rules or InterPodAffinityRules()
        self._hint_rules = hint_rules or AffinityHintRules()

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter and Score. They are never skipped here, because a pod with terms may be placed later."""
        terms = terms_of(pod_class, namespace_selectors=self._rules.namespace_selectors)
        if terms.problems:
            text = terms.problems[0] if len(terms.problems) == 1 else f"[{', '.join(terms.problems)}]"
            return Prepared(rejected=Status(UNRESOLVABLE, (f"parsing pod: {text}",)))
        terms = terms.resolved(cluster.objects.namespaces.values(), keeps_selector=self._rules.keeps_namespace_selector)
        affinities = Affinities(pod_class, terms, cluster, self._args, self._rules)
        affinities.may_be_skipped = self._rules.skips_pods and not (terms.affinity or terms.anti_affinity)
        return Prepared(
            filter=_AffinityFilter(affinities),
            score=_AffinityScore(affinities),
            watcher=affinities,
            reads=[(Namespace, "")],
        )

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for events of assigned pods and nodes, and of the pod's own labels."""
        return affinity_registrations(cluster, self._hint_rules)


Effect = tuple[Tally, int]
"""(tally, amount that one pod of a class adds to the sum of its node's domain)."""


class Affinities:
    """The counts behind one pod class. It is the plugin's `Watcher`.

    Attributes:
        existing: topology key → number of existing pods' required anti-affinity terms that match this pod.
        affinity: topology key → number of existing pods that match all required affinity terms of this pod.
        anti_affinity: topology key → number of matches of existing pods with this pod's required anti-affinity terms.
        preference: topology key → sum of the weights of matching terms.
        tallies: all tallies of these four mappings.
        layout: number that changes when `columns`, or ``idle`` of the filter or score, changes.
        may_be_skipped: whether PreFilter skips the pod while no existing anti-affinity term matches it.
        skipped: whether PreFilter skipped the pod in the current dry run, which then ignores added pods.
    """

    def __init__(
        self,
        pod_class: PodClass,
        terms: Terms,
        cluster: Cluster,
        args: InterPodAffinityArgs,
        rules: InterPodAffinityRules,
    ) -> None:
        self.pod_class = pod_class
        self.terms = terms
        self.nodes: NodeTable = cluster.nodes
        self._cluster = cluster
        self.layout = 0
        self.existing: dict[str, Tally] = {}
        self.affinity: dict[str, Tally] = {}
        self.anti_affinity: dict[str, Tally] = {}
        self.preference: dict[str, Tally] = {}
        self.tallies: list[Tally] = []
        self.matches_itself = bool(terms.affinity) and all(
            term.matches(pod_class, NO_LABELS) for term in terms.affinity
        )
        self._args = args
        self._rules = rules
        own = cluster.objects.namespaces.get(pod_class.namespace)
        self._namespace_labels: Mapping[str, str] = own.labels if own else NO_LABELS
        preferred = terms.preferred_affinity or terms.preferred_anti_affinity
        self._asks = terms.any
        self._scores = bool(preferred) or not args.ignore_preferred_terms_of_existing_pods
        self._found_at_first: dict[PodClass, list[Effect]] = {}
        self.may_be_skipped = self.skipped = False
        for key in (term.topology_key for term in terms.affinity):
            self._tally(self.affinity, key)
        for each in self._concerned():
            if effects := self.effects(each):
                self._found_at_first[each] = effects
                for tally, amount in effects:
                    for row, count in each.occupancy.items():
                        tally.add(row, amount * count)

    def _concerned(self) -> Iterable[PodClass]:
        """Return the classes with terms that may match the pod, and the classes that its own terms match."""
        cluster, own = self._cluster, self.terms.namespaces
        if own is None:
            return cluster.classes.values()
        found = {each.index: each for each in cluster.classes_meaning(self.pod_class)}
        for term in self.terms.every:
            for namespace in term.namespaces:
                found.update((each.index, each) for each in cluster.selections.classes(namespace, term.selector))
        return [found[index] for index in sorted(found)]

    @property
    def no_pod_matches(self) -> bool:
        """True if no existing pod matches the required affinity. Then a pod that matches its own terms is accepted."""
        return not any(tally.domains for tally in self.affinity.values())

    def begin_dry_run(self) -> None:
        """Freeze the PreFilter result."""
        self.skipped = self.may_be_skipped and not any(tally.domains for tally in self.existing.values())

    def end_dry_run(self) -> None:
        """Unfreeze the PreFilter result."""
        self.skipped = False

    def effects(self, other: PodClass) -> list[Effect]:
        """Return the tallies that an existing pod of a class changes, each with the amount that one pod adds."""
        if not self._asks and not has_pod_affinity(other.pod):  # fast path for the most common case
            return []
        sums: dict[int, Effect] = {}
        for tally, amount in self._found(other):
            sums[id(tally)] = (tally, sums.get(id(tally), (tally, 0))[1] + amount)
        return [effect for effect in sums.values() if effect[1]]

    def _found(self, other: PodClass) -> Iterable[Effect]:
        theirs = terms_of(other, namespace_selectors=self._rules.namespace_selectors)
        for term in self._meaning_us(theirs.anti_affinity):
            yield self._tally(self.existing, term.topology_key), 1
        mine = self.terms
        if mine.affinity and all(term.matches(other, NO_LABELS) for term in mine.affinity):
            for term in mine.affinity:
                yield self._tally(self.affinity, term.topology_key), 1
        for term in mine.anti_affinity:
            if term.matches(other, NO_LABELS):
                yield self._tally(self.anti_affinity, term.topology_key), 1
        if self._scores:
            yield from self._preferences(other, theirs)

    def _preferences(self, other: PodClass, theirs: Terms) -> Iterable[Effect]:
        hard_weight = self._args.hard_pod_affinity_weight
        weighted = [(term, term.weight) for term in self.terms.preferred_affinity if term.matches(other, NO_LABELS)]
        weighted += [
            (term, -term.weight) for term in self.terms.preferred_anti_affinity if term.matches(other, NO_LABELS)
        ]
        weighted += [(term, hard_weight) for term in self._meaning_us(theirs.affinity) if hard_weight > 0]
        weighted += [(term, term.weight) for term in self._meaning_us(theirs.preferred_affinity)]
        weighted += [(term, -term.weight) for term in self._meaning_us(theirs.preferred_anti_affinity)]
        for term, weight in weighted:
            yield self._tally(self.preference, term.topology_key), weight

    def _meaning_us(self, terms: Iterable[Term]) -> list[Term]:
        """Return the terms of an existing pod that match the incoming pod."""
        return [term for term in terms if term.matches(self.pod_class, self._namespace_labels)]

    def _tally(self, tallies: dict[str, Tally], key: str) -> Tally:
        tally = tallies.get(key)
        if tally is None:
            tally = tallies[key] = Tally(self.nodes.labels(key), self.nodes.capacity)
            self.tallies.append(tally)
            self.layout += 1
        return tally

    def concerned(self, since: int = 0) -> Iterable[PodClass]:
        """Return the classes from index ``since`` on that the pod's terms match, or whose terms may match the pod."""
        if since:
            return self._cluster.classes_since(since, asking_only=not self._asks)[0]
        return list(self._found_at_first) or self._concerned()

    def listener(self, pod_class: PodClass) -> Listener | None:
        """Return a function that counts pods of a class; ``None`` if no term of these pods or of this pod matches."""
        effects = self._found_at_first.pop(pod_class, None) or self.effects(pod_class)
        if not effects:
            return None

        def count(row: int, delta: int) -> None:
            for tally, amount in effects:
                tally.add(row, amount * delta)

        return count

    def counts_pods_of(self, pod_class: PodClass) -> bool:
        """Return False: listeners count the pods."""
        return False

    def on_nodes(self, rows: Collection[int]) -> None:
        """Move the pods of changed nodes to the nodes' current domains."""
        for tally in self.tallies:
            for row in rows:
                tally.move(row)

    def columns(self) -> list[GroupColumn]:
        """Return columns by domain for keys with few domains, and by the domain's sum for other keys."""
        return [tally.group_column() for tally in self.tallies]


class _AffinityFilter:
    """The Filter extension point. Its codes: `_AFFINITY`, `_ANTI_AFFINITY` and `_EXISTING`."""

    scope = Scope.CLUSTER

    def __init__(self, affinities: Affinities) -> None:
        self._affinities = affinities

    @property
    def idle(self) -> bool:
        state = self._affinities
        return not (state.existing or state.affinity or state.anti_affinity)

    def filter(self, rows: Rows) -> Ints:
        state = self._affinities
        result = np.zeros(length(rows), dtype=np.int64)
        if state.skipped:
            return result
        for tally in state.existing.values():
            result[tally.at(rows) > 0] = _EXISTING
        for tally in state.anti_affinity.values():
            result[tally.at(rows) > 0] = _ANTI_AFFINITY
        if state.affinity:
            may_be_first = state.no_pod_matches and state.matches_itself
            for tally in state.affinity.values():
                if not may_be_first:
                    result[tally.at(rows) <= 0] = _AFFINITY
                result[tally.column.codes[rows] < 0] = _AFFINITY
        return result

    def filter_each(self, rows: Sequence[int]) -> list[int]:
        state = self._affinities
        if state.skipped:
            return [0] * len(rows)
        may_be_first = bool(state.affinity) and state.no_pod_matches and state.matches_itself
        return [self._filter_one(row, may_be_first) for row in rows]

    def _filter_one(self, row: int, may_be_first: bool) -> int:
        state = self._affinities
        for tally in state.affinity.values():
            if tally.column.codes.item(row) < 0 or not (may_be_first or tally.of(row) > 0):
                return _AFFINITY
        if any(tally.of(row) > 0 for tally in state.anti_affinity.values()):
            return _ANTI_AFFINITY
        return _EXISTING if any(tally.of(row) > 0 for tally in state.existing.values()) else 0

    def status(self, code: int) -> Status:
        return Status(UNRESOLVABLE if code == _AFFINITY else UNSCHEDULABLE, (_REASONS[code],))


class _AffinityScore:
    scope = Scope.CLUSTER

    def __init__(self, affinities: Affinities) -> None:
        self._affinities = affinities

    @property
    def idle(self) -> bool:
        return not self._affinities.preference

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        total = np.zeros(length(rows), dtype=np.int64)
        for tally in self._affinities.preference.values():
            total += tally.at(rows)
        return total

    def normalize(self, raw: Ints, rows: Rows) -> Ints:
        """Return ``100 · (raw − lowest) / (highest − lowest)``, truncated; 0 if all raw scores are equal."""
        lowest, highest = int(np.minimum.reduce(raw)), int(np.maximum.reduce(raw))
        if highest == lowest:
            return np.zeros(len(raw), dtype=np.int64)
        shares = float(MAX_NODE_SCORE) * ((raw - lowest).astype(np.float64) / float(highest - lowest))
        return shares.astype(np.int64)
