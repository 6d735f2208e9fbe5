"""Changes of pod specs in an inventory: in templates, ReplicaSets and existing pods, as after a rollout."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace as with_fields
from typing import Any

from msgspec.structs import replace

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod

_WITH_TEMPLATE = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController", "Job")


def with_specs(inventory: Inventory, keys: Collection[ObjectKey], changed: Callable[[Pod], Pod]) -> Inventory:
    """Return the inventory with changed pod specs of some workloads or bare pods.

    Args:
        keys: kind, namespace and name of each workload or bare pod.
        changed: returns a given pod with the new spec. Pod templates are passed to it as pods without a name.
    """

    def key_of(item: KubeObject, kind: str) -> ObjectKey:
        return kind, item.namespace or "default", item.name

    def is_of(item: KubeObject, owners: Collection[ObjectKey]) -> bool:
        by = item.metadata.controller
        return by is not None and (by.kind, item.namespace or "default", by.name) in owners

    owners = {*keys, *(key_of(each, "ReplicaSet") for each in inventory.replica_sets if is_of(each, keys))}
    found: dict[str, Any] = {}
    for kind in _WITH_TEMPLATE:
        attribute = KINDS[kind].attribute
        items: list[Any] = list(getattr(inventory, attribute))
        found[attribute] = items
        for at, item in enumerate(items):
            if key_of(item, kind) in owners:
                template = item.spec.template
                spec = changed(Pod(metadata=template.metadata, spec=template.spec)).spec
                items[at] = replace(item, spec=replace(item.spec, template=replace(template, spec=spec)))
    pods = [changed(each) if is_of(each, owners) or key_of(each, "Pod") in owners else each for each in inventory.pods]
    return with_fields(inventory, **found, pods=pods)
