"""Fields of objects that the API server of a version drops, and those that its kube-scheduler ignores.

A field that the version does not know is removed from all objects. A field whose feature gate is off in the API server
is dropped at creation; a stored object keeps it. A field whose gate is off only in kube-scheduler is kept but has no
effect on scheduling; it is only reported. `pod_admission` checks values that the API server denies instead of drops
(operators of tolerations). ``dropped_fields.json`` maps fields to gates;
`conformance/oracle/cmd/droppedfields` prints it from pkg/api/pod/util.go (``dropDisabledFields``), and strategy.go and
util.go of the other kinds, of every version from 1.18 to 1.37. This module lists the fields that topospread reads, in
the order of removal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace as replace_fields
from functools import cache, lru_cache, partial
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.new_fields import first_minor
from topospread.api.pod import Pod, PodSpec
from topospread.api.shipped_table import shipped_table
from topospread.api.validation.schema import field_struct
from topospread.config.gate_table import GATES
from topospread.config.gates import Gates
from topospread.config.versions import KubeVersion
from topospread.errors import InvalidError, Place
from topospread.text import listed

# Fields of typed objects by path (``spec.containers[].volumeMounts``): whether a field is set, and its removal.

Looked = TypeVar("Looked", bound=Struct)

PathTree = dict[str, "PathTree"]
"""Attribute → tree of the fields below it, or of its list items' fields; {} at the end of a path."""


class _Step(NamedTuple):
    """One part of a field path: the struct's attribute, the field's name, and whether the field is a list."""

    attribute: str
    name: str
    listed: bool


@cache
def _steps(path: str) -> tuple[_Step, ...]:
    steps = []
    for part in path.split("."):
        name = part.removesuffix("[]")
        attribute = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
        steps.append(_Step(attribute, name, part != name))
    return tuple(steps)


def path_tree(paths: Iterable[str]) -> PathTree:
    """Return paths as a tree. A path below another given path is omitted."""
    tree: PathTree = {}
    for path in sorted(paths, key=len):
        *way, last = (step.attribute for step in _steps(path))
        branch = tree
        for attribute in way:
            known = attribute in branch
            branch = branch.setdefault(attribute, {})
            if known and not branch:
                break
        else:
            branch.setdefault(last, {})
    return tree


def mentions(value: Any, tree: PathTree) -> bool:
    """Return whether a struct sets any field of a tree."""
    for attribute, inside in tree.items():
        current = getattr(value, attribute)
        if not current:
            continue
        if not inside:
            return True
        if isinstance(current, list):
            for item in current:
                if mentions(item, inside):
                    return True
        elif mentions(current, inside):
            return True
    return False


def _without(value: Any, steps: Sequence[_Step], whole_item: bool, path: str, found: list[str]) -> Any:
    """Return the struct without a field, or without the list items that have it; the same struct if it is not set.

    Args:
        value: the struct, which is not changed.
        steps: the field.
        whole_item: whether to remove the list items.
        path: path of the struct.
        found: collects the path, with indices, of each removed field.
    """
    step, rest = steps[0], steps[1:]
    current = getattr(value, step.attribute)
    if not current:
        return value
    where = f"{path}{step.name}"
    if not rest:
        found.append(where)
        return replace(value, **{step.attribute: None})
    if not step.listed:
        made = _without(current, rest, whole_item, f"{where}.", found)
        return value if made is current else replace(value, **{step.attribute: made})
    items = [_without(each, rest, whole_item, f"{where}[{i}].", found) for i, each in enumerate(current)]
    if all(now is before for now, before in zip(items, current, strict=True)):
        return value
    kept = [now for now, before in zip(items, current, strict=True) if now is before or not whole_item]
    return replace(value, **{step.attribute: kept})


FieldOutcome = Literal["dropped", "ignored"]
"""``dropped``: the API server removes the field; ``ignored``: kube-scheduler does not read it."""


class UnusedField(msgspec.Struct, frozen=True):
    """A field of the input without effect.

    Attributes:
        outcome: whether the field is dropped or ignored.
        kind, namespace, name: the object with the field; the namespace is "" for cluster-scoped kinds.
        path: path of the field with list indices, ``spec.topologySpreadConstraints[0].minDomains``.
        gate: the feature gate that is off; "" for a field that the version does not know.
    """

    outcome: FieldOutcome
    kind: str
    namespace: str
    name: str
    path: str
    gate: str

    @property
    def field(self) -> str:
        """The path without list indices; in pods and templates, relative to the pod's spec."""
        return _INDEX.sub("[]", self.path).rpartition("emplate.spec.")[2].removeprefix("spec.")


_INDEX = re.compile(r"\[\d+\]")


class GatedField(msgspec.Struct, frozen=True):
    """A field that not every version knows or keeps.

    Attributes:
        path: path of the field in its object (for a pod, in its spec), with ``[]`` after a list.
        known_as: struct and path of the field in ``dropped_fields.json``, ``("PodSpec", "volumes[].image")``.
        takes_item: gate that, if off, removes the whole list item with the field; "" if only the field is removed.
        of_template: whether the field is in a template, whose objects are new even if its owner is stored.
    """

    path: str
    known_as: tuple[str, str]
    takes_item: str = ""
    of_template: bool = False

    @property
    def gate(self) -> str:
        """The API server's gate that the field needs."""
        return self.takes_item or gate_of(*self.known_as)

    @property
    def since(self) -> KubeVersion:
        """The first supported version with the field."""
        return KubeVersion(1, first_minor(*self.known_as))

    def known(self, version: KubeVersion) -> bool:
        """Return whether objects of the version have the field."""
        return version >= self.since

    def kept(self, gates: Gates) -> bool:
        """Return whether the API server keeps the field in a new object."""
        return gates.enabled(self.gate)

    def ignored(self, gates: Gates) -> bool:
        """Return whether kube-scheduler ignores the field."""
        return "scheduler" in GATES[self.gate].components and not gates.enabled(self.gate)


@cache
def _printed() -> dict[str, dict[str, str]]:
    """Return ``dropped_fields.json``: struct → field → gates that the field needs, by version."""
    return shipped_table(__package__, "dropped_fields.json", dict[str, dict[str, str]])


@cache
def gate_of(struct: str, path: str) -> str:
    """Return the gate that a field needs in the API server.

    ``struct``, ``path``: for example ``PodSpec``, ``topologySpreadConstraints[].minDomains``.
    """
    *way, name = path.split(".")
    for step in way:
        struct = field_struct(struct, step.removesuffix("[]")).removeprefix("[]")
    return _printed()[struct][name].split()[0]


def _field(struct: str, path: str, *, takes_item: str = "") -> GatedField:
    return GatedField(path, (struct, path), takes_item)


_of_pod = partial(_field, "PodSpec")


def _of_affinity_terms(name: str) -> list[GatedField]:
    required = "requiredDuringSchedulingIgnoredDuringExecution[]"
    preferred = "preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm"
    return [
        _of_pod(f"affinity.{kind}.{terms}.{name}")
        for kind in ("podAffinity", "podAntiAffinity")
        for terms in (required, preferred)
    ]


POD_FIELDS = (
    _of_pod("topologySpreadConstraints"),
    _of_pod("topologySpreadConstraints[].minDomains"),
    _of_pod("topologySpreadConstraints[].nodeAffinityPolicy"),
    _of_pod("topologySpreadConstraints[].nodeTaintsPolicy"),
    _of_pod("topologySpreadConstraints[].matchLabelKeys"),
    *_of_affinity_terms("namespaceSelector"),
    *_of_affinity_terms("matchLabelKeys"),
    *_of_affinity_terms("mismatchLabelKeys"),
    _of_pod("overhead"),
    _of_pod("runtimeClassName"),
    _of_pod("preemptionPolicy"),
    _of_pod("resources"),
    _of_pod("schedulingGates"),
    _of_pod("resourceClaims"),
    _of_pod("initContainers[].restartPolicy"),
    _of_pod("containers[].restartPolicyRules"),
    _of_pod("initContainers[].restartPolicyRules"),
    _of_pod("containers[].volumeMounts[].bindMountOptions"),
    _of_pod("initContainers[].volumeMounts[].bindMountOptions"),
    _of_pod("volumes[].image", takes_item="ImageVolume"),
    _of_pod("volumes[].ephemeral"),
)
"""Fields of a pod's spec, in the order in which they are dropped."""

_CLAIM_FIELDS = (_field("PersistentVolumeClaim", "spec.volumeAttributesClassName"),)
_JOB_FIELDS = (
    _field("JobSpec", "completionMode"),
    _field("JobSpec", "suspend"),
    _field("JobSpec", "podReplacementPolicy"),
    _field("JobSpec", "managedBy"),
)


def _under(prefix: str, of: Iterable[GatedField]) -> tuple[GatedField, ...]:
    return tuple(replace(each, path=prefix + each.path, of_template="emplate" in prefix) for each in of)


_TEMPLATE_FIELDS = _under("spec.template.spec.", POD_FIELDS)
FIELDS: Mapping[str, tuple[GatedField, ...]] = {
    "nodes": (_field("Node", "status.declaredFeatures"),),
    "pods": _under("spec.", POD_FIELDS),
    "replication_controllers": _TEMPLATE_FIELDS,
    "replica_sets": _TEMPLATE_FIELDS,
    "deployments": _TEMPLATE_FIELDS,
    "daemon_sets": _TEMPLATE_FIELDS,
    "stateful_sets": (
        _field("StatefulSet", "spec.ordinals"),
        _field("StatefulSet", "spec.updateStrategy.rollingUpdate.maxUnavailable"),
        *_TEMPLATE_FIELDS,
        *_under("spec.volumeClaimTemplates[].", _CLAIM_FIELDS),
    ),
    "jobs": (*_under("spec.", _JOB_FIELDS), *_TEMPLATE_FIELDS),
    "cron_jobs": (
        *_under("spec.jobTemplate.spec.", _JOB_FIELDS),
        *_under("spec.jobTemplate.spec.template.spec.", POD_FIELDS),
    ),
    "persistent_volume_claims": _CLAIM_FIELDS,
    "persistent_volumes": _CLAIM_FIELDS,
    "priority_classes": (_field("PriorityClass", "preemptionPolicy"),),
    "runtime_classes": (_field("RuntimeClass", "overhead"),),
}
"""Attribute of `Inventory` → fields of its objects that some versions lack or drop."""

_NAMED = 3
"""Maximum number of objects that a sentence names."""


def unused_sentences(unused: Iterable[UnusedField], version: KubeVersion) -> list[str]:
    """Return a sentence for each field without effect, with the first objects that have it."""
    objects: dict[tuple[FieldOutcome, str, str], dict[str, None]] = {}
    for each in unused:
        of_field = objects.setdefault((each.outcome, each.field.rpartition(".")[2], each.gate), {})
        of_field[f"{each.kind} {each.namespace}/{each.name}" if each.namespace else f"{each.kind} {each.name}"] = None
    return [f"{_fate(*what, version)}: {listed(of, _NAMED)}" for what, of in objects.items()]


def _fate(outcome: FieldOutcome, field: str, gate: str, version: KubeVersion) -> str:
    if outcome == "ignored":
        return f"{field} is ignored by kube-scheduler (its feature gate {gate} is off)"
    why = f"its feature gate {gate} is off" if gate else f"Kubernetes {version} does not know it"
    return f"{field} is dropped by the API server ({why})"


Object = TypeVar("Object", bound=KubeObject)
_ENCODER = msgspec.json.Encoder(enc_hook=str)
_NO_VOLUME_TYPE = "Required value: must specify a volume type"
_EMPTY_VOLUME = re.compile(r"(.*volumes\[\d+\])\.(?:ephemeral|image)")


def without_dropped_fields(
    inventory: Inventory, apiserver: Gates, scheduler: Gates
) -> tuple[Inventory, list[UnusedField]]:
    """Return the objects as the API server stores them, and the unused fields. The given inventory is not changed.

    Args:
        inventory: the objects as read.
        apiserver: gates of the API server, which drops fields.
        scheduler: gates of kube-scheduler, which ignores fields.

    Raises:
        InvalidError: if a new object is invalid after fields are dropped, such as a volume without a source.
    """
    unused: list[UnusedField] = []
    changed: dict[str, Any] = {}
    for attribute, rules in _rules(apiserver, scheduler).items():
        items: Sequence[KubeObject] = getattr(inventory, attribute)
        if not items:
            continue
        trees = [each.paths for each in rules]
        if not trees[True] and all(each.metadata.uid for each in items):
            continue
        kept = _Kept(rules, unused, inventory.places)
        made = [
            kept.object(each) if (tree := trees[each.metadata.is_stored]) and mentions(each, tree) else each
            for each in items
        ]
        if made != items:
            changed[attribute] = made
    return (replace_fields(inventory, **changed) if changed else inventory), unused


class _Rules(NamedTuple):
    """The field rules for the stored or the new objects of one list; ``paths`` is the tree of all their fields."""

    unknown: tuple[GatedField, ...]
    disabled: tuple[GatedField, ...]
    ignored: tuple[GatedField, ...]
    paths: PathTree


@lru_cache(maxsize=16)
def _rules(apiserver: Gates, scheduler: Gates) -> dict[str, tuple[_Rules, _Rules]]:
    """Return attribute of `Inventory` → (rules for new objects, rules for stored objects), only where rules apply."""
    found = {
        attribute: tuple(_rules_of(given, apiserver, scheduler, stored=stored) for stored in (False, True))
        for attribute, given in FIELDS.items()
    }
    return {attribute: (new, stored) for attribute, (new, stored) in found.items() if new.paths or stored.paths}


def _rules_of(given: Sequence[GatedField], apiserver: Gates, scheduler: Gates, *, stored: bool) -> _Rules:
    unknown = tuple(each for each in given if not each.known(apiserver.kube_version))
    disabled = tuple(
        each for each in given if each not in unknown and not each.kept(apiserver) and (each.of_template or not stored)
    )
    gone = {*unknown, *disabled}
    ignored = tuple(each for each in given if each not in gone and each.ignored(scheduler))
    return _Rules(unknown, disabled, ignored, path_tree(each.path for each in (*gone, *ignored)))


class _Kept:
    """Removes dropped fields from the objects of one list; pods with equal specs are processed once.

    Args:
        rules: rules for new objects, and rules for stored objects.
        unused: collects the unused fields.
        places: places of the objects in the input.
    """

    def __init__(self, rules: Sequence[_Rules], unused: list[UnusedField], places: Mapping[ObjectKey, Place]) -> None:
        self._rules = rules
        self._unused = unused
        self._places = places
        self._specs: dict[bytes, tuple[PodSpec, list[_Found]]] = {}

    def object(self, item: KubeObject) -> KubeObject:
        """Return an object without its dropped fields.

        Raises:
            InvalidError: if the object is new, and invalid without its dropped fields.
        """
        stored = item.metadata.is_stored
        rules = self._rules[stored]
        made, found = self._pod(item, rules) if isinstance(item, Pod) else _looked_into(item, rules)
        kind = item.kind or type(item).__name__
        namespace = item.metadata.namespace or ("default" if KINDS[kind].namespaced else "")
        identity = (kind, namespace, item.metadata.name or item.metadata.generate_name or "")
        for each in found:
            volume = _EMPTY_VOLUME.fullmatch(each.path)
            if volume is not None and not stored and not each.whole:
                place = self._places.get(identity) or Place(object=f"{identity[0]} {identity[1]}/{identity[2]}")
                raise InvalidError([f"{volume[1]}: {_NO_VOLUME_TYPE}"], place.at(each.path))
            self._unused.append(UnusedField(each.outcome, *identity, each.path, each.gate))
        return made

    def _pod(self, pod: Pod, rules: _Rules) -> tuple[Pod, list[_Found]]:
        spec = pod.spec
        node_name, spec.node_name = spec.node_name, None
        key = _ENCODER.encode((rules is self._rules[True], spec))
        spec.node_name = node_name
        if key not in self._specs:
            made, found = _looked_into(pod, rules)
            self._specs[key] = made.spec, found
        without, found = self._specs[key]
        return replace(pod, spec=replace(without, node_name=node_name)), found


class _Found(NamedTuple):
    """A field that is set: its outcome, its gate, and whether the list item is removed with it."""

    outcome: FieldOutcome
    path: str
    gate: str
    whole: bool


def _looked_into(item: Object, rules: _Rules) -> tuple[Object, list[_Found]]:
    """Return the object without dropped fields, and every dropped or ignored field that it sets."""
    result, listed = item, []
    outcomes: tuple[tuple[tuple[GatedField, ...], FieldOutcome, bool], ...] = (
        (rules.unknown, "dropped", False),
        (rules.disabled, "dropped", True),
        (rules.ignored, "ignored", True),
    )
    for fields, outcome, gated in outcomes:
        for each in fields:
            paths: list[str] = []
            whole = bool(each.takes_item) and gated
            without = _without(result, _steps(each.path), whole, "", paths)
            result = without if outcome == "dropped" else result
            listed += [_Found(outcome, path, each.gate if gated else "", whole) for path in paths]
    return result, listed
