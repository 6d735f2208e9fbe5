"""The live scheduler: connects its parts and runs the main loop.

Everything runs in one thread. Decisions never wait; slow work runs in background tasks. The leader election sets
`LiveScheduler.may_bind`. Non-leaders watch the cluster, too, so that they can take over at once.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.workload import ReplicaSet
from topospread.cluster import Cluster
from topospread.cluster.cluster import PodKey
from topospread.config.profile import Configuration
from topospread.config.request_rules import request_rules
from topospread.config.version_rules import rules_for
from topospread.scheduling.backoff_queue import BackoffSettings
from topospread.scheduling.queue import FLUSH_PERIOD
from topospread.scheduling.queued_pod_info import SECOND
from topospread.scheduling.requeueing import Requeueing, RequeueingRules, requeueing_of

from .attempts import AssumingScheduler, Attempts
from .binder import Binder
from .cache_comparer import CacheComparer, ComparedKind, ComparedNodes, ComparedPods
from .client import ApiClient
from .dump import dump
from .events import Events
from .explanations import Explanations
from .failures import Failures
from .fallback import Fallbacks
from .instrumented_queue import InstrumentedQueue
from .kinds import WATCHED, ReadPod, Watched
from .objects import ObjectCache
from .observer import Observer, PendingPods
from .plugin_times import PluginTimes, TimedFramework
from .pods import Pods
from .preempting import NAME as PREEMPTION
from .preempting import Preempting
from .preemptor import Preemptor
from .reflector import Key, Reflector, Sink
from .scheduler_context import SchedulerContext, Spawn
from .settings import LiveSettings
from .spread_figures import ConstraintOf, SpreadFigures
from .statuses import Statuses
from .timed_hints import TimedRequeueing
from .volumes import Volumes
from .write_order import WriteOrder

SPREAD = "PodTopologySpread"
_WRITES_AT_ONCE = 24
_LONGEST_BATCH = 0.02
"""Maximum seconds of attempts before new events are processed."""
_TELLING = 1.0

Clock = Callable[[], int]


def steady_clock() -> Clock:
    """Return a clock of nanoseconds since 1970 that never jumps."""
    ahead = time.time_ns() - time.monotonic_ns()
    return lambda: time.monotonic_ns() + ahead


class LiveScheduler:
    """Schedules the pods of its profiles.

    Args:
        configuration: the profiles.
        identity: identity among replicas, for debugging.
        clock: clock in nanoseconds, for backoff and the periodic flush.
        leads: called before every binding, because a process that was suspended may have lost its lease.

    Attributes:
        ready: whether all kinds were listed once.
    """

    def __init__(  # noqa: PLR0913 - keyword arguments
        self,
        client: ApiClient,
        configuration: Configuration,
        *,
        observer: Observer | None = None,
        identity: str = "",
        clock: Clock | None = None,
        settings: LiveSettings | None = None,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        self.ready = False
        self.identity = identity
        self._settings = settings = settings or LiveSettings()
        self._observer = observer = observer or Observer()
        self._clock = clock or steady_clock()
        self._frameworks = {
            each.scheduler_name: TimedFramework(each, settings.gates, observer) for each in configuration.profiles
        }
        self._may_bind = True
        self._leads = leads
        self._wake = asyncio.Event()
        self.cluster = Cluster(request_rules(settings.gates))
        self._preempting = Preempting(self._is_staying)
        self._requeueings: dict[str, Requeueing] = {}
        pops_early = settings.gates.enabled("SchedulerPopFromBackoffQ")
        backoff = BackoffSettings(settings.backoff.initial, settings.backoff.maximum, pops_early)
        self.queue = InstrumentedQueue(self._clock, self._requeueing_of, backoff, self.cluster.rules, observer)
        self.pods = Pods(self.cluster, self.queue, self._is_ours, self._gone, self._opts_in)
        self.pods.tells_of_promises = rules_for(RequeueingRules, settings.gates).handles_nominations
        self.objects = ObjectCache(self.cluster, self.queue, self._changed)
        self._parts = self._workings(client)
        self._scheduler = AssumingScheduler(self.cluster, self._frameworks, self._parts.volumes)
        self._figures = SpreadFigures(self._scheduler, self._deployment_of)
        self._binder: Binder | None = None
        nodes, pods = WATCHED[0], WATCHED[-1]
        self._comparer = CacheComparer(
            client,
            (
                ComparedKind(nodes, ComparedNodes(self.objects.of(Node)), self._arrivals(nodes)),
                ComparedKind(pods, ComparedPods(self.pods), self._arrivals(pods)),
            ),
            observer,
        )
        self._reflectors = [Reflector(client, each, self._arrivals(each), observer, self._is_calm) for each in WATCHED]

    def _arrivals(self, watched: Watched) -> _Arrivals:
        """Return the sink of a kind that also wakes the loop."""
        return _Arrivals(self._sink_of(watched), self.queue, self._look_again)

    def _workings(self, client: ApiClient) -> SchedulerContext:
        """Create the objects that carry out and report decisions, and the order in which they write."""
        settings, observer = self._settings, self._observer
        order = WriteOrder(_WRITES_AT_ONCE, self._binds)
        volumes = Volumes(client, order, self.objects)
        statuses = Statuses(client, order, self._now, observer)
        events = Events(client, order, settings.host, self._now, observer)
        return SchedulerContext(
            client,
            order,
            self.cluster,
            self.queue,
            self.pods,
            volumes,
            Failures(self.queue, self.pods, statuses, events, self.queue.incoming),
            statuses,
            events,
            observer,
            self._clock,
            Explanations(events, self._now) if settings.explain_events else None,
            PluginTimes(observer),
            Fallbacks(self.objects.of(Node).known.values, events, self._now),
        )

    @property
    def may_bind(self) -> bool:
        """True if pods may be bound. While it is false, no binding starts."""
        return self._may_bind

    @may_bind.setter
    def may_bind(self, value: bool) -> None:
        self._may_bind = value
        self._wake.set()

    def _binds(self) -> bool:
        return self._may_bind and self._leads()

    async def run(self, stop: asyncio.Event) -> None:
        """Schedule until a stop is requested. Then finish bindings in flight, within the configured time."""
        parts, settings = self._parts, self._settings
        try:
            async with asyncio.TaskGroup() as group:
                begin = self._beginning(group)
                self._binder = binder = Binder(self._parts, settings.at_once, begin)
                preemptor = Preemptor(self._parts, self._preempting, binder, begin)
                attempts = Attempts(self._parts, self._scheduler, binder.start, preemptor.preempt)
                following = [group.create_task(each.run()) for each in self._reflectors]
                writing = [group.create_task(parts.statuses.run()), group.create_task(parts.events.run())]
                loop = group.create_task(self._schedule(attempts, binder))
                ticking = [group.create_task(each) for each in (self._tick(), self._tell(), self._comparer.run())]
                await stop.wait()
                loop.cancel()
                await self._finish(binder)
                for task in (*following, *writing, *ticking):
                    task.cancel()
        finally:
            self.ready = False

    def compare_now(self) -> None:
        """Compare nodes and pods with the API server's lists at once."""
        self._comparer.compare_now()

    def state(self) -> Mapping[str, Any]:
        """Return its state as plain data."""
        own = {
            "identity": self.identity,
            "ready": self.ready,
            "mayBind": self.may_bind,
            "bindingCycles": self.in_flight,
        }
        return own | dump(self._parts)

    def _beginning(self, group: asyncio.TaskGroup) -> Spawn:
        """Return a function that starts a task and wakes the loop at its end, because a failed binding frees space."""

        def begin(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
            task = group.create_task(work)
            task.add_done_callback(lambda _: self._look_again())
            return task

        return begin

    def _look_again(self) -> None:
        """Wake the loop if there is a pod to attempt. Heartbeats do not wake it."""
        if self.ready and not self._wake.is_set() and self.queue.may_give:
            self._wake.set()

    # Callbacks of the parts.

    def _is_ours(self, pod: Pod) -> bool:
        return (pod.spec.scheduler_name or "default-scheduler") in self._frameworks

    def _is_calm(self) -> bool:
        return not (self.queue.may_give or len(self.queue.unschedulable))

    def _is_staying(self, key: PodKey) -> bool:
        pod_class = self.pods.class_of(key)
        return pod_class is not None and pod_class.counted

    def _requeueing_of(self, pod: Pod) -> Requeueing | None:
        name = pod.spec.scheduler_name or "default-scheduler"
        known = self._requeueings.get(name)
        if known is None:
            framework = self._frameworks.get(name)
            if framework is None:
                return None
            found = requeueing_of(framework, self.cluster)
            registrations, gates = dict(found.registrations), dict(found.pre_enqueue)
            if PREEMPTION in framework.profile.enabled("post_filter"):
                registrations[PREEMPTION] = self._preempting.registrations
                gates[PREEMPTION] = self._preempting.pre_enqueue
            known = TimedRequeueing(registrations, gates, found.rules, found.near, observer=self._observer)
            self._requeueings[name] = known
        return known

    def _gone(self, key: PodKey) -> None:
        self._parts.statuses.drop(key)
        self._parts.fallbacks.pod_gone(key)

    def _opts_in(self, pod: ReadPod) -> None:
        self._parts.fallbacks.pod_came(pod)

    def _changed(self, item: KubeObject) -> None:
        if isinstance(item, Node):
            self._parts.fallbacks.node_changed(item)
        else:
            self._parts.volumes.changed(item)

    def _sink_of(self, watched: Watched) -> Sink:
        return self.pods if watched.struct is ReadPod else self.objects.sink(watched)

    def _now(self) -> float:
        return self._clock() / SECOND

    # The main loop.

    async def _schedule(self, attempts: Attempts, binder: Binder) -> None:
        """Attempt pods as they arrive, and pause while too many are being bound."""
        for each in self._reflectors:
            await each.synced.wait()
        gc.collect()
        gc.freeze()  # the listed objects live as long as the process: exclude them from garbage collection
        self.ready = True
        while True:
            await binder.room.wait()
            await self._hear()
            if not self._binds() or not self._try_some(attempts, min(binder.left, self._settings.batch)):
                self._wake.clear()
                await self._wake.wait()

    async def _hear(self) -> None:
        """Process delayed node events, so that pods are attempted with current data."""
        for each in self._reflectors:
            each.hear_now()
        await asyncio.sleep(0)

    def _try_some(self, attempts: Attempts, most: int) -> bool:
        """Attempt up to `most` pods. Return False if none was left."""
        until = time.monotonic() + _LONGEST_BATCH
        for _ in range(most):
            if not attempts.next():
                return False
            if time.monotonic() > until:
                break
        return True

    async def _tick(self) -> None:
        """Every second, requeue pods whose backoff or fallback time is over; every 30 s, pods that waited too long."""
        leftover = self._clock() + FLUSH_PERIOD
        while True:
            await asyncio.sleep(1.0)
            before = self.queue.incoming.now()
            self.queue.flush_backoff_completed()
            self.queue.incoming.tell(before, "BackoffComplete")
            if self._clock() >= leftover:
                before = self.queue.incoming.now()
                self.queue.flush_unschedulable_leftover()
                self.queue.incoming.tell(before, "UnschedulableTimeout")
                leftover = self._clock() + FLUSH_PERIOD
            self.queue.activate(self._parts.fallbacks.due())
            self._wake.set()

    async def _tell(self) -> None:
        while True:
            self._observer.pending(self.pending())
            self._observer.cached(len(self.cluster.nodes), len(self.cluster.placed), len(self.pods.assumed))
            await asyncio.sleep(_TELLING)

    def rejections(self) -> Counter[tuple[str, str]]:
        """Return the number of pending pods that a plugin rejected at their last attempt, by plugin and profile."""
        queue = self.queue
        waiting = (*queue.active.items, *queue.backoff.infos, *queue.unschedulable.infos)
        return Counter((plugin, each.pod.spec.scheduler_name or "") for each in waiting for plugin in each.rejectors)

    def spread(self) -> tuple[dict[ConstraintOf, int], dict[ConstraintOf, int]]:
        """Return constraint → skew, and hard constraint → number of pending pods that it blocks."""
        queue = self.queue
        waiting = (*queue.active.items, *queue.backoff.infos, *queue.unschedulable.infos)
        rejected = [self.cluster.shared_class(each.pod) for each in waiting if SPREAD in each.rejectors]
        return self._figures.skews(), self._figures.blocked(rejected)

    def _deployment_of(self, namespace: str, replica_set: str) -> str:
        known = self.objects.of(ReplicaSet).known.get((namespace, replica_set))
        owner = known.metadata.controller if known is not None else None
        return owner.name if owner is not None and owner.kind == "Deployment" else ""

    def pending(self) -> PendingPods:
        """Return the number of pending pods by queue."""
        gated = sum(1 for each in self.queue.unschedulable.infos if each.gating_plugin)
        rest = len(self.queue.unschedulable) - gated
        return PendingPods(len(self.queue.active), len(self.queue.backoff), rest, gated)

    async def _finish(self, binder: Binder) -> None:
        """Finish bindings, statuses and events within the time limit."""
        statuses, events = self._parts.statuses, self._parts.events
        until = time.monotonic() + self._settings.drain
        ended = await binder.finish(self._settings.drain)
        while ended and self._binds() and (statuses.waiting or events.waiting):
            if time.monotonic() > until:
                break
            await asyncio.sleep(0.02)

    @property
    def in_flight(self) -> int:
        """Number of running binding cycles."""
        return self._binder.in_flight if self._binder is not None else 0


class _Arrivals:
    """Forwards objects from a reflector, and wakes the loop."""

    def __init__(self, sink: Sink, queue: InstrumentedQueue, arrived: Callable[[], None]) -> None:
        self.keys = sink.keys
        self._sink = sink
        self._queue = queue
        self._arrived = arrived

    def put(self, item: Any) -> None:
        """Forward a new or changed object."""
        self._queue.began = time.perf_counter()
        self._sink.put(item)
        self._queue.began = None
        self._arrived()

    def delete(self, key: Key, item: Any) -> None:
        """Forward a deletion."""
        self._queue.began = time.perf_counter()
        self._sink.delete(key, item)
        self._queue.began = None
        self._arrived()
