"""The objects that create pods, each with its compiled selector and template.

`ownership.py` finds their pods, and `api/validation` validates them. Source: pkg/registry/batch/job/strategy.go
(``generateSelector``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from topospread.admission.names import generated_uid, pod_prefix
from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.labels import InvalidSelectorError, LabelSelector, Selector
from topospread.api.meta import KubeObject, ObjectMeta, OwnerReference
from topospread.api.pod import Pod, PodTemplateSpec
from topospread.api.workload import DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from topospread.errors import InvalidError, Place

API_VERSIONS: Mapping[str, str] = {
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "ReplicationController": "v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "Pod": "v1",
}
"""Kind → ``apiVersion`` in owner references."""

JOB_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")
JOB_UID_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")


def uid_of(kind: str, item: KubeObject) -> str:
    """Return the object's uid, or a generated one."""
    return item.metadata.uid or generated_uid(kind, item.namespace, item.name)


def owner_reference(kind: str, item: KubeObject) -> OwnerReference:
    """Return the owner reference to a controller (``metav1.NewControllerRef``)."""
    return OwnerReference(
        api_version=API_VERSIONS[kind], kind=kind, name=item.name, uid=uid_of(kind, item), controller=True
    )


class Controller(msgspec.Struct, eq=False):
    """An object that creates pods.

    Attributes:
        kind: Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet or Job.
        object: the object of the input, with defaults.
        selector: selector of its pods. A Deployment also selects its ReplicaSets by it.
        template: template of its pods.
        place: position in the input.
        pods: its pods, including finished pods, in input order.
    """

    kind: str
    object: KubeObject
    selector: Selector
    template: PodTemplateSpec
    place: Place
    pods: list[Pod] = []

    @property
    def key(self) -> ObjectKey:
        """Kind, namespace and name."""
        return self.kind, self.object.namespace, self.object.name

    @property
    def name(self) -> str:
        """``metadata.name``."""
        return self.object.name

    @property
    def namespace(self) -> str:
        """``metadata.namespace``."""
        return self.object.namespace

    def new_pod(self, labels: Mapping[str, str] | None = None) -> Pod:
        """Return a pod of the template, with added labels and without a name (``GetPodFromTemplate``)."""
        metadata = self.template.metadata
        return Pod(
            api_version="v1",
            kind="Pod",
            metadata=ObjectMeta(
                namespace=self.namespace,
                generate_name=pod_prefix(self.name),
                labels={**(metadata.labels or {}), **(labels or {})},
                annotations=metadata.annotations,
                owner_references=[owner_reference(self.kind, self.object)],
            ),
            spec=self.template.spec,
        )


def controllers_of(inventory: Inventory) -> Iterator[Controller]:
    """Yield every controller of an inventory, kind by kind.

    Raises:
        InvalidError: if a controller has no selector, or an invalid one.
    """
    kinds: tuple[tuple[str, Iterable[KubeObject]], ...] = (
        ("Deployment", inventory.deployments),
        ("ReplicaSet", inventory.replica_sets),
        ("ReplicationController", inventory.replication_controllers),
        ("StatefulSet", inventory.stateful_sets),
        ("DaemonSet", inventory.daemon_sets),
        ("Job", inventory.jobs),
    )
    for kind, objects in kinds:
        for item in objects:
            place = inventory.places.get((kind, item.namespace, item.name))
            yield controller(kind, item, place or Place(object=f"{kind} {item.namespace}/{item.name}"))


def controller(kind: str, item: KubeObject, place: Place) -> Controller:
    """Return a controller with its selector compiled.

    Raises:
        InvalidError: if the object has no selector, or an invalid one.
    """
    selector, template = _selector_and_template(item, place)
    problem = ""
    if selector is None:
        problem = "spec.selector: Required value"
    else:
        try:
            return Controller(kind, item, Selector.from_label_selector(selector), template, place)
        except InvalidSelectorError as error:
            problem = f"spec.selector: Invalid value: invalid label selector: {error}"
    raise InvalidError([problem], place.at("spec.selector"))


def _selector_and_template(item: KubeObject, place: Place) -> tuple[LabelSelector | None, PodTemplateSpec]:
    if isinstance(item, ReplicationController):
        template = item.spec.template
        if template is None:
            raise InvalidError(["spec.template: Required value"], place.at("spec.template"))
        labels = item.spec.selector
        return LabelSelector(match_labels=labels) if labels else None, template
    if isinstance(item, Job):
        return _job_selector(item), job_template(item)
    if isinstance(item, Deployment | ReplicaSet | StatefulSet | DaemonSet):
        return item.spec.selector, item.spec.template
    raise TypeError(f"{type(item).__name__} makes no pods")


def _job_selector(job: Job) -> LabelSelector | None:
    if job.spec.manual_selector:
        return job.spec.selector
    given = job.spec.selector or LabelSelector()
    return replace(given, match_labels={JOB_UID_LABELS[1]: uid_of("Job", job), **(given.match_labels or {})})


def job_template(job: Job) -> PodTemplateSpec:
    """Return a Job's template with the labels that the API server adds, unless the user sets the selector."""
    template = job.spec.template
    if job.spec.manual_selector:
        return template
    uid = uid_of("Job", job)
    added = dict.fromkeys(JOB_NAME_LABELS, job.name) | dict.fromkeys(JOB_UID_LABELS, uid)
    labels = added | (template.metadata.labels or {})
    return replace(template, metadata=replace(template.metadata, labels=labels))
