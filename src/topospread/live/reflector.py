"""List and watch one kind of object, and list it again when the watch cannot continue.

Source: client-go/tools/cache/reflector.go. If the version is too old (410), list again and report the differences;
after any other error, continue from the last version.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from topospread.api.decoding import decode
from topospread.api.meta import KubeObject, KubeStruct
from topospread.api.pod import Pod
from topospread.errors import DecodeError

from .api_error import ApiError, ApiUnreachable
from .client import ApiClient
from .heartbeats import Heartbeats
from .kinds import Watched
from .observer import Observer
from .rest import Rest
from .watch_events import Json
from .whole_list import IrregularList, WholeList

Key = tuple[str, str]
"""Namespace ("" for cluster-scoped objects) and name."""

_SHORTEST, _LONGEST = 0.2, 5.0
"""Minimum and maximum seconds between two attempts."""
_ABSENT = 60.0
_WATCH_SECONDS = (300, 600)
_GONE = 410
_AT_ONCE = 256
"""Objects to process before other tasks run."""
_REST = 0.2
"""Pause in seconds between reads of node heartbeats. It ends early when a pod is attempted."""
_CALM_REST = 1.0
"""Pause in seconds between reads of node heartbeats while no pod is pending."""
_SHORT_REST = 0.02
"""Pause in seconds between reads of other frequent events, short enough for pending pods."""
_NOBODY = "unreadable"
"""Scheduler name of unreadable pods, which matches no scheduler."""

Object = TypeVar("Object", bound=KubeObject)


class ListCutShort(ApiUnreachable):
    """Raised if a streamed list ends early."""


class Sink(Protocol):
    """Receives the changes of a kind's objects, in order."""

    def put(self, item: Any) -> None:
        """Add or update an object. After a new list, unchanged objects repeat."""

    def delete(self, key: Key, item: Any) -> None:
        """Delete an object. ``item`` is its last state; None if the deletion was not observed."""

    def keys(self) -> set[Key]:
        """Return the keys of the objects reported so far."""


class _ListedMeta(KubeStruct):
    resource_version: str = ""


class _ListedPage(KubeStruct, Generic[Object]):
    metadata: _ListedMeta = msgspec.field(default_factory=_ListedMeta)
    items: list[Object] | None = None


class _MarkMeta(KubeStruct):
    resource_version: str = ""
    annotations: dict[str, str] = msgspec.field(default_factory=dict)


class _Mark(KubeStruct):
    metadata: _MarkMeta = msgspec.field(default_factory=_MarkMeta)


class Reflector:
    """Lists and watches one kind.

    Args:
        is_calm: returns whether no pod waits for changes.

    Attributes:
        name: resource name of the kind, ``pods``.
        synced: set once the first list is complete.
        absent: seconds before a kind that is not served or forbidden is requested again.
        last_known: returns the previous state for an unreadable object; None if unknown.
    """

    def __init__(
        self,
        client: ApiClient,
        watched: Watched,
        sink: Sink,
        observer: Observer,
        is_calm: Callable[[], bool] = lambda: False,
    ) -> None:
        struct: Any = watched.struct
        self._client = client
        self._watched = watched
        self.name = watched.name
        self._sink = sink
        self._observer = observer
        self._decoder = msgspec.json.Decoder(struct)
        self._pages = msgspec.json.Decoder(_ListedPage[struct])
        self._arrays = msgspec.json.Decoder(list[struct])
        self._marks = msgspec.json.Decoder(_Mark)
        self._params = {"fieldSelector": watched.field_selector} if watched.field_selector else {}
        self._heartbeats = Heartbeats() if watched.beats else None
        self._rest = Rest(_SHORT_REST) if watched.many else None
        if watched.beats:
            self._rest = Rest(_REST, _CALM_REST, is_calm)
        self._delay = _SHORTEST
        self._streams = True
        self.synced = asyncio.Event()
        self._was_listed = False
        self.absent = _ABSENT
        self.last_known: Callable[[Key], Any] = lambda key: None

    async def run(self) -> None:
        """List and watch until cancelled."""
        while True:
            try:
                await self._list_and_follow()
            except (ApiError, ApiUnreachable) as error:
                if self._is_absent(error):
                    self._observer.watching(self._watched.name, "absent", str(error))
                    self.synced.set()
                    await asyncio.sleep(self.absent)
                    continue
                self._observer.watching(self._watched.name, "failed", str(error))
                await self._pause(error)
            except msgspec.DecodeError as error:
                self._observer.watching(self._watched.name, "failed", f"half an answer: {error}")
                await self._pause(ApiUnreachable(str(error)))

    def hear_now(self) -> None:
        """Read pending heartbeats at once, before other waiting work."""
        if self._heartbeats is not None and self._rest is not None:
            self._rest.end()

    async def _list_and_follow(self) -> None:
        """List once and watch until the version is too old."""
        self._observer.watching(self._watched.name, "relisting" if self.synced.is_set() else "listing")
        if self._heartbeats is not None:
            self._heartbeats.forget()
        if self._streams and self._watched.many:
            await self._follow_whole()
        elif self._streams:
            await self._follow_stream()
        else:
            await self._follow(await self._list())

    async def _list(self) -> str:
        """Process a complete list page by page, and report deleted objects. Return its version."""
        unseen, version = self._sink.keys(), ""
        async for body in self._client.list_pages(self._watched.path, params=self._params):
            page = self._page(body)
            version = page.metadata.resource_version
            await self._put_all(page.items or [], unseen)
            await asyncio.sleep(0)
        self._listed(unseen)
        return version

    async def _follow_whole(self) -> None:
        """List without pages, and process the objects as they arrive, like client-go's reflector.

        If the response breaks or has an unexpected form, use pages from then on.
        """
        unseen, listed = self._sink.keys(), WholeList(self._array)
        try:
            async for piece in self._client.list_whole(self._watched.path, params=self._params):
                await self._put_all(listed.feed(piece), unseen)
            await self._put_all(listed.end(), unseen)
        except ApiUnreachable as error:
            self._streams = False
            raise ListCutShort(f"the list of {self._watched.name} broke: {error}") from error
        except IrregularList:
            self._streams = False
            return
        self._listed(unseen)
        await self._follow(listed.version)

    async def _put_all(self, items: list[Any], unseen: set[Key]) -> None:
        for count, item in enumerate(items, 1):
            if unseen:
                unseen.discard((item.namespace, item.name))
            self._sink.put(item)
            if count % _AT_ONCE == 0:
                await asyncio.sleep(0)

    def _listed(self, gone: set[Key]) -> None:
        for key in gone:
            self._sink.delete(key, None)
        self._delay = _SHORTEST
        self._was_listed = True
        self._observer.watching(self._watched.name, "listed")
        self.synced.set()

    async def _follow_stream(self) -> None:
        """List by a watch that starts with all objects (WatchList, KEP-3157), if the server supports it.

        The API server ends a stream that is read too slowly; pages can be read at any speed.
        """
        unseen = self._sink.keys()
        begun = {**self._params, "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        try:
            version = await self._take_initial(self._client.watch(self._watched.path, "", params=begun), unseen)
        except ListCutShort:
            self._streams = False
            raise
        except ApiError as error:
            if error.status in (401, 403, 404, 429):
                raise
            self._streams = False
            return
        await self._follow(version)

    async def _take_initial(self, events: AsyncIterator[tuple[str, Json]], unseen: set[Key]) -> str:
        """Process the objects of a streamed list up to the final bookmark. Return its version."""
        count = 0
        async for kind, raw in events:
            if kind == "BOOKMARK":
                mark = self._marks.decode(raw).metadata
                if mark.annotations.get("k8s.io/initial-events-end") == "true":
                    self._listed(unseen)
                    return mark.resource_version
                continue
            item = self._object(raw)
            unseen.discard((item.namespace, item.name))
            self._take(kind, item)
            count += 1
            if count % _AT_ONCE == 0:
                await asyncio.sleep(0)
        raise ListCutShort(f"the list of {self._watched.name} ended before its end")

    async def _follow(self, version: str) -> None:
        """Watch from a version on, repeatedly, until it is too old."""
        while True:
            self._observer.watching(self._watched.name, "watching")
            seconds = random.randint(*_WATCH_SECONDS)
            try:
                async for events in self._client.watch_batches(
                    self._watched.path, version, params=self._params, seconds=seconds, rest=self._rest
                ):
                    self._delay = _SHORTEST
                    version = self._take_in(events, version)
            except ApiError as error:
                if error.status == _GONE:
                    return
                self._observer.watching(self._watched.name, "failed", str(error))
                await self._pause(error)
            except ApiUnreachable as error:
                self._observer.watching(self._watched.name, "failed", str(error))
                await self._pause(error)

    def _take_in(self, events: list[tuple[str, Json]], version: str) -> str:
        """Apply the events of a batch; return the version after them."""
        heartbeats = self._heartbeats
        for kind, raw in events:
            if heartbeats is not None and (heard := heartbeats.version(kind, raw)):
                version = heard
            elif kind == "BOOKMARK":
                version = self._marks.decode(raw).metadata.resource_version
                self._observer.watching(self._watched.name, "heard")
            else:
                item = self._object(raw)
                version = item.metadata.resource_version or version
                self._take(kind, item)
        return version

    def _take(self, kind: str, item: Any) -> None:
        if kind == "DELETED":
            self._sink.delete((item.namespace, item.name), item)
        else:
            self._sink.put(item)

    def _page(self, body: bytes) -> Any:
        try:
            return self._pages.decode(body)
        except msgspec.ValidationError:
            listed = msgspec.json.decode(body)
        items = [self._convert(each) for each in listed.get("items") or ()]
        return _ListedPage(metadata=_ListedMeta(resource_version=listed["metadata"]["resourceVersion"]), items=items)

    def _array(self, array: bytes | memoryview) -> list[Any]:
        try:
            items: list[Any] = self._arrays.decode(array)
        except msgspec.ValidationError:
            items = [self._convert(each) for each in msgspec.json.decode(array)]
        return items

    def _object(self, raw: Json) -> Any:
        try:
            return self._decoder.decode(raw)
        except msgspec.ValidationError:
            return self._convert(msgspec.json.decode(raw))

    def _convert(self, data: Any) -> Any:
        """Convert an object. Nulls are accepted where Go accepts them."""
        try:
            return decode(data, self._watched.struct)
        except DecodeError as error:
            metadata = data.get("metadata", {})
            named = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
            self._observer.failed(f"{self._watched.name} {named} cannot be read", str(error))
            return self._unreadable(data)

    def _unreadable(self, data: Any) -> Any:
        """Return the substitute for an unreadable object: its last known state, or its identity alone.

        A pod with only its identity is not scheduled.
        """
        metadata = data.get("metadata", {})
        known = self.last_known((str(metadata.get("namespace") or ""), str(metadata.get("name") or "")))
        if known is not None:
            version = metadata.get("resourceVersion")
            return replace(known, metadata=replace(known.metadata, resource_version=version))
        kept = {key: metadata.get(key) for key in ("name", "namespace", "uid", "resourceVersion")}
        spec = {"schedulerName": _NOBODY, "nodeName": str((data.get("spec") or {}).get("nodeName") or "")}
        return decode(
            {"metadata": kept} | ({"spec": spec} if issubclass(self._watched.struct, Pod) else {}), self._watched.struct
        )

    def _is_absent(self, error: ApiError | ApiUnreachable) -> bool:
        """Return whether an optional kind is not served or forbidden.

        A kind that was read before and is forbidden now is outdated, not missing.
        """
        if not self._watched.optional or not isinstance(error, ApiError):
            return False
        return error.status == 404 or (error.status == 403 and not self._was_listed)

    async def _pause(self, error: ApiError | ApiUnreachable) -> None:
        """Wait before the next attempt, longer each time, or as long as the server requests."""
        asked = error.retry_after if isinstance(error, ApiError) else None
        await asyncio.sleep(self._delay * random.uniform(1.0, 1.5) if asked is None else asked)
        self._delay = min(self._delay * 2, _LONGEST)
