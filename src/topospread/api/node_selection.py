"""A pod's choice of nodes: node selectors, node affinity, taints and tolerations, as typed structs."""

from __future__ import annotations

import msgspec

from .labels import LabelSelector
from .meta import Int32, Int64, KubeStruct


class NodeSelectorRequirement(KubeStruct):
    """One requirement on a node's labels (or, in matchFields, on its name)."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class NodeSelectorTerm(KubeStruct):
    """Requirements that must all hold; an empty term matches nothing."""

    match_expressions: list[NodeSelectorRequirement] | None = None
    match_fields: list[NodeSelectorRequirement] | None = None


class NodeSelector(KubeStruct):
    """A list of terms; at least one must match."""

    node_selector_terms: list[NodeSelectorTerm] | None = None


class PreferredSchedulingTerm(KubeStruct):
    """A node selector term with its weight (1 to 100)."""

    weight: Int32 = 0
    preference: NodeSelectorTerm | None = None


class NodeAffinity(KubeStruct):
    """``spec.affinity.nodeAffinity``."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] | None = None


class PodAffinityTerm(KubeStruct):
    """The pods with which a pod must, or must not, share a domain of a topology key."""

    label_selector: LabelSelector | None = None
    namespaces: list[str] | None = None
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: list[str] | None = None
    mismatch_label_keys: list[str] | None = None


class WeightedPodAffinityTerm(KubeStruct):
    """A pod affinity term with its weight (1 to 100)."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm | None = None


class PodAffinity(KubeStruct):
    """``spec.affinity.podAffinity`` and ``podAntiAffinity``: both have this form."""

    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] | None = None
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] | None = None


class Affinity(KubeStruct):
    """``spec.affinity``."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Taint(msgspec.Struct, frozen=True, eq=False, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A node's taint; ``effect`` is NoSchedule, PreferNoSchedule or NoExecute. ``time_added`` does not distinguish."""

    key: str = ""
    value: str | None = None
    effect: str = ""
    time_added: str | None = None

    def __eq__(self, other: object) -> bool:
        """Return whether key, value and effect are equal."""
        own = (self.key, self.value, self.effect)
        return own == (other.key, other.value, other.effect) if isinstance(other, Taint) else NotImplemented

    def __ne__(self, other: object) -> bool:
        """Return whether key, value or effect differs; the base class has its own comparison."""
        return not self == other

    def __hash__(self) -> int:
        """Return the hash of key, value and effect."""
        return hash((self.key, self.value, self.effect))


class Toleration(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A pod's toleration. An empty key matches all keys, an empty effect all effects. An empty operator means Equal."""

    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: Int64 | None = None
