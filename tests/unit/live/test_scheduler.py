"""The whole live scheduler against an API server in memory: what goes wrong, and what becomes of the pods."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from tests.unit.live.fake_api import LOST, NODES, PODS, FakeApi, node, pod
from topospread.config.load import default_configuration
from topospread.live.api_error import ApiError, ApiUnreachable
from topospread.live.client import ApiClient
from topospread.live.observer import Observer
from topospread.live.scheduler import LiveScheduler
from topospread.live.settings import LiveSettings
from topospread.scheduling.queue import SchedulingQueue

Json = dict[str, Any]
SECOND = 1_000_000_000
CLAIMS = "/api/v1/persistentvolumeclaims"
Scenario = Callable[[FakeApi, LiveScheduler], Awaitable[None]]


class Clock:
    """A clock that tests move on; it runs a little by itself, as backoffs end with whole seconds."""

    def __init__(self) -> None:
        self.ahead = 0

    def __call__(self) -> int:
        import time

        return time.monotonic_ns() + self.ahead

    def pass_on(self, seconds: float) -> None:
        self.ahead += int(seconds * SECOND)


@asynccontextmanager
async def running(api: FakeApi, clock: Clock) -> AsyncIterator[LiveScheduler]:
    stop = asyncio.Event()
    client = cast(ApiClient, api)
    settings = LiveSettings(drain=0.5)
    scheduler = LiveScheduler(client, default_configuration(), observer=Observer(), clock=clock, settings=settings)
    task = asyncio.create_task(scheduler.run(stop))
    await eventually(lambda: scheduler.ready or task.done())
    try:
        yield scheduler
    finally:
        stop.set()
        await task


def play(scenario: Scenario, api: FakeApi | None = None) -> FakeApi:
    """Play a scenario; the API server as it is then."""
    given = api or FakeApi()

    async def run() -> None:
        async with running(given, Clock()) as scheduler:
            await scenario(given, scheduler)

    asyncio.run(run())
    return given


async def eventually(check: Callable[[], bool], seconds: float = 10.0) -> None:
    until = asyncio.get_running_loop().time() + seconds
    while not check():
        assert asyncio.get_running_loop().time() < until, "it did not come to be"
        await asyncio.sleep(0.005)


def test_a_pod_that_comes_is_bound_and_told_of() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))
        api.put(PODS, pod("a"))
        await eventually(lambda: api.node_of("a") == "one")
        await eventually(lambda: scheduler.pods.assigned.keys() == {"default/a"})
        await eventually(lambda: bool(api.notes("a", "Scheduled")))

    assert play(scenario).notes("a", "Scheduled") == ["Successfully assigned default/a to one"]


def test_what_was_there_before_is_listed_by_a_stream_too() -> None:
    api = FakeApi()
    api.streams = True
    api.put(NODES, node("one"))
    api.put(PODS, pod("a"))

    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        await eventually(lambda: api.node_of("a") == "one")

    play(scenario, api)


def test_a_list_whose_stream_is_cut_short_is_read_in_pages() -> None:
    api = FakeApi()
    api.streams, api.short = True, {PODS}
    api.put(NODES, node("one"))
    api.put(PODS, pod("a"))
    api.put(PODS, pod("b"))

    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        await eventually(lambda: api.node_of("a") == "one" and api.node_of("b") == "one")

    play(scenario, api)


def test_a_binding_whose_answer_was_lost_is_no_failure() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))
        api.after = _once("POST", "/binding", LOST)
        api.put(PODS, pod("a"))
        await eventually(lambda: bool(api.notes("a", "Scheduled")))

    api = play(scenario)
    assert [path for _, path in api.written if path.endswith("/binding")] == [_path("a", "binding")]
    assert api.notes("a", "FailedScheduling") == []


def test_a_binding_that_was_not_received_is_tried_again_after_a_while() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))
        api.before = _once("POST", "/binding", LOST)
        api.put(PODS, pod("a"))
        await eventually(lambda: bool(api.notes("a", "FailedScheduling")))
        assert not scheduler.pods.assumed
        assert [each.key for each in scheduler.queue.backoff.infos] == ["default/a"]
        await eventually(lambda: api.node_of("a") == "one")

    told = play(scenario).notes("a", "FailedScheduling")
    assert told == ['running Bind plugin "DefaultBinder": the answer was lost']


def test_a_pod_whose_binding_is_refused_frees_its_place_for_others() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one", cpu="1"))
        held = asyncio.Event()

        def refuse(method: str, path: str) -> None:
            if path.endswith("/pods/a/binding"):
                held.set()
                raise ApiError(403, "Forbidden", "not this one")

        api.before = refuse
        api.put(PODS, pod("a", "800m"))
        await held.wait()
        api.put(PODS, pod("b", "800m"))
        await eventually(lambda: api.node_of("b") == "one")
        assert api.node_of("a") == ""

    play(scenario)


def test_a_pod_that_waits_is_tried_as_soon_as_another_cannot_be_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_ticks(self: LiveScheduler) -> None:
        await asyncio.sleep(3600)

    monkeypatch.setattr(LiveScheduler, "_tick", no_ticks)

    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one", cpu="1"))
        refused = api.held["/a/binding"] = asyncio.Event()
        api.held["/a/status"] = asyncio.Event()  # what is written there would come back and wake, too
        api.before = _once("POST", "/a/binding", ApiError(403, "Forbidden", "not this one"))
        api.put(PODS, pod("a", "800m"))
        await eventually(lambda: "default/a" in scheduler.pods.assumed)
        api.put(PODS, pod("b", "800m"))
        await eventually(lambda: bool(api.notes("b", "FailedScheduling")))
        refused.set()
        await eventually(lambda: api.node_of("b") == "one")

    play(scenario)


def test_a_pod_that_another_scheduler_bound_stays_where_it_is() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))

        def elsewhere(method: str, path: str) -> None:
            if path.endswith("/binding"):
                api.before = lambda method, path: None
                taken = pod("a", nodeName="two")
                taken["metadata"]["uid"] = api.pod("a")["metadata"]["uid"]
                api.put(NODES, node("two"))
                api.put(PODS, taken)

        api.before = elsewhere
        api.put(PODS, pod("a"))
        await eventually(lambda: scheduler.in_flight == 0 and "default/a" in scheduler.pods.assigned)
        cluster = scheduler.cluster
        assert cluster.nodes.names[cluster.placed["default/a"]] == "two"
        assert not scheduler.pods.assumed
        assert scheduler.pending().backoff == 0

    assert play(scenario).notes("a", "FailedScheduling") == []


def test_a_pod_that_is_deleted_while_it_is_bound_leaves_nothing_behind() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))

        def delete(method: str, path: str) -> None:
            if path.endswith("/binding"):
                api.before = lambda method, path: None
                api.remove(PODS, "default/a")

        api.before = delete
        api.put(PODS, pod("a"))
        await eventually(lambda: not api.objects[PODS] and scheduler.in_flight == 0)
        await eventually(lambda: not scheduler.pods.waiting)
        assert not scheduler.pods.assumed
        assert not scheduler.cluster.placed
        assert scheduler.queue.in_flight == ()

    play(scenario)


def test_pods_that_get_labels_of_their_node_are_counted_once() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.labels = {"topology.kubernetes.io/zone": "a"}
        api.put(NODES, node("one", **api.labels))
        api.put(PODS, pod("first"))
        await eventually(lambda: "default/first" in scheduler.pods.assigned)
        assumed: list[object] = []

        def look(method: str, path: str) -> None:
            if path.endswith("/binding"):
                assumed.append(scheduler.pods.class_of("default/second"))

        api.before = look
        api.put(PODS, pod("second"))
        await eventually(lambda: "default/second" in scheduler.pods.assigned)
        assert assumed == [scheduler.pods.class_of("default/second")]
        assert scheduler.pods.class_of("default/first") is assumed[0]

    play(scenario)


def test_another_pod_of_the_same_name_is_another_pod() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))
        api.put(PODS, pod("a"))
        await eventually(lambda: "default/a" in scheduler.pods.assigned)
        first = scheduler.pods.assigned["default/a"]
        api.remove(PODS, "default/a")
        api.put(PODS, pod("a"))
        await eventually(lambda: scheduler.pods.assigned.get("default/a", first) != first)
        assert len(scheduler.cluster.placed) == 1

    play(scenario)


def test_after_a_watch_is_too_old_the_difference_is_found() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))
        api.put(PODS, pod("stays"))
        api.put(PODS, pod("goes"))
        await eventually(lambda: len(scheduler.pods.assigned) == 2)
        del api.objects[PODS]["default/goes"]
        api.quietly(PODS, pod("comes"))
        api.cut(PODS, ApiError(410, "Expired", "too old resource version"))
        await eventually(lambda: scheduler.pods.assigned.keys() == {"default/stays", "default/comes"})
        assert len(scheduler.cluster.placed) == 2

    play(scenario)


def test_a_node_that_is_again_as_it_was_before_a_break_is_no_heartbeat() -> None:
    def cordoned(so: bool) -> Json:
        return node("one") | {"spec": {"unschedulable": so}}

    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        def is_open() -> bool:
            known = scheduler.cluster.nodes.nodes[scheduler.cluster.nodes.row_of["one"]]
            return known is not None and not known.spec.unschedulable

        api.put(NODES, cordoned(False))
        await eventually(lambda: len(scheduler.cluster.nodes) == 1)
        api.put(NODES, cordoned(True))
        await eventually(lambda: not is_open())
        api.put(NODES, cordoned(False))
        await eventually(is_open)
        api.quietly(NODES, cordoned(True))
        api.cut(NODES, ApiError(410, "Expired", "too old resource version"))
        await eventually(lambda: not is_open())
        api.put(NODES, cordoned(False))
        await eventually(is_open)

    play(scenario)


def test_a_heartbeat_leaves_the_loop_asleep() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))
        api.put(NODES, node("one"))
        await eventually(lambda: len(scheduler.cluster.nodes) == 1)
        await asyncio.sleep(0.05)
        scheduler._wake.clear()
        api.put(NODES, node("one"))
        await asyncio.sleep(0.1)
        assert not scheduler._wake.is_set()

    play(scenario)


def test_only_watches_of_which_much_comes_rest_and_those_of_pods_shortly() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        await eventually(lambda: len(api.rests) > 10)
        resting = {path: rest.seconds for path, rest in api.rests.items() if rest is not None}
        assert resting.keys() == {PODS, NODES}
        assert resting[PODS] <= 0.02 < resting[NODES] <= 0.2

    play(scenario)


def test_it_is_calm_while_no_pod_waits() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        assert scheduler._is_calm()
        api.put(PODS, pod("a"))
        await eventually(lambda: bool(api.notes("a", "FailedScheduling")))
        assert not scheduler._is_calm()
        api.put(NODES, node("one"))
        await eventually(lambda: api.node_of("a") == "one")
        await eventually(scheduler._is_calm)

    play(scenario)


def test_what_came_of_nodes_in_a_rest_is_heard_before_a_pod_is_tried() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))
        await eventually(lambda: len(scheduler.cluster.nodes) == 1)
        await asyncio.sleep(0.1)
        api.resting.add(NODES)
        api.put(NODES, node("one", disk="fast"))
        await asyncio.sleep(0.02)
        api.put(PODS, pod("a", nodeSelector={"disk": "fast"}))
        await eventually(lambda: api.node_of("a") == "one")
        assert api.notes("a", "FailedScheduling") == []

    play(scenario)


def test_a_broken_watch_goes_on() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))
        await eventually(lambda: len(scheduler.cluster.nodes) == 1)
        api.cut(PODS, ApiUnreachable("connection reset"))
        await asyncio.sleep(0.5)
        api.put(PODS, pod("a"))
        await eventually(lambda: api.node_of("a") == "one")

    play(scenario)


def test_a_pod_whose_event_was_missed_is_tried_after_five_minutes_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counting(Observer):
        flushed = 0

        def bound_after_flush(self) -> None:
            self.flushed += 1

    async def run(api: FakeApi, told: Counting) -> None:
        stop, clock = asyncio.Event(), Clock()
        scheduler = LiveScheduler(cast(ApiClient, api), default_configuration(), observer=told, clock=clock)
        task = asyncio.create_task(scheduler.run(stop))
        api.put(NODES, node("small", cpu="0"))
        await eventually(lambda: scheduler.ready and len(scheduler.cluster.nodes) == 1)
        api.put(PODS, pod("a"))
        await eventually(lambda: len(scheduler.queue.unschedulable) == 1)
        with monkeypatch.context() as deaf:
            deaf.setattr(SchedulingQueue, "move_all", lambda *of, **which: None)
            api.put(NODES, node("one"))
            await eventually(lambda: len(scheduler.cluster.nodes) == 2)
        clock.pass_on(301)
        scheduler.queue.flush_unschedulable_leftover()
        scheduler.may_bind = True  # wakes the loop
        await eventually(lambda: api.node_of("a") == "one")
        api.put(PODS, pod("b"))
        await eventually(lambda: api.node_of("b") == "one")
        stop.set()
        await task

    told = Counting()
    asyncio.run(run(FakeApi(), told))
    assert told.flushed == 1


def test_who_may_not_bind_writes_nothing() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one", cpu="1"))

        def lose(method: str, path: str) -> None:
            if path.endswith("/binding"):
                scheduler.may_bind = False

        api.before = lose
        api.put(PODS, pod("first"))
        await eventually(lambda: api.node_of("first") == "one")
        api.put(PODS, pod("second"))
        api.put(PODS, pod("big", "2"))
        await asyncio.sleep(0.1)
        assert api.node_of("second") == ""
        assert all("first" in path or "events" in path for _, path in api.written)
        assert api.notes("big", "FailedScheduling") == []

    play(scenario)


def test_a_condition_is_written_once() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one", cpu="1"))
        api.put(PODS, pod("big", "2"))
        await eventually(lambda: bool(api.pod("big")["status"].get("conditions")))
        before = len([path for method, path in api.written if method == "PATCH" and path.endswith("/status")])
        scheduler.queue.activate([("default/big", scheduler.pods.waiting["default/big"])])
        scheduler.may_bind = True
        await eventually(
            lambda: scheduler.queue.unschedulable.infos[:1] and scheduler.queue.unschedulable.infos[0].attempts == 2
        )
        await asyncio.sleep(0.1)
        after = len([path for method, path in api.written if method == "PATCH" and path.endswith("/status")])
        assert (before, after) == (1, 1)

    play(scenario)


@pytest.mark.parametrize("spec", [{"resourceClaims": [{"name": "gpu"}]}, {"schedulingGroup": {"podGroupName": "g"}}])
def test_what_is_not_judged_is_left_pending_and_its_event_says_so(spec: Json) -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))
        api.put(PODS, pod("a", **spec))
        await eventually(lambda: bool(api.notes("a", "NotJudged")))
        assert api.node_of("a") == ""

    (note,) = play(scenario).notes("a", "NotJudged")
    assert note.startswith("not placed by topospread: ")


def test_each_attempt_has_all_steps_for_devices() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        devices = scheduler.cluster.objects.devices
        devices.spend(devices.most_steps)
        api.put(NODES, node("one"))
        api.put(PODS, pod("a"))
        await eventually(lambda: api.node_of("a") == "one")
        assert devices.steps == devices.most_steps

    play(scenario)


def test_no_preemption_is_tried_for_a_pod_whose_claim_is_missing() -> None:
    """kube-scheduler asks DynamicResources first, which then fails as its PreFilter was not run."""

    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": "missing"}}
        api.put(PODS, pod("a", volumes=[volume]))
        await eventually(lambda: bool(api.notes("a", "FailedScheduling")))

    assert play(scenario).notes("a", "FailedScheduling") == [
        '0/1 nodes are available: persistentvolumeclaim "missing" not found. not found'
    ]


def waiting_for_a_volume(api: FakeApi) -> None:
    """A pod ``user`` with a claim that nobody makes a volume for."""
    late = {"provisioner": "example.com/disks", "volumeBindingMode": "WaitForFirstConsumer"}
    api.put("/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "late"}} | late)
    asked = {"storageClassName": "late", "accessModes": ["ReadWriteOnce"]}
    claim = {"spec": asked | {"resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Pending"}}
    api.put(CLAIMS, {"metadata": {"name": "data", "namespace": "default"}} | claim)
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    api.put(NODES, node("one", cpu="1"))
    api.put(PODS, pod("user", "800m", volumes=[volume]))


def test_a_victim_that_is_woken_as_it_is_given_up_is_given_up() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        waiting_for_a_volume(api)
        parts, binder = scheduler._parts, scheduler._binder
        await eventually(lambda: bool(parts.volumes._waiting))
        assert binder is not None
        for each in parts.volumes._waiting:
            each.set()
        async with asyncio.timeout(5):
            assert await binder.cancel("default/user")
        assert "default/user" not in scheduler.pods.assumed

    play(scenario)


def test_a_victim_that_waits_for_its_volume_is_not_deleted() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        late = {"provisioner": "example.com/disks", "volumeBindingMode": "WaitForFirstConsumer"}
        api.put("/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "late"}} | late)
        asked = {"storageClassName": "late", "accessModes": ["ReadWriteOnce"]}
        claim = {"spec": asked | {"resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Pending"}}
        api.put(CLAIMS, {"metadata": {"name": "data", "namespace": "default"}} | claim)
        api.put(NODES, node("one", cpu="1"))
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
        await eventually(lambda: len(scheduler.cluster.nodes) == 1)
        api.put(PODS, pod("user", "800m", volumes=[volume]))
        chosen = "volume.kubernetes.io/selected-node"
        stored = api.objects[CLAIMS]
        await eventually(lambda: stored["default/data"]["metadata"].get("annotations", {}).get(chosen) == "one")
        api.put(PODS, pod("important", "800m", priority=1000))
        await eventually(lambda: api.node_of("important") == "one")
        await eventually(lambda: len(api.notes("user", "Preempted")) == 1)
        assert api.node_of("user") == ""

    api = play(scenario)
    (told,) = api.notes("user", "Preempted")
    assert told == f"Preempted by pod {api.pod('important')['metadata']['uid']} on node one (in kube-scheduler memory)."
    assert all(method != "DELETE" for method, _ in api.written)
    assert api.notes("user", "FailedScheduling")[0] == (
        'running PreBind plugin "VolumeBinding": binding volumes: preempted by DefaultPreemption'
    )


def test_a_pod_that_cannot_be_read_is_left_alone() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one"))
        api.put(PODS, pod("odd", tolerations="all"))
        api.put(PODS, pod("even"))
        await eventually(lambda: api.node_of("even") == "one")
        assert api.node_of("odd") == ""
        assert not scheduler.pods.waiting.keys() & {"default/odd"}

    play(scenario)


def test_a_pod_that_goes_after_its_node_is_heard_of_by_those_that_wait() -> None:
    async def scenario(api: FakeApi, scheduler: LiveScheduler) -> None:
        api.put(NODES, node("one", cpu="1"))
        api.put(NODES, node("two", cpu="1"))
        api.put(PODS, pod("stays", "800m", nodeName="one"))
        api.put(PODS, pod("orphan", "800m", nodeName="two"))
        await eventually(lambda: len(scheduler.pods.assigned) == 2)
        api.put(PODS, pod("big", "500m"))
        await eventually(lambda: bool(api.notes("big", "FailedScheduling")))
        api.remove(NODES, "two")
        await eventually(lambda: len(scheduler.cluster.nodes) == 1)
        api.remove(PODS, "default/orphan")
        await eventually(lambda: len(api.notes("big", "FailedScheduling")) == 2)

    assert play(scenario).notes("big", "FailedScheduling")[1].startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_bindings_in_flight_are_finished_at_the_end() -> None:
    api, sent = FakeApi(), asyncio.Event()

    async def run() -> None:
        stop, clock = asyncio.Event(), Clock()
        api.put(NODES, node("one"))
        scheduler = LiveScheduler(cast(ApiClient, api), default_configuration(), clock=clock)
        task = asyncio.create_task(scheduler.run(stop))

        def told(method: str, path: str) -> None:
            if path.endswith("/binding"):
                sent.set()
                stop.set()

        api.before = told
        api.put(PODS, pod("a"))
        await sent.wait()
        await task

    asyncio.run(run())
    assert api.node_of("a") == "one"
    assert api.notes("a", "Scheduled") == ["Successfully assigned default/a to one"]


def _path(name: str, sub: str) -> str:
    return f"/api/v1/namespaces/default/pods/{name}/{sub}"


def _once(method: str, end: str, error: Exception) -> Callable[[str, str], None]:
    left = [error]

    def fault(asked: str, path: str) -> None:
        if asked == method and path.endswith(end) and left:
            raise left.pop()

    return fault
