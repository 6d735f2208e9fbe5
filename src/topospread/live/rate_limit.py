"""A limit on how many requests are sent in a second, as client-go has it: a bucket of tokens. It sends nothing.

Source: client-go/util/flowcontrol/throttle.go (``NewTokenBucketRateLimiter``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class RateLimit:
    """``qps`` requests a second on the average, ``burst`` of them at once; a ``qps`` of 0 or less is no limit."""

    def __init__(self, qps: float, burst: int, now: Callable[[], float]) -> None:
        self._qps = qps
        self._burst = max(burst, 1)
        self._now = now
        self._tokens = float(self._burst)
        self._at = now()

    async def wait(self) -> None:
        """Return when one more request may be sent; who asks first goes first."""
        delay = self.reserve()
        if delay > 0:
            await asyncio.sleep(delay)

    def reserve(self) -> float:
        """Take a token, on credit where none is left; seconds until it is there."""
        if self._qps <= 0:
            return 0.0
        now = self._now()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._qps)
        self._at = now
        self._tokens -= 1
        return max(0.0, -self._tokens / self._qps)
