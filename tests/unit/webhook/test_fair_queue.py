"""Idle items go to waiting namespaces in turn, and no namespace holds more than its share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from topospread.webhook.fair_queue import FairQueue


def play(scenario: Callable[[FairQueue[int]], Awaitable[None]]) -> None:
    async def run() -> None:
        await scenario(FairQueue(share=2))

    asyncio.run(run())


def asks(queue: FairQueue[int], namespace: str) -> asyncio.Task[int]:
    return asyncio.create_task(queue.take(namespace))


def test_a_namespace_holds_at_most_its_share() -> None:
    async def scenario(queue: FairQueue[int]) -> None:
        for item in range(3):
            queue.put(item)
        asked = [asks(queue, "a") for _ in range(3)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [each.done() for each in asked] == [True, True, False]
        assert await asks(queue, "b") == 2
        queue.put(3)
        await asyncio.sleep(0)
        assert not asked[2].done()
        queue.release("a")
        assert await asked[2] == 3

    play(scenario)


def test_waiting_namespaces_take_turns() -> None:
    async def scenario(queue: FairQueue[int]) -> None:
        asked = [asks(queue, namespace) for namespace in "aaabc"]
        await asyncio.sleep(0)
        for item in range(4):
            queue.put(item)
        assert await asked[0] == 0
        assert await asked[3] == 1
        assert await asked[4] == 2
        assert await asked[1] == 3

    play(scenario)


def test_a_request_that_gave_up_leaves_its_item_to_the_next() -> None:
    async def scenario(queue: FairQueue[int]) -> None:
        waiting, late = asks(queue, "a"), asks(queue, "a")
        await asyncio.sleep(0)
        waiting.cancel()
        queue.put(1)
        late.cancel()  # at the moment at which its item comes
        await asyncio.gather(waiting, late, return_exceptions=True)
        assert await queue.take("b") == 1
        queue.put(2)
        queue.put(3)
        assert {await queue.take("a"), await queue.take("a")} == {2, 3}

    play(scenario)
