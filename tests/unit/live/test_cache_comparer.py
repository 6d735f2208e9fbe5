"""What a comparison with the API server finds, and what it corrects."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from tests.unit.live.fake_api import NODES, PODS, FakeApi, node, pod
from tests.unit.live.test_scheduler import Scenario, eventually, play
from topospread.live import cache_comparer
from topospread.live.observer import Observer
from topospread.live.scheduler import LiveScheduler


@pytest.fixture(autouse=True)
def corrections(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    """Count corrections, and shorten the time in which the watch may catch up."""
    found: Counter[tuple[str, str]] = Counter()

    def corrected(_: Observer, kind: str, name: str) -> None:
        found[kind, name] += 1

    monkeypatch.setattr(cache_comparer, "SETTLE", 0.05)
    monkeypatch.setattr(Observer, "corrected", corrected)
    return found


def compared(scenario: Scenario) -> None:
    """Play a scenario with one node and one bound pod."""
    api = FakeApi()
    api.put(NODES, node("one"))
    api.put(PODS, pod("web-0", nodeName="one"))
    play(scenario, api)


def test_what_no_watch_told_is_corrected_and_counted(corrections: Counter[tuple[str, str]]) -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        del api.objects[PODS]["default/web-0"]
        api.quietly(PODS, pod("web-0", nodeName="one", schedulerName="other"))
        api.quietly(PODS, pod("unseen"))
        api.quietly(NODES, node("two"))
        former = scheduler.pods.assigned["default/web-0"]
        scheduler.compare_now()
        await eventually(lambda: api.node_of("unseen") != "")
        assert scheduler.pods.assigned["default/web-0"] != former
        assert "two" in scheduler.cluster.nodes.row_of

    compared(scenario)
    assert corrections == {("nodes", "two"): 1, ("pods", "default/web-0"): 1, ("pods", "default/unseen"): 1}


def test_a_pod_and_a_node_that_are_gone_are_deleted(corrections: Counter[tuple[str, str]]) -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        del api.objects[PODS]["default/web-0"], api.objects[NODES]["one"]
        scheduler.compare_now()
        await eventually(lambda: not scheduler.pods.assigned and "one" not in scheduler.cluster.nodes.row_of)

    compared(scenario)
    assert corrections == {("nodes", "one"): 1, ("pods", "default/web-0"): 1}


def test_what_the_watch_delivers_meanwhile_is_no_difference(
    corrections: Counter[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        monkeypatch.setattr(cache_comparer, "SETTLE", 0.3)
        api.quietly(PODS, pod("late", nodeName="one"))

        lists = []

        def deliver(method: str, path: str) -> None:
            lists.append(path)
            if lists.count(PODS) == 2:  # the list after which the difference is known
                asyncio.get_running_loop().call_later(0.05, api.put, PODS, api.pod("late"))

        api.before = deliver
        scheduler.compare_now()
        await eventually(lambda: "default/late" in scheduler.pods.assigned)
        await asyncio.sleep(0.5)

    compared(scenario)
    assert not corrections
