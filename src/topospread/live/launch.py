"""The process of ``topospread run scheduler``: connects, checks permissions, serves pages, leads and stops."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from topospread.config.gates import Gates
from topospread.config.operation import Operation
from topospread.config.profile import Configuration
from topospread.live.client import ApiClient
from topospread.live.connection import Connection, connect
from topospread.live.daemon import DONE, Stop, lead, require_rights, unless_asked
from topospread.live.election import Timing
from topospread.live.lease import LeaderElection, LeaseLock, own_identity
from topospread.live.logs import facts
from topospread.live.metrics import Metrics
from topospread.live.mirror import Mirror
from topospread.live.reporting import Reporting
from topospread.live.rights import Right, leading, placing, reading
from topospread.live.scheduler import LiveScheduler
from topospread.live.serving import Address, ServedPages, serve
from topospread.live.settings import LiveSettings
from topospread.scheduling.backoff_queue import BackoffSettings
from topospread.version import __version__

log = logging.getLogger(__name__)

T = TypeVar("T")

_NANOSECONDS = 1e9

Beside = Callable[[Connection, Metrics], AbstractAsyncContextManager[None]]
"""A context manager that runs something in addition to the scheduler."""


@dataclass(frozen=True)
class Launch:
    """The settings of the process.

    Attributes:
        operation: process settings, with flags applied.
        kubeconfig, context: name of the kubeconfig and of its context; both may be None.
        explain_events: write events with the skew arithmetic of rejections.
        dropped_log_lines: returns the number of log lines that were dropped since the start.
        beside: an additional service in this process, with its own metrics; None for nothing.
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


async def launch(wanted: Launch) -> int:
    """Run until a stop is requested (returns 0) or the lease is lost (returns 1).

    Raises:
        InputError: if there is no API server, or a permission is missing; the message names it.
    """
    stop = Stop(": bindings in flight are finished")
    stop.listen()
    log.info(
        "Starting topospread run scheduler", extra=facts(version=__version__, decidesAs=str(wanted.gates.kube_version))
    )
    connection = await connect(wanted.kubeconfig or wanted.operation.kubeconfig or None, wanted.context)
    reporting = Reporting(urlsplit(connection.server).netloc, wanted.gates)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(_client(wanted, connection, reporting))
        hint = "docs/how-to/second-scheduler.md has the RBAC file that grants them"
        if not await unless_asked(stop, require_rights(client, connection, _needed(wanted), "a scheduler", hint)):
            return DONE
        for warning in _warnings(wanted):
            log.warning("%s", warning)
        election = None
        if wanted.operation.leader_election.elect and not wanted.dry_run:
            # a separate client, so that renewals never wait for bindings
            own = await stack.enter_async_context(_client(wanted, connection, reporting))
            election = _election(wanted, own, reporting)
        scheduler = _scheduler(wanted, client, reporting, election)
        for runner in await serve(_served(wanted, reporting, scheduler, election, stop), wanted.address):
            stack.push_async_callback(runner.cleanup)
        if wanted.beside is not None:
            await stack.enter_async_context(wanted.beside(connection, reporting))
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, _dump, scheduler)
        if election is not None:

            def allow(now: bool) -> None:
                scheduler.may_bind = now

            return await lead(scheduler.run, election, stop, allow)
        if wanted.dry_run:
            log.info("dry run: binding no pods; comparing how other schedulers bind the pods of the profiles")
        await scheduler.run(stop.asked)
        return DONE


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


def _dump(scheduler: LiveScheduler) -> None:
    """Log the scheduler's state and compare it with the API server, like kube-scheduler at SIGUSR2."""
    scheduler.compare_now()
    log.info("Dump of cache and queue: %s", json.dumps(scheduler.state(), default=str))
