"""The object to edit for a change of a pod's spec, and the way in which the change reaches pods.

An owner that was not read is inferred from its pods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject, OwnerReference
from topospread.api.pod import Pod, PodSpec, PodTemplateSpec
from topospread.api.rollout import Strategy, strategy_of
from topospread.api.spread import TopologySpreadConstraint
from topospread.api.workload import Deployment
from topospread.controllers.controllers import API_VERSIONS
from topospread.controllers.planned import QueuedPod, Workload
from topospread.controllers.revisions import REVISION_HASH_LABEL, TEMPLATE_HASH_LABEL
from topospread.errors import Place
from topospread.plugins.spread_constraints import Constraint

from .own_constraints import written
from .result import Means

_MEANS: dict[str, Means] = {
    "Pod": "recreate",
    "Job": "recreate",
    "Deployment": "rollout",
    "StatefulSet": "rollout",
    "DaemonSet": "rollout",
    "ReplicaSet": "new pods",
    "ReplicationController": "new pods",
}
_POD, _TEMPLATE = "/spec", "/spec/template/spec"
_ADDED_TOLERATIONS = "node.kubernetes.io/"
"""Prefix of the tolerations that the API server and the DaemonSet controller add to pods; templates rarely have it."""


@dataclass(frozen=True, slots=True)
class Owned:
    """The object that holds a pod's spec.

    Attributes:
        reference: apiVersion, kind, namespace and name of the object.
        path: path of the pod's spec in the object.
        spec: the spec in the object.
        constraints: constraints in force, by index in their list.
        means: how a change of the spec takes effect.
        file: file of the object; "" if unknown.
        strategy: rolling update strategy of a Deployment.
    """

    reference: dict[str, str]
    path: str
    spec: PodSpec
    constraints: tuple[Constraint, ...]
    means: Means
    file: str = ""
    strategy: Strategy | None = None

    @property
    def is_pod(self) -> bool:
        """True if the object is an existing pod, which accepts new tolerations."""
        return self.reference["kind"] == "Pod" and self.means == "recreate"

    def own(self) -> list[TopologySpreadConstraint]:
        """Return the constraints of the spec; default constraints in manifest form if the spec has none."""
        return list(self.spec.topology_spread_constraints or ()) or written(self.constraints)


def exists(item: KubeObject) -> bool:
    """Return whether the object exists in an API server: it has a uid, or the pod has a node or a phase."""
    return item.metadata.is_stored or (isinstance(item, Pod) and bool(item.spec.node_name or item.phase))


def is_older(pod: Pod, template: Pod) -> bool:
    """Return whether a pod is of another revision than its controller's current template."""
    keys = TEMPLATE_HASH_LABEL, REVISION_HASH_LABEL
    return any(key in pod.labels and pod.labels[key] != template.labels.get(key, pod.labels[key]) for key in keys)


def owned(
    inventory: Inventory, subject: QueuedPod, constraints: Sequence[Constraint], *, has_pods: bool
) -> Owned | None:
    """Return the object that holds a queued pod's spec; ``None`` if unknown.

    ``has_pods``: whether the input has pods of the workload, so that the object exists even if only its manifest was
    read.
    """
    workload = subject.workload
    item = _read(inventory, workload)
    owner = (subject.pod if item is None else item).metadata.controller
    if item is None or (owner is not None and owner.kind != "CronJob"):
        return _not_read(subject, owner, tuple(constraints)) if owner is not None else None
    spec, path = _spec_of(item)
    if spec is None:
        return None
    kind = workload.kind
    reference = _reference(item.api_version or API_VERSIONS[kind], kind, workload.namespace, item.name)
    means = _MEANS[kind] if has_pods or exists(item) else "create"
    place = inventory.places.get((kind, item.namespace, item.name), Place())
    strategy = strategy_of(item) if isinstance(item, Deployment) and means == "rollout" else None
    return Owned(reference, path, spec, tuple(constraints), means, place.source, strategy)


def _read(inventory: Inventory, workload: Workload) -> KubeObject | None:
    kind = KINDS.get(workload.kind)
    if kind is None or workload.kind not in _MEANS:
        return None
    objects: list[KubeObject] = getattr(inventory, kind.attribute)
    key = workload.namespace, workload.name
    return next((each for each in objects if (each.namespace or "default", each.name) == key), None)


def _spec_of(item: KubeObject) -> tuple[PodSpec | None, str]:
    if isinstance(item, Pod):
        return item.spec, _POD
    template: PodTemplateSpec | None = getattr(item.spec, "template", None)  # type: ignore[attr-defined]
    return (template.spec if template is not None else None), _TEMPLATE


def _not_read(subject: QueuedPod, owner: OwnerReference, constraints: tuple[Constraint, ...]) -> Owned:
    """Return the owner from a reference alone.

    A ReplicaSet with a pod-template-hash belongs to a Deployment. For an unknown kind, the path is that of a pod.
    """
    kind, name = owner.kind, owner.name
    suffix = f"-{subject.pod.labels.get(TEMPLATE_HASH_LABEL, '')}"
    if kind == "ReplicaSet" and len(suffix) > 1 and name.endswith(suffix):
        kind, name = "Deployment", name.removesuffix(suffix)
    spec = _as_in_template(subject.pod.spec)
    if kind in _MEANS and kind != "Pod":
        reference = _reference(API_VERSIONS[kind], kind, subject.namespace, name)
        return Owned(reference, _TEMPLATE, spec, constraints, _MEANS[kind])
    reference = _reference(owner.api_version, kind, subject.namespace, name)
    return Owned(reference, _POD, spec, constraints, "template")


def _as_in_template(spec: PodSpec) -> PodSpec:
    """Return the spec without tolerations that the API server or a controller added."""
    own = [each for each in spec.tolerations or () if not (each.key or "").startswith(_ADDED_TOLERATIONS)]
    return replace(spec, tolerations=own or None)


def _reference(api_version: str, kind: str, namespace: str, name: str) -> dict[str, str]:
    return {"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name}
