"""Check pod templates and other pod fields in custom resources like the API server checks pods.

Only fields that affect scheduling are checked: a custom resource may omit or add other fields, and its controller may
add labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final

import msgspec

from topospread.api.meta import KubeObject, ObjectMeta
from topospread.api.pod import Pod
from topospread.api.validation import validate_object
from topospread.api.validation.schema import STRUCT_OF, decoded, fields_of, unknown_fields
from topospread.sources.custom_kinds import CONSTRAINTS, PodPart, pod_parts

from .lint_input import LintSubject
from .pod_source import PodSource
from .problem import Problem

_KEPT: Final = (CONSTRAINTS, "affinity", "tolerations", "nodeSelector")
_ADDED: Final = frozenset({"additionalLabelSelectors"})
"""Additional fields of constraints in some custom resources (Prometheus, Alertmanager)."""
_ENCODER: Final = msgspec.json.Encoder(enc_hook=str)
_CONTAINERS: Final = [{"name": "pod", "image": "pod"}]


class CustomResource(msgspec.Struct, frozen=True):
    """The pod-related parts of an object.

    Attributes:
        refused: values that the API server denies in a pod.
        unknown: fields that pods do not have.
        pods: its pod templates.
    """

    refused: tuple[Problem, ...]
    unknown: tuple[Problem, ...]
    pods: tuple[PodSource, ...]


def custom_resource(subject: LintSubject, namespace: str) -> CustomResource | None:
    """Return the pod-related parts of a custom resource; None without such parts.

    Args:
        subject: the object.
        namespace: namespace of an object that names none.
    """
    parts = pod_parts(subject.value)
    if not parts:
        return None
    refused: list[Problem] = []
    unknown: list[Problem] = []
    pods = []
    for part in parts:
        problems = list(_refused(part))
        refused += problems
        unknown += _unknown(part)
        if not problems:
            given = subject.value.get("metadata")
            metadata = given if isinstance(given, Mapping) else {}
            kind = str(subject.value.get("kind"))
            of = _type_named(kind if kind.isidentifier() else "CustomResource")
            name, space = str(metadata.get("name") or ""), str(metadata.get("namespace") or namespace)
            item = of(kind=kind, metadata=ObjectMeta(name=name, namespace=space))
            pod = msgspec.json.decode(_ENCODER.encode(decoded(_as_pod(part), STRUCT_OF["Pod"])), type=Pod)
            pods.append(PodSource(item, part.path, pod.labels, pod.spec, None, open_labels=True))
    return CustomResource(tuple(refused), tuple(unknown), tuple(pods))


def _as_pod(part: PodPart) -> dict[str, Any]:
    """Return a minimal pod with the part's scheduling fields."""
    spec = {name: part.spec[name] for name in _KEPT if part.is_pod and name in part.spec}
    constraints = part.spec.get(CONSTRAINTS)
    if isinstance(constraints, list):
        spec[CONSTRAINTS] = [
            {key: value for key, value in each.items() if key not in _ADDED} if isinstance(each, Mapping) else each
            for each in constraints
        ]
    metadata: dict[str, Any] = {"name": "pod"} | ({"labels": dict(part.labels)} if part.labels else {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**spec, "containers": _CONTAINERS}}


def _refused(part: PodPart) -> Iterator[Problem]:
    for error in validate_object(_as_pod(part)):
        field = _moved(error.field, part)
        yield Problem(field, error.message.replace(error.field, field, 1))


def _moved(field: str, part: PodPart) -> str:
    """Return the path in the object for a field path of the pod."""
    if field.startswith("metadata.labels"):
        return part.labels_path + field.removeprefix("metadata.labels")
    return part.path + field.removeprefix("spec")


def _unknown(part: PodPart) -> Iterator[Problem]:
    for path in unknown_fields(_as_pod(part), STRUCT_OF["Pod"]):
        field = _moved(path, part)
        yield Problem(field, f'unknown field "{field}"')
    known = set(fields_of(STRUCT_OF["Pod"], ["spec"]))
    for name in part.spec if part.is_pod else ():
        close = get_close_matches(str(name), _KEPT, 1, cutoff=0.85) if name not in known else []
        if close:
            field = f"{part.path}.{name}"
            yield Problem(field, f'unknown field "{field}"; is "{close[0]}" meant?')


@lru_cache(maxsize=1024)
def _type_named(kind: str) -> type[KubeObject]:
    """Return a type with the kind's name, because findings name types."""
    return msgspec.defstruct(kind, [], bases=(KubeObject,))  # type: ignore[return-value]
