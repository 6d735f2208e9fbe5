"""Compare another scheduler's bindings with topospread's decisions, without writing anything.

Each bound pod is evaluated on the watched cluster just before the binding. The other scheduler decided slightly
earlier, and perhaps scored only some nodes, so not every difference is an error.
"""

from __future__ import annotations

from typing import Any

from topospread.api.pod import Pod
from topospread.cluster.cluster import pod_key
from topospread.scheduling.verdict import Verdict

from .kinds import ReadPod, Watched
from .observer import MirrorResult
from .reflector import Key, Sink
from .scheduler import LiveScheduler

_SHOWN = 3


class Mirror(LiveScheduler):
    """A scheduler that only compares bindings of its profiles' pods."""

    def _sink_of(self, watched: Watched) -> Any:
        sink = super()._sink_of(watched)
        return _Bindings(sink, self) if watched.struct is ReadPod else sink

    def _binds(self) -> bool:
        return False

    def seen(self, pod: Pod, node: str) -> None:
        """Compare the binding of a pending pod, before the cluster state includes it."""
        if not self.ready:
            return
        verdict = self._scheduler.verdict(pod)
        result, why = compared(verdict, node)
        self._observer.mirrored(result, pod_key(pod.namespace, pod.name), node, why)


def compared(verdict: Verdict, node: str) -> tuple[MirrorResult, str]:
    """Compare a real binding with a verdict. Also return the difference in words, or ""."""
    if node in verdict.best:
        return "best", ""
    totals = verdict.total
    if node in totals:
        best = verdict.best
        named = ", ".join(best[:_SHOWN]) + (f" and {len(best) - _SHOWN} more" if len(best) > _SHOWN else "")
        points = verdict.scores
        differing = [
            f"{plugin} {points[node][plugin]} < {most}"
            for plugin, most in points[best[0]].items()
            if points[node][plugin] < most
        ]
        return "other", f"{totals[node]} points; best: {named} with {totals[best[0]]} ({', '.join(differing)})"
    rejection = verdict.rejected.get(node)
    if rejection is not None:
        return "nowhere", f"{rejection.plugin}: {', '.join(rejection.reasons)}"
    return "nowhere", verdict.error or verdict.message or "this node is not known"


class _Bindings:
    """Forwards pod changes, after reporting new bindings to the mirror."""

    def __init__(self, sink: Sink, mirror: Mirror) -> None:
        self._sink = sink
        self._mirror = mirror
        self.keys = sink.keys

    def put(self, item: Any) -> None:
        """See Sink."""
        pod: ReadPod = item
        waiting = self._mirror.pods.waiting.get(pod_key(pod.namespace, pod.name))
        if waiting is not None and pod.spec.node_name and waiting.metadata.uid == pod.metadata.uid:
            self._mirror.seen(waiting, pod.spec.node_name)
        self._sink.put(item)

    def delete(self, key: Key, item: Any) -> None:
        """See Sink."""
        self._sink.delete(key, item)
