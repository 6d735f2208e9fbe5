"""Faults of an API server as scripts: the same for the small API server here and for both schedulers on a real one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.faults.fault_proxy import FaultProxy, Faults, is_binding, is_event, is_status, is_write

DrillRun = Callable[[FaultProxy, float], Awaitable[None]]
"""Begins a fault, lets it last for some seconds, and ends it."""


@dataclass(frozen=True)
class Script:
    """A fault that lasts for a while.

    Attributes:
        name: short, for tables.
        play: carries it out.
        seconds: for which it lasts beside two real schedulers.
    """

    name: str
    play: DrillRun
    seconds: float = 4.0


def _setting(**values: object) -> DrillRun:
    async def play(proxy: FaultProxy, seconds: float) -> None:
        for name, value in values.items():
            setattr(proxy.faults, name, value)
        await asyncio.sleep(seconds)
        proxy.faults.end()

    return play


def _repeated(act: Callable[[Faults], None]) -> DrillRun:
    async def play(proxy: FaultProxy, seconds: float) -> None:
        until = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < until:
            act(proxy.faults)
            await asyncio.sleep(min(0.3, seconds / 5))
        proxy.faults.end()

    return play


async def _refused(proxy: FaultProxy, seconds: float) -> None:
    await proxy.refuse()
    await asyncio.sleep(seconds)
    await proxy.listen()


def _expire(faults: Faults) -> None:
    faults.expired = True
    faults.cut_watches()


_LONG = 300.0
"""Seconds: until all pods are bound."""
_ALL = 1_000_000
"""More requests than there are."""
SCRIPTS = (
    Script("no fault", _setting(), 0.0),
    Script("500 on half of the bindings", _setting(matches=is_binding, status=500, share=0.5), _LONG),
    Script("500 on all bindings", _setting(matches=is_binding, status=500)),
    Script("503 on half of the bindings", _setting(matches=is_binding, status=503, share=0.5), _LONG),
    Script("503 on all bindings", _setting(matches=is_binding, status=503)),
    Script("429 on half of the bindings", _setting(matches=is_binding, status=429, share=0.5), _LONG),
    Script("429 with Retry-After on all bindings", _setting(matches=is_binding, status=429, retry_after=1)),
    Script("409 on a third of the bindings", _setting(matches=is_binding, status=409, share=1 / 3), _LONG),
    Script("500 on everything", _setting(status=500)),
    Script("500 on all status patches", _setting(matches=is_status, status=500)),
    Script("409 on half of the status patches", _setting(matches=is_status, status=409, share=0.5), _LONG),
    Script("500 on all events", _setting(matches=is_event, status=500)),
    Script("429 with Retry-After on all writes", _setting(matches=is_write, status=429, retry_after=1)),
    Script("connections refused", _refused),
    Script("connections cut before half of the bindings", _setting(matches=is_binding, cut_before=_ALL, share=0.5)),
    Script("lost answers of half of the bindings", _setting(matches=is_binding, lose_answers=_ALL, share=0.5), _LONG),
    Script("lost answers of all writes", _setting(matches=is_write, lose_answers=_ALL)),
    Script("20 s delay of a tenth of the bindings", _setting(matches=is_binding, slow=20.0, share=0.1), _LONG),
    Script("1 s delay of everything", _setting(slow=1.0)),
    Script("watches cut again and again", _repeated(Faults.cut_watches)),
    Script("watches cut and answered with 410", _repeated(_expire)),
)
