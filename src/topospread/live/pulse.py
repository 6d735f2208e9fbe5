"""A check every second that the API server answers: watches of a stopped server are only silent.

It asks for ``/version``, which costs the server least and is open to everybody. That a connection breaks is no news
here: who watches notices it, and tells why.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

from .api_error import ApiError, ApiUnreachable
from .client import ApiClient
from .follow_state import KindStates

_EVERY: Final = 1.0
_PROMPT: Final = 1.0
"""Seconds after which a server that has said nothing does not answer."""


class Pulse:
    """Asks, and tells of silence and of its end.

    Args:
        client: of the API server.
        states: are told.
        every, prompt: seconds between two questions, and until an answer is missing.
    """

    def __init__(
        self, client: ApiClient, states: KindStates, *, every: float = _EVERY, prompt: float = _PROMPT
    ) -> None:
        self._client = client
        self._states = states
        self._every = every
        self._prompt = prompt

    async def run(self) -> None:
        """Ask until cancelled."""
        while True:
            await self._beat()
            await asyncio.sleep(self._every)

    async def _beat(self) -> None:
        asked = time.time()
        answer = asyncio.create_task(self._answers())
        try:
            await asyncio.wait({answer}, timeout=self._prompt)
            if not answer.done():
                self._states.unanswered(asked)
            if await answer:
                self._states.answered()
        finally:
            answer.cancel()

    async def _answers(self) -> bool:
        """Return whether anything was answered, be it a refusal."""
        try:
            await self._client.request("GET", "/version")
        except ApiError:
            return True
        except ApiUnreachable:
            return False
        return True
