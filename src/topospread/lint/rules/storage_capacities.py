"""Rules about StorageClasses and CSIStorageCapacities, which decide where new volumes can be provisioned."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.storage import CSIStorageCapacity, PersistentVolumeClaim
from topospread.api.workload import StatefulSet
from topospread.lint.examples import deployment
from topospread.lint.lint_input import LintInput, LintSubject, Manifest
from topospread.lint.problem import Problem
from topospread.lint.rule import Example, Rule
from topospread.text import there_are


def _without_capacity(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    """Source: plugins/volumebinding/volume_binding.go (``Score``), which reads ``capacity`` without a check."""
    if not given.gates.enabled("StorageCapacityScoring"):
        return
    for manifest in given.of_kind("CSIStorageCapacity"):
        item = manifest.item
        if isinstance(item, CSIStorageCapacity) and item.maximum_volume_size is not None and item.capacity is None:
            message = "set capacity: without it kube-scheduler panics when it scores a node for a volume that fits"
            yield manifest, Problem("maximumVolumeSize", message)


def _class_missing(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    inventory = given.inventory
    if "StorageClass" in inventory.unread:
        return
    classes = {each.name for each in inventory.storage_classes}
    # A volume that an administrator created may name a class that does not exist.
    known = {"", *classes, *(each.spec.storage_class_name for each in inventory.persistent_volumes)}
    others = there_are(classes) if classes else "there are none"
    for manifest in given.manifests:
        for path, name in _classes_of(manifest, given):
            if name not in known:
                yield manifest, Problem(f"{path}.storageClassName", f"no StorageClass {name}: {others}")


def _classes_of(manifest: Manifest, given: LintInput) -> Iterator[tuple[str, str]]:
    """Yield the path of each spec of a claim without a volume, and its StorageClass."""
    item = manifest.item
    if isinstance(item, PersistentVolumeClaim) and not item.spec.volume_name:
        yield "spec", item.spec.storage_class_name or ""
    if isinstance(item, StatefulSet):
        for at, each in enumerate(item.spec.volume_claim_templates or ()):
            yield f"spec.volumeClaimTemplates[{at}].spec", each.spec.storage_class_name or ""
    if manifest.pods is not None and not given.owners.created(item):
        for at, volume in enumerate(manifest.pods.spec.volumes or ()):
            template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
            if template is not None:
                path = f"{manifest.pods.path}.volumes[{at}].ephemeral.volumeClaimTemplate.spec"
                yield path, template.spec.storage_class_name or ""


def _pool(capacity: str) -> Example:
    return Example(
        f"""\
apiVersion: storage.k8s.io/v1
kind: CSIStorageCapacity
metadata: {{name: fast-zone-a}}
storageClassName: fast
{capacity}maximumVolumeSize: 100Gi
nodeTopology: {{matchLabels: {{topology.kubernetes.io/zone: zone-a}}}}
"""
    )


_CLAIM = """\
volumes:
- name: cache
  ephemeral:
    volumeClaimTemplate:
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: {name}
        resources: {{requests: {{storage: 1Gi}}}}
"""

RULES = (
    Rule(
        id="storage-class-missing",
        sentence="A claim names a StorageClass that the cluster does not have.",
        why="No volume is created for it, so its pod stays pending.",
        link="https://kubernetes.io/docs/concepts/storage/persistent-volumes/#class-1",
        severity="warning",
        check=_class_missing,
        wrong=Example(deployment(_CLAIM.format(name="fast"), replicas=1), cluster="nodes=3,storage-class=standard"),
        right=Example(deployment(_CLAIM.format(name="standard"), replicas=1), cluster="nodes=3,storage-class=standard"),
        needs="nodes",
    ),
    Rule(
        id="storage-capacity-missing",
        sentence="A CSIStorageCapacity has maximumVolumeSize but no capacity.",
        why=(
            "Since 1.37 kube-scheduler scores nodes by the capacity. It crashes without one, restarts, and "
            "crashes at the same pod."
        ),
        link="https://kubernetes.io/docs/concepts/storage/storage-capacity/",
        severity="warning",
        check=_without_capacity,
        wrong=_pool(""),
        right=_pool("capacity: 500Gi\n"),
    ),
)
