"""What the API server refuses, in its types, field paths and words, on plain data as JSON or YAML give it.

`judge_object` and `validate_pod` take an object as it is; `validate_object` takes it as somebody writes it in a
manifest. The rules are those of Kubernetes 1.37 with its default feature gates, one module a topic; nothing here
reads files or knows the typed objects that scheduling works with.
"""

from __future__ import annotations

import re
from typing import Any, Final

from .defaults import default_pod, default_template
from .field import FieldError, report, type_error
from .jobs import check_cron_job, check_job, default_cron_job, default_job
from .options import Options
from .other_kinds import VERSION_OF, check_other
from .pod import check_pod, check_pod_template
from .schema import STRUCT_OF, STRUCT_OF_ANY, WrongTypeError, decoded, unknown_fields
from .workloads import CHECKS, default_workload

__all__ = [
    "FieldError",
    "decode_problem",
    "field_path",
    "judge_object",
    "unknown_field_paths",
    "validate_decoded",
    "validate_object",
    "validate_pod",
    "validate_pod_template",
]

Json = dict[str, Any]

_GROUPS: Final = {"Pod": ("",), "ReplicationController": ("",), "Job": ("batch",), "CronJob": ("batch",)}
_WORKLOAD_GROUPS: Final = ("apps", "extensions")
_GENERATED_SUFFIX: Final = "00000"
_GENERATED_PREFIX_LENGTH: Final = 58
_QUOTED: Final = re.compile("`([^`]*)`")
_MSGSPEC_PATH: Final = re.compile(r"(?P<words>.*?)(?: - at `(?:key in )?\$(?P<path>.*)`)?", re.DOTALL)


def judge_object(obj: object) -> Json:
    """The answer to an object as the API server gives it: ``{"errors": [{"type", "field", "message"}], "decode"?}``.

    Pods, and the kinds of `other_kinds.VERSION_OF`. Errors are sorted by message, each once. What is none of these, or
    does not decode, has no errors but ``decode``, in words of our own, with its place. Privileged containers are
    refused, as by an API server that was not told to allow them.
    """
    problem = _not_judged(obj)
    if problem is None:
        assert isinstance(obj, dict)
        kind = obj["kind"]
        try:
            made = decoded(obj, kind)
        except WrongTypeError as wrong:
            problem = str(wrong)
        else:
            if kind != "Pod":
                _complete_metadata(made.setdefault("metadata", {}), "default")
            errors = _judged(kind, made, Options(allow_privileged=False))
            return {"errors": [{"type": each.type, "field": each.field, "message": each.message} for each in errors]}
    return {"errors": [], "decode": problem}


def _not_judged(obj: object) -> str | None:
    if not isinstance(obj, dict):
        return "expected an object"
    version, kind = obj.get("apiVersion"), obj.get("kind")
    if not isinstance(kind, str) or not kind:
        return "kind: expected the kind of an object"
    if version != VERSION_OF.get(kind, "v1" if kind == "Pod" else None):
        return f"kind: {version} {kind} is not a v1 Pod"
    return None


def _judge_pod(pod: Json, options: Options) -> list[FieldError]:
    default_pod(pod)
    return report(check_pod(pod, options=options))


def validate_pod(obj: Json, *, allow_privileged: bool = False) -> list[FieldError]:
    """What the API server refuses in a Pod that is being created, sorted by message, each once.

    The Pod is defaulted, its matchLabelKeys are merged into the selectors, then it is checked; the object given
    stays as it is. ``metadata.namespace`` must be set. Raises WrongTypeError for what does not decode.
    """
    return _judge_pod(decoded(obj, "Pod"), Options(allow_privileged))


def validate_pod_template(obj: Json, path: str, *, allow_privileged: bool = True) -> list[FieldError]:
    """What the API server refuses in a pod template (metadata and spec) that stands at ``path``.

    Raises WrongTypeError for what does not decode, with a path that starts at the template.
    """
    template = decoded(obj, "PodTemplateSpec")
    default_template(template)
    return report(check_pod_template(path, template, options=Options(allow_privileged)))


def validate_object(
    obj: Json, *, namespace: str = "default", allow_privileged: bool = True, comparison_operators: bool = False
) -> list[FieldError]:
    """What an API server refuses in a manifest of a Pod, a workload or a kind of `other_kinds.VERSION_OF`.

    Nothing for other kinds. Like `kubectl create`: an object without a namespace goes to ``namespace``, a generateName
    makes a name. A value of a wrong type is one error, in our words. Old versions of a kind are checked by today's
    rules. Clusters usually allow privileged containers, so ``allow_privileged`` does; ``comparison_operators`` lets
    tolerations use Lt and Gt, as TaintTolerationComparisonOperators does.
    """
    kind = obj.get("kind")
    if not isinstance(kind, str) or not _is_judged(obj.get("apiVersion"), kind):
        return []
    try:
        made = decoded(obj, STRUCT_OF_ANY[kind])
    except WrongTypeError as wrong:
        return [type_error(wrong.path, wrong.words)]
    _complete_metadata(made.setdefault("metadata", {}), namespace)
    return _judged(kind, made, Options(allow_privileged, comparison_operators))


def validate_decoded(kind: str, made: Json) -> list[FieldError]:
    """`validate_object` of a kind of `other_kinds.VERSION_OF` that is decoded already; it stays as it is."""
    metadata = dict(made.get("metadata", {}))
    _complete_metadata(metadata, "default")
    return check_other(kind, {**made, "metadata": metadata})


def _judged(kind: str, made: Json, options: Options) -> list[FieldError]:
    """What is refused in an object with its metadata complete."""
    match kind:
        case "Pod":
            return _judge_pod(made, options)
        case "Job":
            default_job(made)
            return report(check_job(made, options=options))
        case "CronJob":
            default_cron_job(made)
            return report(check_cron_job(made, options=options))
        case _ if kind in CHECKS:
            default_workload(made)
            return report(CHECKS[kind](made, options=options))
    return check_other(kind, made)


def _is_judged(api_version: object, kind: str) -> bool:
    if not isinstance(api_version, str):
        return False
    group = api_version.rpartition("/")[0]
    if kind in VERSION_OF:
        return group == VERSION_OF[kind].rpartition("/")[0]
    return kind in STRUCT_OF and group in _GROUPS.get(kind, _WORKLOAD_GROUPS)


def _complete_metadata(metadata: Json, namespace: str) -> None:
    metadata["namespace"] = metadata.get("namespace") or namespace
    if metadata.get("generateName") and not metadata.get("name"):
        metadata["name"] = metadata["generateName"][:_GENERATED_PREFIX_LENGTH] + _GENERATED_SUFFIX


def decode_problem(obj: object) -> str | None:
    """The first value of another type than its field's, ``spec.replicas: expected an integer, got …``; None if none.

    Only Pods and workloads are looked into.
    """
    if not isinstance(obj, dict):
        return "expected an object"
    struct = STRUCT_OF.get(obj["kind"]) if isinstance(obj.get("kind"), str) else None
    if struct is None:
        return None
    try:
        decoded(obj, struct)
    except WrongTypeError as wrong:
        return str(wrong)
    return None


def unknown_field_paths(obj: Json) -> list[str]:
    """Paths of the fields of a Pod or workload that Kubernetes does not know, in the order they stand."""
    kind = obj.get("kind")
    struct = STRUCT_OF.get(kind) if isinstance(kind, str) else None
    return [] if struct is None else unknown_fields(obj, struct)


def field_path(message: str) -> tuple[str, str]:
    """The place and the words of a msgspec.ValidationError's message.

    ``Expected `int`, got `str` - at `$.spec.replicas`` gives ``("spec.replicas", "expected an integer, got a
    string")``. An item of a map or list that msgspec names with dots keeps them: ``spec.containers[...]``.
    """
    found = _MSGSPEC_PATH.fullmatch(message)
    words, path = (found["words"], found["path"] or "") if found else (message, "")
    words = _QUOTED.sub(
        lambda quoted: " or ".join(_PLAIN_TYPES.get(each, each) for each in quoted[1].split(" | ")), words
    )
    return path.removeprefix("."), words[:1].lower() + words[1:]


_PLAIN_TYPES: Final = {
    "int": "an integer",
    "str": "a string",
    "bool": "true or false",
    "float": "a number",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
