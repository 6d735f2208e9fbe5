"""A queue that shares idle processes among tenants, so that one tenant cannot delay others."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Asker(NamedTuple):
    """The client of a request; ``tenant`` is a user or a namespace of service accounts (`tenant_of`)."""

    tenant: str
    namespace: str


class FairQueue(Generic[T]):
    """Gives idle items to waiting tenants in turn, and within a tenant to its namespaces in turn.

    Args:
        share: maximum number of items that one tenant may hold. One namespace may hold at most ``share - 1``, but at
            least one.
    """

    def __init__(self, share: int) -> None:
        self._share = share
        self._idle: deque[T] = deque()
        self._held: Counter[str | Asker] = Counter()
        self._waiting: dict[str, dict[str, deque[asyncio.Future[T]]]] = {}
        """Tenant → namespace → waiting requests. In both, the first is next."""

    def put(self, item: T) -> None:
        """Add an idle item."""
        self._idle.append(item)
        self._hand_out()

    async def take(self, asker: Asker) -> T:
        """Wait for the asker's turn and return an item, which the asker holds until `release`."""
        turn: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(asker.tenant, {}).setdefault(asker.namespace, deque()).append(turn)
        self._hand_out()
        try:
            return await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the item arrived at the same moment
                self.release(asker)
                self.put(turn.result())
            raise

    def release(self, asker: Asker) -> None:
        """Record that an asker returned an item."""
        self._held -= Counter((asker.tenant, asker))
        self._hand_out()

    def _hand_out(self) -> None:
        for tenant in list(self._waiting):
            namespaces = self._waiting[tenant]
            served = self._serve_one(tenant, namespaces)
            if not namespaces:
                del self._waiting[tenant]
            elif served:
                self._waiting[tenant] = self._waiting.pop(tenant)

    def _serve_one(self, tenant: str, namespaces: dict[str, deque[asyncio.Future[T]]]) -> bool:
        """Give an item to a tenant's next request, and drop cancelled requests. Return False if no request waits."""
        for namespace in list(namespaces):
            turns, asker = namespaces[namespace], Asker(tenant, namespace)
            while turns and turns[0].done():
                turns.popleft()
            if not turns:
                del namespaces[namespace]
            elif self._idle and self._held[tenant] < self._share and self._held[asker] < max(self._share - 1, 1):
                self._held.update((tenant, asker))
                turns.popleft().set_result(self._idle.popleft())
                namespaces[namespace] = namespaces.pop(namespace)
                return True
        return False
