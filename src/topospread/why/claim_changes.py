"""Changes of claims and StorageClasses that may make a pod's volumes available.

They cover the pod's claims that are missing or have no volume. `suggest` finds the changes that help.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from topospread.api.meta import Annotations, KubeObject, ObjectMeta
from topospread.api.storage import (
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    StorageClass,
    VolumeResourceRequirements,
    default_classes,
)
from topospread.cluster.objects import ClusterObjects
from topospread.plugins.pod_volumes import NO_PROVISIONER, WAIT_FOR_FIRST_CONSUMER, claim_class, is_bound, pod_claims

from .changes import Change
from .rejections_per_node import RejectionsPerNode
from .result import Json

_TRIED = 3
_SIZE = "1Gi"
_PROVISIONER = "provisioner.example.com"
_DEFAULT_NAME = "standard"


def claim_changes(obstacles: RejectionsPerNode) -> Iterator[Change]:
    """Another StorageClass for a claim, a StorageClass that is missing, a claim that is missing."""
    objects = obstacles.cluster.objects
    usable = _usable_classes(objects)
    for each in pod_claims(obstacles.pod, objects):
        if each.claim is None:
            if not each.ephemeral and usable:
                yield _new_claim(obstacles.pod.namespace, each.name, usable[0])
        elif not is_bound(each.claim) and not each.claim.spec.volume_name:
            yield from _of_unbound(each.claim, usable, objects)


def _usable_classes(objects: ClusterObjects) -> list[StorageClass]:
    """Classes whose volumes are made for the first pod, the default ones first."""
    found = [
        each
        for each in objects.storage_classes.values()
        if each.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER and each.provisioner != NO_PROVISIONER
    ]
    default = {each.name for each in default_classes(found)}
    return sorted(found, key=lambda each: each.name not in default)


def _of_unbound(claim: PersistentVolumeClaim, usable: list[StorageClass], objects: ClusterObjects) -> Iterator[Change]:
    wanted = claim_class(claim)
    for each in usable[:_TRIED]:
        if each.name != wanted:
            yield _other_class(claim, each)
    if wanted not in objects.storage_classes and (wanted or claim.spec.storage_class_name is None):
        yield _new_class(claim, wanted)


def _other_class(claim: PersistentVolumeClaim, storage_class: StorageClass) -> Change:
    name = storage_class.name
    default = ", the default class" if default_classes([storage_class]) else ""
    instead = f" instead of {claim_class(claim)}" if claim_class(claim) else ""
    annotations = claim.metadata.annotations
    patch: list[Json] = []
    if annotations is not None and annotations.storage_class is not None:
        patch.append({"op": "remove", "path": "/metadata/annotations/volume.beta.kubernetes.io~1storage-class"})
        annotations = replace(annotations, storage_class=None)
    patch.append({"op": "add", "path": "/spec/storageClassName", "value": name})
    changed = replace(
        claim,
        metadata=replace(claim.metadata, annotations=annotations),
        spec=replace(claim.spec, storage_class_name=name),
    )
    title = f"storageClassName {name}{instead} in the claim {claim.name}{default}"
    return _change("storageClassName", title, patch, changed, (2.5, float(not default)))


def _new_class(claim: PersistentVolumeClaim, wanted: str) -> Change:
    name = wanted or _DEFAULT_NAME
    made = StorageClass(
        api_version="storage.k8s.io/v1",
        kind="StorageClass",
        metadata=ObjectMeta(name=name, annotations=None if wanted else Annotations(is_default_class="true")),
        provisioner=_PROVISIONER,
        volume_binding_mode=WAIT_FOR_FIRST_CONSUMER,
    )
    what = f"a StorageClass {name}" if wanted else "a default StorageClass"
    listed = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClassList", "namespace": "", "name": ""}
    patch: tuple[Json, ...] = ({"op": "add", "path": "/items/-", "value": msgspec.to_builtins(made)},)
    changed: tuple[KubeObject, ...] = (made,)
    if not wanted:
        changed = (made, replace(claim, spec=replace(claim.spec, storage_class_name=name)))
    title = f"{what}, whose provisioner makes the volume of the claim {claim.name}"
    return Change("newStorageClass", title, listed, patch, "cluster", (3.5,), objects=changed)


def _new_claim(namespace: str, name: str, storage_class: StorageClass) -> Change:
    made = PersistentVolumeClaim(
        api_version="v1",
        kind="PersistentVolumeClaim",
        metadata=ObjectMeta(namespace=namespace, name=name),
        spec=PersistentVolumeClaimSpec(
            access_modes=["ReadWriteOnce"],
            resources=VolumeResourceRequirements(requests={"storage": _SIZE}),
            storage_class_name=storage_class.name,
        ),
    )
    listed = {"apiVersion": "v1", "kind": "PersistentVolumeClaimList", "namespace": namespace, "name": ""}
    patch: tuple[Json, ...] = ({"op": "add", "path": "/items/-", "value": msgspec.to_builtins(made)},)
    title = f"a claim {name} in the namespace {namespace}, of the class {storage_class.name} (here of {_SIZE})"
    return Change("newClaim", title, listed, patch, "cluster", (2.5,), objects=(made,))


def _change(
    kind: str, title: str, patch: list[Json], changed: PersistentVolumeClaim, size: tuple[float, ...]
) -> Change:
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": changed.namespace,
        "name": changed.name,
    }
    return Change(kind, title, reference, tuple(patch), "cluster", size, objects=(changed,))
