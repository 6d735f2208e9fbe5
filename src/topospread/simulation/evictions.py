"""Evictions of a simulated preemption, and the pods that controllers create instead."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from topospread.api.pod import Pod
from topospread.cluster import PodClass
from topospread.cluster.cluster import PodKey
from topospread.controllers.planned import QueuedPod, Workload

from .result import EvictedPod
from .run import Run

_NOT_CREATED_ANEW = frozenset({"Pod"})
_ANEW = re.compile(r"-anew\d+$")
_KEEPS_ITS_NAME = frozenset({"StatefulSet"})
_OWN_POD = frozenset({"DaemonSet", "StatefulSet"})
"""Kinds whose controllers recreate the same pod: it belongs to one node, or has a fixed name and volumes."""

MOST_PREEMPTIONS = 5
"""Maximum number of preemptions for one pod. kube-scheduler has no limit: if recreated victims take the space again,
it preempts forever.
"""


def evict(run: Run, victims: Iterable[PodKey], preemptor: QueuedPod) -> list[PodClass]:
    """Evict the victims and queue the pods that their controllers recreate. Return the victims' classes."""
    gone = []
    for key in victims:
        node = run.cluster.assigned_node(key)
        gone.append(run.cluster.unbind(key))
        workload, pod = _owner_of(run, key)
        namespace, _, name = key.partition("/")
        anew = ""
        if workload is not None and pod is not None and workload.kind not in _NOT_CREATED_ANEW:
            anew = _create_anew(run, workload, pod, name)
        run.evictions.append(
            EvictedPod(
                namespace=namespace,
                name=name,
                node=node,
                workload=f"{workload.kind}/{workload.name}" if workload else "",
                preemptor=f"{preemptor.namespace}/{preemptor.name}",
                created_anew=anew or None,
            )
        )
    return gone


def _owner_of(run: Run, key: str) -> tuple[Workload | None, Pod | None]:
    """Return the workload of a placed pod, and the pod that its controller creates after an eviction."""
    queued = run.placed_here.pop(key, None)
    if queued is not None:
        run.outcomes[id(queued)].evicted = True
        return queued.workload, queued.pod
    workload = run.owners.pop(key, None)
    if workload is None:
        return None, None
    name = key.partition("/")[2]
    pod = next(each for each in workload.existing if each.name == name)
    workload.existing = [each for each in workload.existing if each is not pod]
    if workload.template is not None and workload.kind not in _OWN_POD:
        return workload, workload.template
    spec = msgspec.structs.replace(pod.spec, node_name=None)
    return workload, msgspec.structs.replace(pod, spec=spec, status=None)


def _create_anew(run: Run, workload: Workload, pod: Pod, name: str) -> str:
    run.created_anew += 1
    anew = name if workload.kind in _KEEPS_ITS_NAME else f"{_ANEW.sub('', name)}-anew{run.created_anew}"
    run.queue.append(QueuedPod(pod, anew, workload, priority=pod.spec.priority or 0))
    return anew
