"""Changes of claims and StorageClasses that may make a pod's volumes available.

They cover the pod's claims that are missing or have no volume. `suggest` finds the changes that help.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

import msgspec
from msgspec.structs import replace

from topospread.api.device_claims import (
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
)
from topospread.api.meta import Annotations, KubeObject, ObjectMeta
from topospread.api.storage import (
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    StorageClass,
    VolumeResourceRequirements,
    default_classes,
)
from topospread.cluster.objects import ClusterObjects
from topospread.cluster.volume_use import claim_name
from topospread.controllers.planned import QueuedPod
from topospread.plugins.dynamic_resources.claims import claim_reads
from topospread.plugins.pod_volumes import (
    NO_PROVISIONER,
    WAIT_FOR_FIRST_CONSUMER,
    is_bound,
    pod_claims,
    storage_class_of,
)

from .changes import Change
from .owner import Owned
from .rejections_per_node import RejectionsPerNode
from .result import Json, Means

_TRIED = 3
_COMPARED = 100
_SIZE = "1Gi"
_PROVISIONER = "provisioner.example.com"
_DEFAULT_NAME = "standard"


def claim_changes(obstacles: RejectionsPerNode) -> Iterator[Change]:
    """Yield another StorageClass for a claim, the missing StorageClass, or the missing claim of a volume or device."""
    objects = obstacles.cluster.objects
    for read in claim_reads(obstacles.pod):
        is_template = read.kind is ResourceClaimTemplate
        missing = read.key not in (objects.resource_claim_templates if is_template else objects.resource_claims)
        if missing and (is_template or read.kind is ResourceClaim):
            yield from _new_device_claim(read.kind, obstacles.pod.namespace, read.key[1], objects)
    usable = _usable_classes(objects)
    for each in pod_claims(obstacles.pod, objects):
        if each.claim is None:
            if not each.ephemeral and usable:
                yield _new_claim(obstacles.pod.namespace, each.name, usable[0])
        elif not is_bound(each.claim) and not each.claim.spec.volume_name:
            wanted = storage_class_of(each.claim)
            of_template = each.ephemeral or (each.claim.namespace, each.claim.name) in objects.assumed_claims
            for one in () if of_template else usable[:_TRIED]:
                if one.name != wanted:
                    yield _other_class(each.claim, one)
            if wanted not in objects.storage_classes and (wanted or each.claim.spec.storage_class_name is None):
                yield _new_class(each.claim, wanted)


def template_changes(owner: Owned, queue: Iterable[QueuedPod], objects: ClusterObjects) -> Iterator[Change]:
    """Yield another StorageClass for each volume claim template. All claims without a volume get it.

    Args:
        queue: the pods of the owner that have no node.
    """
    item = objects.stateful_sets.get((owner.reference["namespace"], owner.reference["name"]))
    is_set = item is not None and owner.reference["kind"] == "StatefulSet"
    templates = (item.spec.volume_claim_templates or ()) if item is not None and is_set else ()
    volumes = owner.spec.volumes or ()
    paths = {each.name: f"{owner.path}/volumes/{at}/ephemeral/volumeClaimTemplate" for at, each in enumerate(volumes)
             if each.ephemeral is not None}  # fmt: skip
    paths |= {each.name: f"/spec/volumeClaimTemplates/{at}" for at, each in enumerate(templates)}
    own = [(volume, queued.pod) for queued in queue for volume in queued.pod.spec.volumes or ()]
    usable = _usable_classes(objects)
    for name, path in paths.items():
        named = (claim_name(pod, volume) for volume, pod in own if volume.name == name)
        namespace = owner.reference["namespace"]
        found = (objects.persistent_volume_claims.get((namespace, each)) for each in named if each is not None)
        claims = [each for each in found if each is not None and not is_bound(each) and not each.spec.volume_name]
        there = any((namespace, each.name) not in objects.assumed_claims for each in claims)
        what = f"volumeClaimTemplates {name}" if name not in {each.name for each in volumes} else f"the volume {name}"
        means: Means = "recreate" if owner.means == "rollout" and is_set else owner.means
        for each in usable[:_TRIED]:
            if any(storage_class_of(claim) != each.name for claim in claims):
                title = _class_title(each, claims[0], what) + (", for new claims in place of these" if there else "")
                patch: tuple[Json, ...] = ({"op": "add", "path": f"{path}/spec/storageClassName", "value": each.name},)
                size = (2.5, float(not default_classes([each])))
                changed = tuple(_with_class(claim, each.name) for claim in claims)
                yield Change(
                    "storageClassName", title, owner.reference, patch, means, size, objects=changed, file=owner.file
                )


def _new_device_claim(kind: type[KubeObject], namespace: str, name: str, objects: ClusterObjects) -> Iterator[Change]:
    """Yield the missing claim or template, with the requests of a similar template or for one device of a class."""
    alike = [each for each in objects.resource_claim_templates.values() if each.namespace == namespace][:_COMPARED]
    alike.sort(key=lambda each: SequenceMatcher(None, each.name, name).ratio(), reverse=True)
    if alike:
        spec, what = alike[0].spec.spec, f"with the requests of {alike[0].name}"
    else:
        of = min(objects.device_classes, default="")
        request = DeviceRequest(name="device", exactly=ExactDeviceRequest(device_class_name=of, count=1))
        spec, what = ResourceClaimSpec(devices=DeviceClaim(requests=[request])), f"for one device of the class {of}"
        if not of:
            return
    metadata, version = ObjectMeta(namespace=namespace, name=name), "resource.k8s.io/v1"
    made: KubeObject
    if kind is ResourceClaim:
        made = ResourceClaim(api_version=version, kind=kind.__name__, metadata=metadata, spec=spec)
    else:
        of_pods = ResourceClaimTemplateSpec(spec=spec)
        made = ResourceClaimTemplate(api_version=version, kind=kind.__name__, metadata=metadata, spec=of_pods)
    listed = {"apiVersion": version, "kind": f"{kind.__name__}List", "namespace": namespace, "name": ""}
    patch: tuple[Json, ...] = ({"op": "add", "path": "/items/-", "value": msgspec.to_builtins(made)},)
    title = f"a {kind.__name__} {name} in the namespace {namespace} (here {what})"
    yield Change("newClaim", title, listed, patch, "cluster", (2.5,), objects=(made,))


def _usable_classes(objects: ClusterObjects) -> list[StorageClass]:
    """Return the classes with WaitForFirstConsumer and a provisioner, default classes first."""
    found = [
        each
        for each in objects.storage_classes.values()
        if each.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER and each.provisioner != NO_PROVISIONER
    ]
    default = {each.name for each in default_classes(found)}
    return sorted(found, key=lambda each: each.name not in default)


def _class_title(storage_class: StorageClass, claim: PersistentVolumeClaim, where: str) -> str:
    instead = f" instead of {storage_class_of(claim)}" if storage_class_of(claim) else ""
    default = ", the default class" if default_classes([storage_class]) else ""
    return f"storageClassName {storage_class.name}{instead} in {where}{default}"


def _with_class(claim: PersistentVolumeClaim, name: str) -> PersistentVolumeClaim:
    annotations = claim.metadata.annotations
    if annotations is not None and annotations.storage_class is not None:
        annotations = replace(annotations, storage_class=None)
    metadata = replace(claim.metadata, annotations=annotations)
    return replace(claim, metadata=metadata, spec=replace(claim.spec, storage_class_name=name))


def _other_class(claim: PersistentVolumeClaim, storage_class: StorageClass) -> Change:
    name, annotations = storage_class.name, claim.metadata.annotations
    patch: list[Json] = []
    if annotations is not None and annotations.storage_class is not None:
        patch.append({"op": "remove", "path": "/metadata/annotations/volume.beta.kubernetes.io~1storage-class"})
    patch.append({"op": "add", "path": "/spec/storageClassName", "value": name})
    title = _class_title(storage_class, claim, f"the claim {claim.name}")
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": claim.namespace, "name": claim.name}
    size = (2.5, float(not default_classes([storage_class])))
    changed = (_with_class(claim, name),)
    return Change("storageClassName", title, reference, tuple(patch), "cluster", size, objects=changed)


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
