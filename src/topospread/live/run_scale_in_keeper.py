"""The process of ``topospread run scale-in-keeper``: connects, checks permissions, serves pages, leads and stops."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

from topospread.live.access import Access
from topospread.live.client import ApiClient
from topospread.live.daemon import DONE, Stop, background, lead, require_rights, unless_asked
from topospread.live.election import Timing
from topospread.live.exposition import CollectedMetrics
from topospread.live.follow_state import KindStates
from topospread.live.followed_cluster import FollowedCluster
from topospread.live.health_check import ApiServerHealthCheck
from topospread.live.lease import LeaderElection, LeaseLock, own_identity
from topospread.live.logs import facts
from topospread.live.rights import Right, leading
from topospread.live.scale_in_keeper import ScaleInKeeper
from topospread.live.scale_in_metrics import ScaleInMetrics
from topospread.live.scale_in_plan import KINDS, ScaleInPlans
from topospread.live.serving import Address, ServedPages, serve
from topospread.version import __version__

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ScaleInSettings:
    """The settings of the process.

    Attributes:
        lease: namespace and name of the Lease; None without an election.
        dry_run: log costs without writing, and without an election.
    """

    access: Access
    address: Address
    lease: tuple[str, str] | None
    dry_run: bool
    qps: float
    burst: int


async def run_scale_in_keeper(wanted: ScaleInSettings) -> int:
    """Run until a stop is requested (returns 0) or the lease is lost (returns 1).

    Raises:
        InputError: if there is no API server, a permission is missing, or the address is unusable.
    """
    stop = Stop()
    stop.listen()
    log.info("Starting topospread run scale-in-keeper", extra=facts(version=__version__, dryRun=wanted.dry_run))
    connection = await wanted.access.connect()
    metrics = ScaleInMetrics()
    states = KindStates(metrics)
    async with AsyncExitStack() as stack:

        async def client(qps: float = 50, burst: int = 100) -> ApiClient:
            return await stack.enter_async_context(ApiClient(connection, qps=qps, burst=burst, observer=states))

        reads = await client()
        hint = "deploy/kustomize/components/scale-in-keeper has the RBAC that grants them"
        rights = require_rights(reads, connection, _needed(wanted), "the scale-in keeper", hint)
        if not await unless_asked(stop, rights):
            return DONE
        plans = ScaleInPlans()
        followed = FollowedCluster(reads, connection, states, kinds=KINDS, listener=plans)
        keeper = ScaleInKeeper(await client(wanted.qps, wanted.burst), plans, followed, metrics, dry_run=wanted.dry_run)
        election = None
        if wanted.lease is not None:
            timing = Timing()
            lock = LeaseLock(await client(), *wanted.lease, timing.renew / 2)
            election = LeaderElection(lock, own_identity(), timing, metrics)
        collected = CollectedMetrics()
        collected.add(metrics)
        for runner in await serve(_served(collected, followed, election, stop), wanted.address):
            stack.push_async_callback(runner.cleanup)
        await stack.enter_async_context(background(followed.run(), ApiServerHealthCheck(reads, states).run()))
        if election is None:
            await keeper.run(stop.asked)
            return DONE
        keeper.allowed = lambda: election.election.may_bind
        return await lead(keeper.run, election, stop)


def _needed(wanted: ScaleInSettings) -> Iterator[Right]:
    for verb in ("list", "watch"):
        yield Right(verb, "nodes")
        yield Right(verb, "pods")
        yield Right(verb, "deployments", "apps")
        yield Right(verb, "replicasets", "apps")
    if not wanted.dry_run:
        yield Right("patch", "pods")
    if wanted.lease is not None:
        yield from leading(*wanted.lease)


def _served(
    collected: CollectedMetrics, followed: FollowedCluster, election: LeaderElection | None, stop: Stop
) -> ServedPages:
    checks = {}
    if election is not None:
        checks["leaderElection"] = lambda: "" if election.election.alive() else "failed election to renew the lease"
    ready = {
        "shutdown": lambda: "process is shutting down" if stop.asked.is_set() else "",
        "sync": lambda: "" if followed.state.ready else "not all kinds are listed yet",
    }
    return ServedPages(collected, checks, {}, ready)
