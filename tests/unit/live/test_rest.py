"""How long a reader rests, and what ends it."""

from __future__ import annotations

import asyncio

from topospread.live.rest import Rest


def rested(rest: Rest, *, ends: bool = False) -> tuple[bool, float]:
    """Whether a rest lasted, and for how many seconds; ``ends``: early."""

    async def run() -> tuple[bool, float]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        if ends:
            loop.call_later(0.01, rest.end)
        async with asyncio.timeout(30):
            return await rest.lasts(), loop.time() - began

    return asyncio.run(run())


def test_it_lasts_its_time() -> None:
    lasted, seconds = rested(Rest(0.1))
    assert lasted
    assert seconds >= 0.09


def test_it_is_ended_early() -> None:
    assert rested(Rest(600.0), ends=True)[0] is False


def test_it_lasts_longer_where_nobody_waits() -> None:
    assert rested(Rest(600.0, 0.01, lambda: True))[0]
    assert rested(Rest(0.01, 600.0, lambda: False))[0]


def test_to_end_none_does_nothing() -> None:
    rest = Rest(0.01)
    rest.end()
    assert rested(rest)[0]
    rest.end()


def test_a_longer_rest_takes_more_to_be_earned() -> None:
    assert Rest(0.2).earned > Rest(0.02).earned > 3
