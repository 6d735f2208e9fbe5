"""InterPodAffinity's queueing hints: the events that may make a rejected pod schedulable.

kube-scheduler's hints evaluate namespace selectors without the namespaces' labels; this module copies that.
Source: plugins/interpodaffinity/plugin.go (``EventsToRegister``, ``isSchedulableAfter…``) of 1.32 to 1.37.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster, PodClass
from topospread.cluster.pod_class import has_pod_affinity
from topospread.config.version_rules import since

from .affinity_terms import NO_LABELS, Term, Terms, terms_of
from .cluster_event import ADD, DELETE, NODE_LABEL, POD_LABEL, ClusterEvent, Registration, takes_room
from .interface import PluginError


@dataclass(frozen=True, slots=True)
class AffinityHintRules:
    """The differences between Kubernetes versions in the hints."""

    compares_domains: bool = since(
        "1.33",
        "Queueing hints: a node's update moves pods that InterPodAffinity rejected if the node joins "
        "a domain that they need or leaves one that they avoid. Before, an update of any node with "
        "their topology key did.",
    )
    hears_of_both_sides: bool = since(
        "1.36",
        "Queueing hints: a deleted pod moves pods that its anti-affinity rejected, and new labels of "
        "a pending pod move it. Before, these pods waited for the five-minute flush.",
    )
    counts_nominated: bool = since(
        "1.36",
        "Queueing hints: a pod that loses its nomination moves pods that InterPodAffinity or "
        "PodTopologySpread rejected, like a deleted pod.",
    )
    any_term_keeps_away: bool = since(
        "1.37",
        "Queueing hints: a deleted pod moves a pod if any anti-affinity term of one matches the other. "
        "Before, all terms had to match.",
    )


def affinity_registrations(cluster: Cluster, rules: AffinityHintRules) -> Sequence[Registration]:
    """Return the registrations for events of assigned pods and nodes, and of the pending pod's own labels."""
    hints = _Hints(cluster, rules)
    own_labels = (Registration(ClusterEvent("TargetPod", POD_LABEL)),) if rules.hears_of_both_sides else ()
    return (
        Registration(ClusterEvent("AssignedPod", ADD | POD_LABEL | DELETE), hints.after_assigned_pod_change),
        *own_labels,
        Registration(ClusterEvent("Node", ADD | NODE_LABEL), hints.after_node_change),
    )


def wants_near(pod: Pod, other: Pod, cluster: Cluster) -> bool:
    """Return whether a required term matches the other pod (``getUnschedulablePodsWithMatchingAffinityTerm``)."""
    namespace = cluster.objects.namespaces.get(other.namespace)
    labels = (namespace.metadata.labels or {}) if namespace is not None else NO_LABELS
    return any(term.matches(other, labels) for term in terms_of(cluster.shared_class(pod)).affinity)


class _Hints:
    def __init__(self, cluster: Cluster, rules: AffinityHintRules) -> None:
        self._cluster = cluster
        self._rules = rules
        self._keep_away = _means_any if rules.any_term_keeps_away else _means_all

    def after_assigned_pod_change(self, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
        counts_nominated = self._rules.counts_nominated
        if any(each is not None and not takes_room(each, counts_nominated=counts_nominated) for each in (old, new)):
            return False
        terms = _required(self._cluster.shared_class(pod))
        if new is not None:
            if old is None:
                return _means_all(terms.affinity, new)
            if _means_all(terms.affinity, new) and not _means_all(terms.affinity, old):
                return True
            return self._keep_away(terms.anti_affinity, old) and not self._keep_away(terms.anti_affinity, new)
        assert old is not None
        if self._keep_away(terms.anti_affinity, old):
            return True
        return self._rules.hears_of_both_sides and self._keep_away(self._anti_affinity_of(old), pod)

    def after_node_change(self, pod: Pod, old: Node | None, new: Node) -> bool:
        terms = _required(self._cluster.shared_class(pod))
        if not self._rules.compares_domains:
            return any(term.topology_key in new.labels for term in (*terms.affinity, *terms.anti_affinity))
        if old is None:
            return bool(terms.anti_affinity) or any(term.topology_key in new.labels for term in terms.affinity)
        near = (_domains(term, old, new) for term in terms.affinity)
        if any(after is not None and before != after for before, after in near):
            return True
        away = (_domains(term, old, new) for term in terms.anti_affinity)
        return any(before is not None and before != after for before, after in away)

    def _anti_affinity_of(self, pod: Pod) -> Sequence[Term]:
        """Return the required anti-affinity terms of an assigned pod."""
        if not has_pod_affinity(pod):
            return ()
        return _required(self._cluster.pod_class(pod, is_placed=True)).anti_affinity


def _required(pod_class: PodClass) -> Terms:
    """Return the affinity terms of a class.

    Raises:
        PluginError: if a required term is invalid.
    """
    terms = terms_of(pod_class)
    problems = [each for each in terms.problems if each.startswith("required")]
    if problems:
        raise PluginError("; ".join(problems))
    return terms


def _domains(term: Term, old: Node, new: Node) -> tuple[str | None, str | None]:
    """Return a node's value of the term's topology key before and after an update."""
    return old.labels.get(term.topology_key), new.labels.get(term.topology_key)


def _means_all(terms: Sequence[Term], pod: Pod) -> bool:
    """Return whether all terms match the pod; False without terms (``podMatchesAllAffinityTerms``)."""
    return bool(terms) and all(term.matches(pod, NO_LABELS) for term in terms)


def _means_any(terms: Sequence[Term], pod: Pod) -> bool:
    return any(term.matches(pod, NO_LABELS) for term in terms)
