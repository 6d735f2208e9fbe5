"""TopologySpreadConstraint as a public type: the eight fields, their defaults, JSON, YAML and copies.

What the API server refuses is checked in ``api/validation``; merging a patch is ``api/merging.py``; the fields'
documentation as data is ``api/fields.py``; what the scheduler makes of a constraint is the plugin's.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from topospread.errors import DecodeError, Place

from .decoding import decode
from .labels import LabelSelector, Selector
from .meta import KubeStruct
from .yaml_text import parse_yaml, yaml_text

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]

WhenUnsatisfiable = Literal["DoNotSchedule", "ScheduleAnyway"]
NodeInclusionPolicy = Literal["Honor", "Ignore"]

DO_NOT_SCHEDULE: WhenUnsatisfiable = "DoNotSchedule"
SCHEDULE_ANYWAY: WhenUnsatisfiable = "ScheduleAnyway"
HONOR: NodeInclusionPolicy = "Honor"
IGNORE: NodeInclusionPolicy = "Ignore"

DEFAULT_MIN_DOMAINS = 1
DEFAULT_NODE_AFFINITY_POLICY = HONOR
DEFAULT_NODE_TAINTS_POLICY = IGNORE


class TopologySpreadConstraint(KubeStruct, repr_omit_defaults=True):
    """How the pods that a selector matches are spread over the domains of a topology (core/v1).

    Every field may be None, which means unset: ``TopologySpreadConstraint()`` is the empty value, and a patch sets
    only what it changes. Constraints are equal when all fields are; a field that is unset differs from one that is
    set to its default. Values are not checked here: a manifest's nonsense can be held and shown.

    Attributes:
        max_skew: ``maxSkew``, how much a domain may hold above the global minimum (DoNotSchedule), or how much
            weight the constraint has when nodes are scored (ScheduleAnyway). From 1. Required: no default.
        topology_key: ``topologyKey``, the node label whose values are the domains. Required.
        when_unsatisfiable: ``whenUnsatisfiable``, DoNotSchedule (a node that breaks the constraint is out) or
            ScheduleAnyway (nodes that keep the skew low are preferred). Required: no default.
        label_selector: ``labelSelector``, the pods that are counted, in the pod's own namespace. Unset matches no
            pod at all.
        min_domains: ``minDomains``, with fewer eligible domains than this the global minimum is 0. From 1, only
            with DoNotSchedule. Unset is 1.
        node_affinity_policy: ``nodeAffinityPolicy``, whether only nodes that the pod's node selector and required
            node affinity match are counted (Honor) or all (Ignore). Unset is Honor.
        node_taints_policy: ``nodeTaintsPolicy``, whether nodes with taints that the pod does not tolerate are left
            out (Honor) or counted all the same (Ignore). Unset is Ignore.
        match_label_keys: ``matchLabelKeys``, labels whose values on the incoming pod are added to the selector.
            Keys that the pod lacks are dropped. Only with a label selector. Unset adds nothing.

    Source: k8s.io/api/core/v1/types.go, TopologySpreadConstraint.
    """

    max_skew: Int32 | None = None
    topology_key: str | None = None
    when_unsatisfiable: str | None = None
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: list[str] | None = None

    @property
    def effective_min_domains(self) -> int:
        """``minDomains`` in force: 1 when it is unset."""
        return DEFAULT_MIN_DOMAINS if self.min_domains is None else self.min_domains

    @property
    def effective_node_affinity_policy(self) -> str:
        """``nodeAffinityPolicy`` in force: Honor when it is unset."""
        return DEFAULT_NODE_AFFINITY_POLICY if self.node_affinity_policy is None else self.node_affinity_policy

    @property
    def effective_node_taints_policy(self) -> str:
        """``nodeTaintsPolicy`` in force: Ignore when it is unset."""
        return DEFAULT_NODE_TAINTS_POLICY if self.node_taints_policy is None else self.node_taints_policy

    def selector(self, pod_labels: Mapping[str, str]) -> Selector:
        """What a pod with these labels counts: labelSelector, and the pod's values of matchLabelKeys.

        Raises:
            InvalidSelectorError: the selector does not compile.
        """
        compiled = Selector.from_label_selector(self.label_selector)
        return compiled.with_match_label_keys(self.match_label_keys, pod_labels)

    def copy(self) -> TopologySpreadConstraint:
        """A copy that shares nothing with this one."""
        return copy.deepcopy(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data with Kubernetes' field names, in this class's order; unset fields are left out."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], place: Place | None = None) -> TopologySpreadConstraint:
        """The constraint that plain data describes; null is unset, unknown fields are ignored.

        Raises:
            DecodeError: a field of another type, with its path.
        """
        if data is None:
            raise DecodeError("expected an object, got null", place)
        return decode(dict(data) if isinstance(data, Mapping) else data, cls, place)

    def to_json(self) -> str:
        """One line of JSON; unset fields are left out."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str | bytes, place: Place | None = None) -> TopologySpreadConstraint:
        """The constraint that a JSON text describes.

        Raises:
            DecodeError: not JSON, or a field of another type.
        """
        try:
            data = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise DecodeError(f"not JSON: {error}", place) from None
        return cls.from_dict(data, place)

    def to_yaml(self) -> str:
        """A YAML mapping in block style; unset fields are left out."""
        return yaml_text(self.to_dict())

    @classmethod
    def from_yaml(cls, text: str | bytes, place: Place | None = None) -> TopologySpreadConstraint:
        """The constraint that a YAML document describes.

        Raises:
            DecodeError: not YAML, or a field of another type.
            DuplicateError: a key twice in one mapping.
        """
        data: Any = parse_yaml(text, place)
        return cls.from_dict(data, place)
