"""New pods and workloads with all fields and defaults, in the JSON form that CEL policies read.

Sources: pkg/apis/core/v1/defaults.go, zz_generated.defaults.go, pkg/apis/{apps,batch}/v1/defaults.go (Kubernetes 1.37).
``empty_fields.json`` (printed by conformance/oracle/cmd) lists the fields that JSON omits if they are zero.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Final

from topospread.api.quantity import Quantity
from topospread.api.validation.defaults import containers_of, default_pod
from topospread.api.validation.jobs import default_cron_job, default_job
from topospread.api.validation.schema import STRUCT_OF, decoded, field_struct, fields_of
from topospread.api.validation.workloads import default_workload
from topospread.cel.values import Unknown

Json = dict[str, Any]

_MODES: Final = ("secret", "configMap", "downwardAPI", "projected")
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_VOLUME_DEFAULTS: Final[dict[str, Json]] = {
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
    **{name: {"defaultMode": 420} for name in _MODES},
}
_WORKLOAD_DEFAULTS: Final[dict[str, Json]] = {
    "Deployment": {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600},
    "ReplicaSet": {"replicas": 1},
    "ReplicationController": {"replicas": 1},
    "DaemonSet": {"revisionHistoryLimit": 10},
    "StatefulSet": {
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "podManagementPolicy": "OrderedReady",
        "persistentVolumeClaimRetentionPolicy": {},
    },
    "CronJob": {
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    },
    "Job": {"completionMode": "NonIndexed", "suspend": False, "backoffLimit": 6, "manualSelector": False},
}
_ROLLING: Final[dict[str, tuple[str, Json]]] = {
    "Deployment": ("strategy", {"maxUnavailable": "25%", "maxSurge": "25%"}),
    "DaemonSet": ("updateStrategy", {"maxUnavailable": 1, "maxSurge": 0}),
    "StatefulSet": ("updateStrategy", {"partition": 0, "maxUnavailable": 1}),
}


def written(kind: str, given: Json) -> Json:
    """Return a new object with all defaults, as JSON. Values that the API server generates are `Unknown`.

    Args:
        kind: key of `STRUCT_OF`.
        given: the object as plain data, without `Unknown` values.
    """
    found = completed_fields(kind, given)
    metadata = found["metadata"]
    metadata |= {name: Unknown(f"metadata.{name}") for name in ("uid", "creationTimestamp", "managedFields")}
    if not metadata.get("name"):
        metadata["name"] = Unknown("the generated name")
    if kind == "Pod":
        found["status"] = {"phase": "Pending", "qosClass": Unknown("status.qosClass")}
        if found["spec"].get("schedulingGates"):
            found["status"]["conditions"] = Unknown("status.conditions")
    if kind == "Job" and not given.get("spec", {}).get("manualSelector"):
        _forget_uid(found)
    return found


def completed_fields(kind: str, given: Json) -> Json:
    """Return an object with all defaults, as JSON, but without the fields that the API server sets at storage."""
    made = decoded(given, STRUCT_OF[kind])
    made.pop("status", None)
    _complete(kind, made)
    metadata = made["metadata"]
    for name in ("managedFields", "resourceVersion", "uid", "creationTimestamp", "deletionTimestamp", "selfLink"):
        metadata.pop(name, None)
    found: Json = _as_json(made, STRUCT_OF[kind])
    return found


def overlaid(kind: str, path: str, value: Any) -> Any:
    """Return a field's value as JSON, such as tolerations that an admission plugin added.

    ``kind`` is the struct of the field, and ``path`` the field's name.
    """
    holder = decoded({path: value}, kind)
    return _as_json(holder, kind)[path]


def _complete(kind: str, made: Json) -> None:
    made |= {"apiVersion": made.get("apiVersion", ""), "kind": kind, "metadata": made.get("metadata", {})}
    spec = made.setdefault("spec", {})
    if kind == "Pod":
        _complete_spec(spec)
        spec.setdefault("enableServiceLinks", True)
        default_pod(made)
        return
    job = spec.setdefault("jobTemplate", {}).setdefault("spec", {}) if kind == "CronJob" else spec
    _complete_spec(job.setdefault("template", {}).setdefault("spec", {}))
    for name, value in _WORKLOAD_DEFAULTS[kind].items():
        spec.setdefault(name, value)
    if kind == "Job":
        shares = bool(spec["template"].get("metadata", {}).get("labels")) and not made["metadata"].get("labels")
        default_job(made)
        _complete_job(spec)
        if shares:
            made["metadata"]["labels"] = spec["template"]["metadata"]["labels"]
    elif kind == "CronJob":
        default_cron_job(made)
    else:
        default_workload(made)
    if kind in _ROLLING:
        field, defaults = _ROLLING[kind]
        strategy = spec.setdefault(field, {})
        strategy["type"] = strategy.get("type") or "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            strategy["rollingUpdate"] = defaults | strategy.get("rollingUpdate", {})
    if kind == "StatefulSet":
        _complete_stateful_set(spec)
    if kind == "DaemonSet":
        made["metadata"].setdefault("annotations", {})["deprecated.daemonset.template.generation"] = "1"
    if kind == "ReplicationController" and not spec.get("selector"):
        spec["selector"] = dict(spec["template"]["metadata"].get("labels", {}))


def _complete_stateful_set(spec: Json) -> None:
    policy = spec["persistentVolumeClaimRetentionPolicy"]
    for name in ("whenDeleted", "whenScaled"):
        policy[name] = policy.get(name) or "Retain"
    for claim in spec.get("volumeClaimTemplates", ()):
        claim |= {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"}}
        claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")


def _complete_job(spec: Json) -> None:
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    for rule in spec.get("podFailurePolicy", {}).get("rules", ()):
        for pattern in rule.get("onPodConditions", ()):
            pattern["status"] = pattern.get("status") or "True"


def _forget_uid(job: Json) -> None:
    """Mark a Job's uid as unknown in its labels and selector."""
    template = job["spec"]["template"]["metadata"]
    for labels in (job["metadata"].get("labels", {}), template["labels"], job["spec"]["selector"]["matchLabels"]):
        for key in labels.keys() & {"controller-uid", "batch.kubernetes.io/controller-uid"}:
            labels[key] = Unknown("the uid of the Job")


def _complete_spec(spec: Json) -> None:
    spec.setdefault("securityContext", {})
    spec["schedulerName"] = spec.get("schedulerName") or "default-scheduler"
    for container in containers_of(spec):
        container["terminationMessagePath"] = container.get("terminationMessagePath") or "/dev/termination-log"
        container["imagePullPolicy"] = container.get("imagePullPolicy") or _pull_policy(container.get("image", ""))
        for probe in (container[name] for name in _PROBES if name in container):
            if "grpc" in probe:
                probe["grpc"].setdefault("service", "")
        for variable in container.get("env", ()):
            if "fileKeyRef" in variable.get("valueFrom", {}):
                variable["valueFrom"]["fileKeyRef"].setdefault("optional", False)
    for volume in spec.get("volumes", ()):
        _complete_volume(volume)


def _complete_volume(volume: Json) -> None:
    if volume.keys() <= {"name"}:
        volume["emptyDir"] = {}
    for name in volume.keys() & _VOLUME_DEFAULTS.keys():
        for field, value in _VOLUME_DEFAULTS[name].items():
            # Default a pointer field only if it is missing, and a string field also if it is "".
            if volume[name].get(field) is None or (volume[name][field] == "" and value and name != "azureDisk"):
                volume[name][field] = value
    for source in volume.get("projected", {}).get("sources", ()):
        if "serviceAccountToken" in source:
            source["serviceAccountToken"].setdefault("expirationSeconds", 3600)
    if "image" in volume:
        image = volume["image"]
        image["pullPolicy"] = image.get("pullPolicy") or _pull_policy(image.get("reference", ""))
    if "volumeClaimTemplate" in volume.get("ephemeral", {}):
        volume["ephemeral"]["volumeClaimTemplate"].setdefault("spec", {}).setdefault("volumeMode", "Filesystem")


def _pull_policy(image: str) -> str:
    name, _, digest = image.rpartition("/")[2].partition("@")
    tag = name.partition(":")[2] or ("" if digest else "latest")
    return "Always" if tag == "latest" else "IfNotPresent"


@cache
def _empty_fields() -> dict[str, tuple[frozenset[str], tuple[str, ...]]]:
    """Return struct → (fields that JSON omits if zero, fields that JSON always has)."""
    read = json.loads(files(__package__).joinpath("empty_fields.json").read_text("utf-8"))
    return {
        struct: (frozenset(row.get("omitted", "").split()), tuple(row.get("written", "").split()))
        for struct, row in read.items()
    }


def _as_json(value: Any, kind: str) -> Any:
    if isinstance(value, Quantity):
        return str(value)
    if kind.startswith("[]") and isinstance(value, list):
        return [_as_json(each, kind[2:]) for each in value]
    if kind.startswith("map ") and isinstance(value, dict):
        return {key: _as_json(each, kind[4:]) for key, each in value.items()}
    if not isinstance(value, dict) or not fields_of(kind, ()):
        return value
    omitted, always = _empty_fields().get(kind, (frozenset(), ()))
    found = {
        name: _as_json(each, field_struct(kind, name))
        for name, each in value.items()
        if not (name in omitted and _is_zero(each))
    }
    return found | dict(_missing(kind, [name for name in always if name not in found]))


def _is_zero(value: Any) -> bool:
    return not isinstance(value, Quantity) and not value


def _missing(kind: str, names: list[str]) -> Iterator[tuple[str, Any]]:
    known = set(fields_of(kind, ()))
    for name in names:
        if name not in known:
            continue
        of = field_struct(kind, name)
        if fields_of(of, ()):
            yield name, _as_json({}, of)
        else:
            yield name, {"string": "", "bool": False, "quantity": "0"}.get(of, 0 if of.startswith("int") else None)
