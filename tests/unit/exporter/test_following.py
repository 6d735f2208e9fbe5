"""Following a cluster on bad days: what was known stays, and what is heard again is caught up with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from tests.unit.live.fake_api import NODES, PODS, FakeApi
from topospread.config.gates import gates_for
from topospread.config.load import default_configuration
from topospread.exporter.following import Following
from topospread.exporter.tracker import Tracker
from topospread.exporter.watch_health import WatchHealth
from topospread.live.api_error import ApiError
from topospread.live.client import ApiClient
from topospread.simulation.options import SimulationOptions

Json = dict[str, Any]
SERVICES = "/api/v1/services"


def node(name: str) -> Json:
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "20"}
    return {"metadata": {"name": name}, "status": {"allocatable": amounts}}


def pod(name: str, spec: object) -> Json:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


class DrillRun:
    """A tracker that follows an API server in memory."""

    def __init__(self) -> None:
        self.api = FakeApi()
        self.tracker = Tracker(SimulationOptions(default_configuration(), gates=gates_for()))
        self.contact = WatchHealth()
        self.following = Following(cast(ApiClient, self.api), self.tracker, self.contact)

    def pods(self) -> dict[str, int]:
        return {each.name: each.existing for each in self.tracker.figures.values()}

    def run(self, *steps: Callable[[], object]) -> None:
        """Steps one after the other; what returns a bool is waited for."""

        async def scenario() -> None:
            task = asyncio.create_task(self.following.run())
            for step in (lambda: self.following.ready, *steps):
                async with asyncio.timeout(60):
                    while step() is False:
                        await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        asyncio.run(scenario())


def test_half_an_object_stays_as_it_was_known() -> None:
    play = DrillRun()
    play.api.put(NODES, node("node-0"))
    play.api.put(PODS, pod("web", {"nodeName": "node-0"}))
    play.run(
        lambda: play.pods() == {"web": 1},
        lambda: play.api.put(PODS, pod("web", ["half"])) and None,
        lambda: play.contact.unreadable == 1,
        lambda: play.api.put(PODS, pod("other", {"nodeName": "node-0"})) and None,
        lambda: play.pods() == {"web": 1, "other": 1},
    )


def test_a_kind_that_may_not_be_read_is_told_and_the_rest_is_shown() -> None:
    play = DrillRun()

    def refuse(method: str, path: str) -> None:
        if path == SERVICES:
            raise ApiError(403, "Forbidden", "services is forbidden")

    play.api.before = refuse
    play.api.put(NODES, node("node-0"))
    play.api.put(PODS, pod("web", {"nodeName": "node-0"}))
    play.run(lambda: play.pods() == {"web": 1})
    assert play.contact.errors["services"] >= 1
    assert not play.contact.kinds["services"].up


def test_a_watch_that_is_gone_is_listed_again_and_what_was_missed_is_caught_up_with() -> None:
    play = DrillRun()
    play.api.put(NODES, node("node-0"))
    play.api.put(PODS, pod("web", {"nodeName": "node-0"}))
    play.run(
        lambda: play.pods() == {"web": 1},
        lambda: play.api.quietly(PODS, pod("missed", {"nodeName": "node-0"})),
        lambda: play.api.cut(PODS, ApiError(410, "Expired", "too old")),
        lambda: play.pods() == {"web": 1, "missed": 1},
    )
    assert play.contact.relists["pods"] >= 1
