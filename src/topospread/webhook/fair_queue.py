"""A queue of idle processes that shares them among namespaces, so that one tenant's requests delay no other tenant."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Idle items, which go to waiting namespaces in turn.

    Args:
        share: items that one namespace may hold at a time.
    """

    def __init__(self, share: int) -> None:
        self._share = share
        self._idle: deque[T] = deque()
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[T]]] = {}
        """Namespace → its waiting requests. The namespace whose turn is next comes first."""

    def put(self, item: T) -> None:
        """Add an idle item."""
        self._idle.append(item)
        self._hand_out()

    async def take(self, namespace: str) -> T:
        """Wait for the namespace's turn and return an item, which it holds until `release`."""
        turn: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(namespace, deque()).append(turn)
        self._hand_out()
        try:
            return await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the item came at the same moment
                self.release(namespace)
                self.put(turn.result())
            raise

    def release(self, namespace: str) -> None:
        """Note that a namespace holds one item less."""
        self._held -= Counter((namespace,))
        self._hand_out()

    def _hand_out(self) -> None:
        for namespace in list(self._waiting):
            turns = self._waiting[namespace]
            while turns and turns[0].done():
                turns.popleft()
            if turns and (not self._idle or self._held[namespace] >= self._share):
                continue
            del self._waiting[namespace]
            if turns:
                self._held[namespace] += 1
                turns.popleft().set_result(self._idle.popleft())
                self._waiting[namespace] = turns
