"""TopologySpreadConstraint as a public type: the eight fields, their defaults, JSON, YAML, copies and merging.

What the API server refuses is checked in ``api/validation``; the fields' documentation as data is
``api/fields.py``; what the scheduler makes of a constraint is the plugin's.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec

from topospread.errors import DecodeError, Place, UsageError

from .apply_merge import apply_constraint, apply_constraints
from .decoding import decode
from .labels import LabelSelector, Selector
from .meta import Int32, KubeStruct
from .strategic_merge import ELEMENT_ORDER, PatchMeta, merge_object

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
    """A rule for spreading the pods that a selector matches over the domains of a topology (core/v1).

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
        """Return the selector for a pod with these labels: labelSelector, and the pod's values of matchLabelKeys.

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
        from .yaml_text import yaml_text  # PyYAML is loaded by who needs it: commands start without

        return yaml_text(self.to_dict())

    @classmethod
    def from_yaml(cls, text: str | bytes, place: Place | None = None) -> TopologySpreadConstraint:
        """The constraint that a YAML document describes.

        Raises:
            DecodeError: not YAML, or a field of another type.
            DuplicateError: a key twice in one mapping.
        """
        from .yaml_text import parse_yaml

        data: Any = parse_yaml(text, place)
        return cls.from_dict(data, place)


MergeStrategy = Literal["strategic", "apply"]
ConstraintPatch = TopologySpreadConstraint | Mapping[str, Any]
"""What changes a constraint: the fields that a TopologySpreadConstraint sets, or plain data as a patch file holds it,
which can say null (unset the field) and, in a strategic patch, ``$patch: delete`` and the other directives."""

_LIST = "topologySpreadConstraints"
_NO_LIST = PatchMeta(may_be_list=False)
_CONSTRAINT_META = PatchMeta(
    {
        "maxSkew": _NO_LIST,
        "topologyKey": _NO_LIST,
        "whenUnsatisfiable": _NO_LIST,
        "labelSelector": PatchMeta({"matchLabels": _NO_LIST, "matchExpressions": PatchMeta()}),
        "minDomains": PatchMeta(),
        "nodeAffinityPolicy": PatchMeta(),
        "nodeTaintsPolicy": PatchMeta(),
        "matchLabelKeys": PatchMeta(),
    }
)
_POD_SPEC_META = PatchMeta({_LIST: PatchMeta(_CONSTRAINT_META.members, merge_key="topologyKey")})


def merge(
    base: TopologySpreadConstraint, patch: ConstraintPatch, *, strategy: MergeStrategy = "strategic"
) -> TopologySpreadConstraint:
    """One constraint with a patch merged onto it; neither is changed.

    The fields that the patch sets replace those of the base. The label selector differs: ``strategic`` (kubectl
    patch, client-side apply) merges matchLabels key by key and replaces matchExpressions; ``apply`` (server-side
    apply) replaces the whole selector (``+structType=atomic``) and refuses fields that Kubernetes does not know.

    Raises:
        InvalidError: a patch that Kubernetes would not apply.
        DecodeError: a field of another type.
        UsageError: a strategy that is none.

    Source: k8s.io/api/core/v1/types.go and apimachinery ``pkg/apis/meta/v1/types.go`` (patchStrategy, structType).
    """
    _check(strategy)
    changes = _plain(patch)
    if strategy == "apply":
        return TopologySpreadConstraint.from_dict(apply_constraint(base.to_dict(), changes))
    return TopologySpreadConstraint.from_dict(merge_object(base.to_dict(), changes, _CONSTRAINT_META))


def merge_constraints(
    base: Sequence[TopologySpreadConstraint],
    patch: Sequence[ConstraintPatch] | None,
    *,
    strategy: MergeStrategy,
    element_order: Sequence[str] | None = None,
) -> list[TopologySpreadConstraint]:
    """A pod's list of constraints with a patch merged onto it, in the way that is named; neither is changed.

    ``strategic``: kubectl patch, client-side kubectl apply and ``kubectl edit``. Constraints are matched by
    topologyKey alone (``patchMergeKey=topologyKey``). A pod may have two constraints of one key, one hard and one
    soft: the patch then merges into the first of them, or deletes both. Elements may be plain data with
    ``{"$patch": "delete", "topologyKey": …}`` or ``{"$patch": "replace"}``, which replaces the list by the patch's
    other elements. Patched constraints come in the patch's order, new ones before the base's that follow.

    ``apply``: server-side apply. Constraints are matched by topologyKey and whenUnsatisfiable (``listMapKey``), so a
    constraint of another whenUnsatisfiable is added, not changed. Nothing is removed (see ``api/apply_merge.py``).

    Args:
        base: the constraints there are.
        patch: the constraints to merge; None is a patch that says null.
        strategy: which of the two.
        element_order: the topologyKeys in the order that ``$setElementOrder/topologySpreadConstraints`` gives
            (strategic only): what client-side apply sends along.

    Raises:
        InvalidError: a patch that Kubernetes would not apply.
        DecodeError: a field of another type.
        UsageError: an element order for apply, or a strategy that is none.

    Source: k8s.io/api/core/v1/types.go, PodSpec.TopologySpreadConstraints.
    """
    _check(strategy)
    have = [each.to_dict() for each in base]
    changes = None if patch is None else [_plain(each) for each in patch]
    if strategy == "apply":
        if element_order is not None:
            raise UsageError("an element order belongs to a strategic merge; server-side apply has none")
        return _typed(have if changes is None else apply_constraints(have, changes))
    wanted: dict[str, Any] = {_LIST: changes}
    if element_order is not None:
        wanted[f"{ELEMENT_ORDER}/{_LIST}"] = [{"topologyKey": key} for key in element_order]
    merged = merge_object({_LIST: have} if have else {}, wanted, _POD_SPEC_META)
    return _typed(merged.get(_LIST, []))


def _check(strategy: MergeStrategy) -> None:
    if strategy not in get_args(MergeStrategy):
        raise UsageError(f"strategy {strategy!r}: use {' or '.join(map(repr, get_args(MergeStrategy)))}")


def _plain(patch: ConstraintPatch) -> Any:
    """A patch as plain data of its own, to be changed at will; what is no object is left for the merge to refuse."""
    if isinstance(patch, TopologySpreadConstraint):
        return patch.to_dict()
    plain: Any = copy.deepcopy(patch)
    return plain if not isinstance(plain, Mapping) else dict(plain)


def _typed(merged: Sequence[Any]) -> list[TopologySpreadConstraint]:
    """Merged plain data as constraints; a null element is an empty one, as Go decodes it."""
    return [
        TopologySpreadConstraint.from_dict({} if each is None else each, Place(field=f"{_LIST}[{at}]"))
        for at, each in enumerate(merged)
    ]
