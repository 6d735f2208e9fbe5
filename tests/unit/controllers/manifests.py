"""Manifests in YAML → an inventory, without the checks that reading files makes."""

from __future__ import annotations

from typing import Any

import msgspec
import yaml

from topospread.api.inventory import ABSENT, Inventory
from topospread.api.kinds import KINDS
from topospread.controllers.planned import Plan, QueuedPod, Workload
from topospread.errors import Place

Json = dict[str, Any]


def inventory(*objects: Json | str) -> Inventory:
    """An inventory of objects, given as plain data or as YAML documents, in this order."""
    result = Inventory()
    for each in objects:
        for document, item in enumerate(yaml.safe_load_all(each) if isinstance(each, str) else [each], 1):
            kind = KINDS[item["kind"]]
            typed = msgspec.convert(item, kind.struct)
            getattr(result, kind.attribute).append(typed)
            name = typed.name or typed.metadata.generate_name or ""
            namespace = (typed.namespace or "default") if kind.namespaced else ""
            place = Place(source="app.yaml", document=document, object=f"{item['kind']} {namespace}/{name}")
            result.places[item["kind"], namespace, name] = place
    if not result.storage_classes:
        result.unread["StorageClass"] = ABSENT
    return result


def node(name: str, **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def container(**resources: Any) -> Json:
    return {"name": "c", "image": "image:1", "resources": resources}


def workload(kind: str, name: str, **spec: Any) -> Json:
    """A workload whose pods are labelled ``app: NAME``; ``pod`` is its pods' spec."""
    labels = {"app": name}
    pod = {"containers": [container()], **spec.pop("pod", {})}
    template = {"metadata": {"labels": labels}, "spec": pod}
    selector: Json = {"matchLabels": labels}
    if kind == "ReplicationController":
        selector = labels
    if kind == "Job":
        pod.setdefault("restartPolicy", "Never")
        return {
            "apiVersion": "batch/v1",
            "kind": kind,
            "metadata": {"name": name},
            "spec": {"template": template, **spec},
        }
    return {
        "apiVersion": "v1" if kind == "ReplicationController" else "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"selector": selector, "template": template, **spec},
    }


def pod(name: str, owner: str = "", node_name: str = "", **fields: Any) -> Json:
    """A pod; ``owner``: ``Kind/name`` of its controller; other fields: labels, phase, created, uid, and its spec's."""
    kind, _, owner_name = owner.partition("/")
    metadata: Json = {"name": name, "labels": fields.pop("labels", {})}
    for field in ("uid", "creationTimestamp", "deletionTimestamp", "annotations", "namespace"):
        if field in fields:
            metadata[field] = fields.pop(field)
    if owner:
        version = {"ReplicationController": "v1", "Job": "batch/v1", "Node": "v1"}.get(kind, "apps/v1")
        metadata["ownerReferences"] = [{"apiVersion": version, "kind": kind, "name": owner_name, "controller": True}]
    status = {"phase": fields.pop("phase", "Running" if node_name else "Pending"), **fields.pop("status", {})}
    spec = {"containers": [container()], **({"nodeName": node_name} if node_name else {}), **fields}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def ready(since: str = "2026-01-01T00:00:00Z") -> Json:
    return {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": since}]}


def row(plan: Plan, name: str) -> Workload:
    """The workload of a name."""
    (found,) = (each for each in plan.workloads if each.name == name)
    return found


def queued(plan: Plan, name: str = "") -> list[QueuedPod]:
    """The pods to place, of one workload if its name is given."""
    return [each for each in plan.queue if name in ("", each.workload.name)]


def names(plan: Plan, name: str = "") -> list[str]:
    return [each.name for each in queued(plan, name)]
