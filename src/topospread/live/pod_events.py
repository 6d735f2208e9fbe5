"""Read the events of one pod."""

from __future__ import annotations

import asyncio

import msgspec

from topospread.api.event import StoredEvent
from topospread.api.meta import KubeStruct
from topospread.api.pod import Pod
from topospread.errors import InputError, Place

from .access import Access
from .api_error import ApiError, RequestError
from .client import ApiClient
from .refusals import in_words


class _EventPage(KubeStruct):
    items: list[StoredEvent] | None = None


def pod_events(access: Access, pod: Pod) -> list[StoredEvent]:
    """Return a pod's events from ``events.k8s.io/v1``, or from the core group if that is forbidden.

    Raises:
        InputError: if the server cannot be reached, or both are forbidden.
    """

    async def read() -> list[StoredEvent]:
        connection = await access.connect()
        async with ApiClient(connection) as client:
            try:
                return await _newest_group(client, pod)
            except RequestError as error:
                if isinstance(error, ApiError) and error.status == 403:
                    raise InputError(error.message, Place(source=connection.source)) from error
                raise in_words(error, connection) from error

    return asyncio.run(read())


async def _newest_group(client: ApiClient, pod: Pod) -> list[StoredEvent]:
    try:
        return await _listed(client, f"/apis/events.k8s.io/v1/namespaces/{pod.namespace}/events", "regarding", pod)
    except ApiError as error:
        if error.status not in (403, 404):
            raise
    return await _listed(client, f"/api/v1/namespaces/{pod.namespace}/events", "involvedObject", pod)


async def _listed(client: ApiClient, path: str, about: str, pod: Pod) -> list[StoredEvent]:
    chosen = {"fieldSelector": f"{about}.uid={pod.metadata.uid}"}
    found: list[StoredEvent] = []
    async for page in client.list_pages(path, params=chosen):
        found += msgspec.json.decode(page, type=_EventPage).items or []
    return found
