"""Objects judged as the API server judges them, in the oracle's form."""

from __future__ import annotations

from typing import Any

from topospread.api.validation import FieldError, validate_object
from topospread.api.validation.defaults import default_pod, merge_label_keys
from topospread.api.validation.field import Options, report
from topospread.api.validation.other_kinds import VERSION_OF
from topospread.api.validation.pod import check_pod
from topospread.api.validation.schema import WrongTypeError, decoded

Json = dict[str, Any]


def judge_object(obj: object) -> Json:
    """Return the API server's answer to an object: ``{"errors": [{"type", "field", "message"}], "decode"?}``.

    Pods, and the kinds of `other_kinds.VERSION_OF`. Errors are sorted by message, each once. An object of another kind,
    or one that does not decode, has no errors but ``decode``, with its place. Privileged containers are refused.
    """
    if not isinstance(obj, dict):
        return {"errors": [], "decode": "expected an object"}
    version, kind = obj.get("apiVersion"), obj.get("kind")
    if not isinstance(kind, str) or not kind:
        return {"errors": [], "decode": "kind: expected the kind of an object"}
    if version != VERSION_OF.get(kind, "v1" if kind == "Pod" else None):
        return {"errors": [], "decode": f"kind: {version} {kind} is not a v1 Pod"}
    try:
        decoded(obj, kind)
        errors = validate_pod(obj) if kind == "Pod" else validate_object(obj, allow_privileged=False)
    except WrongTypeError as wrong:
        return {"errors": [], "decode": str(wrong)}
    return {"errors": [{"type": each.type, "field": each.field, "message": each.message} for each in errors]}


def validate_pod(obj: Json, *, allow_privileged: bool = False) -> list[FieldError]:
    """Return the API server's errors on a Pod that is created in its ``metadata.namespace``, sorted, each once.

    Raises:
        WrongTypeError: if the Pod does not decode.
    """
    pod = decoded(obj, "Pod")
    default_pod(pod)
    merge_label_keys(pod)
    return report(check_pod(pod, options=Options(allow_privileged)))
