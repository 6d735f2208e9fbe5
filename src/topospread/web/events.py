"""Server-sent events: that another state was read, or that there is none to be had; not what it holds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from .served import ServedCluster

_LOOK = 0.5
_KEEP_ALIVE = 15.0


async def events_of(
    served: ServedCluster, state: Callable[[], dict[str, Any]], is_gone: Callable[[], Awaitable[bool]]
) -> AsyncIterator[str]:
    """The state now, and whenever it becomes another one, until nobody listens."""
    told, quiet = -1, 0.0
    while not await is_gone():
        if served.events != told:
            told, quiet = served.events, 0.0
            yield f"event: state\ndata: {json.dumps(state())}\n\n"
        elif quiet >= _KEEP_ALIVE:
            quiet = 0.0
            yield f"event: age\ndata: {json.dumps(state())}\n\n"
        await asyncio.sleep(_LOOK)
        quiet += _LOOK
