"""Evicting the victims of a preemption, and what their controllers create in their place."""

from __future__ import annotations

import re

import msgspec

from topospread.api.pod import Pod
from topospread.cluster import PodClass
from topospread.scheduling.preemption import Candidate
from topospread.workloads.planned import QueuedPod, Workload

from .result import EvictedPod
from .run import Run

_NOT_CREATED_ANEW = frozenset({"Pod"})
_ANEW = re.compile(r"-anew\d+$")
_KEEPS_ITS_NAME = frozenset({"StatefulSet"})
_OWN_POD = frozenset({"DaemonSet", "StatefulSet"})
"""Kinds whose pods are of their node, or have volumes and a name of their own: the same is created anew."""


def evict(run: Run, candidate: Candidate, preemptor: QueuedPod) -> list[PodClass]:
    """Take the victims off their node; what a controller owns is queued again, a bare pod is gone. Their classes."""
    gone = []
    for victim in candidate.victims:
        gone.append(run.cluster.unbind(victim.key))
        workload, pod = _owner_of(run, victim.key)
        namespace, _, name = victim.key.partition("/")
        anew = ""
        if workload is not None and pod is not None and workload.kind not in _NOT_CREATED_ANEW:
            anew = _create_anew(run, workload, pod, name)
        run.evictions.append(
            EvictedPod(
                namespace=namespace,
                name=name,
                node=candidate.node,
                workload=f"{workload.kind}/{workload.name}" if workload else "",
                preemptor=f"{preemptor.namespace}/{preemptor.name}",
                created_anew=anew or None,
            )
        )
    return gone


def _owner_of(run: Run, key: str) -> tuple[Workload | None, Pod | None]:
    """The workload of a placed pod, and the pod to create in its place."""
    queued = run.placed_here.pop(key, None)
    if queued is not None:
        run.outcomes[id(queued)].evicted = True
        return queued.workload, queued.pod
    workload = run.owners.pop(key, None)
    if workload is None:
        return None, None
    name = key.partition("/")[2]
    pod = next(each for each in workload.existing if each.name == name)
    workload.existing.remove(pod)
    if workload.template is not None and workload.kind not in _OWN_POD:
        return workload, workload.template
    spec = msgspec.structs.replace(pod.spec, node_name=None)
    return workload, msgspec.structs.replace(pod, spec=spec, status=None)


def _create_anew(run: Run, workload: Workload, pod: Pod, name: str) -> str:
    run.created_anew += 1
    anew = name if workload.kind in _KEEPS_ITS_NAME else f"{_ANEW.sub('', name)}-anew{run.created_anew}"
    run.queue.append(QueuedPod(pod, anew, workload, priority=pod.spec.priority or 0))
    return anew
