"""Fields that the API server adds to new objects, except pods (`pod_admission`): names, uids, namespaces, selectors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.meta import KubeObject, ObjectMeta
from topospread.api.node import Namespace
from topospread.api.well_known_labels import NAMESPACE_NAME
from topospread.api.workload import ReplicationController
from topospread.errors import InvalidError, Place

from .names import Names, generated_uid

DEFAULT_NAMESPACE = "default"

_CONTROLLERS: Mapping[str, str] = {
    "Deployment": "deployments",
    "ReplicaSet": "replica_sets",
    "ReplicationController": "replication_controllers",
    "StatefulSet": "stateful_sets",
    "DaemonSet": "daemon_sets",
    "Job": "jobs",
    "CronJob": "cron_jobs",
}
_NAMESPACED = (
    "services",
    "horizontal_pod_autoscalers",
    "pod_disruption_budgets",
    "persistent_volume_claims",
    "limit_ranges",
    "resource_quotas",
)

Object = TypeVar("Object", bound=KubeObject)
_LISTS = tuple(each.name for each in dataclasses.fields(Inventory) if str(each.type).startswith("list["))


def completed(inventory: Inventory, names: Names) -> Inventory:
    """Return a copy in which every object has a namespace, and every controller a name and a uid.

    A controller without a uid gets the uid to which owner references in the input point, if there are any.

    Raises:
        InvalidError: if an object has neither name nor generateName.
    """
    result = dataclasses.replace(
        inventory,
        **{name: list(getattr(inventory, name)) for name in _LISTS},
        places=inventory.places.copy(),
        declared=dict(inventory.declared),
        skipped=inventory.skipped.copy(),
        unmodelled=inventory.unmodelled.copy(),
        unread=dict(inventory.unread),
    )
    result.pods = [_named("Pod", each, result, names) for each in inventory.pods]
    for attribute in _NAMESPACED:
        setattr(result, attribute, [in_namespace(each) for each in getattr(inventory, attribute)])
    for kind, attribute in _CONTROLLERS.items():
        setattr(result, attribute, [_named(kind, each, result, names) for each in getattr(inventory, attribute)])
    result.replication_controllers = [_with_selector(each) for each in result.replication_controllers]
    uids = _uids_referred_to(result) if _some_lack_uid(result) else {}
    for kind, attribute in _CONTROLLERS.items():
        setattr(result, attribute, [_with_uid(kind, each, uids) for each in getattr(result, attribute)])
    # Namespaces of all objects, each labelled with its name (`SetDefaults_Namespace`).
    given = [_labelled(each) for each in result.namespaces]
    known = {each.name for each in given}
    for attribute in (*_CONTROLLERS.values(), *_NAMESPACED, "pods"):
        for item in getattr(result, attribute):
            name = item.metadata.namespace
            if name not in known:
                known.add(name)
                metadata = ObjectMeta(name=name)
                given.append(_labelled(Namespace(api_version="v1", kind="Namespace", metadata=metadata)))
    result.namespaces = given
    return result


def in_namespace(item: Object) -> Object:
    """Return the object with namespace ``default`` if it names none."""
    if item.metadata.namespace:
        return item
    return replace(item, metadata=replace(item.metadata, namespace=DEFAULT_NAMESPACE))


def _named(kind: str, item: Object, inventory: Inventory, names: Names) -> Object:
    metadata = item.metadata
    if metadata.name and metadata.namespace:
        return item
    item = in_namespace(item)
    if metadata.name:
        return item
    place = inventory.places.get((kind, item.namespace, metadata.generate_name or ""), Place(object=kind))
    if not metadata.generate_name:
        raise InvalidError(["metadata.name: Required value: name or generateName is required"], place.at("metadata"))
    name = next(names.generate(item.namespace, metadata.generate_name))
    inventory.places[kind, item.namespace, name] = place
    return replace(item, metadata=replace(item.metadata, name=name))


def _with_selector(item: ReplicationController) -> ReplicationController:
    """Return a controller with a selector; by default its template's labels (``SetDefaults_ReplicationController``)."""
    labels = item.spec.template.metadata.labels if item.spec.template else None
    return item if item.spec.selector or not labels else replace(item, spec=replace(item.spec, selector=labels))


def _some_lack_uid(inventory: Inventory) -> bool:
    return any(not each.metadata.uid for attribute in _CONTROLLERS.values() for each in getattr(inventory, attribute))


def _uids_referred_to(inventory: Inventory) -> dict[ObjectKey, str]:
    """Return key of an owner → its uid in the owner references of other objects."""
    uids: dict[ObjectKey, str] = {}
    owned: Iterable[KubeObject]
    for owned in (inventory.replica_sets, inventory.jobs, inventory.pods):
        for item in owned:
            owner = item.metadata.controller
            if owner is not None and owner.uid:
                uids.setdefault((owner.kind, item.namespace, owner.name), owner.uid)
    return uids


def _with_uid(kind: str, item: Object, uids: Mapping[ObjectKey, str]) -> Object:
    if item.metadata.uid:
        return item
    key = kind, item.namespace, item.name
    return replace(item, metadata=replace(item.metadata, uid=uids.get(key) or generated_uid(*key)))


def _labelled(namespace: Namespace) -> Namespace:
    if namespace.labels.get(NAMESPACE_NAME) == namespace.name:
        return namespace
    labels = {**namespace.labels, NAMESPACE_NAME: namespace.name}
    return replace(namespace, metadata=replace(namespace.metadata, labels=labels))
