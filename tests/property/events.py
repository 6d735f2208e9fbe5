"""Random events of every kind that decides on a placement, and what a cluster answers, as plain data to compare."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.property.clusters import NODE_NAMES, nodes, pods
from tests.unit.plugins.storage_builders import claim, csi_node, storage_class, volume
from topospread.api.labels import LabelSelector
from topospread.api.meta import KubeObject, ObjectMeta, OwnerReference
from topospread.api.node import ContainerImage, Namespace, Node, NodeCondition
from topospread.api.pod import PersistentVolumeClaimVolumeSource, Pod, PodStatus, ResourceRequirements, Volume
from topospread.api.policy import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from topospread.api.storage import VolumeAttachment, VolumeAttachmentSource, VolumeAttachmentSpec
from topospread.api.workload import ReplicaSet, ReplicaSetSpec, Service, ServiceSpec
from topospread.cluster import Cluster
from topospread.cluster.cluster import EventType
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.plugins.interface import PluginError
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

Event = tuple[EventType, KubeObject]
Objects = dict[tuple[type[KubeObject], str, str], KubeObject]

FRAMEWORK = Framework(default_profile(), gates_for())
HOSTS = NODE_NAMES[:5]
POD_NAMES = [f"p{i}" for i in range(8)]


@st.composite
def _pods_there(draw: st.DrawFn) -> Pod:
    """A pod on a node, on one that may not be there, or pending and perhaps nominated."""
    name = draw(st.sampled_from(POD_NAMES))
    made = draw(pods(name))
    if name != POD_NAMES[0]:  # of two pods that have one port, either that goes frees it: that is no matter of the end
        containers = [replace(each, ports=None) for each in made.spec.containers or ()]
        made = replace(made, spec=replace(made.spec, containers=containers))
    node = draw(st.sampled_from([*HOSTS, *HOSTS, ""]))
    status = PodStatus(
        phase=draw(st.sampled_from(["Running", "Running", "Running", "Succeeded"])) if node else "Pending",
        start_time=f"2026-01-01T00:00:0{POD_NAMES.index(name)}Z",
        nominated_node_name=draw(st.sampled_from([None, *HOSTS])) if not node else None,
    )
    if draw(st.booleans()):
        source = PersistentVolumeClaimVolumeSource(claim_name=draw(st.sampled_from(["data", "other"])))
        volumes = [Volume(name="data", persistent_volume_claim=source)]
        made = replace(made, spec=replace(made.spec, volumes=volumes))
    metadata = made.metadata
    if draw(st.integers(0, 5)) == 0:
        metadata = replace(metadata, deletion_timestamp="2026-01-01T00:01:00Z")
    priority = draw(st.sampled_from([0, 0, 20]))
    spec = replace(made.spec, node_name=node or None, priority=priority)
    return replace(made, metadata=metadata, spec=spec, status=status)


@st.composite
def _nodes_there(draw: st.DrawFn) -> Node:
    made = draw(nodes(draw(st.sampled_from(HOSTS))))
    heartbeat = NodeCondition(type="Ready", last_heartbeat_time=f"2026-01-01T00:00:{draw(st.integers(10, 59))}Z")
    # One size: of several the first that came would count, and what is built anew knows no order.
    images = draw(st.sampled_from([None, [ContainerImage(names=["i:latest"], size_bytes=900_000_000)]]))
    return replace(made, status=replace(made.status, conditions=[heartbeat], images=images))


def _budgets() -> st.SearchStrategy[PodDisruptionBudget]:
    return st.builds(
        lambda name, app, allowed: PodDisruptionBudget(
            metadata=ObjectMeta(namespace="default", name=name),
            spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"app": app})),
            status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
        ),
        st.sampled_from(["one", "two"]),
        st.sampled_from("ab"),
        st.integers(0, 1),
    )


def _services() -> st.SearchStrategy[Service]:
    return st.builds(
        lambda app: Service(metadata=ObjectMeta(namespace="default", name="web"), spec=ServiceSpec(selector=app)),
        st.sampled_from([None, {"app": "a"}, {"app": "b"}]),
    )


def _replica_sets() -> st.SearchStrategy[ReplicaSet]:
    return st.builds(
        lambda app, replicas: ReplicaSet(
            metadata=ObjectMeta(namespace="default", name="owner"),
            spec=ReplicaSetSpec(selector=LabelSelector(match_labels={"app": app}), replicas=replicas),
        ),
        st.sampled_from("ab"),
        st.integers(0, 9),
    )


def _namespaces() -> st.SearchStrategy[Namespace]:
    labelled = st.sampled_from([None, {"team": "x"}])
    return st.builds(lambda labels: Namespace(metadata=ObjectMeta(name="default", labels=labels)), labelled)


_HERE = {"namespace": "default"}
_VOLUMES = ("pv-0", "pv-1")


def _attachment(number: str, volume: str, node: str) -> VolumeAttachment:
    spec = VolumeAttachmentSpec(attacher="disk", node_name=node, source=VolumeAttachmentSource(volume))
    return VolumeAttachment(metadata=ObjectMeta(name=f"attached-{number}"), spec=spec)


STORAGE = st.sampled_from(
    [
        storage_class(),
        storage_class(provisioner="kubernetes.io/no-provisioner"),
        claim("data", metadata=_HERE),
        claim("data", "pv-0", metadata=_HERE),
        volume("pv-0", {"disk": ["ssd"]}),
        volume("pv-1", {"disk": ["hdd"]}, size="2Gi"),
        volume("pv-1", {"disk": ["hdd"]}, size="2Gi", status={"phase": "Released"}),
        *(volume(name, csi={"driver": "disk", "volumeHandle": handle}) for name in _VOLUMES for handle in "xy"),
        claim("other", metadata=_HERE),
        *(claim("other", name, metadata=_HERE) for name in _VOLUMES),
        *(_attachment(number, name, node) for number in "12" for name in _VOLUMES for node in HOSTS[:2]),
        *(csi_node(name, disk=limit) for name in HOSTS[:2] for limit in (0, 1)),
    ]
)

ITEMS: st.SearchStrategy[KubeObject] = st.one_of(
    _pods_there(), _pods_there(), _nodes_there(), _nodes_there(), _budgets(), _services(), _replica_sets(),
    _namespaces(), STORAGE,
)  # fmt: skip
EVENTS: st.SearchStrategy[Event] = st.tuples(st.sampled_from(["ADDED", "MODIFIED", "MODIFIED", "DELETED"]), ITEMS)


@st.composite
def templates(draw: st.DrawFn) -> list[Pod]:
    """Pods to be placed: with constraints, with an owner and none, with a claim; they may evict the others."""
    own = _demanding(draw(pods("own")), draw(st.sampled_from(["300m", "900m", "1900m"])))
    owner = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name="owner", uid="u", controller=True)
    plain = draw(pods("owned"))
    owned = replace(
        plain,
        metadata=replace(plain.metadata, owner_references=[owner]),
        spec=replace(plain.spec, topology_spread_constraints=None),
    )
    source = PersistentVolumeClaimVolumeSource(claim_name="data")
    claiming = replace(
        plain,
        metadata=replace(plain.metadata, name="claiming"),
        spec=replace(plain.spec, volumes=[Volume(name="data", persistent_volume_claim=source)], affinity=None),
    )
    return [own, owned, claiming]


def _demanding(pod: Pod, cpu: str) -> Pod:
    """The pod, more important than most that are there, and in want of room."""
    resources = ResourceRequirements(requests={"cpu": cpu})
    containers = [replace(each, resources=resources) for each in pod.spec.containers or ()]
    return replace(pod, spec=replace(pod.spec, priority=10, containers=containers))


def keep(objects: Objects, event: Event) -> None:
    """What is there after an event, by kind, namespace and name."""
    kind, item = event
    key = (type(item), item.namespace, item.name)
    if kind == "DELETED":
        objects.pop(key, None)
    else:
        objects[key] = item


def built(objects: Objects) -> Cluster:
    """A cluster of these objects, from nothing."""
    cluster = Cluster()
    for item in objects.values():
        cluster.apply("ADDED", item)
    return cluster


def scheduler_of(cluster: Cluster) -> Scheduler:
    return Scheduler(cluster, {"default-scheduler": FRAMEWORK})


def answers(scheduler: Scheduler, pending: list[Pod]) -> list[Any]:
    """Everything that can be asked about pods: verdicts, what preemption finds, and the counts behind them."""
    return [_answer(scheduler, each) for each in pending]


def _answer(scheduler: Scheduler, pod: Pod) -> Any:
    verdict = scheduler.verdict(pod)
    said: dict[str, Any] = {
        "message": verdict.message,
        "error": verdict.error,
        "rejected": {node: msgspec.to_builtins(why) for node, why in sorted(verdict.rejected.items())},
        "scores": dict(sorted(verdict.scores.items())),
        "arithmetic": [_by_domain(each) for each in verdict.arithmetic],
    }
    if verdict.nodes and not verdict.feasible and not verdict.error and not verdict.pre_filter:
        pending = scheduler.pending_verdict(pod)
        try:
            found = scheduler.pending_preemption(pod, pending)
        except PluginError as error:
            return said | {"preemption": str(error)}
        said["preemption"] = {
            "candidates": {
                each.node: ([victim.key for victim in each.victims], each.violations) for each in found.candidates
            },
            "picked": sorted(each.node for each in found.picked),
            "sentence": found.sentence,
        }
    return said


def _by_domain(arithmetic: ConstraintArithmetic) -> Any:
    domains = sorted(arithmetic.domains, key=lambda each: each.name)
    return (arithmetic.topology_key, arithmetic.origin, arithmetic.minimum, domains)
