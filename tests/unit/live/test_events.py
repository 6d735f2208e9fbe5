"""Events as they are written, with the texts and series of client-go's recorder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, cast

import msgspec
import pytest

from tests.unit.live.fake_api import FakeApi, pod
from topospread.live.client import ApiClient
from topospread.live.events import Events, PodEvent, failed_scheduling, preempted, scheduled, skipped, truncated
from topospread.live.kinds import ReadPod
from topospread.live.observer import Observer
from topospread.live.write_order import WriteOrder

Json = dict[str, Any]


def read(name: str, version: str = "5") -> ReadPod:
    given = pod(name)
    given["metadata"] |= {"uid": f"uid-{name}", "resourceVersion": version}
    return msgspec.json.decode(json.dumps(given), type=ReadPod)


class Dropped(Observer):
    def __init__(self) -> None:
        self.count = 0
        self.causes: set[str] = set()

    def dropped(self, events: int, why: str) -> None:
        self.count += events
        self.causes.add(why)


def written(*events: PodEvent, at: float = 1_795_337_730.25, api: FakeApi | None = None) -> FakeApi:
    """What is sent of some events."""
    api = api or FakeApi()

    async def run() -> None:
        recorder = Events(cast(ApiClient, api), WriteOrder(4), "host", lambda: at, Observer())
        task = asyncio.create_task(recorder.run())
        for each in events:
            recorder.record(each)
        while recorder.waiting:
            await asyncio.sleep(0.001)
        task.cancel()

    asyncio.run(run())
    return api


def test_a_binding_reads_as_kube_schedulers() -> None:
    api = written(scheduled(read("a"), "one"))
    assert api.written == [("POST", "/apis/events.k8s.io/v1/namespaces/default/events")]
    (body,) = api.bodies
    assert body.pop("metadata") == {"name": "a.18ea52274f684600", "namespace": "default"}
    assert body == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "eventTime": "2026-11-22T08:55:30.250000Z",
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-host",
        "action": "Binding",
        "reason": "Scheduled",
        "regarding": {
            "kind": "Pod",
            "namespace": "default",
            "name": "a",
            "uid": "uid-a",
            "apiVersion": "v1",
            "resourceVersion": "5",
        },
        "note": "Successfully assigned default/a to one",
        "type": "Normal",
    }


def test_a_repetition_of_the_same_state_is_a_series() -> None:
    api = written(*[failed_scheduling(read("a"), words) for words in ("no", "no", "still no")])
    assert [method for method, _ in api.written] == ["POST", "PATCH"]
    assert api.bodies[1]["series"]["count"] == 2
    assert api.written[1][1].endswith("/events/a.18ea52274f684600")


def test_another_state_of_the_pod_is_another_event() -> None:
    api = written(failed_scheduling(read("a", "5"), "no"), failed_scheduling(read("a", "6"), "no"))
    assert [method for method, _ in api.written] == ["POST", "POST"]


def test_events_go_together_and_those_that_are_refused_one_by_one() -> None:
    together: list[int] = []

    class Refusing(FakeApi):
        async def create_all(self, items: Sequence[tuple[str, Json]]) -> list[bool]:
            together.append(len(items))
            return [i % 2 == 0 for i in range(len(items))]

    api = written(*[scheduled(read(f"p-{i:02}"), "one") for i in range(20)], api=Refusing())
    assert together == [16, 4]
    assert [each["regarding"]["name"] for each in api.bodies] == [f"p-{i:02}" for i in range(1, 20, 2)]


def test_a_lone_event_is_written_alone() -> None:
    class Alone(FakeApi):
        async def create_all(self, items: Sequence[tuple[str, Json]]) -> list[bool]:
            raise AssertionError("there is only one")

    assert len(written(scheduled(read("a"), "one"), api=Alone()).bodies) == 1


def test_who_does_not_lead_writes_none_of_them() -> None:
    api, told = FakeApi(), Dropped()

    async def run() -> None:
        recorder = Events(cast(ApiClient, api), WriteOrder(4, lambda: False), "host", lambda: 0.0, told)
        task = asyncio.create_task(recorder.run())
        for i in range(5):
            recorder.record(scheduled(read(f"p-{i}"), "one"))
        while recorder.waiting:
            await asyncio.sleep(0.001)
        task.cancel()

    asyncio.run(run())
    assert (api.written, told.count) == ([], 5)


def test_long_notes_are_cut_in_bytes_and_at_a_whole_character() -> None:
    assert truncated("x" * 1024) == "x" * 1024
    assert truncated("x" * 1025) == "x" * 1020 + " ..."
    cut = truncated("é" * 600)
    assert len(cut.encode()) <= 1024
    assert cut.endswith("é ...")


def test_what_is_said_of_victims_and_of_pods_that_go() -> None:
    victim, other = read("low"), read("high")
    assert preempted(victim, other, "one", in_memory=False).note == "Preempted by pod uid-high on node one"
    assert preempted(victim, other, "one", in_memory=True).note == (
        "Preempted by pod uid-high on node one (in kube-scheduler memory)."
    )
    assert skipped(victim).note == "skip schedule deleting pod: default/low"


def test_what_does_not_fit_is_dropped_and_told() -> None:
    told = Dropped()
    recorder = Events(cast(ApiClient, FakeApi()), WriteOrder(4), "host", lambda: 0.0, told)
    for count in range(10_003):
        recorder.record(scheduled(read("a"), f"node-{count}"))
    assert (recorder.waiting, told.count) == (10_000, 3)
    assert told.causes == {"too many wait to be written"}


def test_events_that_a_former_leader_drops_name_the_lease() -> None:
    told = Dropped()

    async def run() -> None:
        order = WriteOrder(4, lambda: False)
        recorder = Events(cast(ApiClient, FakeApi()), order, "host", lambda: 0.0, told)
        for count in range(40):
            recorder.record(scheduled(read("a"), f"node-{count}"))
        task = asyncio.create_task(recorder.run())
        while recorder.waiting:
            await asyncio.sleep(0.001)
        task.cancel()

    asyncio.run(run())
    assert (told.count, told.causes) == (40, {"this process does not hold the lease any more"})


@pytest.mark.parametrize("length", [230, 236, 237, 240, 253])
def test_no_event_has_a_longer_name_than_the_api_server_takes(length: int) -> None:
    api = written(scheduled(read("p" * length), "one"))
    name = api.bodies[0]["metadata"]["name"]
    assert len(name) <= 253
    assert name.startswith("p" * length + ".") is (length <= 236)
