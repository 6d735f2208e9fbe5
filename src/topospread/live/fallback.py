"""Make hard spread constraints soft while a domain is lost, for pods with ``topospread.dev/fallback: after=5m``.

The time starts when this process sees the loss, so a restart resets it. As soon as a node of the domain is Ready, the
constraints are hard again. Placed pods stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec

from topospread.api.node import Node
from topospread.api.timestamps import timestamp
from topospread.cluster.cluster import PodKey, pod_key
from topospread.config.durations import format_duration
from topospread.controllers.fallback import (
    ANNOTATION,
    Domain,
    counted_lost,
    fallback_seconds,
    hard_keys,
    lost_domains,
    softened,
)
from topospread.controllers.node_lifecycle import is_silent
from topospread.errors import UsageError
from topospread.scheduling.verdict import Verdict

from .events import Events, PodEvent, truncated
from .kinds import ReadPod

REASON, INVALID = "SpreadFallback", "InvalidSpreadFallback"


class _Waiting(msgspec.Struct):
    """A pod that its hard constraints keep pending.

    Attributes:
        after: required duration of the loss in seconds.
        seen: (domain, time of its loss) of domains that were already lost long enough at the pod's last attempt.
    """

    pod: ReadPod
    after: float
    keys: Collection[str]
    seen: set[tuple[Domain, float]]


class Fallbacks:
    """Tracks lost domains, and pods that wait for a fallback.

    Args:
        events: receives an event whenever a fallback applies.
        now: seconds since 1970, without jumps.
    """

    def __init__(self, nodes: Callable[[], Iterable[Node]], events: Events, now: Callable[[], float]) -> None:
        self._nodes, self._events, self._now = nodes, events, now
        self._keys: set[str] = set()
        self._since: dict[Domain, float] = {}
        self._is_stale = False
        self._waiting: dict[PodKey, _Waiting] = {}

    def pod_came(self, pod: ReadPod) -> None:
        """Track the domains of a pod that opts in, even if it has a node."""
        new = {key for key in hard_keys(pod) if key not in self._keys}
        if new:
            self._keys |= new
            self._is_stale = True

    def pod_gone(self, key: PodKey) -> None:
        """Stop waiting for a pod's fallback, because the pod has a node or is deleted."""
        self._waiting.pop(key, None)

    def node_changed(self, node: Node) -> None:
        """Process a new, changed or deleted node; ``node`` is its last state."""
        if not is_silent(node):
            for key in self._keys:
                self._since.pop((key, node.labels.get(key, "")), None)
        self._is_stale = True

    def softened(self, pod: ReadPod, verdict: Verdict) -> ReadPod | None:
        """Return the rejected pod with soft constraints over lost domains; None if no loss lasted long enough."""
        annotations = pod.metadata.annotations
        if "PodTopologySpread" not in verdict.rejectors or annotations is None or annotations.fallback is None:
            return None
        try:
            after = fallback_seconds(annotations.fallback)
        except UsageError as error:
            self._events.record(PodEvent(pod, "Warning", INVALID, "Scheduling", truncated(str(error))))
            return None
        lost = self._lost()
        long = self._long_lost(after)
        self._waiting[pod_key(pod.namespace, pod.name)] = _Waiting(
            pod, after, hard_keys(pod), {(each, lost[each]) for each in long}
        )
        domains = counted_lost(verdict.arithmetic, long)
        if not domains:
            return None
        said = ", ".join(f"{key}={value} since {timestamp(lost[key, value])}" for key, value in domains[:8])
        duration = format_duration(round(after * 1e9))
        note = f"DoNotSchedule counts as ScheduleAnyway, because a domain is lost for {duration}: {said} ({ANNOTATION})"
        self._events.record(PodEvent(pod, "Normal", REASON, "Scheduling", truncated(note)))
        return softened(pod, {key for key, _ in domains})

    def due(self) -> list[tuple[PodKey, ReadPod]]:
        """Return the pods to attempt again, because a domain is now lost for long enough."""
        found = []
        lost = self._lost()
        for key, each in self._waiting.items() if lost else ():
            long = {(one, lost[one]) for one in self._long_lost(each.after) if one[0] in each.keys}
            if not long <= each.seen:
                each.seen |= long
                found.append((key, each.pod))
        return found

    def _long_lost(self, after: float) -> list[Domain]:
        now = self._now()
        return [each for each, since in self._lost().items() if now - since >= after]

    def _lost(self) -> Mapping[Domain, float]:
        """Return lost domain → time of the loss."""
        if self._is_stale:
            self._is_stale, now = False, self._now()
            lost = lost_domains(self._nodes(), self._keys) if self._keys else ()
            self._since = {each: self._since.get(each, now) for each in lost}
        return self._since
