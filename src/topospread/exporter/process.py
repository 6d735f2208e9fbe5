"""The process of ``topospread run exporter``: connects, checks, follows, serves and ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from topospread.config.gates import Gates
from topospread.config.profile import Configuration
from topospread.live.client import ApiClient
from topospread.live.connection import Connection, connect
from topospread.live.daemon import DONE, Stop, background, require_rights, unless_asked
from topospread.live.exposition import CollectedMetrics
from topospread.live.launch import Beside
from topospread.live.logs import facts
from topospread.live.metrics import Metrics
from topospread.live.rights import Right
from topospread.live.serving import Address, ServedPages, serve
from topospread.simulation.options import SimulationOptions
from topospread.version import __version__

from .collector import SeriesLimits, SpreadCollector
from .following import NEEDED, Following
from .tracker import Tracker
from .watch_health import WatchHealth

log = logging.getLogger("topospread.live.export")


@dataclass(frozen=True)
class Judging:
    """The scheduler version and configuration to follow, and the limits on series."""

    configuration: Configuration
    gates: Gates
    limits: SeriesLimits


@dataclass(frozen=True)
class Export:
    """The settings of the exporter process.

    Attributes:
        kubeconfig, context: name of the kubeconfig and of its context; both may be None.
    """

    judging: Judging
    kubeconfig: str | None
    context: str | None
    address: Address
    qps: float = 50
    burst: int = 100


class Exporter:
    """A tracker with its watches and its collector."""

    def __init__(self, judging: Judging, contact: WatchHealth, client: ApiClient) -> None:
        gates = judging.gates
        options = SimulationOptions(judging.configuration, kube_version=str(gates.kube_version), gates=gates)
        tracker = Tracker(options)
        self.collector = SpreadCollector(tracker, contact, str(gates.kube_version), judging.limits)
        self.following = Following(client, tracker, contact)

    def synced(self) -> str:
        """Return why the exporter is not ready; "" if it is."""
        missing = self.following.missing()
        if missing:
            return f"not listed yet: {', '.join(missing)}"
        return "" if self.following.ready else "the first metrics are being computed"


async def export(wanted: Export) -> int:
    """Run until a stop is requested. Raise InputError without an API server, or naming a missing permission."""
    stop = Stop()
    stop.listen()
    decides_as = str(wanted.judging.gates.kube_version)
    log.info("Starting topospread run exporter", extra=facts(version=__version__, decidesAs=decides_as))
    connection = await connect(wanted.kubeconfig, wanted.context)
    contact = WatchHealth()
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(
            ApiClient(connection, qps=wanted.qps, burst=wanted.burst, observer=contact)
        )
        rights = [Right(verb, kind) for kind in NEEDED for verb in ("list", "watch")]
        hint = "deploy/prometheus/rbac.yaml grants them and the others"
        if not await unless_asked(stop, require_rights(client, connection, rights, "the exporter", hint)):
            return DONE
        exporter = Exporter(wanted.judging, contact, client)
        metrics = CollectedMetrics()
        metrics.add(exporter.collector)

        def stopping() -> str:
            return "process is shutting down" if stop.asked.is_set() else ""

        ready = {"shutdown": stopping, "sync": exporter.synced}
        for runner in await serve(ServedPages(metrics, {}, {}, ready), wanted.address):
            stack.push_async_callback(runner.cleanup)
        await stack.enter_async_context(_running(exporter, stop.asked.set))
        await stop.asked.wait()
    return DONE


@asynccontextmanager
async def _running(exporter: Exporter, ended: Callable[[], None]) -> AsyncIterator[None]:
    """Watch while the block runs. An error is logged at once and raised at the end of the block."""
    task = asyncio.create_task(exporter.following.run())
    task.add_done_callback(lambda _: ended())
    try:
        yield
    finally:
        task.cancel()
        result = await asyncio.gather(task, return_exceptions=True)
        if isinstance(result[0], Exception):
            raise result[0]


async def _following(exporter: Exporter) -> None:
    """Watch. An error here must not stop a scheduler in the same process."""
    try:
        await exporter.following.run()
    except Exception:
        log.exception("the spread metrics are no longer updated")


def beside_scheduler(judging: Judging) -> Beside:
    """Return the exporter for a scheduler's process. It has its own connections but shares the metrics endpoint."""

    @asynccontextmanager
    async def run(connection: Connection, metrics: Metrics) -> AsyncIterator[None]:
        contact = WatchHealth()
        async with ApiClient(connection, observer=contact) as client:
            exporter = Exporter(judging, contact, client)
            metrics.add(exporter.collector)
            async with background(_following(exporter)):
                yield

    return run
