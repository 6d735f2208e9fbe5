"""TopologySpreadConstraint as a public type: its eight fields, JSON, YAML, copies and merging.

``api/validation`` checks the API server's rules, ``api/field_docs.py`` documents the fields, and the plugin applies a
constraint.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec

from topospread.errors import DecodeError, InvalidError, Place, UsageError

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

    Every field may be None, which means unset: ``TopologySpreadConstraint()`` is the empty value, and a patch sets only
    the fields that it changes. Constraints are equal if all fields are; an unset field differs from a field with the
    default value. Values are not validated, so an invalid manifest can be stored and shown.

    Attributes:
        max_skew: ``maxSkew``, the number of pods that a domain may have above the global minimum. With ScheduleAnyway,
            a higher value reduces the constraint's influence on the score. At least 1. Required.
        topology_key: ``topologyKey``, the node label whose values are the domains. Required.
        when_unsatisfiable: ``whenUnsatisfiable``, DoNotSchedule (a node that violates the constraint is rejected) or
            ScheduleAnyway (nodes with a lower skew get a higher score). Required.
        label_selector: ``labelSelector``, the pods that are counted, in the pod's own namespace. Unset matches no
            pod.
        min_domains: ``minDomains``. With fewer eligible domains, the global minimum is 0. At least 1, only with
            DoNotSchedule. Unset is 1.
        node_affinity_policy: ``nodeAffinityPolicy``: count only nodes that the pod's node selector and required node
            affinity match (Honor), or all nodes (Ignore). Unset is Honor.
        node_taints_policy: ``nodeTaintsPolicy``: count only nodes without taints that the pod does not tolerate
            (Honor), or all nodes (Ignore). Unset is Ignore.
        match_label_keys: ``matchLabelKeys``, label keys of which the incoming pod's values are added to the selector.
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
            InvalidSelectorError: if the selector is invalid.
        """
        compiled = Selector.from_label_selector(self.label_selector)
        return compiled.with_match_label_keys(self.match_label_keys, pod_labels)

    def copy(self) -> TopologySpreadConstraint:
        """Return a deep copy."""
        return copy.deepcopy(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data with Kubernetes' field names, in this class's order; unset fields are left out."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], place: Place | None = None) -> TopologySpreadConstraint:
        """Decode a constraint from plain data; null unsets a field, unknown fields are ignored.

        Raises:
            DecodeError: if a field has another type; with its path.
        """
        if data is None:
            raise DecodeError("expected an object, got null", place)
        return decode(dict(data) if isinstance(data, Mapping) else data, cls, place)

    def to_json(self) -> str:
        """Return one line of JSON; unset fields are left out."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str | bytes, place: Place | None = None) -> TopologySpreadConstraint:
        """Parse a constraint from JSON.

        Raises:
            DecodeError: if it is not JSON, or a field has another type.
        """
        try:
            data = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise DecodeError(f"not JSON: {error}", place) from None
        return cls.from_dict(data, place)

    def to_yaml(self) -> str:
        """Return a YAML mapping in block style; unset fields are left out."""
        from .yaml_text import yaml_text  # imported late, so commands start without loading PyYAML

        return yaml_text(self.to_dict())

    @classmethod
    def from_yaml(cls, text: str | bytes, place: Place | None = None) -> TopologySpreadConstraint:
        """Parse a constraint from a YAML document.

        Raises:
            DecodeError: if it is not YAML, or a field has another type.
            DuplicateError: if a mapping has a duplicate key.
        """
        from .yaml_text import parse_yaml

        data: Any = parse_yaml(text, place)
        return cls.from_dict(data, place)


MergeStrategy = Literal["strategic", "apply"]
ConstraintPatch = TopologySpreadConstraint | Mapping[str, Any]
"""A change of a constraint: the fields that a TopologySpreadConstraint sets, or plain data as in a patch file. Plain
data may contain null (unset the field) and, in a strategic patch, ``$patch: delete`` and other directives."""

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
    """Return a constraint with a patch merged into it; neither is changed.

    The fields that the patch sets replace those of the base. The label selector differs: ``strategic`` (kubectl patch,
    client-side apply) merges matchLabels by key and replaces matchExpressions; ``apply`` (server-side apply) replaces
    the whole selector (``+structType=atomic``) and refuses unknown fields.

    Raises:
        InvalidError: if Kubernetes would not apply the patch.
        DecodeError: if a field has another type.
        UsageError: if the strategy is unknown.

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
    """Return a pod's constraints with a patch merged into them; neither is changed.

    ``strategic``: kubectl patch, client-side kubectl apply and ``kubectl edit``. Constraints are matched by topologyKey
    alone (``patchMergeKey=topologyKey``). A pod may have two constraints with one key, DoNotSchedule and
    ScheduleAnyway. The patch then merges into the first of them, or deletes both. An element may be plain data with
    ``{"$patch": "delete", "topologyKey": …}``, or ``{"$patch": "replace"}``, which replaces the list with the patch's
    other elements. In the result, patched and new constraints are in the patch's order.

    ``apply``: server-side apply. Constraints are matched by topologyKey and whenUnsatisfiable (``listMapKey``), so a
    constraint with another whenUnsatisfiable is added. No constraint is removed (see `apply_constraints`).

    Args:
        base: the existing constraints.
        patch: the constraints to merge; None for a patch of null.
        strategy: ``strategic`` or ``apply``.
        element_order: topologyKeys in the order of ``$setElementOrder/topologySpreadConstraints``, which client-side
            apply sends (strategic only).

    Raises:
        InvalidError: if Kubernetes would not apply the patch.
        DecodeError: if a field has another type.
        UsageError: if apply has an element order, or the strategy is unknown.

    Source: k8s.io/api/core/v1/types.go, PodSpec.TopologySpreadConstraints.
    """
    _check(strategy)
    have = [each.to_dict() for each in base]
    changes = None if patch is None else [_plain(each) for each in patch]
    if strategy == "apply":
        if element_order is not None:
            raise UsageError('element_order requires strategy="strategic", not "apply"')
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
    """Return a patch as an independent copy of plain data; a value that is not an object is returned unchanged."""
    if isinstance(patch, TopologySpreadConstraint):
        return patch.to_dict()
    plain: Any = copy.deepcopy(patch)
    return plain if not isinstance(plain, Mapping) else dict(plain)


def _typed(merged: Sequence[Any]) -> list[TopologySpreadConstraint]:
    """Decode merged plain data to constraints; null is an empty constraint, like in Go."""
    return [
        TopologySpreadConstraint.from_dict({} if each is None else each, Place(field=f"{_LIST}[{at}]"))
        for at, each in enumerate(merged)
    ]


# Merge of spread constraints like server-side apply, on plain data.
# Source: structured-merge-diff v6 ``typed/merge.go`` and ``typed/validate.go`` with the schema of core/v1
# TopologySpreadConstraint: a list keyed by topologyKey and whenUnsatisfiable, in which labelSelector and matchLabelKeys
# are atomic. Nothing is removed: apply removes fields that its field manager applied before and no longer sets, which
# only ``managedFields`` shows.

Json = dict[str, Any]
Key = tuple[str | None, str | None]

_STRINGS = ("topologyKey", "whenUnsatisfiable", "nodeAffinityPolicy", "nodeTaintsPolicy")
_NUMBERS = ("maxSkew", "minDomains")
_UNDECLARED = "field not declared in schema"


def element_key(constraint: Json) -> Key:
    """Return topologyKey and whenUnsatisfiable, apply's key of a constraint; a missing field is ""."""
    return constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")


def apply_constraint(base: Json, applied: Json) -> Json:
    """Return ``base`` with the fields that ``applied`` names replaced; null unsets a field.

    Raises:
        InvalidError: if a field is unknown or has another type.
    """
    _check_elements([f"{path}: {text}" for path, text in _problems(applied)])
    return {**base, **applied}


def apply_constraints(base: list[Json], applied: list[Json]) -> list[Json]:
    """Return ``base`` with ``applied`` merged into it.

    Constraints with equal keys are merged field by field. If the base has a key twice, the applied constraint replaces
    both. The applied constraints keep their order; the base's constraints keep theirs if possible.

    Raises:
        InvalidError: if a field is unknown or has another type, or a key is applied twice.
    """
    name = "topologySpreadConstraints"
    _check_elements(
        [f"{name}[{at}]{path}: {text}" for at, each in enumerate(applied) for path, text in _problems(each)]
    )
    keys = [element_key(each) for each in applied]
    _check_elements([f"{name}: duplicate entries for key {key}" for key in dict.fromkeys(keys) if keys.count(key) > 1])
    base_keys = [element_key(each) for each in base]
    once = {key: each for key, each in zip(base_keys, base, strict=True) if base_keys.count(key) == 1}
    return [
        base[at] if at is not None else {**once.get(keys[position], {}), **applied[position]}
        for at, position in _walk(base_keys, keys)
    ]


def _walk(base: Sequence[Key], applied: Sequence[Key]) -> list[tuple[int | None, int]]:
    """Return the order of the merged list (visitListItems).

    Returns:
        One pair for each element: (index in ``base``, −1) if only the base has it, else (None, index in ``applied``).
    """
    here, there = set(applied), set(base)
    shared = iter([key for key in applied if key in there])
    wanted = next(shared, None)
    done: set[Key] = set()
    merged: list[tuple[int | None, int]] = []
    left = right = 0
    while left < len(base) or right < len(applied):
        if left < len(base):
            key = base[left]
            if key not in here:
                merged.append((left, -1))
                left += 1
                continue
            if right < len(applied) and key != applied[right] and wanted is not None and wanted != key:
                left += 1  # it is merged at the position of the applied constraint
                continue
            if key in done or (right < len(applied) and key == applied[right]):
                left += 1
        if right < len(applied):
            key = applied[right]
            done.add(key)
            merged.append((None, right))
            right += 1
            if wanted == key:
                wanted = next(shared, None)
    return merged


def _check_elements(problems: list[str]) -> None:
    if problems:
        raise InvalidError(problems)


def _problems(constraint: Any) -> list[tuple[str, str]]:
    """Return the path and error of each value that does not fit the schema of a constraint (AsTyped)."""
    if not isinstance(constraint, dict):
        return [
            ("", f"associative list with keys may not have {'a null' if constraint is None else 'non-map'} elements")
        ]
    found: list[tuple[str, str]] = []
    for name, value in constraint.items():
        if name in _STRINGS:
            found += _string_problems(value, f".{name}")
        elif name in _NUMBERS:
            fits = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
            found += [] if fits else [(f".{name}", "expected numeric (int or float)")]
        elif name == "matchLabelKeys":
            found += _list_problems(value, f".{name}")
        elif name == "labelSelector":
            found += _selector_problems(value, f".{name}")
        else:
            found.append((f".{name}", _UNDECLARED))
    return found


def _selector_problems(selector: Any, path: str) -> list[tuple[str, str]]:
    if not isinstance(selector, dict):
        return [] if selector is None else [(path, "expected map")]
    found = [(f"{path}.{name}", _UNDECLARED) for name in selector if name not in ("matchLabels", "matchExpressions")]
    labels, expressions = selector.get("matchLabels"), selector.get("matchExpressions")
    if isinstance(labels, dict):
        for name, value in labels.items():
            found += _string_problems(value, f"{path}.matchLabels.{name}")
    elif labels is not None:
        found.append((f"{path}.matchLabels", "expected map"))
    if isinstance(expressions, list):
        for at, each in enumerate(expressions):
            found += _requirement_problems(each, f"{path}.matchExpressions[{at}]")
    elif expressions is not None:
        found.append((f"{path}.matchExpressions", "expected list"))
    return found


def _requirement_problems(requirement: Any, path: str) -> list[tuple[str, str]]:
    if not isinstance(requirement, dict):
        return [] if requirement is None else [(path, "expected map")]
    found = [(f"{path}.{name}", _UNDECLARED) for name in requirement if name not in ("key", "operator", "values")]
    for name in ("key", "operator"):
        found += _string_problems(requirement.get(name), f"{path}.{name}")
    return found + _list_problems(requirement.get("values"), f"{path}.values")


def _list_problems(value: Any, path: str) -> list[tuple[str, str]]:
    if not isinstance(value, list):
        return [] if value is None else [(path, "expected list")]
    return [each for at, item in enumerate(value) for each in _string_problems(item, f"{path}[{at}]")]


def _string_problems(value: Any, path: str) -> list[tuple[str, str]]:
    return [] if value is None or isinstance(value, str) else [(path, "expected string")]
