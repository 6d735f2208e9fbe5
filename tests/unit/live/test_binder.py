"""Conditions that are written while pods come to be bound."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

from topospread.live.api_error import ApiUnreachable
from topospread.live.client import ApiClient
from topospread.live.kinds import ReadMeta, ReadPod
from topospread.live.observer import Observer
from topospread.live.statuses import Condition, Statuses
from topospread.live.write_order import WriteOrder

POD = ReadPod(metadata=ReadMeta(name="web", namespace="default", uid="u"))
KEY = "default/web"
PENDING = Condition("PodScheduled", "False", "Unschedulable", "0/1 nodes are available")


class Slow:
    """An API server that takes its time; ``broken``: it gives no answer."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.begun: list[Any] = []
        self.ended = 0
        self.broken = False

    async def request(self, method: str, path: str, *, body: Any, **_: Any) -> bytes:
        self.begun.append(json.loads(json.dumps(body)))
        await self.go_on.wait()
        self.ended += 1
        if self.broken:
            raise ApiUnreachable("cut")
        return b"{}"


async def written(server: Slow, at_once: int) -> tuple[Statuses, asyncio.Task[None]]:
    statuses = Statuses(cast(ApiClient, server), WriteOrder(at_once, lambda: True), lambda: 0.0, Observer())
    return statuses, asyncio.create_task(statuses.run())


def test_what_is_being_sent_of_a_pod_ends_before_it_is_bound() -> None:
    async def run() -> None:
        server = Slow()
        statuses, task = await written(server, 4)
        statuses.want(POD, PENDING)
        await asyncio.sleep(0.01)
        assert len(server.begun) == 1
        closing = asyncio.create_task(statuses.close(KEY))
        await asyncio.sleep(0.01)
        assert not closing.done()
        server.go_on.set()
        await closing
        assert server.ended == 1
        task.cancel()

    asyncio.run(run())


def test_what_waits_to_be_said_of_a_pod_is_not_said_once_it_is_bound() -> None:
    async def run() -> None:
        server = Slow()
        server.go_on.set()
        statuses, task = await written(server, 0)
        statuses.want(POD, PENDING)
        await asyncio.sleep(0.01)
        await asyncio.wait_for(statuses.close(KEY), 1)
        task.cancel()
        assert server.begun == []

    asyncio.run(run())


def test_what_got_no_answer_is_not_sent_again_after_it_was_bound() -> None:
    async def run() -> None:
        server = Slow()
        server.broken = True
        statuses, task = await written(server, 4)
        statuses.want(POD, PENDING)
        await asyncio.sleep(0.01)
        closing = asyncio.create_task(statuses.close(KEY))
        await asyncio.sleep(0.01)
        server.go_on.set()
        await closing
        assert statuses.waiting == 0 or not statuses._wanted
        # Where the binding fails, there is something to be said again.
        statuses.want(POD, PENDING)
        assert statuses.waiting >= 1
        task.cancel()

    asyncio.run(run())
