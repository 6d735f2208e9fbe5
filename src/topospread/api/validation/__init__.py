"""The API server's validation of plain data from JSON or YAML, with its error types, field paths and messages.

`validate_object` checks an object from a manifest. The rules are those of Kubernetes 1.37 with its default feature
gates. Functions ``check_…`` yield errors; ``path`` is the path of the checked value, which errors name.
"""

from __future__ import annotations

from typing import Any, Final

from .defaults import default_pod, default_template, merge_label_keys
from .field import FieldError, Options, report, type_error
from .jobs import check_cron_job, check_job, default_cron_job, default_job
from .other_kinds import VERSION_OF, check_other
from .pod import check_pod, check_pod_template
from .schema import STRUCT_OF, STRUCT_OF_ANY, WrongTypeError, decoded
from .workloads import CHECKS, default_workload

__all__ = [
    "FieldError",
    "validate_decoded",
    "validate_object",
    "validate_pod_template",
]

Json = dict[str, Any]

_GROUPS: Final = {"Pod": ("",), "ReplicationController": ("",), "Job": ("batch",), "CronJob": ("batch",)}
_WORKLOAD_GROUPS: Final = ("apps", "extensions")
_GENERATED_SUFFIX: Final = "00000"
_GENERATED_PREFIX_LENGTH: Final = 58


def validate_pod_template(obj: Json, path: str) -> list[FieldError]:
    """Return the API server's errors for a pod template (metadata and spec) at ``path``.

    Raises:
        WrongTypeError: if the data does not decode; its path is relative to the template.
    """
    template = decoded(obj, "PodTemplateSpec")
    default_template(template)
    return report(check_pod_template(path, template, options=Options(allow_privileged=True)))


def validate_object(
    obj: Json, *, namespace: str = "default", allow_privileged: bool = True, comparison_operators: bool = False
) -> list[FieldError]:
    """Return the API server's errors for a manifest of a Pod, a workload or a kind of `other_kinds.VERSION_OF`.

    The list is empty for other kinds. Like in `kubectl create`, an object without a namespace gets ``namespace``, and a
    generateName gives a name. If a value has a wrong type, that is the only error, with topospread's own message. Old
    API versions of a kind are checked by the current rules.

    Args:
        allow_privileged: whether privileged containers are allowed, as in most clusters.
        comparison_operators: whether tolerations may use Lt and Gt (TaintTolerationComparisonOperators).
    """
    kind = obj.get("kind")
    if not isinstance(kind, str) or not _is_judged(obj.get("apiVersion"), kind):
        return []
    try:
        made = decoded(obj, STRUCT_OF_ANY[kind])
    except WrongTypeError as wrong:
        return [type_error(wrong.path, wrong.words)]
    return validate_decoded(kind, made, Options(allow_privileged, comparison_operators), namespace)


def validate_decoded(kind: str, made: Json, options: Options, namespace: str = "default") -> list[FieldError]:
    """Set the defaults of an object from `schema.decoded`. Return its errors, as `validate_object` does."""
    metadata = made.setdefault("metadata", {})
    metadata["namespace"] = metadata.get("namespace") or namespace
    if metadata.get("generateName") and not metadata.get("name"):
        metadata["name"] = metadata["generateName"][:_GENERATED_PREFIX_LENGTH] + _GENERATED_SUFFIX
    match kind:
        case "Pod":
            default_pod(made)
            merge_label_keys(made)
            return report(check_pod(made, options=options))
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
