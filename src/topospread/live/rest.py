"""A pause of a stream's reader, in which data can gather, because reading more at once is cheaper."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_SHORT_WAITS = 400
"""Number of consecutive short waits before a pause of one second; proportionally fewer for shorter pauses."""


class Rest:
    """A pause that lasts its time, or until the data is needed.

    Args:
        seconds: its length.
        calm_seconds: its length while no pod waits for the data.

    Attributes:
        seconds: the normal length.
        earned: number of consecutive short waits after which a reader pauses. So many short waits show a stream,
            because a single watch event arrives in at most three pieces.
    """

    def __init__(self, seconds: float, calm_seconds: float = 0.0, is_calm: Callable[[], bool] = lambda: False) -> None:
        self.seconds = seconds
        self._calm_seconds = calm_seconds
        self._is_calm = is_calm
        self.earned = round(_SHORT_WAITS * seconds)
        self._over: asyncio.Future[bool] | None = None

    async def lasts(self) -> bool:
        """Pause. Return whether it lasted its full time."""
        loop = asyncio.get_running_loop()
        over: asyncio.Future[bool] = loop.create_future()
        self._over = over
        alarm = loop.call_later(self._calm_seconds if self._is_calm() else self.seconds, self._end, True)
        try:
            return await over
        finally:
            alarm.cancel()
            self._over = None

    def end(self) -> None:
        """End a running pause early."""
        self._end(False)

    def _end(self, in_time: bool) -> None:
        if self._over is not None and not self._over.done():
            self._over.set_result(in_time)
