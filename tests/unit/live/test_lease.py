"""The election carried out against an API server that keeps one lease, with replicas beside each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from topospread.live.client import ApiClient
from topospread.live.connection import Connection
from topospread.live.election import Timing
from topospread.live.lease import LeaderElection, LeaseLock, record_of, spec_of

FAST = Timing(lease=5, renew=3.5, retry=0.2)
"""Fast, but not so that a busy machine loses a lease."""


class SnapshotRefresher:
    """A lease as an API server keeps it: with versions, conflicts, and faults that the test asks for."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.version = 0
        self.broken = False
        self.holders: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        if self.broken:
            return web.Response(status=500)
        if request.method == "GET":
            return web.json_response(self.lease) if self.lease else web.json_response({"code": 404}, status=404)
        given = await request.json()
        known = (self.lease or {}).get("metadata", {}).get("resourceVersion")
        if given["metadata"].get("resourceVersion") != known:
            return web.json_response({"code": 409, "reason": "Conflict"}, status=409)
        self.version += 1
        self.lease = given | {"metadata": given["metadata"] | {"resourceVersion": str(self.version)}}
        holder = given["spec"]["holderIdentity"]
        if not self.holders or self.holders[-1] != holder:
            self.holders.append(holder)
        return web.json_response(self.lease)


class Told:
    """Who was told to lead."""

    def __init__(self) -> None:
        self.now = False
        self.slow = 0

    def leads(self, name: str, leads: bool) -> None:
        assert name == "topospread"
        self.now = leads

    def slow_path(self, name: str) -> None:
        self.slow += 1


async def headers() -> dict[str, str]:
    return {}


@asynccontextmanager
async def candidates(keeper: SnapshotRefresher, *names: str) -> AsyncIterator[list[LeaderElection]]:
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", keeper.answer)
    async with TestServer(app) as server:
        clients = [ApiClient(Connection(str(server.make_url("")).rstrip("/"), None, headers), qps=0) for _ in names]
        try:
            yield [
                LeaderElection(LeaseLock(client, "kube-system", "topospread", 3.0), name, FAST, Told())
                for client, name in zip(clients, names, strict=True)
            ]
        finally:
            for client in clients:
                await client.close()


def test_a_release_hands_over_to_the_next_within_a_retry() -> None:
    async def run() -> list[str]:
        keeper = SnapshotRefresher()
        async with candidates(keeper, "a", "b") as (first, second):
            stop, never = asyncio.Event(), asyncio.Event()
            assert await first.acquire(never)
            holding = asyncio.create_task(first.hold(stop))
            waiting = asyncio.create_task(second.acquire(never))
            await asyncio.sleep(0.5)
            assert not waiting.done()
            stop.set()
            assert await holding
            await first.release()
            async with asyncio.timeout(4):
                assert await waiting
            assert keeper.lease is not None
            assert keeper.lease["spec"]["leaseTransitions"] == 1
        return keeper.holders

    assert asyncio.run(run()) == ["a", "", "b"]


def test_a_leader_that_cannot_renew_has_lost_at_its_deadline() -> None:
    async def run() -> float:
        keeper = SnapshotRefresher()
        async with candidates(keeper, "a") as (only,):
            never = asyncio.Event()
            assert await only.acquire(never)
            keeper.broken = True
            started = asyncio.get_running_loop().time()
            assert not await only.hold(never)
            return asyncio.get_running_loop().time() - started

    assert 3.5 <= asyncio.run(run()) < 10


def test_a_hiccup_shorter_than_the_deadline_loses_nothing() -> None:
    async def run() -> None:
        keeper = SnapshotRefresher()
        async with candidates(keeper, "a") as (only,):
            stop, never = asyncio.Event(), asyncio.Event()
            assert await only.acquire(never)
            holding = asyncio.create_task(only.hold(stop))
            keeper.broken = True
            await asyncio.sleep(0.5)
            keeper.broken = False
            await asyncio.sleep(0.5)
            assert only.election.may_bind
            stop.set()
            assert await holding

    asyncio.run(run())


def test_another_takes_over_when_the_leader_is_silent() -> None:
    async def run() -> list[str]:
        keeper = SnapshotRefresher()
        async with candidates(keeper, "a", "b") as (first, second):
            never = asyncio.Event()
            assert await first.acquire(never)
            loop = asyncio.get_running_loop()
            began = loop.time()
            assert await second.acquire(never)
            assert loop.time() - began >= 5
            # What the first knows is old: it may not bind, and the next try tells it that it has lost.
            assert not first.election.may_bind
            assert not await first.hold(never)
        return keeper.holders

    assert asyncio.run(run()) == ["a", "b"]


def test_a_lease_that_was_deleted_or_changed_by_others_is_read_again() -> None:
    async def run() -> None:
        keeper = SnapshotRefresher()
        async with candidates(keeper, "a") as (only,):
            stop, never = asyncio.Event(), asyncio.Event()
            assert await only.acquire(never)
            holding = asyncio.create_task(only.hold(stop))
            assert keeper.lease is not None
            keeper.version += 1
            keeper.lease["metadata"] |= {"resourceVersion": str(keeper.version), "labels": {"a": "b"}}
            await asyncio.sleep(1)
            assert keeper.lease["metadata"]["labels"] == {"a": "b"}
            keeper.lease = None
            await asyncio.sleep(1)
            assert keeper.lease is not None
            stop.set()
            assert await holding

    asyncio.run(run())


def test_who_is_told_to_stop_while_waiting_never_leads() -> None:
    async def run() -> None:
        keeper = SnapshotRefresher()
        async with candidates(keeper, "a", "b") as (first, second):
            stop = asyncio.Event()
            assert await first.acquire(stop)
            waiting = asyncio.create_task(second.acquire(stop))
            await asyncio.sleep(0.2)
            stop.set()
            assert not await waiting
            await second.release()
        assert keeper.holders == ["a"]

    asyncio.run(run())


def test_records_are_written_as_they_were_read() -> None:
    spec = {
        "holderIdentity": "h",
        "leaseDurationSeconds": 15,
        "leaseTransitions": 2,
        "acquireTime": "2026-01-02T03:04:05.000006Z",
        "renewTime": "2026-01-02T03:04:05.100000Z",
        "strategy": "OldestEmulationVersion",
        "preferredHolder": "p",
    }
    assert spec_of(record_of(spec)) == spec
    assert record_of({}).holder == ""
