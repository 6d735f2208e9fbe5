"""Idle items go to waiting tenants and namespaces in turn, and nobody holds more than their share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from topospread.webhook.fair_queue import Asker, FairQueue


def play(scenario: Callable[[FairQueue[int]], Awaitable[None]]) -> None:
    async def run() -> None:
        await scenario(FairQueue(share=3))

    asyncio.run(run())


def asks(queue: FairQueue[int], namespace: str, tenant: str = "") -> asyncio.Task[int]:
    return asyncio.create_task(queue.take(Asker(tenant or namespace, namespace)))


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
        queue.release(Asker("a", "a"))
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
        assert await asks(queue, "b") == 1
        queue.put(2)
        queue.put(3)
        assert {await asks(queue, "a"), await asks(queue, "a")} == {2, 3}

    play(scenario)


def test_many_namespaces_of_one_tenant_count_as_one() -> None:
    async def scenario(queue: FairQueue[int]) -> None:
        for item in range(4):
            queue.put(item)
        many = [asks(queue, namespace, tenant="t") for namespace in "abcdefgh"]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [each.done() for each in many[:4]] == [True, True, True, False]
        other = asks(queue, "x", tenant="u")
        assert await other == 3
        queue.put(4)
        queue.release(Asker("t", "a"))
        late = asks(queue, "y", tenant="v")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert many[3].done()
        queue.put(5)
        assert await late == 5

    play(scenario)


def test_namespaces_of_one_tenant_take_turns() -> None:
    async def scenario(queue: FairQueue[int]) -> None:
        asked = [asks(queue, namespace, tenant="t") for namespace in "aaab"]
        await asyncio.sleep(0)
        for item in range(3):
            queue.put(item)
        assert [await asked[0], await asked[3], await asked[1]] == [0, 1, 2]

    play(scenario)
