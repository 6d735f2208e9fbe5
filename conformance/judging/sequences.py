"""Judges a sequence: pods tried one after another, and what happens to the cluster in between; JSON in, JSON out.

In the form of the program that judges us (conformance/oracle/cmd/sequence), which runs kube-scheduler's own cache,
nominations and volume binder: a cycle, then Reserve, PreBind and Bind, or preemption; a pod that is bound gets the
labels that the API server gives it, and after each step the controllers of volumes do their part. A single cycle on a
cluster as it stands is `judge`'s matter.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from conformance.judging.cases import OBJECTS, judged, preemption_json, read, verdict_json
from topospread.api.meta import KubeObject, ObjectMeta
from topospread.api.node import Node
from topospread.api.pod import Pod, PodStatus
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim
from topospread.cluster import Cluster
from topospread.cluster.cluster import PodKey, pod_key
from topospread.config.gates import gates_for
from topospread.plugins.claim_binding import ReservedVolumes
from topospread.plugins.pod_volumes import selected_node
from topospread.plugins.volume_controller import VolumeController
from topospread.plugins.without_reserve import CannotBind
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.preemption import Candidate
from topospread.scheduling.topology_labels import GATE, labelled_by

Json = dict[str, Any]

_SEVERAL: list[type[KubeObject]] = [Node, Pod, *OBJECTS.values()]
KINDS = {kind.__name__: kind for kind in _SEVERAL}
_BEGINNING = datetime(2030, 1, 1, tzinfo=UTC)
_PRE_BIND = "running PreBind plugin "


def judge_sequence(case: Json) -> Json:
    """What comes of each step: ``{"name", "verdicts", "error"?}``; a step that tries no pod has no verdict."""
    return judged(case, _verdicts)


def _verdicts(scheduler: Scheduler, case: Json) -> list[Json | None]:
    pending = read(case.get("nominated"), Pod)
    sequence = Sequence(scheduler, pending, preempts=bool(case.get("preempt")))
    return [sequence.step(step) for step in case.get("sequence") or []]


class Sequence:
    """A cluster to which one thing happens after another.

    Args:
        pending: pods that are waiting already.
        preempts: room is made for pods that fit nowhere.
    """

    def __init__(self, scheduler: Scheduler, pending: list[Pod], *, preempts: bool) -> None:
        self._scheduler = scheduler
        self._cluster: Cluster = scheduler.cluster
        self._preempts = preempts
        self._pending: dict[PodKey, Pod] = {pod_key(pod.namespace, pod.name): pod for pod in pending}
        self._volumes = VolumeController(self._cluster)
        self._steps = 0
        version = next(iter(scheduler.frameworks.values())).gates.kube_version
        self._labels_bound = gates_for(version, component="apiserver").enabled(GATE)
        self._volumes.sync()

    def step(self, step: Json) -> Json:
        """Do one thing, let the controllers of volumes do theirs, and say how things stand."""
        answer: Json = {}
        self._steps += 1
        if "schedule" in step:
            (pod,) = read([step["schedule"]], Pod)
            answer = self._try(self._pending.setdefault(pod_key(pod.namespace, pod.name), pod), step)
        elif "again" in step:
            if step["again"] in self._pending:
                answer = self._try(self._pending[step["again"]], step)
        elif "put" in step:
            (item,) = read([step["put"]], KINDS[step["put"]["kind"]])
            self._cluster.apply("MODIFIED", item)
        elif "remove" in step:
            self._remove(step["remove"])
        self._volumes.sync()
        return answer | self._state()

    def _remove(self, named: Json) -> None:
        """Take an object away, with a node its pods; one that is not there is passed over."""
        cluster, kind = self._cluster, KINDS[named["kind"]]
        item = kind(metadata=ObjectMeta(name=named["name"], namespace=named.get("namespace")))
        if kind is Pod:
            self._pending.pop(pod_key(item.namespace, item.name), None)
        if kind is Node and item.name in cluster.nodes.row_of:
            for key in list(cluster.on_node[cluster.nodes.row_of[item.name]]):
                cluster.delete_pod(key)
        cluster.apply("DELETED", item)

    def _try(self, pod: Pod, step: Json) -> Json:
        """A scheduling cycle and what follows it: the pod is bound, or room is made for it, or it stays as it is."""
        verdict = self._scheduler.verdict(pod)
        answer = verdict_json(verdict, f"{pod.namespace}/{pod.name}")
        if verdict.error or not verdict.feasible:
            asks = self._preempts and verdict.nodes and not verdict.error and not verdict.pre_filter
            if not asks or not self._scheduler.preempts(pod):
                self._nominate(pod, "")
                return answer
            found = self._scheduler.preemption(pod, verdict, exhaustive=True)
            answer["preemption"] = preemption_json(found)
            if found.picked:
                picked = {each.node: each for each in found.picked}
                answer["evicted"] = self._evict(pod, picked[_chosen(sorted(picked), step)])
            elif not found.keeps_promise:
                self._nominate(pod, "")
            return answer
        nominated = pod.nominated_node_name
        chosen = nominated if nominated in verdict.feasible else _chosen(list(verdict.best), step)
        failed = self._bind(pod, chosen, step.get("fails", ""))
        if failed:
            self._nominate(pod, "")
        return answer | {"chosen": chosen} | ({"failed": failed} if failed else {})

    def _bind(self, pod: Pod, node: str, fails: str) -> str:
        """Assume, Reserve, PreBind and Bind; where it failed, "" where it did not."""
        cluster, key = self._cluster, pod_key(pod.namespace, pod.name)
        pod_class, row = cluster.shared_class(pod), cluster.nodes.row_of[node]
        cluster.withdraw(key)
        cluster.bind(key, pod_class, row)
        framework = self._scheduler.framework_of(pod_class)
        reserved = framework.reserve(pod_class, cluster, row)
        before = next((each.words for each in reserved if isinstance(each, CannotBind)), "")
        if before.startswith(_PRE_BIND):
            before = "preBind"
        volumes = [each for each in reserved if isinstance(each, ReservedVolumes)]
        failed = "reserve" if fails == "reserve" else before or self._bind_volumes(volumes, fails)
        failed = failed or ("bind" if fails == "bind" else "")
        if failed:
            cluster.unbind(key)
        else:
            started = (_BEGINNING + timedelta(seconds=self._steps)).strftime("%Y-%m-%dT%H:%M:%SZ")
            status = replace(pod.status or PodStatus(), start_time=started)
            bound = replace(pod, spec=replace(pod.spec, node_name=node), status=status)
            there = cluster.nodes.nodes[row]
            assert there is not None, "the pod found it"
            cluster.apply("MODIFIED", labelled_by(there, bound) if self._labels_bound else bound)
            del self._pending[key]
        return failed

    def _bind_volumes(self, reserved: list[ReservedVolumes], fails: str) -> str:
        """PreBind: the API server may refuse the first update, a provisioner may be unable to make a volume."""
        for each in reserved:
            if fails == "update" and (each.bindings or each.provisions):
                return "preBind"
            if each.bind(makes_volumes=fails != "provision"):
                return "preBind"
        return ""

    def _evict(self, pod: Pod, candidate: Candidate) -> list[str]:
        """Take the victims off their node, and promise it to the pod alone (preemption/executor.go)."""
        for victim in candidate.victims:
            self._cluster.unbind(victim.key)
        priority = self._cluster.shared_class(pod).priority
        for other in list(self._pending.values()):
            less = self._cluster.shared_class(other).priority < priority
            if less and other.nominated_node_name == candidate.node:
                self._nominate(other, "")
        self._nominate(pod, candidate.node)
        return [victim.key for victim in candidate.victims]

    def _nominate(self, pod: Pod, node: str) -> None:
        key = pod_key(pod.namespace, pod.name)
        if pod.nominated_node_name == node:
            return
        pod = self._pending[key] = replace(pod, status=replace(pod.status or PodStatus(), nominated_node_name=node))
        self._cluster.withdraw(key)
        if node:
            self._cluster.nominate(key, self._cluster.shared_class(pod), node)

    def _state(self) -> Json:
        """Which pods are promised a node, and how claims and volumes stand."""
        objects = self._cluster.objects
        claims = {f"{namespace}/{name}": each for (namespace, name), each in objects.persistent_volume_claims.items()}
        state = {
            "nominated": {
                key: pod.nominated_node_name for key, pod in self._pending.items() if pod.nominated_node_name
            },
            "claims": {key: _claim_state(each) for key, each in claims.items()},
            "volumes": {name: _volume_state(each) for name, each in objects.persistent_volumes.items()},
        }
        return {key: each for key, each in state.items() if each}


def _chosen(best: list[str], step: Json) -> str:
    """The one that is asked for if it is there, else the first."""
    asked: str = step.get("choose", "")
    return asked if asked in best else best[0]


def _claim_state(claim: PersistentVolumeClaim) -> str:
    words = [claim.status.phase or "" if claim.status is not None else ""]
    if claim.spec.volume_name:
        words.append(claim.spec.volume_name)
    if (node := selected_node(claim)) is not None:
        words.append(f"for {node}")
    return " ".join(words)


def _volume_state(volume: PersistentVolume) -> str:
    phase, reference = volume.status.phase or "" if volume.status is not None else "", volume.spec.claim_ref
    return phase if reference is None else f"{phase} {reference.namespace or ''}/{reference.name or ''}"
