"""Convert one object from plain data to its typed struct, and validate it like the API server.

An object with a uid or resourceVersion was stored by an API server, perhaps under older rules, so only its field types
are checked. Any other object must pass today's validation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

import msgspec

from topospread.admission.whole_text import ENCODER, WHOLE, note_whole, pod_template
from topospread.api.kinds import KINDS
from topospread.api.meta import Annotations, KubeObject
from topospread.api.pod import Pod
from topospread.api.promises import PROMISE, QUORUM
from topospread.api.validation.schema import (
    STRUCT_OF,
    STRUCT_OF_ANY,
    WrongTypeError,
    decoded,
    unknown_fields,
    wrong_case_fields,
)
from topospread.api.workload import ReplicaSet
from topospread.errors import DecodeError, InvalidError, Place
from topospread.text import did_you_mean

from .custom_kinds import MADE_OF, Kinds
from .json_text import too_deep
from .line_breaks import line_break_in
from .locations import Location, label_of
from .text import printable
from .unknown_fields import fields_of_no_version
from .versions import to_current

if TYPE_CHECKING:
    from topospread.api.validation.field import FieldError

NAME_REQUIRED: Final = "metadata.name: Required value: name or generateName is required"
_NOT_A_STRING: Final = (
    "expected a string, got the number",
    "expected a string, got true",
    "expected a string, got false",
)
_SET_BY_API_SERVER: Final = frozenset(
    {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}
)
OWN_ANNOTATIONS: Final = frozenset(
    {WHOLE, MADE_OF, *(f"topospread.dev/{name}" for name in ("profiles", "pool", "added", "misspelt"))}
)
_READ: Final = {each.encode_name for each in msgspec.structs.fields(Annotations)}
PROFILES: Final = re.compile(rb"(?:apparmor\.security\.beta|seccomp\.security\.alpha)\.kubernetes\.io/")


class Rules(msgspec.Struct, frozen=True):
    """The rules for accepting objects.

    Attributes:
        strict: reject fields that are not in the Kubernetes API.
        namespace: namespace of objects without ``metadata.namespace``.
        comparison_operators: allow the toleration operators Lt and Gt (TaintTolerationComparisonOperators).
        kinds: custom resources whose pods are known; None for the built-in table.
        parameters: (apiVersion, kind) of the objects that admission policies use as parameters; such objects are kept.
            None if there are no policies. Else new pods, templates and namespaces keep all fields, because a policy may
            read any.
        applied: whether the objects are applied to a cluster, so that `drop_stored_fields` changes them.
        from_snapshot: whether ``topospread dump`` wrote the objects. Only then topospread's own annotations are kept.
    """

    strict: bool = False
    namespace: str = "default"
    comparison_operators: bool = False
    kinds: Kinds | None = None
    parameters: frozenset[tuple[str, str]] | None = None
    applied: bool = False
    from_snapshot: bool = False

    def keeps_whole(self, kind: str, item: KubeObject) -> bool:
        """Return whether all fields of an object are kept, because policies may read it or the pods created from it."""
        if self.parameters is None or (isinstance(item, Pod) and item.metadata.is_stored):
            return False
        if isinstance(item, ReplicaSet) and item.spec.replicas == 0:
            return False
        return kind == "Namespace" or kind in STRUCT_OF


def admit(value: dict[str, Any], kind: str, location: Location, rules: Rules) -> KubeObject:
    """Return the typed object in its current API version, with its namespace set.

    Args:
        kind: its key in `KINDS`.

    Raises:
        DecodeError: if a field has the wrong type.
        InvalidError: if the API server denies it.
    """
    how = KINDS[kind]
    namespace = rules.namespace if how.namespaced else ""
    label = label_of(value, kind, namespace)
    try:
        if rules.strict:
            unknown = fields_of_no_version(value, kind)
            if unknown:
                place = replace(location.place(label, unknown[0]), field="")
                raise InvalidError([f'unknown field "{printable(path)}"' for path in unknown], place)
        current = _placed(to_current(value, kind), namespace)
        checked = _checked(current, kind, location, label)
        if rules.applied:
            drop_stored_fields(checked, kind)
        if not rules.from_snapshot:
            drop_own_annotations(checked, kind)
        stored = is_stored(checked)
        wrong = {} if stored else wrong_case_fields(current, STRUCT_OF_ANY[kind])
        if wrong:
            raise wrong_case(wrong, location)
        metadata = checked.get("metadata", {})
        if not metadata.get("name") and not metadata.get("generateName"):
            raise InvalidError([NAME_REQUIRED], replace(location.place(field="metadata"), field=""))
        broken = line_break_in(checked)
        if broken:
            words = f"{printable(broken)}: Invalid value: a name must be on one line"
            raise InvalidError([words], location.place(label))
        keeps_whole = rules.parameters is not None and (kind in STRUCT_OF or kind == "Namespace")
        noted = note_whole(checked, kind) if keeps_whole else []
        note_profiles(checked, kind)
        _note_misspelt(checked)
        accepted = ENCODER.encode(checked)
        for annotations in noted:
            del annotations[WHOLE]
        problems = () if stored else _problems(checked, kind, rules)
        if misspelt := _misspelt(current, kind, problems):
            raise wrong_case(misspelt, location)
        if problems:
            place = replace(location.place(label, problems[0].field), field="")
            raise InvalidError([printable(problem.message) for problem in problems], place)
        return msgspec.json.decode(accepted, type=how.struct)
    except RecursionError:
        raise too_deep(location.rough(label)) from None
    except msgspec.ValidationError as error:
        raise _undecodable(error, location, label) from error


def note_profiles(checked: dict[str, Any], kind: str) -> None:
    """Copy the deprecated annotations of AppArmor and seccomp into the annotation topospread.dev/profiles.

    Their keys contain names of containers, so the structs of objects have no fields for them.
    """
    if kind not in STRUCT_OF:
        return
    holder = pod_template(checked, kind)
    annotations = holder.get("metadata", {}).get("annotations", {})
    profiles = {key: value for key, value in annotations.items() if PROFILES.search(key.encode())}
    if profiles:
        annotations["topospread.dev/profiles"] = ENCODER.encode(profiles).decode()


def _note_misspelt(checked: dict[str, Any]) -> None:
    """Copy the key of a misspelt promise or quorum annotation into the annotation topospread.dev/misspelt."""
    annotations = checked.get("metadata", {}).get("annotations", {})
    own = [each for each in annotations if each.startswith("topospread.dev/") and each not in _READ]
    if near := [each for each in own if did_you_mean(each[:63], (PROMISE, QUORUM), cutoff=0.9)]:
        annotations["topospread.dev/misspelt"] = near[0]


def wrong_case(fields: Mapping[str, str], location: Location) -> InvalidError:
    """Return the error for field names that are misspelt or have the wrong case.

    Args:
        fields: path of each such field → the field's name in Kubernetes.
    """
    place = location.place(field=next(iter(fields)))
    words = [f"{path.rpartition('.')[2]}: write {name}" for path, name in fields.items()]
    return InvalidError(
        [printable(each) for each in dict.fromkeys(words)], Place(place.source, line=place.line, column=place.column)
    )


def is_stored(value: dict[str, Any]) -> bool:
    """Return whether an API server has stored the object."""
    metadata = value.get("metadata") or {}
    return bool(metadata.get("uid") or metadata.get("resourceVersion"))


def refused_version(value: Mapping[str, Any], stored: KubeObject | None = None) -> str:
    """Return the API server's error for an applied object with a resourceVersion other than the stored object's.

    Return "" if the applied object has no resourceVersion. Sources: Create in apiserver/pkg/storage/etcd3/store.go;
    Update in apiserver/pkg/registry/generic/registry/store.go.
    """
    metadata = value.get("metadata")
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    known = stored.metadata.resource_version if stored is not None else None
    if not isinstance(version, str) or not version.strip("0") or version == known:
        return ""
    return "metadata.resourceVersion: should not be set on objects to be created; delete it"


def drop_stored_fields(checked: dict[str, Any], kind: str) -> None:
    """Remove the fields that the API server drops from a new object: those that it sets itself, and the status.

    A Node keeps its status, which its kubelet reports. Source: apiserver/pkg/registry/rest/create.go, BeforeCreate.
    """
    for name in _SET_BY_API_SERVER & checked.get("metadata", {}).keys():
        del checked["metadata"][name]
    if kind != "Node":
        checked.pop("status", None)


def drop_own_annotations(checked: dict[str, Any], kind: str) -> None:
    """Remove annotations that topospread uses for derived facts: a manifest must not set them."""
    for holder in (checked, pod_template(checked, kind) if kind in STRUCT_OF else {}):
        annotations = holder.get("metadata", {}).get("annotations", {})
        for name in OWN_ANNOTATIONS & annotations.keys():
            del annotations[name]


def _placed(value: dict[str, Any], namespace: str) -> dict[str, Any]:
    """Return the object with a namespace if its kind is namespaced, else without one."""
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or (namespace and metadata.get("namespace")):
        return value
    rest = {name: field for name, field in metadata.items() if name != "namespace"}
    return {**value, "metadata": {**rest, "namespace": namespace} if namespace else rest}


def _checked(value: dict[str, Any], kind: str, location: Location, label: str) -> dict[str, Any]:
    """Return the known fields with checked types, without nulls."""
    try:
        return decoded(value, STRUCT_OF_ANY[kind])
    except WrongTypeError as error:
        hint = " (put it in quotes)" if error.words.startswith(_NOT_A_STRING) else ""
        raise DecodeError(printable(error.words) + hint, location.place(label, error.path)) from None


def _problems(checked: dict[str, Any], kind: str, rules: Rules) -> Sequence[FieldError]:
    """Validate an object like the API server does at creation, after defaulting."""
    from topospread.api.validation import validate_decoded
    from topospread.api.validation.field import Options
    from topospread.api.validation.other_kinds import VERSION_OF

    if kind not in (*STRUCT_OF, *VERSION_OF, "HorizontalPodAutoscaler", "LimitRange", "ResourceQuota"):
        return ()
    return validate_decoded(
        kind, checked, Options(allow_privileged=True, comparison_operators=rules.comparison_operators)
    )


def _misspelt(written: dict[str, Any], kind: str, problems: Sequence[FieldError]) -> dict[str, str]:
    """Return path of an unknown field → similar name of an invalid field in the same object."""
    found: dict[str, str] = {}
    for path in unknown_fields(written, STRUCT_OF_ANY[kind]) if problems else ():
        above, _, name = path.rpartition(".")
        names = [of for each in problems for at, _, of in [each.field.rpartition(".")] if at == above]
        if close := get_close_matches(name, names, 1, cutoff=0.75):
            found[path] = close[0]
    return found


def _undecodable(error: msgspec.ValidationError, location: Location, label: str) -> DecodeError:
    """Return the error for a value that Kubernetes accepts but topospread cannot represent."""
    words, _, path = str(error).partition(" - at `$")
    field = path.rstrip("`").lstrip(".")
    return DecodeError(words[:1].lower() + words[1:], location.place(label, field if "..." not in field else ""))
