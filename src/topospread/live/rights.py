"""The RBAC permissions that a live scheduler needs, and the check for missing ones.

Source: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go (``system:kube-scheduler``), checked with a
SelfSubjectAccessReview each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from topospread.live.api_error import ApiError
from topospread.live.client import ApiClient
from topospread.live.kinds import WATCHED


class _Decision(msgspec.Struct):
    allowed: bool = False


class _AccessReview(msgspec.Struct):
    status: _Decision


@dataclass(frozen=True, slots=True)
class Right:
    """A permission: a verb on a resource (``pods/binding``), in a namespace or everywhere, for one name or all."""

    verb: str
    resource: str
    group: str = ""
    namespace: str = ""
    name: str = ""


def listed(rights: Iterable[Right]) -> list[str]:
    """Return permissions as words, with a resource's verbs together: ``list, watch nodes``."""
    verbs: dict[Right, list[str]] = {}
    for right in rights:
        verbs.setdefault(replace(right, verb=""), []).append(right.verb)
    return [f"{', '.join(given)} {_object(right)}" for right, given in verbs.items()]


def _object(right: Right) -> str:
    resource = f"{right.resource}.{right.group}" if right.group else right.resource
    named = f" {right.name}" if right.name else ""
    return resource + named + (f" in namespace {right.namespace}" if right.namespace else "")


def reading() -> Iterator[Right]:
    """Yield the permissions to watch the cluster."""
    for kind in WATCHED:
        if not kind.optional:
            group = kind.path.split("/")[2] if kind.path.startswith("/apis/") else ""
            yield Right("list", kind.name, group)
            yield Right("watch", kind.name, group)


def placing() -> Iterator[Right]:
    """Yield the permissions to bind pods, preempt, and write statuses and events."""
    yield Right("create", "pods/binding")
    yield Right("get", "pods")
    yield Right("delete", "pods")
    yield Right("patch", "pods/status")
    yield Right("patch", "persistentvolumeclaims")
    yield Right("patch", "persistentvolumes")
    yield Right("create", "events", "events.k8s.io")
    yield Right("patch", "events", "events.k8s.io")


def leading(namespace: str, name: str) -> Iterator[Right]:
    """Yield the permissions for leader election. Creation cannot be restricted by name."""
    group = "coordination.k8s.io"
    yield Right("get", "leases", group, namespace, name)
    yield Right("update", "leases", group, namespace, name)
    yield Right("create", "leases", group, namespace)


async def missing(client: ApiClient, rights: Iterable[Right]) -> Sequence[Right]:
    """Return the missing permissions. Raise RequestError if the API server cannot be asked."""
    asked = tuple(rights)
    allowed = await asyncio.gather(*(_allowed(client, right) for right in asked))
    return [right for right, granted in zip(asked, allowed, strict=True) if not granted]


async def _allowed(client: ApiClient, right: Right) -> bool:
    resource, _, subresource = right.resource.partition("/")
    attributes = {
        "verb": right.verb,
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "namespace": right.namespace,
        "name": right.name,
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {key: value for key, value in attributes.items() if value}},
    }
    answer = await client.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=review)
    try:
        return msgspec.json.decode(answer, type=_AccessReview).status.allowed
    except msgspec.DecodeError as error:
        raise ApiError(200, "", f"what is no review of an access, so it is no API server ({error})") from error
