"""Taking a snapshot: every list read page by page, each object cut down to the fields that topospread reads, and kept.

An object passes through the typed structs of `topospread.api`, which know neither environment, arguments, annotations
that no rule reads nor managedFields: what they do not know is gone before anything is written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Protocol

import msgspec

from topospread.api.meta import KubeObject, KubeStruct
from topospread.errors import DecodeError, InputError, Place, UsageError

from .admit import Rules
from .json_list import JsonList
from .kubectl import RefusedError
from .locations import Location
from .objects import ObjectReader
from .snapshot_facts import FORMAT, SnapshotFacts
from .snapshot_file import SnapshotWriter
from .snapshot_lists import ORDER, REQUIRED, ListRequest, page
from .text import Text

PAGE: Final = 500
"""Objects a page, as kubectl itself asks for."""

_ABSENT: Final = "NotFound"
_EXPIRED: Final = "Expired"
_PASSING: Final = frozenset({"TooManyRequests", "ServiceUnavailable", "Timeout", "ServerTimeout", "InternalError"})
"""Reasons for which the same may be asked again."""

_PAUSES: Final = (1.0, 3.0)
"""Seconds before asking again."""


class Server(Protocol):
    """Who answers requests; `kubectl.Kubectl` is one."""

    def get_raw(self, path: str) -> bytes:
        """The answer at a path of the API.

        Raises:
            RefusedError: the server refuses.
            InputError: it cannot be reached.
        """


class SnapshotProgress(Protocol):
    """Is told how many objects of a kind are there, and how many are left as far as the server says."""

    def __call__(self, resource: str, done: int, left: int | None) -> None:
        """After every page."""


class _PageMeta(KubeStruct):
    """Of a list's metadata: where it goes on."""

    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class _ListPage(KubeStruct):
    metadata: _PageMeta = msgspec.field(default_factory=_PageMeta)


class _Version(KubeStruct):
    git_version: str = ""


_PAGE: Final = msgspec.json.Decoder(_ListPage)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be taken.

    Attributes:
        namespace: the only one, "" for all.
        page: objects to ask for at once, 0 for all.
    """

    namespace: str = ""
    page: int = PAGE


@dataclass(slots=True)
class Taking:
    """A snapshot being taken.

    Attributes:
        server: who is asked.
        changed: what is done with each object before it is written.
        nodes_known: is told the names of the nodes before anything is changed.
        pause: waits so many seconds.
        answered: whether the server has answered at all: one that never did is not waited for.
    """

    server: Server
    wanted: Wanted = field(default_factory=Wanted)
    changed: Callable[[KubeObject], KubeObject | dict[str, object]] = lambda item: item
    nodes_known: Callable[[list[str]], None] = lambda names: None
    progress: SnapshotProgress = lambda resource, done, left: None
    pause: Callable[[float], None] = time.sleep
    answered: bool = False

    def take(self, writer: SnapshotWriter) -> SnapshotFacts:
        """Read everything and write it; what the snapshot says of itself.

        Raises:
            InputError: the server cannot be reached, or refuses nodes or pods.
            UsageError: there is no such namespace.
        """
        facts = SnapshotFacts(
            format=FORMAT,
            taken=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            kube_version=self._version(),
            namespace=self.wanted.namespace,
            counts={},
            missing={},
        )
        for kind in ORDER:
            try:
                facts.counts[kind] = self._write(ListRequest(kind, self.wanted.namespace), writer)
            except RefusedError as error:
                if kind in REQUIRED:
                    raise InputError(f"{error.message}; without them there is no snapshot", error.place) from error
                facts.missing[kind] = error.reason or error.message
        if self.wanted.namespace and facts.counts.get("Namespace") == 0:
            raise UsageError(f'-n {self.wanted.namespace}: there is no namespace "{self.wanted.namespace}"')
        return facts

    def _ask(self, path: str) -> bytes:
        """The answer at a path; what may pass by itself is tried again, as one page of hundreds is."""
        for seconds in _PAUSES:
            try:
                return self._once(path)
            except InputError as error:
                passing = error.reason in _PASSING if isinstance(error, RefusedError) else self.answered
                if not passing:
                    raise
                self.pause(seconds)
        return self._once(path)

    def _once(self, path: str) -> bytes:
        try:
            data = self.server.get_raw(path)
        except RefusedError:
            self.answered = True
            raise
        self.answered = True
        return data

    def _version(self) -> str:
        """The server's gitVersion, "" where it is not told to everybody."""
        try:
            return msgspec.json.decode(self._ask("/version"), type=_Version).git_version
        except (RefusedError, ValueError):
            return ""

    def _write(self, listed: ListRequest, writer: SnapshotWriter) -> int:
        """Write the objects of a kind; how many there are."""
        if listed.kind == "Node":
            nodes = list(self._objects(listed))
            self.nodes_known([node.name for node in nodes])
            for node in nodes:
                writer.add(self.changed(node))
            return len(nodes)
        count = 0
        for item in self._objects(listed):
            writer.add(self.changed(item))
            count += 1
        return count

    def _objects(self, listed: ListRequest) -> Iterator[KubeObject]:
        """The objects of a kind, in the newest version that is served; none where no version is."""
        for path in listed.paths():
            try:
                yield from self._all_pages(listed, path)
            except RefusedError as error:
                if error.reason != _ABSENT:
                    raise
            else:
                return

    def _all_pages(self, listed: ListRequest, path: str) -> Iterator[KubeObject]:
        """Page after page. When the server has forgotten where the next begins, all is asked for at once.

        That is what client-go's pager does; what was given already is not given again.
        """
        reader = ObjectReader(Rules())
        seen: set[tuple[str, str]] = set()
        token, size = "", self.wanted.page
        while True:
            try:
                data = self._ask(page(path, size, token))
            except RefusedError as error:
                if error.reason != _EXPIRED or not token:
                    raise
                token, size = "", 0
                continue
            items, following = _opened(data, path)
            for each in reader.read_json_list(items, lambda done: None):
                key = (each.item.namespace, each.item.name)
                if each.kind == listed.kind and key not in seen:
                    seen.add(key)
                    yield each.item
            self.progress(listed.resource, len(seen), following.remaining_item_count)
            token = following.continue_
            if not token:
                return


def _opened(data: bytes, path: str) -> tuple[JsonList, _PageMeta]:
    """The objects of a page, not read yet, and where the list goes on.

    Raises:
        DecodeError: it is no list.
    """
    text = Text(f"kubectl get --raw {path}", data)
    items = JsonList.at(Location(text, start=0, end=len(data)))
    if items is None:
        begin = data[:60].decode("utf-8", "replace")
        raise DecodeError(f"the answer is no list of objects: {begin!r}", Place(text.name))
    return items, _PAGE.decode(data).metadata
