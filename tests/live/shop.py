"""A small shop of every kind that topospread reads, with what nobody should see put wherever it may stand."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

SECRET = "hunter2"
"""Stands in environment, arguments, annotations, Secrets and ConfigMaps."""

PODS = 47
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def made(
    kind: str, name: str, version: str = "v1", *, namespace: str = "", labels: Json | None = None, **more: Any
) -> Json:
    metadata: Json = {"name": name, "annotations": {"example.com/token": SECRET}, "labels": labels or {}}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": version, "kind": kind, "metadata": metadata | more.pop("metadata", {}), **more}


def pod_spec(app: str, **more: Any) -> Json:
    container = {
        "name": "c",
        "image": f"registry.acme.example/{app}:1",
        "command": ["serve"],
        "args": [f"--token={SECRET}"],
        "env": [{"name": "PASSWORD", "value": SECRET}],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
    }
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": app}},
        },
        {
            "maxSkew": 2,
            "topologyKey": "acme.example/rack",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app": app}},
        },
    ]
    return {"containers": [container], "topologySpreadConstraints": spread} | more


def template(app: str, labels: Json | None = None) -> Json:
    return {"metadata": {"labels": {"app": app} | (labels or {})}, "spec": pod_spec(app)}


def node(number: int) -> Json:
    amounts = {"cpu": "2", "memory": "8Gi", "pods": "20"}
    labels = {HOST: f"node-{number}", ZONE: f"zone-{'abc'[number % 3]}", "acme.example/rack": f"rack-{number % 4}"}
    taints = [{"key": "acme.example/dedicated", "value": "batch", "effect": "NoSchedule"}] if number == 5 else []
    status = {"capacity": amounts, "allocatable": amounts, "addresses": [{"type": "InternalIP", "address": "10.9.8.7"}]}
    return made("Node", f"node-{number}", labels=labels, spec={"taints": taints}, status=status)


def policies() -> list[Json]:
    """Return policies of both kinds, which concern no object here, and their bindings."""
    version = "admissionregistration.k8s.io/v1"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    nowhere = {"resourceRules": [rule], "namespaceSelector": {"matchLabels": {"example.com/policies": "yes"}}}
    refuses = {"matchConstraints": nowhere, "validations": [{"expression": "object.metadata.name != 'acme-denied'"}]}
    label = 'Object{metadata: Object.metadata{labels: {"acme.example/team": "web"}}}'
    changes = {
        "matchConstraints": nowhere,
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": label}}],
    }
    deny = {"policyName": "refuses", "validationActions": ["Deny"]}
    return [
        made("ValidatingAdmissionPolicy", "refuses", version, spec=refuses),
        made("ValidatingAdmissionPolicyBinding", "refuses", version, spec=deny),
        made("MutatingAdmissionPolicy", "changes", version, spec=changes),
        made("MutatingAdmissionPolicyBinding", "changes", version, spec={"policyName": "changes"}),
    ]


def objects() -> list[list[Json]]:
    """What to create, owners before what they own."""
    selector = {"matchLabels": {"app": "web"}}
    hashed = {"app": "web", "pod-template-hash": "5d4f8c7b9"}
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "fast",
    }
    devices: Json = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpus"}}]}}
    shop: Json = {"namespace": "shop"}
    base = [
        made("Namespace", "shop"),
        made("Secret", "secret", **shop, stringData={"password": SECRET}),
        made("ConfigMap", "config", **shop, data={"password": SECRET}),
        made("PriorityClass", "important", "scheduling.k8s.io/v1", value=1000),
        made("StorageClass", "fast", "storage.k8s.io/v1", provisioner="csi.acme.example"),
        made("RuntimeClass", "sandbox", "node.k8s.io/v1", handler="sandbox"),
        made("DeviceClass", "gpus", "resource.k8s.io/v1", spec={}),
        made(
            "ResourceSlice",
            "node-0-gpus",
            "resource.k8s.io/v1",
            spec={
                "driver": "gpu.acme.example",
                "nodeName": "node-0",
                "pool": {"name": "acme-pool", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "gpu-0"}],
            },
        ),
        made(
            "DeviceTaintRule",
            "broken",
            "resource.k8s.io/v1",
            spec={
                "deviceSelector": {"driver": "gpu.acme.example", "pool": "acme-pool", "device": "gpu-1"},
                "taint": {"key": "acme.example/broken", "effect": "NoSchedule"},
            },
        ),
        made(
            "HorizontalPodAutoscaler",
            "web",
            "autoscaling/v2",
            **shop,
            spec={
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "minReplicas": 1,
                "maxReplicas": 99,
            },
        ),
        made(
            "PersistentVolume",
            "disk-1",
            spec={
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "fast",
                "csi": {"driver": "csi.acme.example", "volumeHandle": "h-1", "volumeAttributes": {"password": SECRET}},
            },
        ),
        made("CSIDriver", "csi.acme.example", "storage.k8s.io/v1", spec={"storageCapacity": True}),
        *(node(number) for number in range(6)),
        made(
            "CSINode",
            "node-0",
            "storage.k8s.io/v1",
            spec={"drivers": [{"name": "csi.acme.example", "nodeID": "i-1", "topologyKeys": [ZONE]}]},
        ),
        made(
            "VolumeAttachment",
            "csi-1",
            "storage.k8s.io/v1",
            spec={
                "attacher": "csi.acme.example",
                "nodeName": "node-0",
                "source": {"persistentVolumeName": "disk-1"},
            },
        ),
    ]
    workloads = [
        made("ResourceClaim", "gpu", "resource.k8s.io/v1", **shop, spec=devices),
        made("ResourceClaimTemplate", "gpu", "resource.k8s.io/v1", **shop, spec={"spec": devices}),
        made(
            "Workload",
            "training",
            "scheduling.k8s.io/v1beta1",
            **shop,
            spec={"podGroupTemplates": [{"name": "workers", "schedulingPolicy": {"gang": {"minCount": 2}}}]},
        ),
        made(
            "PodGroup",
            "training-workers",
            "scheduling.k8s.io/v1beta1",
            **shop,
            spec={
                "workloadRef": {"workloadName": "training", "templateName": "workers"},
                "schedulingPolicy": {"gang": {"minCount": 2}},
            },
        ),
        made(
            "LimitRange", "limits", **shop, spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": "50m"}}]}
        ),
        made("ResourceQuota", "most", **shop, spec={"hard": {"pods": "999"}}),
        *policies(),
        made(
            "CSIStorageCapacity",
            "fast-a",
            "storage.k8s.io/v1",
            **shop,
            storageClassName="fast",
            capacity="100Gi",
            nodeTopology={"matchLabels": {ZONE: "zone-a"}},
        ),
        made("Service", "web", **shop, spec={"selector": {"app": "web"}, "ports": [{"port": 80}]}),
        made("PersistentVolumeClaim", "data", **shop, spec=claim),
        made("PodDisruptionBudget", "web", "policy/v1", **shop, spec={"selector": selector, "minAvailable": 1}),
        made(
            "Deployment",
            "web",
            "apps/v1",
            **shop,
            spec={"replicas": PODS + 2, "selector": selector, "template": template("web")},
        ),
        made(
            "ReplicaSet",
            "web-5d4f8c7b9",
            "apps/v1",
            **shop,
            labels=hashed,
            metadata={"ownerReferences": [owner("Deployment", "web")]},
            spec={"replicas": PODS + 2, "selector": {"matchLabels": hashed}, "template": template("web", hashed)},
        ),
        made(
            "StatefulSet",
            "db",
            "apps/v1",
            **shop,
            spec={
                "replicas": 3,
                "serviceName": "db",
                "selector": {"matchLabels": {"app": "db"}},
                "template": template("db"),
                "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
            },
        ),
        made(
            "DaemonSet",
            "agent",
            "apps/v1",
            **shop,
            spec={"selector": {"matchLabels": {"app": "agent"}}, "template": template("agent")},
        ),
        made(
            "ReplicationController",
            "old",
            **shop,
            spec={"replicas": 1, "selector": {"app": "old"}, "template": template("old")},
        ),
        made("Job", "once", "batch/v1", **shop, spec={"template": {"spec": pod_spec("once", restartPolicy="Never")}}),
        made(
            "CronJob",
            "nightly",
            "batch/v1",
            **shop,
            spec={
                "schedule": "@daily",
                "jobTemplate": {"spec": {"template": {"spec": pod_spec("nightly", restartPolicy="Never")}}},
            },
        ),
    ]
    pods = [
        made(
            "Pod",
            f"web-5d4f8c7b9-{number:05d}",
            **shop,
            labels=hashed,
            metadata={"ownerReferences": [owner("ReplicaSet", "web-5d4f8c7b9")]},
            spec=pod_spec("web", nodeName=f"node-{number % 5}"),
        )
        for number in range(PODS)
    ]
    owned = [each for each in workloads if "ownerReferences" in each["metadata"]]
    owners = [each for each in workloads if each not in owned]
    return [base, owners, owned, pods]


def owner(kind: str, name: str) -> Json:
    """A controller that is there."""
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "controller": True}
