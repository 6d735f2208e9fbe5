"""Random storage as clusters have it and as they should not: the objects of one case, and pods that name them.

Sizes of volumes of one class differ and a claim is promised one volume at most, because kube-scheduler goes through
equal ones in no order.
"""

from __future__ import annotations

from conformance.generators.capacity import attached, published
from conformance.generators.claims import Claims
from conformance.generators.configuration import API_VERSION
from conformance.generators.draw import HOST, REGION, ZONE, Draw, Json
from conformance.generators.pods import Pods
from conformance.generators.preemption import preemption

DRIVERS = ["disk.example.com", "file.example.com"]
IN_TREE = ["kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "kubernetes.io/azure-disk", "kubernetes.io/cinder"]
MIGRATED_DRIVERS = ["ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "cinder.csi.openstack.org"]
CSI_ZONES = ["topology.ebs.csi.aws.com/zone", "topology.gke.io/zone", "topology.cinder.csi.openstack.org/zone"]
BETA = {ZONE: "failure-domain.beta.kubernetes.io/zone", REGION: "failure-domain.beta.kubernetes.io/region"}
FEATURES = ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"]
OTHER_FEATURES = ["ExtendWebSocketsToKubelet", "Zebra", "Aardvark"]


def storage(draw: Draw, pods: Pods, case: Json, newest: bool) -> Json:
    """Give a case's nodes and pods storage; returns the keys of the case that this adds.

    ``newest``: the case is about the newest version, which judges preemption too.
    """
    nodes, bound, incoming = case["nodes"], case["pods"], case["incoming"]
    for node in nodes:
        _label(draw, node)
        if not newest and draw.chance(0.4):
            _limit(draw, node)
    added: Json = {}
    if newest and draw.chance(0.25):
        added |= preemption(draw, pods, nodes, bound, incoming)
    claims = Claims(draw, nodes)
    nominated = added.get("nominated", [])
    for pod in bound:
        if draw.chance(0.45):
            claims.give(pod, placed=True)
    for pod in (*incoming, *nominated):
        if draw.chance(0.9):
            claims.give(pod, placed=False)
        if draw.chance(0.25):
            _need_features(draw, pod)
    added |= claims.objects()
    if draw.chance(0.5):
        added |= published(draw, claims)
    if draw.chance(0.3):
        added |= attached(draw, claims)
    if draw.chance(0.25):
        added["config"] = _configuration(draw, case.get("config"), newest)
    csi_nodes = [_csi_node(draw, node["metadata"]["name"]) for node in nodes if draw.chance(0.7)]
    if csi_nodes:
        added["csiNodes"] = csi_nodes
    return added


def _configuration(draw: Draw, config: Json | None, scores: bool) -> Json:
    """The case's configuration, or a new one, without some of the volume plugins or with other points.

    ``scores``: storage is scored, so that the points may be given.
    """
    if config is None:
        profile: Json = {"schedulerName": "default-scheduler"}
        config = {"apiVersion": API_VERSION, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    profile = config["profiles"][0]
    if scores and draw.chance(0.5):
        middle = {"utilization": draw.choice([30, 70]), "score": draw.randint(0, 10)}
        shape = [{"utilization": 0, "score": draw.randint(0, 10)}, middle, {"utilization": 100, "score": 3}]
        args = {"apiVersion": API_VERSION, "kind": "VolumeBindingArgs", "shape": shape}
        profile.setdefault("pluginConfig", []).append({"name": "VolumeBinding", "args": args})
    else:
        off = draw.sample(["VolumeRestrictions", "VolumeBinding", "VolumeZone", "NodeVolumeLimits"], draw.randint(1, 3))
        profile.setdefault("plugins", {})["multiPoint"] = {"disabled": [{"name": name} for name in off]}
    return config


def _label(draw: Draw, node: Json) -> None:
    labels = node["metadata"]["labels"]
    zone = labels.get(ZONE)
    if zone is not None:
        for key in CSI_ZONES:
            if draw.chance(0.7):
                labels[key] = zone
    for key, beta in BETA.items():
        if key in labels and draw.chance(0.3):
            labels[beta] = labels[key]
            if draw.chance(0.5):
                del labels[key]
    if draw.chance(0.5):
        features = [name for name in (*FEATURES, *OTHER_FEATURES) if draw.chance(0.6)]
        node["status"]["declaredFeatures"] = features if draw.chance(0.2) else sorted(features)
    elif draw.chance(0.5):
        node["status"]["declaredFeatures"] = sorted(FEATURES)
    if draw.chance(0.03):
        labels.pop(HOST, None)


def _limit(draw: Draw, node: Json) -> None:
    """Limits where nodes had them until 1.31."""
    keys = ["aws-ebs", "gce-pd", "azure-disk", "csi-disk.example.com", "csi-pd.csi.storage.gke.io"]
    amounts = {f"attachable-volumes-{key}": str(draw.randint(0, 2)) for key in keys if draw.chance(0.6)}
    node["status"]["allocatable"] = node["status"]["allocatable"] | amounts
    if draw.chance(0.3):
        node["metadata"]["labels"]["node.kubernetes.io/instance-type"] = draw.choice(["m5.large", "t2.small"])


def _csi_node(draw: Draw, name: str) -> Json:
    drivers = [_driver(draw, driver, name) for driver in (*DRIVERS, *MIGRATED_DRIVERS) if draw.chance(0.5)]
    metadata: Json = {"name": name}
    if draw.chance(0.6):
        migrated = [plugin for plugin in (*IN_TREE, "kubernetes.io/portworx-volume") if draw.chance(0.6)]
        metadata["annotations"] = {"storage.alpha.kubernetes.io/migrated-plugins": ",".join(migrated)}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": metadata,
        "spec": {"drivers": drivers},
    }


def _driver(draw: Draw, name: str, node: str) -> Json:
    driver: Json = {"name": name, "nodeID": node, "topologyKeys": [ZONE]}
    if draw.chance(0.8):
        driver["allocatable"] = {"count": draw.choice([0, 1, 1, 2, 2, 3, 5])} if draw.chance(0.95) else {}
    return driver


def _need_features(draw: Draw, pod: Json) -> None:
    spec = pod["spec"]
    container = draw.choice([*spec["containers"], *spec.get("initContainers", [])])
    x = draw.random()
    if x < 0.35:
        action = draw.choice(["RestartAllContainers", "RestartAllContainers", "Restart"])
        container["restartPolicyRules"] = [{"action": action, "exitCodes": {"operator": "In", "values": [42]}}]
    if 0.25 < x < 0.7:
        spec["hostNetwork"] = draw.chance(0.8)
        spec["hostUsers"] = draw.chance(0.2)
    if x > 0.6:
        container["volumeMounts"] = [
            {"name": "scratch", "mountPath": "/scratch", "bindMountOptions": draw.choice([[], ["noexec"], ["noexec"]])}
        ]
