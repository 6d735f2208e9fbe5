"""Read changes of nodes and pods from kube-apiserver's audit log (JSON lines).

Source: k8s.io/apiserver/pkg/apis/audit/v1/types.go, ``Event``: at level Metadata a record has the user, verb and object
name; at RequestResponse also the object.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from topospread.api.timestamps import seconds
from topospread.errors import InputError, Place
from topospread.sources.files import Source, read_text
from topospread.sources.line_breaks import MAY_HAVE_ONE, line_break_in

Json = dict[str, Any]
_CHANGES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_RESOURCES = frozenset({"nodes", "pods", "events"})
_FIRST_FAILURE = 300


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A request that changed an object.

    Attributes:
        at: time of the answer (RFC 3339).
        subresource: ``binding``, ``status``, ``eviction``, or "".
        request, answer: the objects; empty if the level omits them.
    """

    at: str
    verb: str
    resource: str
    subresource: str
    namespace: str
    name: str
    request: Json
    answer: Json


def read_audit_log(path: str | os.PathLike[str]) -> tuple[list[AuditRecord], int]:
    """Return (successful changes of nodes, pods and events, sorted by time; number of all records).

    Raises:
        InputError: if the file cannot be read, or a line is not an audit record.
    """
    name = os.fspath(path)
    whole = read_text(Source(name, None)).data.decode().split("\n")
    lines = [(number, line) for number, line in enumerate(whole, 1) if line.strip()]
    records = [record for number, line in lines for record in _records(line, Place(source=name, line=number))]
    return sorted(records, key=lambda each: each.at), len(lines)


def _records(line: str, place: Place) -> Iterator[AuditRecord]:
    try:
        event = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        raise InputError("not a JSON object, as each line of an audit log must be", place) from None
    if not isinstance(event, dict) or event.get("kind") != "Event" or "auditID" not in event:
        raise InputError("not a record of an audit log (kind Event of audit.k8s.io)", place)
    reference, status = mapping_in(event, "objectRef"), mapping_in(event, "responseStatus")
    done = event.get("stage", "ResponseComplete") == "ResponseComplete"
    code = status.get("code", 0)
    verb, resource = str(event.get("verb")), str(reference.get("resource"))
    if not done or not isinstance(code, int) or code >= _FIRST_FAILURE or verb not in _CHANGES:
        return
    if resource not in _RESOURCES:
        return
    at = str(event.get("stageTimestamp") or event.get("requestReceivedTimestamp") or "")
    if at and seconds(at) is None:
        raise InputError("this record has no time", place)
    if MAY_HAVE_ONE(line.encode()) and line_break_in(event):
        raise InputError(
            "a name or a label of this audit record has a line break, which no API server accepts; remove the record",
            place,
        )
    yield AuditRecord(
        at=at,
        verb=verb,
        resource=resource,
        subresource=str(reference.get("subresource", "")),
        namespace=str(reference.get("namespace", "")),
        name=str(reference.get("name", "")),
        request=mapping_in(event, "requestObject"),
        answer=mapping_in(event, "responseObject"),
    )


def mapping_in(event: Json, name: str) -> Json:
    """Return a field that should be an object; an empty object if it has another type."""
    found = event.get(name)
    return found if isinstance(found, dict) else {}
