"""A server that stands still is noticed though its watches only say nothing, and so is that it answers again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from topospread.live.api_error import ApiError, ApiUnreachable
from topospread.live.follow_state import KindStates
from topospread.live.health_check import ApiServerHealthCheck

PATIENCE = 60.0


class Server:
    """Answers while it is not `frozen`; ``refusal`` is raised in place of an answer."""

    def __init__(self) -> None:
        self.running = asyncio.Event()
        self.running.set()
        self.refusal: Exception | None = None
        self.asked = 0

    async def request(self, method: str, path: str) -> bytes:
        self.asked += 1
        await self.running.wait()
        if self.refusal is not None:
            raise self.refusal
        return b"{}"


async def eventually(check: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not check():
            await asyncio.sleep(0.01)


def test_silence_is_told_from_the_question_on_until_there_is_an_answer() -> None:
    async def scenario() -> None:
        server, states = Server(), KindStates()
        client: Any = server
        running = asyncio.create_task(ApiServerHealthCheck(client, states, every=0.01, prompt=0.05).run())
        await eventually(lambda: server.asked > 2)
        server.running.clear()
        await eventually(lambda: states.problems == {"API server": "it does not answer"})
        assert states.behind_since() is not None
        since = states.behind_since()
        states.watching("pods", "failed", "the connection was refused")
        assert states.behind_since() == since
        server.running.set()
        await eventually(lambda: states.problems == {"pods": "the connection was refused"})
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(scenario())


def test_a_refusal_is_an_answer_and_a_broken_connection_is_told_by_who_watches() -> None:
    async def scenario() -> None:
        server, states = Server(), KindStates()
        client: Any = server
        running = asyncio.create_task(ApiServerHealthCheck(client, states, every=0.0, prompt=PATIENCE).run())
        for refusal in (ApiError(403, "Forbidden", "no"), ApiUnreachable("broken")):
            server.refusal = refusal
            before = server.asked
            await eventually(lambda before=before: server.asked > before + 2)  # type: ignore[misc]
            assert states.behind_since() is None
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(scenario())
