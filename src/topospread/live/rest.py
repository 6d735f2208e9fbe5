"""A rest of a stream's reader: what says little is cheaper to read when some of it has gathered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_SHORT_WAITS = 400
"""So many, in a row, before a rest of a second; of a shorter one as many fewer."""


class Rest:
    """Lasts its time, or until what may have come meanwhile is needed.

    Args:
        seconds: that it lasts.
        calm_seconds: that it lasts where nobody waits for what comes.
        is_calm: whether nobody does.

    Attributes:
        seconds: see above.
        earned: waits in a row that end soon after which a reader rests: what comes is a stream then, and no few words.
            An object of a watch comes in up to three pieces, each waited for.
    """

    def __init__(self, seconds: float, calm_seconds: float = 0.0, is_calm: Callable[[], bool] = lambda: False) -> None:
        self.seconds = seconds
        self._calm_seconds = calm_seconds
        self._is_calm = is_calm
        self.earned = round(_SHORT_WAITS * seconds)
        self._over: asyncio.Future[bool] | None = None

    async def lasts(self) -> bool:
        """Rest; whether it lasted its time, and was not ended early."""
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
        """End it early, where it is going on."""
        self._end(False)

    def _end(self, in_time: bool) -> None:
        if self._over is not None and not self._over.done():
            self._over.set_result(in_time)
