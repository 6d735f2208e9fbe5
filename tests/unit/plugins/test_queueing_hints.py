"""Each plugin's hints, one by one: the event that may help a pod that it rejected, and one like it that cannot.

That they are kube-scheduler's in all combinations the histories of `judge_queue` hold.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pytest

from tests.unit.plugins.device_builders import allocated, claim
from topospread.api.devices import DeviceClass
from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pod import Pod, PodStatus
from topospread.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.config.versions import KubeVersion
from topospread.plugins.cluster_event import (
    ADD,
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    DELETE,
    NODE_ALLOCATABLE,
    NODE_DECLARED_FEATURE,
    NODE_LABEL,
    NODE_TAINT,
    POD_LABEL,
    POD_SCALE_DOWN,
    POD_TOLERATION,
    UPDATE,
    ClusterEvent,
    Resource,
)
from topospread.plugins.interface import Requeues
from topospread.scheduling.framework import Framework

Json = dict[str, Any]
FRAMEWORK = Framework(default_profile(), gates_for())
ZONE = "topology.kubernetes.io/zone"


def _node(*, taints: Any = None, cordoned: bool = False, cpu: str = "4", **labels: str) -> Node:
    spec = {"taints": taints, "unschedulable": cordoned}
    status = {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}
    named = {key.replace("zone", ZONE): value for key, value in labels.items()}
    return msgspec.convert({"metadata": {"name": "n1", "labels": named}, "spec": spec, "status": status}, Node)


def _pod(name: str = "waiting", *, node: str = "", labels: Json | None = None, cpu: str = "2", **spec: Any) -> Pod:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}, "ports": spec.pop("ports", [])}
    metadata = {"name": name, "namespace": spec.pop("namespace", "d"), "uid": name, "labels": labels or {}}
    spec = {"containers": [container], "nodeName": node or None, **spec}
    return msgspec.convert({"metadata": metadata, "spec": spec}, Pod)


def _object(kind: type[KubeObject], name: str, **fields: Any) -> Any:
    namespace = "d" if kind is PersistentVolumeClaim else None
    return msgspec.convert({"metadata": {"name": name, "namespace": namespace}, **fields}, kind)


def _terms(kind: str, app: str) -> Json:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": app}}}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _csi_node(count: int) -> CSINode:
    driver = {"name": "disk", "allocatable": {"count": count}}
    return _object(CSINode, "n1", spec={"drivers": [driver]})


def _capacity(amount: str) -> CSIStorageCapacity:
    return _object(CSIStorageCapacity, "c", storageClassName="fast", capacity=amount)


def _device_class(name: str, resource: str | None = None) -> DeviceClass:
    return _object(DeviceClass, name, spec={"extendedResourceName": resource})


def _requesting(resource: str) -> Pod:
    return _pod(containers=[{"name": "c", "resources": {"requests": {resource: "1"}}}])


GPU, ANY_GPU = _requesting("example.com/gpu"), _requesting("deviceclass.resource.kubernetes.io/gpus")
TAINT = [{"key": "dedicated", "effect": "NoSchedule"}]
TOLERANT = _pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])
PORT = {"ports": [{"containerPort": 80, "hostPort": 80}]}
CLAIM = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}
DISK = {"volumes": [{"name": "v", "awsElasticBlockStore": {"volumeID": "vol-1"}}]}
SELECTS = _pod(nodeSelector={"disk": "ssd"})
NEAR, AWAY = _pod(affinity=_terms("podAffinity", "db")), _pod(affinity=_terms("podAntiAffinity", "db"))
DB, WEB = {"app": "db"}, {"app": "web"}
SPREAD = _pod(
    labels=WEB,
    topologySpreadConstraints=[
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": WEB},
        }
    ],
)


USES = _pod(resourceClaims=[{"name": "g", "resourceClaimName": "gpu"}])
HELD = allocated(claim("gpu"), ("p", "d0"))


class Case(NamedTuple):
    """An event on a resource, its objects, and whether it may help the pod."""

    plugin: str
    resource: Resource
    action: int
    pod: Pod
    old: Any
    new: Any
    helps: bool


def _deleted(plugin: str, pod: Pod, gone: Pod, helps: bool) -> Case:
    return Case(plugin, ASSIGNED_POD_DELETE.resource, ASSIGNED_POD_DELETE.action, pod, gone, None, helps)


def _added(plugin: str, pod: Pod, came: Pod, helps: bool) -> Case:
    return Case(plugin, ASSIGNED_POD_ADD.resource, ASSIGNED_POD_ADD.action, pod, None, came, helps)


CASES = [
    Case("DynamicResources", "Node", ADD, _pod(), None, _node(), True),
    Case("DynamicResources", "DeviceClass", ADD, _pod(), None, _device_class("gpus"), True),
    Case("DynamicResources", "ResourceClaim", ADD, USES, None, claim("gpu"), False),
    Case("DynamicResources", "ResourceClaim", UPDATE, _pod(), HELD, claim("gpu"), True),
    Case("DynamicResources", "ResourceClaim", UPDATE, _pod(), claim("gpu"), HELD, False),
    Case("DynamicResources", "ResourceClaim", DELETE, _pod(), HELD, None, True),
    Case("DynamicResources", "ResourceClaim", DELETE, _pod(), claim("gpu"), None, False),
    Case("NodeAffinity", "Node", ADD, SELECTS, None, _node(disk="ssd"), True),
    Case("NodeAffinity", "Node", ADD, SELECTS, None, _node(), False),
    Case("NodeAffinity", "Node", NODE_LABEL, SELECTS, _node(), _node(disk="ssd"), True),
    Case("NodeAffinity", "Node", NODE_LABEL, SELECTS, _node(disk="ssd"), _node(disk="ssd", x="y"), False),
    Case("NodeDeclaredFeatures", "Node", ADD, _pod(), None, _node(), True),
    Case("NodeDeclaredFeatures", "Node", NODE_DECLARED_FEATURE, _pod(), _node(), _node(x="y"), False),
    Case("NodeName", "Node", ADD, _pod(), None, _node(), True),
    Case("NodeName", "Node", NODE_LABEL, _pod(), _node(), _node(x="y"), False),
    _deleted("NodePorts", _pod(**PORT), _pod("there", node="n1", **PORT), True),
    _deleted("NodePorts", _pod(**PORT), _pod("there", node="n1"), False),
    _deleted("NodePorts", _pod(**PORT), _pod("there", **PORT), False),
    _deleted("NodeResourcesFit", _pod(), _pod("there", node="n1"), True),
    _deleted("NodeResourcesFit", _pod(), _pod("there"), False),
    Case("NodeResourcesFit", "Node", ADD, _pod(), None, _node(cpu="2"), True),
    Case("NodeResourcesFit", "Node", ADD, _pod(), None, _node(cpu="1"), False),
    Case("NodeResourcesFit", "Node", NODE_ALLOCATABLE, _pod(), _node(cpu="2"), _node(cpu="3"), True),
    Case("NodeResourcesFit", "Node", NODE_ALLOCATABLE, _pod(), _node(cpu="3"), _node(cpu="2"), False),
    Case(
        *("NodeResourcesFit", "AssignedPod", POD_SCALE_DOWN, _pod()),
        *(_pod("there", node="n1", cpu="2"), _pod("there", node="n1", cpu="1"), True),
    ),
    Case("NodeResourcesFit", "DeviceClass", ADD, GPU, None, _device_class("gpus", "example.com/gpu"), True),
    Case("NodeResourcesFit", "DeviceClass", ADD, GPU, None, _device_class("gpus"), False),
    Case("NodeResourcesFit", "DeviceClass", ADD, ANY_GPU, None, _device_class("gpus"), True),
    Case(
        *("NodeResourcesFit", "DeviceClass", UPDATE, GPU),
        *(_device_class("gpus"), _device_class("gpus", "example.com/gpu"), True),
    ),
    Case(
        *("NodeResourcesFit", "DeviceClass", UPDATE, GPU),
        *(_device_class("gpus", "example.com/gpu"), _device_class("gpus", "example.com/gpu"), False),
    ),
    Case("NodeUnschedulable", "Node", NODE_TAINT, _pod(), _node(cordoned=True), _node(), True),
    Case("NodeUnschedulable", "Node", NODE_TAINT, _pod(), _node(taints=TAINT), _node(), False),
    Case("NodeUnschedulable", "TargetPod", POD_TOLERATION, _pod(), _pod(), TOLERANT, True),
    Case("NodeUnschedulable", "TargetPod", POD_TOLERATION, _pod(), _pod(), _pod(), False),
    Case("TaintToleration", "Node", NODE_TAINT, _pod(), _node(taints=TAINT), _node(), True),
    Case("TaintToleration", "Node", ADD, _pod(), None, _node(taints=TAINT), False),
    Case("TaintToleration", "TargetPod", POD_TOLERATION, _pod(), _pod(), TOLERANT, True),
    _added("InterPodAffinity", NEAR, _pod("db", node="n1", labels=DB), True),
    _added("InterPodAffinity", NEAR, _pod("web", node="n1", labels=WEB), False),
    _added("InterPodAffinity", AWAY, _pod("db", node="n1", labels=DB), False),
    _deleted("InterPodAffinity", AWAY, _pod("db", node="n1", labels=DB), True),
    _deleted("InterPodAffinity", NEAR, _pod("db", node="n1", labels=DB), False),
    _deleted(
        "InterPodAffinity",
        _pod(labels=DB),
        _pod("keeps-away", node="n1", affinity=_terms("podAntiAffinity", "db")),
        True,
    ),
    Case("InterPodAffinity", "Node", ADD, NEAR, None, _node(zone="a"), True),
    Case("InterPodAffinity", "Node", ADD, NEAR, None, _node(), False),
    Case("InterPodAffinity", "TargetPod", POD_LABEL, NEAR, NEAR, NEAR, True),
    _added("PodTopologySpread", SPREAD, _pod("web", node="n1", labels=WEB), True),
    _added("PodTopologySpread", SPREAD, _pod("db", node="n1", labels=DB), False),
    _added("PodTopologySpread", SPREAD, _pod("web", node="n1", labels=WEB, namespace="other"), False),
    _deleted("PodTopologySpread", SPREAD, _pod("web", node="n1", labels=WEB), True),
    Case("PodTopologySpread", "Node", ADD, SPREAD, None, _node(zone="a"), True),
    Case("PodTopologySpread", "Node", ADD, SPREAD, None, _node(), False),
    Case("PodTopologySpread", "Node", DELETE, SPREAD, _node(zone="a"), None, True),
    Case("PodTopologySpread", "Node", NODE_LABEL, SPREAD, _node(zone="a"), _node(zone="b"), True),
    Case("PodTopologySpread", "Node", NODE_LABEL, SPREAD, _node(zone="a"), _node(zone="a", x="y"), False),
    _deleted("VolumeRestrictions", _pod(**DISK), _pod("there", node="n1", **DISK), True),
    _deleted("VolumeRestrictions", _pod(**CLAIM), _pod("there", node="n1", **CLAIM), True),
    _deleted("VolumeRestrictions", _pod(**DISK), _pod("there", node="n1"), False),
    Case(
        *("VolumeRestrictions", "PersistentVolumeClaim", ADD, _pod(**CLAIM), None),
        *(_object(PersistentVolumeClaim, "data"), True),
    ),
    Case(
        *("VolumeRestrictions", "PersistentVolumeClaim", ADD, _pod(**CLAIM), None),
        *(_object(PersistentVolumeClaim, "other"), False),
    ),
    Case("NodeVolumeLimits", "CSINode", UPDATE, _pod(**CLAIM), _csi_node(1), _csi_node(2), True),
    Case("NodeVolumeLimits", "CSINode", UPDATE, _pod(**CLAIM), _csi_node(2), _csi_node(1), False),
    _deleted("NodeVolumeLimits", _pod(**CLAIM), _pod("there", node="n1", **CLAIM), True),
    _deleted("NodeVolumeLimits", _pod(**CLAIM), _pod("there", node="n1"), False),
    Case(
        *("NodeVolumeLimits", "VolumeAttachment", DELETE, _pod(**CLAIM)),
        *(_object(VolumeAttachment, "a", spec={"attacher": "disk"}), None, True),
    ),
    Case(
        *("VolumeZone", "PersistentVolumeClaim", ADD, _pod(**CLAIM), None),
        *(_object(PersistentVolumeClaim, "other"), False),
    ),
    Case("VolumeZone", "Node", ADD, _pod(**CLAIM), None, _node(zone="a"), True),
    Case("VolumeBinding", "PersistentVolume", ADD, _pod(**CLAIM), None, _object(PersistentVolume, "pv"), True),
    Case(
        *("VolumeBinding", "PersistentVolumeClaim", ADD, _pod(**CLAIM), None),
        *(_object(PersistentVolumeClaim, "data"), True),
    ),
    Case(
        *("VolumeBinding", "PersistentVolumeClaim", ADD, _pod(**CLAIM), None),
        *(_object(PersistentVolumeClaim, "other"), False),
    ),
    Case(
        *("VolumeBinding", "StorageClass", UPDATE, _pod(**CLAIM)),
        *(_object(StorageClass, "fast"), _object(StorageClass, "fast"), False),
    ),
    Case("VolumeBinding", "StorageClass", ADD, _pod(**CLAIM), None, _object(StorageClass, "fast"), True),
    Case("VolumeBinding", "CSIStorageCapacity", UPDATE, _pod(**CLAIM), _capacity("1Gi"), _capacity("2Gi"), True),
    Case("VolumeBinding", "CSIStorageCapacity", UPDATE, _pod(**CLAIM), _capacity("2Gi"), _capacity("1Gi"), False),
    Case(
        *("VolumeBinding", "CSIDriver", UPDATE, _pod(volumes=[{"name": "v", "csi": {"driver": "disk"}}])),
        *(_object(CSIDriver, "disk", spec={"storageCapacity": True}), _object(CSIDriver, "disk"), True),
    ),
]


def _label(case: Case) -> str:
    return f"{case.plugin}-{case.resource}-{case.action}-{'helps' if case.helps else 'does-not'}"


def _may_help(case: Case, version: str = "") -> bool:
    framework = FRAMEWORK
    if version:
        kube_version = KubeVersion.parse(version)
        framework = Framework(default_profile(kube_version), gates_for(kube_version))
    plugin = framework.plugins[case.plugin]
    assert isinstance(plugin, Requeues)
    heard = [
        each
        for each in plugin.events_to_register(Cluster())
        if each.event.covers(ClusterEvent(case.resource, case.action))
    ]
    return any(each.hint(case.pod, case.old, case.new) for each in heard)


@pytest.mark.parametrize("case", CASES, ids=_label)
def test_a_hint_says_whether_the_event_may_help(case: Case) -> None:
    assert _may_help(case) is case.helps


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PROMISED = _pod("promised", labels=WEB, **PORT, **CLAIM)
PROMISED.status = PodStatus(nominated_node_name="n1")
BOTH = [term for app in ("db", "web") for term in _terms("podAntiAffinity", app)["podAntiAffinity"][REQUIRED]]
AWAY_FROM_TWO = _pod(affinity={"podAntiAffinity": {REQUIRED: BOTH}})
KEEPS_AWAY = _pod("keeps-away", node="n1", affinity=_terms("podAntiAffinity", "db"))
SINCE = [
    ("1.33", _deleted("NodePorts", _pod(**PORT), PROMISED, True)),
    ("1.33", _deleted("NodeResourcesFit", _pod(), PROMISED, True)),
    ("1.33", _deleted("NodeVolumeLimits", _pod(**CLAIM), PROMISED, True)),
    ("1.36", _deleted("PodTopologySpread", SPREAD, PROMISED, True)),
    ("1.36", _deleted("InterPodAffinity", _pod(affinity=_terms("podAntiAffinity", "web")), PROMISED, True)),
    ("1.33", Case("InterPodAffinity", "Node", NODE_LABEL, NEAR, _node(zone="a"), _node(zone="a", x="y"), False)),
    ("1.33", Case("InterPodAffinity", "Node", NODE_LABEL, AWAY, _node(zone="a"), _node(zone="a", x="y"), False)),
    ("1.33", Case("InterPodAffinity", "Node", NODE_LABEL, AWAY, _node(zone="a"), _node(), True)),
    ("1.33", Case("InterPodAffinity", "Node", ADD, AWAY, None, _node(), True)),
    ("1.36", _deleted("InterPodAffinity", _pod(labels=DB), KEEPS_AWAY, True)),
    ("1.36", Case("InterPodAffinity", "TargetPod", POD_LABEL, NEAR, NEAR, NEAR, True)),
    ("1.37", _deleted("InterPodAffinity", AWAY_FROM_TWO, _pod("db", node="n1", labels=DB), True)),
    ("1.33", Case("NodeVolumeLimits", "CSINode", UPDATE, _pod(**CLAIM), _csi_node(1), _csi_node(2), True)),
    (
        "1.33",
        Case(
            *("NodeVolumeLimits", "VolumeAttachment", DELETE, _pod()),
            *(_object(VolumeAttachment, "a", spec={"attacher": "disk"}), None, False),
        ),
    ),
    (
        "1.33",
        Case(
            *("NodeResourcesFit", "AssignedPod", POD_SCALE_DOWN, _pod()),
            *(_pod("there", node="n1", cpu="2"), _pod("there", node="n1", cpu="1"), True),
        ),
    ),
]
"""Where a version's hint became another one: the version, and a case that it answered the other way round before."""


@pytest.mark.parametrize(("version", "case"), SINCE, ids=lambda each: each if isinstance(each, str) else _label(each))
def test_a_hint_is_that_of_its_version(version: str, case: Case) -> None:
    """By the sources of 1.32.13, 1.33.13, 1.34.4, 1.35.4, 1.36.3 and 1.37.0."""
    minors = range(32, 38)
    expected = [case.helps if minor >= KubeVersion.parse(version).minor else not case.helps for minor in minors]
    assert [_may_help(case, f"1.{minor}") for minor in minors] == expected


def test_every_plugin_with_hints_is_asked_here() -> None:
    with_hints = {name for name, each in FRAMEWORK.plugins.items() if isinstance(each, Requeues)}
    assert with_hints == {case.plugin for case in CASES}
