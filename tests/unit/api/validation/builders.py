"""Pods and workloads as tests write them, and the messages that come of them."""

from __future__ import annotations

from typing import Any

from conformance.judging.objects import validate_pod
from topospread.api.validation import validate_object
from topospread.api.validation.schema import STRUCT_OF, WrongTypeError, decoded

Data = dict[str, Any]

CONTAINER = {"name": "c", "image": "registry.k8s.io/pause:3.10"}


def pod(metadata: Data | None = None, **spec: Any) -> Data:
    """A valid Pod but for what is given."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}, **(metadata or {})},
        "spec": {"containers": [dict(CONTAINER)], **spec},
    }


def pod_of(**container: Any) -> Data:
    """A Pod with one container that has these fields."""
    return pod(containers=[{**CONTAINER, **container}])


def workload(kind: str, template: Data | None = None, **spec: Any) -> Data:
    """A valid workload but for what is given; ``template`` are fields of the template's spec."""
    group = {"Job": "batch/v1", "CronJob": "batch/v1", "ReplicationController": "v1"}.get(kind, "apps/v1")
    inner = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [dict(CONTAINER)], **(template or {})}}
    made: Data = {"apiVersion": group, "kind": kind, "metadata": {"name": "w"}, "spec": {"template": inner}}
    if kind == "CronJob":
        made["spec"] = {"schedule": "0 * * * *", "jobTemplate": {"spec": made["spec"]}}
    elif kind != "Job":
        labels = {"app": "web"}
        made["spec"]["selector"] = labels if kind == "ReplicationController" else {"matchLabels": labels}
    if kind in ("Job", "CronJob"):
        inner["spec"].setdefault("restartPolicy", "Never")
    made["spec"].update(spec)
    return made


def refusals(obj: Data) -> list[str]:
    """What is refused, as messages."""
    errors = validate_pod(obj) if obj["kind"] == "Pod" else validate_object(obj)
    return [error.message for error in errors]


def decode_problem(obj: Data) -> str | None:
    """Return the words on the first value of a wrong type; ``None`` if the object decodes."""
    try:
        decoded(obj, STRUCT_OF[obj["kind"]])
    except WrongTypeError as wrong:
        return str(wrong)
    return None
