"""A token bucket that limits requests per second, like client-go's.

Source: client-go/util/flowcontrol/throttle.go (``NewTokenBucketRateLimiter``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class RateLimit:
    """Allows ``qps`` requests per second on average, and ``burst`` at once. A ``qps`` of 0 or less means no limit."""

    def __init__(self, qps: float, burst: int, now: Callable[[], float]) -> None:
        self._qps = qps
        self._burst = max(burst, 1)
        self._now = now
        self._tokens = float(self._burst)
        self._at = now()

    async def wait(self) -> None:
        """Wait until a request may be sent, in the order of the calls."""
        delay = self.reserve()
        if delay > 0:
            await asyncio.sleep(delay)

    def reserve(self) -> float:
        """Take a token, on credit if none is available. Return the seconds until it is available."""
        if self._qps <= 0:
            return 0.0
        now = self._now()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._qps)
        self._at = now
        self._tokens -= 1
        return max(0.0, -self._tokens / self._qps)
