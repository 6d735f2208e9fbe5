"""The order of writes: bindings first, then statuses of pods, then events."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from enum import IntEnum

PATIENCE = 0.1
"""Seconds after which a write frees its slot, so that a slow answer does not delay other writes."""
MOST_SLOW = 400
"""Maximum number of writes that wait for answers without a slot. kube-apiserver runs 200 mutations at a time."""


class Write(IntEnum):
    """Kinds of writes, most urgent first."""

    BINDING = 0
    STATUS = 1
    EVENT = 2


class NotLeading(Exception):  # noqa: N818 - it says what is the case
    """Raised if this process no longer leads, so that writes are forbidden."""


class WriteTurn:
    """Holds a write slot inside the block until the answer arrives, at most `PATIENCE` seconds.

    A class rather than a generator, for speed: each pod needs two.

    Raises:
        NotLeading: if writes are forbidden.
    """

    __slots__ = ("_kind", "_on_slow", "_order", "_slow", "_timer")

    def __init__(self, order: WriteOrder, kind: Write, on_slow: Callable[[int], None] | None) -> None:
        self._order = order
        self._kind = kind
        self._on_slow = on_slow
        self._slow = False

    async def __aenter__(self) -> None:
        await self._order.take(self._kind)
        if not self._order.may_write():
            self._order.give()
            raise NotLeading
        self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._give_early)

    async def __aexit__(self, *_: object) -> None:
        if not self._slow:
            self._timer.cancel()
            self._order.give()
            return
        self._order.slow -= 1
        if self._on_slow is not None:
            self._on_slow(1)

    def _give_early(self) -> None:
        if self._order.slow < MOST_SLOW:
            self._slow = True
            self._order.slow += 1
            self._order.give()
            if self._on_slow is not None:
                self._on_slow(-1)


class WriteOrder:
    """Limits concurrent writes. The most urgent waiting write is next, then the oldest.

    Attributes:
        slow: number of writes that wait for answers without a slot.
    """

    def __init__(self, at_once: int, may_write: Callable[[], bool] = lambda: True) -> None:
        self._free = at_once
        self.may_write = may_write
        self.slow = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = 0

    def turn(self, kind: Write, on_slow: Callable[[int], None] | None = None) -> WriteTurn:
        """Return a context that holds a write slot.

        ``on_slow`` receives -1 if the slot is freed early, and 1 at the end of that write.
        """
        return WriteTurn(self, kind, on_slow)

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
