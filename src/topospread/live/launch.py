"""The process of ``topospread run scheduler``: connects, checks, serves, leads and ends; it decides no placement.

Source: cmd/kube-scheduler/app/server.go (``Run``): everything is followed before this candidate leads, the lease is
released at the end, and a lease that was lost ends the process.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from topospread.config.durations import format_duration
from topospread.config.gates import Gates
from topospread.config.operation import Operation
from topospread.config.profile import Configuration
from topospread.errors import InputError, Place
from topospread.live.api_error import ApiError, ApiUnreachable
from topospread.live.client import ApiClient
from topospread.live.connection import Connection, connect
from topospread.live.election import Timing
from topospread.live.lease import LeaderElection, LeaseLock, own_identity
from topospread.live.logs import facts, level
from topospread.live.metrics import Metrics
from topospread.live.mirror import Mirror
from topospread.live.reporting import Reporting
from topospread.live.rights import Right, leading, listed, missing, placing, reading
from topospread.live.scheduler import LiveScheduler
from topospread.live.serving import Address, ServedPages, serve
from topospread.live.settings import LiveSettings
from topospread.scheduling.backoff_queue import BackoffSettings
from topospread.version import __version__

log = logging.getLogger(__name__)

T = TypeVar("T")

PATIENCE = "TOPOSPREAD_PATIENCE"
"""Environment variable with the seconds in which the API server has to answer at the start."""
_PATIENCE = 30.0
_BETWEEN = 1.0
_NANOSECONDS = 1e9
DONE, LOST = 0, 1
"""Exit codes: asked to stop, and the lease was lost, as kube-scheduler's."""


Beside = Callable[[Connection, Metrics], AbstractAsyncContextManager[None]]
"""Runs for as long as the block does."""


@dataclass(frozen=True)
class Launch:
    """The settings of the process.

    Attributes:
        configuration: the profiles.
        operation: how it runs; flags have been put above the file.
        gates: feature gates of the scheduler.
        kubeconfig, context: where the API server is; both may be ``None``.
        address: where to serve.
        dry_run: decide beside the scheduler that is there, and bind nothing.
        explain_events: tell the sums behind a refusal in events of their own.
        dropped_log_lines: returns the number of log lines that were dropped since the start.
        beside: what runs beside the scheduler in this process and adds metrics of its own; ``None`` for nothing.
    """

    configuration: Configuration
    operation: Operation
    gates: Gates
    kubeconfig: str | None
    context: str | None
    address: Address
    dry_run: bool = False
    explain_events: bool = False
    beside: Beside | None = None
    dropped_log_lines: Callable[[], int] = lambda: 0


class Stop:
    """SIGTERM and SIGINT as events: the first asks to end, the second ends at once.

    ``then``: what happens before the end, for the log.
    """

    def __init__(self, then: str = ": bindings in flight are finished") -> None:
        self.asked = asyncio.Event()
        self._then = then

    def listen(self) -> None:
        """Take the signals over."""
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self._take, each)

    def _take(self, which: signal.Signals) -> None:
        if self.asked.is_set():
            raise SystemExit(128 + which)
        log.info("asked to stop (%s)%s", which.name, self._then)
        self.asked.set()


async def launch(wanted: Launch) -> int:
    """Run until it is asked to stop (0) or the lease is lost (1).

    Raises:
        InputError: no API server, or no right to what is needed; the message says which.
    """
    stop = Stop()
    stop.listen()
    log.info(
        "Starting topospread run scheduler", extra=facts(version=__version__, decidesAs=str(wanted.gates.kube_version))
    )
    connection = await connect(wanted.kubeconfig or wanted.operation.kubeconfig or None, wanted.context)
    reporting = Reporting(urlsplit(connection.server).netloc, wanted.gates)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(_client(wanted, connection, reporting))
        if not await unless_asked(stop, _check_rights(wanted, client, connection)):
            return DONE
        for warning in _warnings(wanted):
            log.warning("%s", warning)
        election = None
        if wanted.operation.leader_election.elect and not wanted.dry_run:
            # A client of its own: a renewal never waits for a binding.
            own = await stack.enter_async_context(_client(wanted, connection, reporting))
            election = _election(wanted, own, reporting)
        scheduler = _scheduler(wanted, client, reporting, election)
        for runner in await serve(_served(wanted, reporting, scheduler, election, stop), wanted.address):
            stack.push_async_callback(runner.cleanup)
        if wanted.beside is not None:
            await stack.enter_async_context(wanted.beside(connection, reporting))
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, _dump, scheduler)
        return await (_schedule(scheduler, stop) if election is None else _lead(scheduler, election, stop))


async def unless_asked(stop: Stop, work: Coroutine[None, None, None]) -> bool:
    """Do something that may take long; False where it was asked to stop before that ended."""
    working, asked = asyncio.create_task(work), asyncio.create_task(stop.asked.wait())
    await asyncio.wait((working, asked), return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    if working.done():
        working.result()
        return True
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    return False


async def _schedule(scheduler: LiveScheduler, stop: Stop) -> int:
    if isinstance(scheduler, Mirror):
        log.info("dry run: nothing is bound; how others bind the pods of the profiles is compared")
    await scheduler.run(stop.asked)
    return DONE


async def _lead(scheduler: LiveScheduler, election: LeaderElection, stop: Stop) -> int:
    """Follow at once, schedule while leading; bindings in flight end before the lease is released."""
    end, ended = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(scheduler.run(end))
    running.add_done_callback(lambda _: ended.set())
    holding: asyncio.Task[bool] | None = None
    try:
        candidate = asyncio.create_task(election.acquire(stop.asked))
        await asyncio.wait((candidate, running), return_when=asyncio.FIRST_COMPLETED)
        if candidate.done() and candidate.result():
            scheduler.may_bind = True
            holding = asyncio.create_task(election.hold(ended))
            asked = asyncio.create_task(stop.asked.wait())
            await asyncio.wait((holding, running, asked), return_when=asyncio.FIRST_COMPLETED)
            asked.cancel()
            if holding.done() and not holding.result():
                scheduler.may_bind = False
                log.error("Leaderelection lost")
        else:
            candidate.cancel()
        end.set()
        await running
        return DONE if holding is None or await holding else LOST
    finally:
        ended.set()
        scheduler.may_bind = False
        if holding is not None:
            await asyncio.gather(holding, return_exceptions=True)
        await election.release()


def _client(wanted: Launch, connection: Connection, reporting: Reporting) -> ApiClient:
    return ApiClient(connection, qps=wanted.operation.qps, burst=wanted.operation.burst, observer=reporting)


def _scheduler(
    wanted: Launch, client: ApiClient, reporting: Reporting, election: LeaderElection | None
) -> LiveScheduler:
    operation = wanted.operation
    backoff = BackoffSettings(int(operation.initial_backoff * _NANOSECONDS), int(operation.max_backoff * _NANOSECONDS))
    settings = LiveSettings(
        gates=wanted.gates, backoff=backoff, host=socket.gethostname(), explain_events=wanted.explain_events
    )
    scheduler = (Mirror if wanted.dry_run else LiveScheduler)(
        client,
        wanted.configuration,
        observer=reporting,
        identity=own_identity(),
        settings=settings,
        leads=(lambda: True) if election is None else (lambda: election.election.may_bind),
    )
    scheduler.may_bind = election is None
    return scheduler


def _election(wanted: Launch, client: ApiClient, reporting: Reporting) -> LeaderElection:
    chosen = wanted.operation.leader_election
    timing = Timing(chosen.lease_duration, chosen.renew_deadline, chosen.retry_period)
    lock = LeaseLock(client, chosen.resource_namespace, chosen.resource_name, max(1.0, chosen.renew_deadline / 2))
    return LeaderElection(lock, own_identity(), timing, reporting)


def _served(
    wanted: Launch, reporting: Reporting, scheduler: LiveScheduler, election: LeaderElection | None, stop: Stop
) -> ServedPages:
    def elected() -> str:
        well = election is None or election.election.alive()
        return (
            ""
            if well
            else f"failed election to renew leadership on lease {wanted.operation.leader_election.resource_name}"
        )

    watchdog = {"leaderElection": elected} if election is not None else {}
    ready = {
        **watchdog,
        "shutdown": lambda: "process is shutting down" if stop.asked.is_set() else "",
        "sched-handler-sync": lambda: "" if scheduler.ready else "handlers are not fully synchronized",
    }

    def before_scrape() -> None:
        reporting.rejected(scheduler.rejections())
        reporting.spread(*scheduler.spread())
        reporting.in_flight(scheduler.queue.in_flight_events())
        reporting.log_lines_dropped(wanted.dropped_log_lines())
        reporting.running(scheduler.in_flight, len(asyncio.all_tasks()))

    return ServedPages(reporting, watchdog, {}, ready, wanted.operation.shown, before_scrape)


async def _check_rights(wanted: Launch, client: ApiClient, connection: Connection) -> None:
    """Wait for the API server, and ask it for every right that is needed.

    Raises:
        InputError: it does not answer in time, does not know who asks, or refuses a right.
    """
    started = time.monotonic()
    lacking = await patiently(lambda: missing(client, _needed(wanted)), connection)
    if lacking:
        error = InputError("rights that a scheduler needs are missing:", Place(source=connection.source))
        for line in (*listed(lacking), "docs/how-to/second-scheduler.md has the RBAC file that grants them"):
            error.add_note(line)
        raise error
    log.log(
        level(2), "all rights are there", extra=facts(took=format_duration(int((time.monotonic() - started) * 1e9)))
    )


def _warnings(wanted: Launch) -> Iterator[str]:
    yield from wanted.configuration.warnings
    if any(each.percentage_of_nodes_to_score for each in wanted.configuration.profiles):
        yield "percentageOfNodesToScore has no effect: all nodes are scored"


def _needed(wanted: Launch) -> Iterator[Right]:
    yield from reading()
    if wanted.dry_run:
        return
    yield from placing()
    election = wanted.operation.leader_election
    if election.elect:
        yield from leading(election.resource_namespace, election.resource_name)


async def patiently(ask: Callable[[], Awaitable[T]], connection: Connection) -> T:
    """The answer of an API server that may be about to start.

    Raises:
        InputError: it does not answer in time, does not know who asks, or refuses.
    """
    place, until = Place(source=connection.source), time.monotonic() + float(os.environ.get(PATIENCE, _PATIENCE))
    while True:
        try:
            return await ask()
        except ApiError as error:
            if error.status == 401:
                raise InputError(f"{connection.server} does not know who asks (401 Unauthorized)", place) from None
            if error.status < 500 or time.monotonic() > until:
                raise InputError(f"{connection.server} answers {error}", place) from None
        except ApiUnreachable as error:
            if "certificate" in str(error).lower() or time.monotonic() > until:
                raise InputError(f"{connection.server} cannot be reached: {error}", place) from None
            log.warning("%s cannot be reached, trying again: %s", connection.server, error)
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # Of several requests one failed just then: `asyncio.gather` tells that, and not that it is to end.
            raise asyncio.CancelledError
        await asyncio.sleep(_BETWEEN)


def _dump(scheduler: LiveScheduler) -> None:
    """Log the scheduler's state and compare it with the API server, as kube-scheduler does at SIGUSR2."""
    scheduler.compare_now()
    log.info("Dump of cache and queue: %s", json.dumps(scheduler.state(), default=str))
