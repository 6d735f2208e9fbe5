"""A copy of a cluster that is kept up to date: what it holds, what it says of its age, how it recovers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.unit.live.fake_api import NODES, PODS, FakeApi, node, pod
from topospread.api.meta import KubeObject
from topospread.live.api_error import ApiError, ApiUnreachable
from topospread.live.connection import Connection
from topospread.live.follow_state import KindStates
from topospread.live.followed_cluster import FollowedCluster

PATIENCE = 60.0


class Told:
    """A listener that writes down what it is told."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, str]] = []

    def put(self, kind: str, item: KubeObject, before: KubeObject | None) -> None:
        self.lines.append(("new" if before is None else "changed", kind, item.name))

    def delete(self, kind: str, item: KubeObject) -> None:
        self.lines.append(("gone", kind, item.name))


async def no_headers() -> dict[str, str]:
    return {}


HERE = Connection("https://server", None, no_headers)


@asynccontextmanager
async def followed(api: FakeApi, listener: Told | None = None) -> AsyncIterator[FollowedCluster]:
    client: Any = api
    made = FollowedCluster(client, HERE, KindStates(), listener=listener)
    running = asyncio.create_task(made.run())
    try:
        await eventually(lambda: made.state.ready)
        yield made
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def eventually(check: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not check():
            await asyncio.sleep(0.01)


def shop() -> FakeApi:
    api = FakeApi()
    for name in ("node-b", "node-a"):
        api.put(NODES, node(name))
    api.put(PODS, pod("web-0", nodeName="node-a"))
    return api


def run(api: FakeApi, scenario: Callable[[FollowedCluster], Awaitable[None]], listener: Told | None = None) -> None:
    async def play() -> None:
        async with followed(api, listener) as made:
            await scenario(made)

    asyncio.run(play())


def test_it_holds_what_is_there_in_the_order_of_lists_and_follows_what_happens() -> None:
    api, told = shop(), Told()

    async def scenario(made: FollowedCluster) -> None:
        assert [each.name for each in made.inventory().nodes] == ["node-a", "node-b"]
        before = made.state.version
        api.put(NODES, node("node-a", cpu="8"))
        api.put(PODS, pod("web-1", nodeName="node-b"))
        api.remove(PODS, "default/web-0")
        await eventually(lambda: made.state.version == before + 3)
        found = made.inventory()
        assert [each.name for each in found.pods] == ["web-1"]
        assert (found.nodes[0].status.allocatable or {})["cpu"] == "8"
        assert (found.pods[0].kind, found.pods[0].api_version) == ("Pod", "v1")

    run(api, scenario, told)
    assert sorted(told.lines[:3]) == [("new", "Node", "node-a"), ("new", "Node", "node-b"), ("new", "Pod", "web-0")]
    assert sorted(told.lines[3:]) == [("changed", "Node", "node-a"), ("gone", "Pod", "web-0"), ("new", "Pod", "web-1")]


def test_what_may_not_be_read_is_told_by_name() -> None:
    api = shop()

    def refuse(method: str, path: str) -> None:
        if path.endswith("/services"):
            raise ApiError(403, "Forbidden", "services is forbidden")

    api.before = refuse

    async def scenario(made: FollowedCluster) -> None:
        assert made.state.behind_since is None
        assert any("lacks Service objects" in each or "Services" in each for each in made.inventory().warnings)
        assert made.objects().facts.missing == {"Service": "Forbidden"}

    run(api, scenario)


def test_while_the_server_is_away_the_last_state_stays_with_its_age_and_then_it_goes_on() -> None:
    api = shop()

    def away(method: str, path: str) -> None:
        raise ApiUnreachable("connection refused")

    async def scenario(made: FollowedCluster) -> None:
        await asyncio.sleep(0.05)
        api.before = away
        for path in (PODS, NODES):
            api.cut(path, ApiUnreachable("connection reset"))
        await eventually(lambda: set(made.state.problems) >= {"nodes", "pods"})
        assert made.state.behind_since is not None
        assert "refused" in made.state.last_error or "reset" in made.state.last_error
        assert len(made.inventory().nodes) == 2
        api.before = lambda method, path: None
        api.put(PODS, pod("web-1", nodeName="node-b"))
        for path in (PODS, NODES):
            await eventually(lambda path=path: bool(api._watches[path]))  # type: ignore[misc]
            api.cut(path, ApiError(410, "Expired", "too old"))
        await eventually(lambda: made.state.behind_since is None)
        assert sorted(each.name for each in made.inventory().pods) == ["web-0", "web-1"]

    run(api, scenario)


def test_a_watch_that_is_open_again_is_up_to_date_but_not_in_the_midst_of_a_list() -> None:
    states = KindStates()
    for change in ("listing", "open"):
        states.watching("pods", change)  # type: ignore[arg-type]
    states.watching("pods", "failed", "half a list")
    states.watching("pods", "open")
    assert states.behind_since() is not None
    states.watching("pods", "listed")
    assert (states.behind_since(), states.problems) == (None, {})
    states.watching("pods", "failed", "reset")
    states.watching("pods", "watching")
    assert states.problems == {"pods": "reset"}
    states.watching("pods", "open")
    assert states.behind_since() is None


def test_a_kind_that_is_not_served_is_not_behind_once_the_server_is_back() -> None:
    states = KindStates()
    for change in ("listing", "absent", "relisting", "failed"):
        states.watching("resourceslices", change, "404 NotFound")
    assert states.behind_since() is not None
    states.watching("resourceslices", "relisting")
    states.watching("resourceslices", "absent", "404 NotFound")
    assert (states.behind_since(), states.problems) == (None, {})


def test_half_a_list_is_asked_for_again() -> None:
    class Halving(FakeApi):
        halves = 1

        async def list_pages(self, path: str, *, params: Any = None) -> AsyncIterator[bytes]:
            async for page in super().list_pages(path, params=params):
                if path == PODS and self.halves:
                    self.halves -= 1
                    yield page[: len(page) // 2]
                else:
                    yield page

    api = Halving()
    api.put(NODES, node("node-a"))
    api.put(PODS, pod("web-0", nodeName="node-a"))

    async def scenario(made: FollowedCluster) -> None:
        assert api.halves == 0
        assert (len(made.inventory().pods), made.state.behind_since) == (1, None)

    run(api, scenario)
