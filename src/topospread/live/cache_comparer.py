"""Compares the scheduler's nodes and pods with lists of the API server from time to time, and corrects differences.

A watch may be slightly behind a list. So a difference counts only if the scheduler's cached object does not change
within `SETTLE` seconds after the list. Source: pkg/scheduler/backend/cache/debugger/comparer.go, which only logs the
differences.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from topospread.api.meta import KubeObject, KubeStruct

from .api_error import RequestError
from .client import ApiClient
from .kinds import Watched
from .objects import Objects
from .observer import Observer
from .pods import Pods
from .reflector import Key, Sink

PERIOD = 600.0
"""Seconds between two comparisons."""
SETTLE = 5.0
"""Seconds in which the watch can catch up with a list."""
_JITTER = 0.1


class Compared(Protocol):
    """The cached state of one kind, for the comparison."""

    def known(self, key: Key) -> object:
        """Return the cached state of an object; None if it is unknown."""

    def agrees(self, known: object, item: Any) -> bool:
        """Return whether the cached state equals the API server's. ``item`` is None if the object does not exist."""


class ComparedPods:
    """Pods, compared by state, uid and node."""

    def __init__(self, pods: Pods) -> None:
        self._pods = pods

    def known(self, key: Key) -> object:
        """See Compared."""
        return self._pods.identity(key)

    def agrees(self, known: object, item: Any) -> bool:
        """See Compared."""
        return known == (None if item is None else self._pods.expected_identity(item))


class ComparedNodes:
    """Nodes, compared by name."""

    def __init__(self, nodes: Objects) -> None:
        self._nodes = nodes

    def known(self, key: Key) -> object:
        """See Compared."""
        return key if key in self._nodes.known else None

    def agrees(self, known: object, item: Any) -> bool:
        """See Compared."""
        return (known is None) == (item is None)


@dataclass(frozen=True, slots=True)
class ComparedKind:
    """A kind to compare: its list request, its cached state, and the sink for corrections."""

    watched: Watched
    compared: Compared
    sink: Sink


class _RawPage(KubeStruct):
    items: list[msgspec.Raw] | None = None


class CacheComparer:
    """Compares some kinds, in their order."""

    def __init__(self, client: ApiClient, kinds: Iterable[ComparedKind], observer: Observer) -> None:
        self._client = client
        self._kinds = tuple(kinds)
        self._observer = observer
        self._asked = asyncio.Event()

    def compare_now(self) -> None:
        """Compare at once, like kube-scheduler at SIGUSR2."""
        self._asked.set()

    async def run(self) -> None:
        """Compare until cancelled."""
        while True:
            try:
                async with asyncio.timeout(PERIOD * random.uniform(1.0, 1.0 + _JITTER)):
                    await self._asked.wait()
            except TimeoutError:
                pass
            self._asked.clear()
            for each in self._kinds:
                try:
                    await self._compare(each)
                except (RequestError, msgspec.DecodeError) as error:
                    self._observer.failed(f"comparison of {each.watched.name}", str(error))

    async def _compare(self, kind: ComparedKind) -> None:
        """Compare one kind and correct what differs."""
        compared = kind.compared
        answers = {}
        for key in await self._suspects(kind):
            known, item = compared.known(key), await self._read(kind, key)
            if not compared.agrees(known, item):
                answers[key] = known, item
        if not answers:
            return
        await asyncio.sleep(SETTLE)
        for key, (known, item) in answers.items():
            if compared.known(key) == known:
                if item is None:
                    kind.sink.delete(key, None)
                else:
                    kind.sink.put(item)
                self._observer.corrected(kind.watched.name, "/".join(filter(None, key)))

    async def _suspects(self, kind: ComparedKind) -> list[Key]:
        compared, unseen, found = kind.compared, kind.sink.keys(), []
        decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind.watched.struct)
        selector = kind.watched.field_selector
        params = {"fieldSelector": selector} if selector else {}
        async for body in self._client.list_pages(kind.watched.path, params=params):
            for raw in msgspec.json.decode(body, type=_RawPage).items or ():
                try:
                    item = decoder.decode(raw)
                except msgspec.ValidationError:  # the reflector reports unreadable objects
                    metadata = msgspec.json.decode(raw)["metadata"]
                    unseen.discard((metadata.get("namespace", ""), metadata["name"]))
                    continue
                key = (item.namespace, item.name)
                unseen.discard(key)
                if not compared.agrees(compared.known(key), item):
                    found.append(key)
            await asyncio.sleep(0)
        return [*found, *unseen]

    async def _read(self, kind: ComparedKind, key: Key) -> KubeObject | None:
        """Return the newest state of an object. It is listed by name, because the scheduler may not get nodes."""
        namespace, name = key
        selector = f"metadata.name={name}" + (f",metadata.namespace={namespace}" if namespace else "")
        async for body in self._client.list_pages(kind.watched.path, params={"fieldSelector": selector}):
            for raw in msgspec.json.decode(body, type=_RawPage).items or ():
                item: KubeObject = msgspec.json.decode(raw, type=kind.watched.struct)
                return item
        return None
