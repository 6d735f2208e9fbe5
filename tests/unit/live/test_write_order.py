"""Who writes next."""

from __future__ import annotations

import asyncio

import pytest

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
