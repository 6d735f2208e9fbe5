"""Who writes next."""

from __future__ import annotations

import asyncio

import pytest

from topospread.live import write_order
from topospread.live.write_order import NotLeading, Write, WriteOrder


def test_the_most_urgent_goes_first_and_among_equals_the_oldest() -> None:
    async def run() -> list[str]:
        order, went, free = WriteOrder(1), list[str](), asyncio.Event()

        async def write(kind: Write, name: str) -> None:
            async with order.turn(kind):
                went.append(name)

        async with order.turn(Write.EVENT):
            asked = [
                ("event", Write.EVENT),
                ("status", Write.STATUS),
                ("bind-1", Write.BINDING),
                ("bind-2", Write.BINDING),
            ]
            tasks = [asyncio.create_task(write(kind, name)) for name, kind in asked]
            await asyncio.sleep(0)
            free.set()
        await asyncio.gather(*tasks)
        return went

    assert asyncio.run(run()) == ["bind-1", "bind-2", "status", "event"]


def test_who_gives_up_waiting_takes_no_turn() -> None:
    async def run() -> None:
        order = WriteOrder(1)

        async def write() -> None:
            async with order.turn(Write.EVENT):
                pass

        async with order.turn(Write.BINDING):
            waits = asyncio.create_task(write())
            await asyncio.sleep(0)
            waits.cancel()
            await asyncio.sleep(0)
        async with asyncio.timeout(1), order.turn(Write.BINDING):
            pass

    asyncio.run(run())


def test_once_nothing_may_be_written_who_waits_is_told() -> None:
    async def run() -> None:
        leads = [True]
        order = WriteOrder(1, lambda: leads[0])
        async with order.turn(Write.BINDING):
            leads[0] = False
        with pytest.raises(NotLeading):
            async with order.turn(Write.BINDING):
                raise AssertionError("it must not write")
        leads[0] = True
        async with asyncio.timeout(1), order.turn(Write.BINDING):
            pass

    asyncio.run(run())


def test_a_slow_write_gives_its_place_early_but_not_more_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_order, "PATIENCE", 0.0)
    monkeypatch.setattr(write_order, "MOST_SLOW", 2)

    async def run() -> None:
        order, heard, answered = WriteOrder(1), list[int](), asyncio.Event()
        went: list[str] = []

        async def write(name: str) -> None:
            async with order.turn(Write.BINDING, heard.append):
                went.append(name)
                await answered.wait()

        tasks = [asyncio.create_task(write(name)) for name in "abcd"]
        await asyncio.sleep(0.05)
        assert (went, order.slow, heard) == (["a", "b", "c"], 2, [-1, -1])
        answered.set()
        await asyncio.gather(*tasks)
        assert (went[-1], order.slow, sum(heard)) == ("d", 0, 0)
        await order.take(Write.EVENT)  # The one place is free again, once.
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await order.take(Write.EVENT)

    asyncio.run(run())
