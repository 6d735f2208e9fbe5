"""Names of a live cluster's workloads, pods and nodes for shell completion, read within a second.

Completion does not run credential programs, prompt the user, or report errors.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from topospread.api.node import Node
from topospread.sources.atomic_file import write_file

if TYPE_CHECKING:
    from .access import Access

SECONDS = 1.0
"""Time limit in seconds for the API server's answers."""
KEPT = 30.0
"""Seconds for which names are cached in a file."""
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_PATHS = {
    "Node": "/api/v1/nodes",
    "Deployment": "/apis/apps/v1/deployments",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "Pod": "/api/v1/pods",
}


class _Metadata(msgspec.Struct):
    name: str
    namespace: str = ""
    labels: dict[str, str] = {}


class _Item(msgspec.Struct):
    metadata: _Metadata


class _List(msgspec.Struct):
    items: list[_Item] = []


class ObjectNames(msgspec.Struct):
    """Names of objects."""

    objects: list[tuple[str, str, str]] = []
    nodes: list[Node] = []


def live_names(context: str | None) -> ObjectNames | None:
    """Return the names in the kubeconfig's cluster; None if they are not available quickly.

    Args:
        context: context of the default kubeconfig; by default the current one.
    """
    try:
        # Each kubeconfig and context has its own cache file.
        named = os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
        known = [(each, os.path.getmtime(each)) for each in named.split(os.pathsep) if os.path.exists(each)]
        key = hashlib.sha256(repr((known, context)).encode()).hexdigest()[:32]
        cache = os.environ.get("XDG_CACHE_HOME", "")
        folder = Path(cache) if os.path.isabs(cache) else Path.home() / ".cache"
        kept = folder / "topospread" / f"names-{key}.json"
        if kept.exists() and time.time() - kept.stat().st_mtime < KEPT:
            return msgspec.json.decode(kept.read_bytes(), type=ObjectNames)
        from .access import Access
        from .credentials import runs_a_program

        access = Access(context=context)
        if not access.finds_something() or runs_a_program(access.files(), context):
            return None
        found = asyncio.run(asyncio.wait_for(_read(access), SECONDS))
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(str(kept), msgspec.json.encode(found))
        kept.chmod(0o600)
    except Exception:
        return None
    return found


async def _read(access: Access) -> ObjectNames:
    from .client import ApiClient

    connection = await access.connect()
    headers = connection.headers

    async def with_accept() -> dict[str, str]:
        return {**await headers(), "Accept": _METADATA}

    found = ObjectNames()
    async with ApiClient(replace(connection, headers=with_accept), qps=100, burst=100) as client:

        async def listed(kind: str, path: str) -> None:
            async for page in client.list_pages(path):
                for each in msgspec.json.decode(page, type=_List).items:
                    named = each.metadata
                    found.objects.append((kind, named.namespace, named.name))
                    if kind == "Node":
                        node = {"metadata": {"name": named.name, "labels": named.labels}}
                        found.nodes.append(msgspec.convert(node, Node))

        await asyncio.gather(*(listed(kind, path) for kind, path in _PATHS.items()))
    return found
