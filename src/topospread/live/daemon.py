"""The common parts of daemons: signals, RBAC checks, waiting for the API server, and leader election.

Source: cmd/kube-scheduler/app/server.go (``Run``): watches run before this candidate leads, the lease is released at
the end, and losing the lease ends the process.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from topospread.config.durations import format_duration
from topospread.errors import InputError, Place
from topospread.live.api_error import ApiError, ApiUnreachable
from topospread.live.client import ApiClient
from topospread.live.connection import Connection
from topospread.live.lease import LeaderElection
from topospread.live.logs import facts, level
from topospread.live.rights import Right, listed, missing

log = logging.getLogger(__name__)

T = TypeVar("T")

PATIENCE = "TOPOSPREAD_PATIENCE"
"""Environment variable with the seconds to wait for the API server at the start."""
_PATIENCE = 30.0
_BETWEEN = 1.0
DONE, LOST = 0, 1
"""Exit codes: stopped on request, and lost lease (like kube-scheduler's)."""


class Stop:
    """Handles SIGTERM and SIGINT: the first signal requests a stop, the second exits at once.

    ``then`` describes for the log what happens before the exit.
    """

    def __init__(self, then: str = "") -> None:
        self.asked = asyncio.Event()
        self._then = then

    def listen(self) -> None:
        """Install the signal handlers."""
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self._take, each)

    def _take(self, which: signal.Signals) -> None:
        if self.asked.is_set():
            raise SystemExit(128 + which)
        log.info("asked to stop (%s)%s", which.name, self._then)
        self.asked.set()


@asynccontextmanager
async def background(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run the coroutines in the background until the block ends."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def unless_asked(stop: Stop, work: Coroutine[None, None, None]) -> bool:
    """Run a coroutine. Return False if a stop was requested before it ended."""
    working, asked = asyncio.create_task(work), asyncio.create_task(stop.asked.wait())
    await asyncio.wait((working, asked), return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    if working.done():
        working.result()
        return True
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    return False


async def require_rights(
    client: ApiClient, connection: Connection, rights: Iterable[Right], whose: str, hint: str
) -> None:
    """Wait for the API server, and check all needed permissions.

    Raises:
        InputError: if it does not answer in time, the user is unknown, or a permission is missing.
    """
    started, needed = time.monotonic(), tuple(rights)
    lacking = await patiently(lambda: missing(client, needed), connection)
    if lacking:
        error = InputError(f"rights that {whose} needs are missing:", Place(source=connection.source))
        for line in (*listed(lacking), hint):
            error.add_note(line)
        raise error
    log.log(
        level(2),
        "all permissions are granted",
        extra=facts(took=format_duration(int((time.monotonic() - started) * 1e9))),
    )


async def patiently(ask: Callable[[], Awaitable[T]], connection: Connection) -> T:
    """Return the answer of an API server that may still be starting.

    Raises:
        InputError: if it does not answer in time, the user is unknown, or the request is denied.
    """
    place, until = Place(source=connection.source), time.monotonic() + float(os.environ.get(PATIENCE, _PATIENCE))
    while True:
        try:
            return await ask()
        except ApiError as error:
            if error.status == 401:
                words = f"{connection.server} does not accept these credentials (401 Unauthorized)"
                raise InputError(words, place) from None
            if error.status < 500 or time.monotonic() > until:
                raise InputError(f"{connection.server} answers {error}", place) from None
        except ApiUnreachable as error:
            if "certificate" in str(error).lower() or time.monotonic() > until:
                raise InputError(f"{connection.server} cannot be reached: {error}", place) from None
            log.warning("%s cannot be reached, trying again: %s", connection.server, error)
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # When a request fails at the same time, `asyncio.gather` raises its error and not the cancellation.
            raise asyncio.CancelledError
        await asyncio.sleep(_BETWEEN)


async def lead(
    work: Callable[[asyncio.Event], Coroutine[Any, Any, None]],
    election: LeaderElection,
    stop: Stop,
    allow: Callable[[bool], None] = lambda _: None,
) -> int:
    """Run the work at once, and allow writes while leading.

    Writes in flight end before the lease is released.

    Args:
        work: coroutine that watches, and writes while allowed. It ends when its event is set.
        allow: receives whether the work may write.

    Returns:
        The exit code, `DONE` or `LOST`.
    """
    end, ended = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(work(end))
    running.add_done_callback(lambda _: ended.set())
    holding: asyncio.Task[bool] | None = None
    try:
        candidate = asyncio.create_task(election.acquire(stop.asked))
        await asyncio.wait((candidate, running), return_when=asyncio.FIRST_COMPLETED)
        if candidate.done() and candidate.result():
            allow(True)
            holding = asyncio.create_task(election.hold(ended))
            asked = asyncio.create_task(stop.asked.wait())
            await asyncio.wait((holding, running, asked), return_when=asyncio.FIRST_COMPLETED)
            asked.cancel()
            if holding.done() and not holding.result():
                allow(False)
                log.error("Leaderelection lost")
        else:
            candidate.cancel()
        end.set()
        await running
        return DONE if holding is None or await holding else LOST
    finally:
        ended.set()
        allow(False)
        if holding is not None:
            await asyncio.gather(holding, return_exceptions=True)
        await election.release()
