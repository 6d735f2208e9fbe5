"""What the API server refuses, in its words: pods and the workloads that make them, on plain decoded data."""

from __future__ import annotations

from typing import Any

from .defaults import default_pod
from .field import FieldError, report
from .pod import check_pod
from .schema import WrongTypeError, decoded

Json = dict[str, Any]


def judge_object(obj: Any) -> Json:
    if not isinstance(obj, dict) or obj.get("kind") != "Pod" or obj.get("apiVersion") != "v1":
        return {"errors": [], "decode": "not a Pod"}
    try:
        pod = decoded(obj, "Pod")
    except WrongTypeError as problem:
        return {"errors": [], "decode": str(problem)}
    default_pod(pod)
    errors = report(check_pod(pod, allow_privileged=False))
    return {"errors": [{"type": each.type, "field": each.field, "message": each.message} for each in errors]}
