"""Judges one scheduling case as kube-scheduler would: JSON in, JSON out, in the form of the conformance oracle.

It takes objects as the scheduler sees them: nothing is defaulted, merged or validated here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from topospread.api.devices import DeviceClass
from topospread.api.meta import KubeObject
from topospread.api.node import Namespace, Node
from topospread.api.pod import Pod
from topospread.api.policy import PodDisruptionBudget
from topospread.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from topospread.api.validation.schema import decoded
from topospread.api.workload import ReplicaSet, ReplicationController, Service, StatefulSet
from topospread.cluster import Cluster
from topospread.cluster.cluster import pod_key
from topospread.config.gates import Gates, gates_for, with_preview
from topospread.config.load import default_profile, load_configuration
from topospread.config.profile import Profile
from topospread.config.request_rules import request_rules
from topospread.errors import ConfigError, Place, TopospreadError
from topospread.plugins.interface import PluginError
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework
from topospread.scheduling.preemption import Preemption
from topospread.scheduling.select_host import top_of_heap
from topospread.scheduling.verdict import Verdict

Case = dict[str, Any]
Json = dict[str, Any]

OBJECTS: dict[str, type[KubeObject]] = {
    "namespaces": Namespace,
    "services": Service,
    "replicaSets": ReplicaSet,
    "statefulSets": StatefulSet,
    "replicationControllers": ReplicationController,
    "persistentVolumes": PersistentVolume,
    "persistentVolumeClaims": PersistentVolumeClaim,
    "storageClasses": StorageClass,
    "csiNodes": CSINode,
    "csiDrivers": CSIDriver,
    "csiStorageCapacities": CSIStorageCapacity,
    "volumeAttachments": VolumeAttachment,
    "deviceClasses": DeviceClass,
    "podDisruptionBudgets": PodDisruptionBudget,
}

_ENCODER = msgspec.json.Encoder(enc_hook=str)

Kind = TypeVar("Kind", bound=KubeObject)


def judge_case(case: Case) -> Json:
    """The verdicts on a case's incoming pods: ``{"name", "verdicts", "error"?}``."""
    return judged(case, _verdicts)


def judged(case: Case, verdicts_of: Callable[[Scheduler, Case], list[Json | None]]) -> Json:
    """What a scheduler of the case's cluster and configuration comes to, or why there is none."""
    result: Json = {"name": case.get("name", ""), "verdicts": None}
    try:
        scheduler = scheduler_of(case)
    except ConfigError as error:
        return result | {"error": error.first}
    except TopospreadError as error:
        return result | {"error": str(error)}
    return result | {"verdicts": verdicts_of(scheduler, case) or None}


def _verdicts(scheduler: Scheduler, case: Case) -> list[Json | None]:
    incoming = enumerate(read(case.get("incoming"), Pod))
    if case.get("sampling"):
        return [_judge_sampled(scheduler, pod) for _, pod in incoming]
    return [_judge_pod(scheduler, pod, case, position) for position, pod in incoming]


def _judge_sampled(scheduler: Scheduler, pod: Pod) -> Json:
    """What is found when not all nodes are looked at; the pod is bound to the best node that sorts first."""
    name = pod_key(pod.namespace, pod.name)
    answer: Json = {"pod": name, "feasible": []}
    cluster = scheduler.cluster
    pod_class = cluster.shared_class(pod)
    try:
        view = scheduler.view(pod_class)
        sample = scheduler.sample(view, name, pod.nominated_node_name)
    except PluginError as error:
        return answer | {"error": str(error)}
    if not len(sample.rows):
        verdict = scheduler.verdict(pod)
        return answer | ({"error": verdict.error} if verdict.error else {"message": verdict.message})
    names = [cluster.nodes.names[row] for row in sample.rows]
    total = dict(zip(names, view.total(sample.rows).tolist(), strict=True))
    best = sorted(node for node in names if total[node] == max(total.values()))
    answer |= {"feasible": sorted(names), "evaluated": sample.evaluated, "best": best, "chosen": best[0]}
    if len(names) > 1:
        answer["total"] = total
        # Where PreFilter leaves some nodes, kube-scheduler looks at them in the order of a Go map.
        if view.plugins.narrowed is None:
            places = np.flatnonzero([total[node] == total[best[0]] for node in names])
            answer["takes"] = cluster.nodes.names[top_of_heap(sample.rows, places)]
    cluster.bind(_free_key(cluster, pod), pod_class, cluster.nodes.row_of[best[0]])
    return answer


def _judge_pod(scheduler: Scheduler, pod: Pod, case: Case, position: int) -> Json:
    verdict = scheduler.verdict(pod)
    answer = verdict_json(verdict, f"{pod.namespace}/{pod.name}")
    asked = case.get("preempt") and scheduler.preempts(pod)
    if asked and verdict.nodes and not verdict.feasible and not verdict.error and not verdict.pre_filter:
        answer["preemption"] = preemption_json(scheduler.preemption(pod, verdict, exhaustive=True))
    follow = case.get("follow") or []
    chosen = ""
    if position < len(follow):
        chosen = follow[position]
    elif case.get("sequential") and verdict.best and not verdict.error:
        chosen = verdict.best[0]
    if chosen:
        answer["chosen"] = chosen
        cluster = scheduler.cluster
        if chosen in cluster.nodes.row_of:
            cluster.bind(_free_key(cluster, pod), cluster.shared_class(pod), cluster.nodes.row_of[chosen])
    return answer


def verdict_json(verdict: Verdict, pod: str) -> Json:
    """A verdict in the oracle's form."""
    answer: Json = {"pod": pod, "feasible": list(verdict.feasible)}
    if verdict.error:
        return answer | {"error": verdict.error}
    if verdict.rejected:
        answer["rejected"] = {
            node: {"code": each.code, **({"plugin": each.plugin} if each.plugin else {}), "reasons": list(each.reasons)}
            for node, each in verdict.rejected.items()
        }
    if verdict.message:
        answer["message"] = verdict.message
    if verdict.feasible:
        answer |= {"scores": verdict.scores, "total": verdict.total, "best": list(verdict.best)}
    return answer


def preemption_json(preemption: Preemption) -> Json:
    """What preemption finds, in the oracle's form."""
    answer: Json = {"candidates": {}, "picked": []}
    if preemption.ineligible:
        return answer | {"ineligible": preemption.ineligible}
    if not preemption.candidates:
        return answer | {"message": preemption.message}
    for each in preemption.candidates:
        candidate: Json = {"victims": [victim.key for victim in each.victims]}
        if each.violations:
            candidate["pdbViolations"] = each.violations
        answer["candidates"][each.node] = candidate
    answer["picked"] = sorted(each.node for each in preemption.picked)
    if preemption.message:
        answer["message"] = preemption.message
    return answer


def scheduler_of(case: Case) -> Scheduler:
    """A case's cluster, and what schedules on it.

    Raises:
        TopospreadError: its configuration or gates are no good.
    """
    version = case.get("kubeVersion") or "1.37"
    preview = version if version.startswith("preview:") else ""
    gates = gates_for("1.37" if preview else version, case.get("featureGates") or {})
    if preview:
        gates = with_preview(gates, preview)
    cluster = Cluster(request_rules(gates))
    for node in read(case.get("nodes"), Node):
        cluster.add_node(node)
    for key, kind in OBJECTS.items():
        cluster.objects.add(read(case.get(key), kind))
    for pod in read(case.get("pods"), Pod):
        cluster.add_pod(pod, _free_key(cluster, pod))
    for pod in read(case.get("nominated"), Pod):
        cluster.nominate(_free_key(cluster, pod), cluster.shared_class(pod), pod.nominated_node_name)
    profiles = profiles_of(case, gates)
    if not case.get("sampling") and not case.get("bySchedulerName"):
        # The first profile judges all pods, whatever their schedulerName.
        profiles = {"default-scheduler": replace(next(iter(profiles.values())), scheduler_name="")}
    frameworks = {name: Framework(profile, gates) for name, profile in profiles.items()}
    return Scheduler(cluster, frameworks, sampled=bool(case.get("sampling")))


def profiles_of(case: Case, gates: Gates) -> dict[str, Profile]:
    """The profiles of a case by scheduler name."""
    version = gates.kube_version
    if not case.get("config"):
        return {"default-scheduler": default_profile(version, gates)}
    place = Place("config")
    configuration = load_configuration(case["config"], place=place, kube_version=version, gates=gates, validate=False)
    return {profile.scheduler_name: profile for profile in configuration.with_extenders_asked.profiles}


def read(objects: object, kind: type[Kind]) -> list[Kind]:
    """The objects of a key of a case."""
    try:
        return msgspec.convert(objects or [], list[kind])  # type: ignore[valid-type]
    except msgspec.ValidationError:
        # Go reads a null in a map as the zero of its values.
        given = [decoded(each, kind.__name__) for each in msgspec.convert(objects or [], list[Any])]
        return msgspec.json.decode(_ENCODER.encode(given), type=list[kind])  # type: ignore[valid-type]


def _free_key(cluster: Cluster, pod: Pod) -> str:
    """A key no placed pod has: a case may give one name twice."""
    key = pod_key(pod.namespace, pod.name)
    while key in cluster.placed:
        key += "'"
    return key
