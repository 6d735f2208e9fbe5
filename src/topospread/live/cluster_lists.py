"""Read all kinds of a snapshot from an API server, concurrently and in pages.

Each list has its own resource version, and all start within milliseconds. If a continue token has expired, the whole
list is requested again, like in client-go's pager (client-go/tools/pager/pager.go).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import msgspec

from topospread.api.kinds import KINDS
from topospread.api.meta import KubeStruct
from topospread.api.storage import VOLUME_KINDS
from topospread.api.timestamps import timestamp
from topospread.errors import UsageError
from topospread.sources.admit import Rules
from topospread.sources.listed_page import continue_token, read_page
from topospread.sources.needed_kinds import uses_volumes
from topospread.sources.objects import ObjectReader, ReadObject
from topospread.sources.snapshot_facts import FORMAT, SnapshotFacts
from topospread.sources.snapshot_lists import ORDER, REQUIRED, ListRequest

from .api_error import ApiError, ApiUnreachable, RequestError
from .client import PAGE, ApiClient
from .connection import Connection
from .refusals import in_words

_PATIENCE: Final = 120.0
"""Time limit for a response in seconds. An unpaged list may be large."""
_PASSING: Final = frozenset({"TooManyRequests", "ServiceUnavailable", "Timeout", "ServerTimeout", "InternalError"})
"""Reasons after which a request is retried."""
_PAUSES: Final = (1.0, 3.0)
"""Seconds before each retry."""
_OTHER_REFUSAL: Final = 1.0
"""Seconds to wait for the other required lists after an error, so that always the same error is reported."""


ListsProgress = Callable[[str, int, int | None], None]
"""Receives a kind's resource, the number of its read objects, and the remaining number if known, after every page."""


class Receiver(Protocol):
    """Receives the read objects. Kinds are interleaved; objects of a kind are in the server's order."""

    def take(self, kind: str, objects: Sequence[ReadObject]) -> None:
        """Receive some objects of a kind, each once."""

    def finished(self, kind: str) -> None:
        """Receive the end of a kind. A forbidden kind has no objects."""


@dataclass(frozen=True, slots=True)
class WantedLists:
    """The lists to read.

    Attributes:
        namespace: the only namespace to read; "" for all.
        otherwise: the namespace for kinds that are forbidden cluster-wide; "" to omit them.
        page: objects per page; 0 for unpaged lists.
        kinds: kinds to read, keys of `KINDS`.
        volumes: whether `VOLUME_KINDS` are always read; otherwise only once an object uses volumes.
    """

    namespace: str = ""
    otherwise: str = ""
    page: int = PAGE
    kinds: Sequence[str] = ORDER
    volumes: bool = True


class _VolumesAsked:
    """Decides whether volume kinds are needed: once an object uses volumes, or after all other kinds."""

    def __init__(self, wanted: WantedLists) -> None:
        self._known = asyncio.Event()
        self._others = {kind for kind in wanted.kinds if kind not in VOLUME_KINDS}
        self._asked = wanted.volumes or not self._others
        if self._asked:
            self._known.set()

    def see(self, objects: Iterable[ReadObject]) -> None:
        """Check read objects for volumes."""
        if not self._known.is_set() and any(uses_volumes(each.item) for each in objects):
            self._asked = True
            self._known.set()

    def finished(self, kind: str) -> None:
        """Record that a kind was read completely."""
        self._others.discard(kind)
        if not self._others:
            self._known.set()

    async def asks_for(self, kind: str) -> bool:
        """Return whether a kind must be read, once that is known."""
        if kind in VOLUME_KINDS:
            await self._known.wait()
        return kind not in VOLUME_KINDS or self._asked


class _Version(KubeStruct):
    git_version: str = ""


@dataclass(slots=True)
class ClusterLists:
    """Reads the lists of one API server once.

    Attributes:
        connection: its connection, for error messages.
        purpose: the result that needs nodes and pods, for error messages.
    """

    client: ApiClient
    connection: Connection
    wanted: WantedLists = field(default_factory=WantedLists)
    progress: ListsProgress = lambda resource, done, left: None
    purpose: str = "answer"
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    _answered: bool = False
    _narrowed: list[str] = field(default_factory=list)
    _volumes: _VolumesAsked = field(init=False)

    def __post_init__(self) -> None:
        self._volumes = _VolumesAsked(self.wanted)

    async def read(self, receiver: Receiver) -> SnapshotFacts:
        """Read all lists, and return the snapshot's facts.

        Raises:
            InputError: if the server cannot be reached, or denies access to nodes or pods.
            UsageError: if the namespace does not exist.
        """
        facts = SnapshotFacts(
            format=FORMAT,
            taken=timestamp(time.time()),
            namespace=self.wanted.namespace,
            counts={},
            missing={},
        )
        reading = {kind: asyncio.create_task(self._kind(kind, receiver, facts)) for kind in self.wanted.kinds}
        version = asyncio.create_task(self._version())
        try:
            await self._all_or_none(reading, version)
            facts.kube_version = version.result()
        except RequestError as error:
            raise in_words(error, self.connection) from error
        finally:
            for each in (*reading.values(), version):
                each.cancel()
            await asyncio.gather(*reading.values(), version, return_exceptions=True)
        self._tell_narrowed(facts)
        if self.wanted.namespace and facts.counts.get("Namespace") == 0:
            raise UsageError(f'-n {self.wanted.namespace}: there is no namespace "{self.wanted.namespace}"')
        facts.counts = {kind: facts.counts[kind] for kind in self.wanted.kinds if kind in facts.counts}
        facts.missing = {kind: facts.missing[kind] for kind in self.wanted.kinds if kind in facts.missing}
        return facts

    async def _all_or_none(self, reading: Mapping[str, asyncio.Task[None]], version: asyncio.Task[str]) -> None:
        """Wait for all lists. After an error, raise the error of the first kind that has one."""
        every = [*reading.values(), version]
        await asyncio.wait(every, return_when=asyncio.FIRST_EXCEPTION)
        if any(each.done() and each.exception() for each in every):
            required = [each for kind, each in reading.items() if kind in REQUIRED]
            await asyncio.wait(required or every, timeout=_OTHER_REFUSAL)
        for each in every:
            if each.done():
                each.result()

    async def _kind(self, kind: str, receiver: Receiver, facts: SnapshotFacts) -> None:
        """Read a kind, or record that it is forbidden. Read a volume kind only if needed."""
        if not await self._volumes.asks_for(kind):
            receiver.finished(kind)
            return
        try:
            facts.counts[kind] = await self._as_wide_as_allowed(kind, receiver)
        except ApiError as error:
            if kind in REQUIRED:
                raise in_words(error, self.connection, self.purpose) from error
            facts.missing[kind] = error.reason or error.message
        receiver.finished(kind)
        self._volumes.finished(kind)

    async def _as_wide_as_allowed(self, kind: str, receiver: Receiver) -> int:
        """Read a kind in all namespaces, or in the only allowed one."""
        try:
            return await self._listed(ListRequest(kind, self.wanted.namespace), receiver)
        except ApiError as error:
            narrower = self._narrower(kind, error)
            if narrower is None:
                raise
        found = await self._listed(narrower, receiver)
        self._narrowed.append(kind)
        return found

    def _tell_narrowed(self, facts: SnapshotFacts) -> None:
        """Record the kinds that were read in one namespace only. If Pod is one, so is the whole snapshot."""
        if "Pod" in self._narrowed:
            facts.namespace = self.wanted.otherwise
            return
        facts.missing |= dict.fromkeys(self._narrowed, f'Forbidden outside the namespace "{self.wanted.otherwise}"')

    def _narrower(self, kind: str, error: ApiError) -> ListRequest | None:
        """Return the request for one namespace after a cluster-wide refusal."""
        if error.status != 403 or self.wanted.namespace or not self.wanted.otherwise or not KINDS[kind].namespaced:
            return None
        return ListRequest(kind, self.wanted.otherwise)

    async def _listed(self, listed: ListRequest, receiver: Receiver) -> int:
        """Read the objects of a kind in its newest served version. Return their number; 0 if it is not served."""
        for path in listed.paths():
            try:
                return await self._all_pages(listed, path, receiver)
            except ApiError as error:
                if error.reason != "NotFound":
                    raise
        return 0

    async def _all_pages(self, listed: ListRequest, path: str, receiver: Receiver) -> int:
        reader = ObjectReader(Rules())
        seen: set[tuple[str, str]] = set()
        async for data in self._pages(path, listed.selection):
            objects, left = read_page(data, listed.kind, f"{self.connection.server}{path}", reader)
            new = [each for each in objects if (each.item.namespace, each.item.name) not in seen]
            seen.update((each.item.namespace, each.item.name) for each in new)
            receiver.take(listed.kind, new)
            self._volumes.see(new)
            self.progress(listed.resource, len(seen), left)
            await asyncio.sleep(0)
        return len(seen)

    async def _pages(self, path: str, chosen: Mapping[str, str]) -> AsyncIterator[bytes]:
        """Yield the pages. The server prepares the next page while this one is processed."""
        following: asyncio.Task[bytes] | None = asyncio.create_task(self._page(path, chosen, ""))
        try:
            while following is not None:
                data = await following
                token = continue_token(data)
                following = asyncio.create_task(self._page(path, chosen, token)) if token else None
                yield data
        finally:
            if following is not None:
                following.cancel()

    async def _page(self, path: str, chosen: Mapping[str, str], token: str) -> bytes:
        """Return one page; the whole list if the continue token has expired."""
        limit = {"limit": str(self.wanted.page)} if self.wanted.page else {}
        try:
            return await self._ask(path, {**chosen, **limit, **({"continue": token} if token else {})})
        except ApiError as error:
            if error.reason != "Expired" or not token:
                raise
        return await self._ask(path, chosen)

    async def _ask(self, path: str, params: Mapping[str, str]) -> bytes:
        """Send a request, and retry it after transient errors."""
        for seconds in _PAUSES:
            try:
                return await self._once(path, params)
            except ApiError as error:
                if error.reason not in _PASSING:
                    raise
            except ApiUnreachable:
                if not self._answered:
                    raise
            await self.pause(seconds)
        return await self._once(path, params)

    async def _once(self, path: str, params: Mapping[str, str]) -> bytes:
        try:
            answer = await self.client.request("GET", path, params=params, timeout=_PATIENCE)
        except ApiError:
            self._answered = True
            raise
        self._answered = True
        return answer

    async def _version(self) -> str:
        """Return the server's gitVersion; "" if it is forbidden."""
        try:
            return msgspec.json.decode(await self._ask("/version", {}), type=_Version).git_version
        except (ApiError, msgspec.DecodeError):
            return ""
