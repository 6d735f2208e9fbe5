"""Decides beside the scheduler that is there, and says how its bindings compare; it binds, evicts and writes nothing.

Each pod that another scheduler bound is judged on the cluster as the watch had told it just before. The other decided a
moment earlier, perhaps before it knew of the last changes, and from some of the nodes: not every difference is one of
rules.
"""

from __future__ import annotations

from typing import Any, Literal

from topospread.api.pod import Pod
from topospread.cluster.cluster import pod_key
from topospread.scheduling.verdict import Verdict

from .kinds import ReadPod, Watched
from .observer import Observer
from .reflector import Key, Sink
from .scheduler import LiveScheduler

Result = Literal["best", "other", "nowhere"]
"""A pod was bound to one of our best nodes, to another that fits, or to one that does not fit for us."""
_SHOWN = 3


class MirrorObserver(Observer):
    """An observer that is told of bindings by others, too."""

    def mirrored(self, result: Result, pod: str, node: str, why: str) -> None:
        """A real binding, and what is different where it is not among our best."""


class Mirror(LiveScheduler):
    """A scheduler that only watches how the pods of its profiles are bound.

    Its ``observer`` has to be a `MirrorObserver`.
    """

    def _sink_of(self, watched: Watched) -> Any:
        sink = super()._sink_of(watched)
        return _Bindings(sink, self) if watched.struct is ReadPod else sink

    def _binds(self) -> bool:
        return False

    def seen(self, pod: Pod, node: str) -> None:
        """A pod that waited is bound; the cluster does not know it yet."""
        if not self.ready:
            return
        verdict = self._scheduler.verdict(pod)
        result, why = compared(verdict, node)
        observer: Any = self._observer
        observer.mirrored(result, pod_key(pod.namespace, pod.name), node, why)


def compared(verdict: Verdict, node: str) -> tuple[Result, str]:
    """Compare a real binding with a verdict; also return the difference in words, "" if there is none."""
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
    """Hands on what happens to pods, and shows those that get a node before that."""

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
