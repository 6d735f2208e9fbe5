"""A watched copy of a cluster, for the exporter, the web page and the extender.

All kinds of a snapshot are listed and watched (`reflector`). If the API server is unavailable, the last known state
stays, with its age (`follow_state`). It can be read from any thread.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, Protocol

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.timestamps import timestamp
from topospread.errors import Place
from topospread.sources.load import LiveObjects, load
from topospread.sources.objects import ReadObject
from topospread.sources.snapshot_facts import FORMAT, SnapshotFacts
from topospread.sources.snapshot_lists import ORDER, REQUIRED, ListRequest
from topospread.sources.versions import VERSIONS

from .access import Access
from .api_error import RequestError
from .client import ApiClient
from .connection import Connection
from .daemon import background
from .follow_state import FollowState, KindStates
from .health_check import ApiServerHealthCheck
from .kinds import Watched
from .observer import Observer
from .read_cluster import place_of
from .reflector import Key, Reflector
from .refusals import in_words

log = logging.getLogger(__name__)

_AGAIN: Final = 5.0
"""Seconds before a kind is watched again after an unexpected error."""


class ClusterListener(Protocol):
    """Receives all changes in the watching thread, in order within each kind."""

    def put(self, kind: str, item: KubeObject, before: KubeObject | None) -> None:
        """Process a new or changed object; ``before`` is its previous state.

        After an interruption objects may repeat.
        """

    def delete(self, kind: str, item: KubeObject) -> None:
        """Process the deletion of an object, given in its last known state."""


class FollowedCluster:
    """The watched copy. Use `follow` or `following` to create one.

    Args:
        client: client of the API server, whose observer is ``states``.
        states: freshness of each kind; forwards to metrics and logs (`reporting.Reporting`).
        kinds: kinds to watch, keys of `KINDS`; by default all that affect placement.
        listener: receives every change.
    """

    def __init__(
        self,
        client: ApiClient,
        connection: Connection,
        states: KindStates,
        *,
        kinds: Sequence[str] = ORDER,
        listener: ClusterListener | None = None,
    ) -> None:
        self._connection = connection
        self._states = states
        self._lock = threading.Lock()
        self._kinds: dict[str, _KindCopy] = {kind: _KindCopy(kind, self._lock, listener) for kind in kinds}
        self._reflectors = [Reflector(client, _watched(kind), copy, self._states) for kind, copy in self._kinds.items()]

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as group:
            for each in self._reflectors:
                group.create_task(self._follow(each))

    async def _follow(self, reflector: Reflector) -> None:
        while True:
            try:
                await reflector.run()
            except Exception as error:  # an error in this code must not stop the other kinds
                log.exception("following failed, and begins again")
                self._states.watching(reflector.name, "failed", f"{type(error).__name__}: {error}")
            await asyncio.sleep(_AGAIN)

    @property
    def state(self) -> FollowState:
        """Return which kinds are outdated."""
        return FollowState(
            all(each.synced.is_set() for each in self._reflectors),
            sum(each.version for each in self._kinds.values()),
            self._states.behind_since(),
            self._states.problems,
        )

    def _missing(self) -> dict[str, str]:
        found = {}
        for kind, copy in self._kinds.items():
            why = self._states.absent.get(ListRequest(kind).resource)
            if why is not None and not copy.items:
                found[kind] = why
        return found

    def objects(self) -> LiveObjects:
        """Return all objects, sorted by kind and then in the API server's order."""
        with self._lock:
            copies = {kind: list(copy.items.items()) for kind, copy in self._kinds.items()}
        # Snapshots have ``Forbidden`` for ``403 Forbidden: …``.
        missing = {kind: why.partition(":")[0].split(" ", 1)[-1] for kind, why in self._missing().items()}
        counts = {kind: len(items) for kind, items in copies.items() if kind not in missing}
        facts = SnapshotFacts(format=FORMAT, taken=timestamp(time.time()), live=True, counts=counts, missing=missing)
        place = place_of(self._connection)
        objects = [
            ReadObject(kind, item, Place(place.source, object=f"{kind} {'/'.join(filter(None, key))}"))
            for kind, items in copies.items()
            for key, item in sorted(items, key=_listing_order)
        ]
        return LiveObjects(objects, facts, place)

    def inventory(self) -> Inventory:
        """Return the current objects as an inventory, which no later event changes. Raise InputError without a node."""
        return load((), live=self.objects())


class _KindCopy:
    def __init__(self, kind: str, lock: threading.Lock, listener: ClusterListener | None) -> None:
        self._kind = kind
        self._lock = lock
        self._listener = listener
        self.items: dict[Key, KubeObject] = {}
        self.version = 0

    def keys(self) -> set[Key]:
        """See Sink."""
        return set(self.items)

    def put(self, item: Any) -> None:
        """See Sink."""
        key = (item.namespace, item.name)
        before = self.items.get(key)
        if before is not None and before.metadata.resource_version == item.metadata.resource_version:
            return
        item.kind, item.api_version = self._kind, VERSIONS[self._kind][0]
        with self._lock:
            self.items[key] = item
        self._moved()
        if self._listener is not None:
            self._listener.put(self._kind, item, before)

    def delete(self, key: Key, item: Any) -> None:
        """See Sink."""
        with self._lock:
            gone = self.items.pop(key, None)
        if gone is None:
            return
        self._moved()
        if self._listener is not None:
            self._listener.delete(self._kind, gone)

    def _moved(self) -> None:
        self.version += 1


@asynccontextmanager
async def follow(
    access: Access | None = None,
    *,
    kinds: Sequence[str] = ORDER,
    listener: ClusterListener | None = None,
    watching: Observer | None = None,
) -> AsyncIterator[FollowedCluster]:
    """Watch a cluster in this event loop until the block ends. It may not be ready at once.

    Raises:
        InputError: if no cluster is configured, it cannot be reached, or it denies access to nodes or pods.
    """
    connection = await (access or Access()).connect()
    states = KindStates(watching)
    async with ApiClient(connection, observer=states) as client:
        # List one node and pod, so that missing permissions are reported at once.
        for kind in (each for each in ORDER if each in REQUIRED and each in kinds):
            try:
                await client.request("GET", next(ListRequest(kind).paths()), params={"limit": "1"})
            except RequestError as error:
                raise in_words(error, connection) from error
        followed = FollowedCluster(client, connection, states, kinds=kinds, listener=listener)
        async with background(followed.run(), ApiServerHealthCheck(client, states).run()):
            yield followed


@contextmanager
def following(
    access: Access | None = None,
    *,
    kinds: Sequence[str] = ORDER,
    listener: ClusterListener | None = None,
    watching: Observer | None = None,
) -> Iterator[FollowedCluster]:
    """Run `follow` in another thread, for callers without an event loop; the same errors."""
    begun = threading.Event()
    made: list[FollowedCluster] = []
    wrong: list[BaseException] = []
    loop = asyncio.new_event_loop()
    end = asyncio.Event()

    async def run() -> None:
        try:
            async with follow(access, kinds=kinds, listener=listener, watching=watching) as followed:
                made.append(followed)
                begun.set()
                await end.wait()
        except BaseException as error:  # passed to the waiting thread
            wrong.append(error)
        finally:
            begun.set()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()), name="following", daemon=True)
    thread.start()
    try:
        begun.wait()
        if wrong:
            raise wrong[0]
        yield made[0]
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join()
        loop.close()


def _watched(kind: str) -> Watched:
    return Watched(KINDS[kind].struct, next(ListRequest(kind).paths()), optional=kind not in REQUIRED)


def _listing_order(entry: tuple[Key, KubeObject]) -> str:
    """Return the sort key of the API server's storage, ``namespace/name``."""
    (namespace, name), _ = entry
    return f"{namespace}/{name}" if namespace else name
