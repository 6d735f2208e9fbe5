"""A pod or pod template of an object, in the form that rules read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.meta import KubeObject, ObjectMeta
from topospread.api.node_selection import PodAffinityTerm
from topospread.api.pod import Pod, PodSpec
from topospread.api.spread import TopologySpreadConstraint
from topospread.api.workload import CronJob, DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from topospread.controllers.controllers import JOB_NAME_LABELS, JOB_UID_LABELS
from topospread.controllers.revisions import REVISION_HASH_LABEL

HASH = "pod-template-hash"
_OF_JOBS = frozenset({*JOB_NAME_LABELS, *JOB_UID_LABELS, "batch.kubernetes.io/job-completion-index"})
ADDED_BY_CONTROLLERS: Mapping[type[KubeObject], frozenset[str]] = {
    Deployment: frozenset({HASH}),
    StatefulSet: frozenset({REVISION_HASH_LABEL, "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"}),
    DaemonSet: frozenset({REVISION_HASH_LABEL, "pod-template-generation"}),
    Job: _OF_JOBS,
    CronJob: _OF_JOBS,
}
"""Kind → labels that its controller adds to pods."""
WITH_REPLICAS = (Deployment, ReplicaSet, StatefulSet, ReplicationController)


class PodSource(msgspec.Struct, frozen=True):
    """A pod, or the template of an object's pods.

    Attributes:
        item: the object.
        path: path of the pod's spec in the object.
        labels: the pods' labels.
        spec: the pods' spec.
        replicas: number of pods; None if the object does not state it.
        open_labels: whether an unknown controller may add labels.
        metadata: the pods' metadata, if known.
    """

    item: KubeObject
    path: str
    labels: dict[str, str]
    spec: PodSpec
    replicas: int | None
    open_labels: bool = False
    metadata: ObjectMeta | None = None

    @property
    def metadata_path(self) -> str:
        """Path of the pods' metadata within the object."""
        return self.path.removesuffix("spec") + "metadata"

    @property
    def labels_path(self) -> str:
        """Path of the pods' labels within the object."""
        return f"{self.metadata_path}.labels"

    def constraints(self) -> Iterator[tuple[str, TopologySpreadConstraint]]:
        """Yield the topology spread constraints with their paths."""
        for index, constraint in enumerate(self.spec.topology_spread_constraints or ()):
            yield f"{self.path}.topologySpreadConstraints[{index}]", constraint


def pod_source(item: KubeObject) -> PodSource | None:
    """Return the pod or pod template of an object; None for other kinds."""
    if isinstance(item, Pod):
        return PodSource(item, "spec", item.labels, item.spec, 1, metadata=item.metadata)
    if isinstance(item, CronJob):
        template, path = item.spec.job_template.spec.template, "spec.jobTemplate.spec.template.spec"
    elif isinstance(item, (*WITH_REPLICAS, DaemonSet, Job)):
        if item.spec.template is None:
            return None
        template, path = item.spec.template, "spec.template.spec"
    else:
        return None
    labels = template.metadata.labels or {}
    if isinstance(item, Job) and item.name and not item.spec.manual_selector:
        labels = dict.fromkeys(JOB_NAME_LABELS, item.name) | labels  # pkg/registry/batch/job/strategy.go
    return PodSource(item, path, labels, template.spec, _replicas(item), metadata=template.metadata)


def _replicas(item: KubeObject) -> int | None:
    """Return the replicas as the API server defaults them; None if nodes or runs determine them."""
    if isinstance(item, WITH_REPLICAS):
        return 1 if item.spec.replicas is None else item.spec.replicas
    return None


def own_selector(constraint: TopologySpreadConstraint) -> Selector:
    """Return the selector as written, without the matchLabelKeys requirements that the API server adds since 1.34.

    Raises:
        InvalidSelectorError: the selector does not compile.
    """
    compiled = Selector.from_label_selector(constraint.label_selector)
    if compiled.selects_nothing:
        return compiled
    keys = constraint.match_label_keys or ()
    return Selector(tuple(each for each in compiled.requirements if each.key not in keys))


def explicit_replicas(pods: PodSource) -> int | None:
    """Return the replicas that the object states; None if an autoscaler or the default sets them."""
    given = getattr(getattr(pods.item, "spec", None), "replicas", None)
    return given if given is None else pods.replicas


def selects_itself(term: PodAffinityTerm, pods: PodSource) -> bool:
    """Return whether a pod affinity or anti-affinity term selects the pods' own group."""
    everywhere = term.namespace_selector
    if everywhere is not None and (everywhere.match_labels or everywhere.match_expressions):
        return False
    if everywhere is None and term.namespaces and pods.item.namespace not in term.namespaces:
        return False
    if any(key in pods.labels for key in term.mismatch_label_keys or ()):
        return False  # The API server adds a NotIn requirement with the pod's own value to the selector.
    try:
        return Selector.from_label_selector(term.label_selector).matches(pods.labels)
    except InvalidSelectorError:
        return False  # The rule `validation` reports the error.


def keeping_apart(pods: PodSource) -> Iterator[tuple[str, PodAffinityTerm]]:
    """Yield the required anti-affinity terms that select the pods themselves, with their paths."""
    anti = pods.spec.affinity.pod_anti_affinity if pods.spec.affinity else None
    path = f"{pods.path}.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    for index, term in enumerate((anti and anti.required_during_scheduling_ignored_during_execution) or ()):
        if selects_itself(term, pods):
            yield f"{path}[{index}]", term
