"""NodeAffinity: nodeSelector, node affinity, and the profile's addedAffinity (plugins/nodeaffinity)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from topospread.api.labels import aggregated
from topospread.api.node import Node
from topospread.api.node_selection import NodeAffinity, NodeSelector, NodeSelectorTerm, PreferredSchedulingTerm
from topospread.api.pod import Pod
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.config.version_rules import by_version, since, until

from .cluster_event import ADD, NODE_LABEL, ClusterEvent, Registration
from .interface import UNRESOLVABLE, PluginError, Prepared, Scope, Status, length, normalize_by_maximum
from .node_matching import Mask, matches_node, required_mask, requires_node, selector_mask, term_mask, term_problems
from .without_pre_filter import FailingScore

REASON_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT = "pod affinity terms conflict"
_ENFORCED, _POD = 1, 2


@dataclass(frozen=True, slots=True)
class NodeAffinityRules:
    """The differences between Kubernetes versions."""

    reason: str = by_version(
        {
            "1.18": "node(s) didn't match node selector",
            "1.20": "node(s) didn't match Pod's node affinity",
            "1.21": "node(s) didn't match Pod's node affinity/selector",
        },
        {
            "1.20": "The reason is `node(s) didn't match Pod's node affinity`; before, `... node selector`.",
            "1.21": "The reason is `node(s) didn't match Pod's node affinity/selector`.",
        },
    )
    prefers_fields: bool = since("1.20", "Preferred terms may match `metadata.name`. Before, such terms were ignored.")
    narrows: bool = since(
        "1.24", "A pod with `matchFields: metadata.name` is tried on those nodes alone, in PreFilter."
    )
    any_conflict_rejects: bool = until(
        "1.26",
        "The pod is rejected (`pod affinity terms conflict`) only if all its terms exclude every node. "
        "Before, one such term sufficed.",
    )


class NodeAffinityPlugin:
    """Filter: required terms. Score: summed weights of the preferred terms that match, relative to the highest sum.

    ``added_affinity``: core/v1 NodeAffinity of the profile, as plain data. It applies to every pod.
    """

    name = "NodeAffinity"

    def __init__(self, added_affinity: Mapping[str, Any] | None = None, rules: NodeAffinityRules | None = None) -> None:
        self._rules = rules or NodeAffinityRules()
        added = msgspec.convert(added_affinity or {}, NodeAffinity)
        self._added_required = added.required_during_scheduling_ignored_during_execution
        self._added_preferred = added.preferred_during_scheduling_ignored_during_execution or []

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter and Score; skip each if neither pod nor profile has terms for it."""
        spec = pod_class.pod.spec
        affinity = spec.affinity.node_affinity if spec.affinity else None
        prepared = Prepared()
        required = required_mask(spec, cluster.nodes)
        enforced = selector_mask(self._added_required, cluster.nodes) if self._added_required else None
        if required is not None or enforced is not None or spec.node_selector is not None:
            prepared.filter = _RequiredTerms(enforced, required, self._rules.reason)
            node_selector = affinity.required_during_scheduling_ignored_during_execution if affinity else None
            if node_selector and self._rules.narrows:
                prepared.narrowed = self._named_nodes(node_selector.node_selector_terms or [])
            if prepared.narrowed is not None and not prepared.narrowed:
                prepared.rejected = Status(UNRESOLVABLE, (REASON_CONFLICT,))
        preferred = (affinity.preferred_during_scheduling_ignored_during_execution if affinity else None) or []
        if not self._rules.prefers_fields:
            preferred = [_without_fields(term) for term in preferred]
        # kube-scheduler does not parse terms of weight 0 (``NewPreferredSchedulingTerms``).
        if problems := [
            problem
            for i, term in enumerate(preferred)
            if term.weight and term.preference is not None
            for problem in term_problems(term.preference, f"[{i}]")
        ]:
            prepared.score = FailingScore(f'running PreScore plugin "NodeAffinity": {aggregated(problems)}')
        elif preferred or self._added_preferred:
            prepared.score = _Preferred([*self._added_preferred, *preferred], cluster.nodes)
        return prepared

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for nodes that begin to match."""
        return (Registration(ClusterEvent("Node", ADD | NODE_LABEL), self._after_node_change),)

    def _after_node_change(self, pod: Pod, old: Node | None, new: Node) -> bool:
        if self._added_required is not None and not _enforces(self._added_required, new):
            return False
        return requires_node(pod.spec, new) and (old is None or not requires_node(pod.spec, old))

    def _named_nodes(self, terms: Sequence[NodeSelectorTerm]) -> frozenset[str] | None:
        """Return the nodes that the terms name by ``metadata.name``; ``None`` for all nodes, if a term names none."""
        names: set[str] = set()
        for term in terms:
            of_term: set[str] | None = None  # None if the term has no requirement on metadata.name
            for each in term.match_fields or ():
                if each.key == "metadata.name" and each.operator == "In":
                    values = set(each.values or ())
                    of_term = values if of_term is None else of_term & values
            if of_term is None:
                return None
            if not of_term and self._rules.any_conflict_rejects:
                return frozenset()
            names |= of_term
        return frozenset(names) if terms else None


def _enforces(added: NodeSelector, node: Node) -> bool:
    """Return whether the profile's addedAffinity matches the node. Invalid terms match no node."""
    try:
        return matches_node(added, node)
    except PluginError:
        return False


def _without_fields(term: PreferredSchedulingTerm) -> PreferredSchedulingTerm:
    if term.preference is None:
        return term
    return msgspec.structs.replace(term, preference=msgspec.structs.replace(term.preference, match_fields=None))


class _RequiredTerms:
    scope = Scope.NODE

    def __init__(self, enforced: Mask | None, required: Mask | None, reason: str) -> None:
        self._reason = reason
        self._enforced = enforced
        self._required = required

    def filter(self, rows: Rows) -> Ints:
        codes = np.zeros(length(rows), dtype=np.int64)
        if self._required is not None:
            codes[~self._required(rows)] = _POD
        if self._enforced is not None:
            codes[~self._enforced(rows)] = _ENFORCED
        return codes

    def status(self, code: int) -> Status:
        return Status(UNRESOLVABLE, (self._reason if code == _POD else REASON_ENFORCED,))


class _Preferred:
    scope = Scope.NODE

    def __init__(self, terms: Sequence[PreferredSchedulingTerm], nodes: NodeTable) -> None:
        self._masks: list[tuple[int, Mask]] = []
        for term in terms:
            if term.weight == 0 or term.preference is None:
                continue
            mask = term_mask(term.preference, nodes)
            if mask is not None:
                self._masks.append((term.weight, mask))

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        points = np.zeros(length(rows), dtype=np.int64)
        for weight, mask in self._masks:
            points += weight * mask(rows)
        return points

    def normalize(self, raw: Ints, rows: Rows) -> Ints:
        """Return scores relative to the highest raw score, int64[rows].

        Raises:
            PluginError: if a negative weight, which the API server denies, makes a feasible node's score negative.
        """
        points = normalize_by_maximum(raw)
        if (points < 0).any():
            raise PluginError(
                'applying score defaultWeights on Score plugins: plugin "NodeAffinity" returns an invalid score '
                f"{points[points < 0][0]}, it should in the range of [0, 100] after normalizing"
            )
        return points
