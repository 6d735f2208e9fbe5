"""The order of writes: bindings first, then statuses of pods, then events."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from enum import IntEnum


class Write(IntEnum):
    """Kinds of writes, most urgent first."""

    BINDING = 0
    STATUS = 1
    EVENT = 2


class NotLeading(Exception):  # noqa: N818 - it says what is the case
    """Raised if this process no longer leads, so that writes are forbidden."""


class WriteTurn:
    """Holds a write slot inside the block. A class rather than a generator, for speed.

    Raises:
        NotLeading: if writes are forbidden.
    """

    __slots__ = ("_kind", "_order")

    def __init__(self, order: WriteOrder, kind: Write) -> None:
        self._order = order
        self._kind = kind

    async def __aenter__(self) -> None:
        await self._order.take(self._kind)
        if not self._order.may_write():
            self._order.give()
            raise NotLeading

    async def __aexit__(self, *_: object) -> None:
        self._order.give()


class WriteOrder:
    """Limits concurrent writes. The most urgent waiting write is next, then the oldest.

    Args:
        may_write: called before every write.
    """

    def __init__(self, at_once: int, may_write: Callable[[], bool] = lambda: True) -> None:
        self._free = at_once
        self.may_write = may_write
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = 0

    def turn(self, kind: Write) -> WriteTurn:
        """Return a context that holds a write slot."""
        return WriteTurn(self, kind)

    async def take(self, kind: Write) -> None:
        """Wait for a write slot."""
        if self._free > 0:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._waiting, (kind, self._count, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give()
            raise

    def give(self) -> None:
        """Free a write slot."""
        while self._waiting:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
