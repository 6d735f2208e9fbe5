"""Check every second whether the API server answers, because watches of a stopped server are only silent.

It requests ``/version``, which is cheap and needs no permission. Broken connections are reported by the watches.
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
"""Seconds without an answer after which the server counts as silent."""


class ApiServerHealthCheck:
    """Reports when the API server falls silent and when it answers again.

    Args:
        every, prompt: seconds between two requests, and time limit of an answer.
    """

    def __init__(
        self, client: ApiClient, states: KindStates, *, every: float = _EVERY, prompt: float = _PROMPT
    ) -> None:
        self._client = client
        self._states = states
        self._every = every
        self._prompt = prompt

    async def run(self) -> None:
        """Check until cancelled."""
        while True:
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
            await asyncio.sleep(self._every)

    async def _answers(self) -> bool:
        """Return whether there was any answer, including an error."""
        try:
            await self._client.request("GET", "/version")
        except ApiError:
            return True
        except ApiUnreachable:
            return False
        return True
