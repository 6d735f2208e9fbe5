"""Replacement pods that controllers create for removed pods.

Sources: pkg/controller/replicaset/replica_set.go (``manageReplicas``),
pkg/controller/statefulset/stateful_set_control.go (``processReplica``), pkg/controller/daemon/daemon_controller.go
(``syncNodes``), pkg/controller/job/job_controller.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from msgspec.structs import replace

from topospread.admission.names import Names, pod_prefix
from topospread.api.inventory import ObjectKey, key_of
from topospread.api.pod import Pod
from topospread.api.workload import Job, StatefulSet
from topospread.config.gates import gates_for
from topospread.controllers.claims import DefaultClass, VolumeClaims
from topospread.controllers.daemon_set import GENERATION_LABEL, for_node, target_node
from topospread.controllers.planned import QueuedPod, Workload
from topospread.controllers.revisions import REVISION_HASH_LABEL, TEMPLATE_HASH_LABEL
from topospread.controllers.stateful_set import keeps_its_revision, of_template
from topospread.plugins.volume_controller import VolumeController
from topospread.simulation.run import Run

from .pods import FollowedPod, FollowedPods

# Claims of ephemeral volumes of a drill's new pods. kube-scheduler binds them.


class MadeClaims:
    """Creates the claims of new pods, so that kube-scheduler finds them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        gates = run.options.gates or gates_for(run.options.kube_version)
        default = DefaultClass(run.plan.inventory.storage_classes, gates.kube_version)
        self._claims = VolumeClaims(run.plan, default)
        self._volumes = VolumeController(run.cluster, attributes_classes=gates.enabled("VolumeAttributesClass"))

    def given_to(self, pod: Pod, name: str) -> Pod:
        """Create and assume the claims of the pod's ephemeral volumes. Return the pod with these claims."""
        if not any(volume.ephemeral is not None for volume in pod.spec.volumes or ()):
            return pod
        plan, objects = self._run.plan, self._run.cluster.objects
        before = len(plan.inventory.persistent_volume_claims)
        pod, _ = self._claims.of_ephemeral_volumes(pod, name)
        made = plan.inventory.persistent_volume_claims[before:]
        keys = {(each.namespace, each.name) for each in made}
        objects.add(made)
        objects.assume_claims(plan.assumed_claims & keys)
        self._volumes.begin_with(keys)
        return pod


_NOBODY = frozenset({"Pod", "Node"})


class ReplacementPods:
    """Replacement pods: created at once, or delayed until a name or node is free.

    Args:
        run: simulation with the workloads.
        pods: the current pods. A terminating pod still occupies its name and node.
        names: generator of pod names.
        is_ready: function that returns whether a pod is ready.
    """

    def __init__(self, run: Run, pods: FollowedPods, names: Names, is_ready: Callable[[FollowedPod], bool]) -> None:
        self._pods = pods
        self._names = names
        self._is_ready = is_ready
        inventory = run.plan.inventory
        self._sets = {("StatefulSet", each.namespace, each.name): each for each in inventory.stateful_sets}
        self._jobs = {("Job", each.namespace, each.name): each for each in inventory.jobs}
        self._made = MadeClaims(run)
        self._vacant: dict[ObjectKey, list[FollowedPod]] = {}
        for each in pods.by_key.values():
            if each.terminating and each.workload is not None and self.waits(each.workload):
                self._vacant.setdefault(key_of(each.workload), []).append(each)

    def of(self, gone: FollowedPod) -> QueuedPod | None:
        """Return the pod created at once for a deleted pod; None if it is delayed or not replaced."""
        workload = gone.workload
        if workload is None or workload.kind in _NOBODY or workload.template is None:
            return None
        if self.waits(workload):
            self._vacant.setdefault(key_of(workload), []).append(gone)
            return None
        return self._created(workload, gone)

    def replicas(self, workload: Workload, number: int) -> Iterator[QueuedPod]:
        """Yield `number` new pods from a workload's template."""
        template = workload.template
        if template is None:
            return
        prefix = template.metadata.generate_name or pod_prefix(workload.name)
        for name in islice(self._names.generate(workload.namespace, prefix), number):
            yield QueuedPod(self._made.given_to(template, name), name, workload, template.spec.priority or 0)

    def on_nodes(self, workload: Workload, nodes: Iterable[str]) -> Iterator[QueuedPod]:
        """Yield new pods of a DaemonSet for these nodes."""
        template = workload.template
        if template is None:
            return
        prefix = template.metadata.generate_name or pod_prefix(workload.name)
        for node, name in zip(nodes, self._names.generate(workload.namespace, prefix), strict=False):
            pod = self._made.given_to(for_node(template, node), name)
            yield QueuedPod(pod, name, workload, pod.spec.priority or 0)

    def due(self) -> Iterator[QueuedPod]:
        """Yield the delayed pods whose name and node are free, and whose predecessor is ready."""
        for key, gone in list(self._vacant.items()):
            stateful = self._sets.get(key)
            due = self._next_ordinals(key, stateful, gone) if stateful is not None else self._free(gone)
            for each in due:
                gone.remove(each)
                if each.workload is not None:
                    yield self._created(each.workload, each)
            if not gone:
                del self._vacant[key]

    def held_back(self) -> list[FollowedPod]:
        """Return the removed pods that a StatefulSet does not replace, because a pod with a lower ordinal is unready in
        the input."""
        held = [(key, each) for key, gone in self._vacant.items() if key in self._sets for each in gone]
        return [
            each
            for key, each in held
            if not each.terminating and any(pod.is_unready and pod.ordinal < each.ordinal for pod in self._pods.of(key))
        ]

    @staticmethod
    def _free(gone: list[FollowedPod]) -> list[FollowedPod]:
        return [each for each in gone if not each.terminating]

    def _next_ordinals(self, key: ObjectKey, item: StatefulSet, gone: list[FollowedPod]) -> list[FollowedPod]:
        """Return the removed pods whose ordinals a StatefulSet creates next.

        With OrderedReady, this is only the first missing ordinal, once all pods before it are ready.
        """
        in_order = item.spec.pod_management_policy != "Parallel"
        start = (item.spec.ordinals.start if item.spec.ordinals else 0) or 0
        due: list[FollowedPod] = []
        for each in sorted(gone, key=lambda each: each.ordinal):
            if not start <= each.ordinal < start + (each.workload.replicas if each.workload else 0):
                gone.remove(each)
                continue
            if in_order and (due or self._waits_for_another(key, each.ordinal)):
                break
            if not each.terminating:
                due.append(each)
            elif in_order:
                break
        return due

    def _waits_for_another(self, key: ObjectKey, ordinal: int) -> bool:
        before = (each for each in self._pods.of(key) if each.ordinal < ordinal)
        return any(not self._is_ready(each) for each in before)

    def waits(self, workload: Workload) -> bool:
        """Return whether a controller creates a replacement only after the old pod has disappeared."""
        if workload.kind == "Job":
            return self._job(workload).spec.pod_replacement_policy == "Failed"
        return workload.kind in ("StatefulSet", "DaemonSet")

    def _job(self, workload: Workload) -> Job:
        return self._jobs[key_of(workload)]

    def _created(self, workload: Workload, gone: FollowedPod) -> QueuedPod:
        pod = self.like(workload, gone)
        if workload.kind == "StatefulSet":
            name = gone.name
        else:
            prefix = pod.metadata.generate_name or pod_prefix(workload.name)
            name = next(self._names.generate(workload.namespace, prefix))
        return QueuedPod(self._made.given_to(pod, name), name, workload, pod.spec.priority or 0)

    def like(self, workload: Workload, gone: FollowedPod) -> Pod:
        """Return the replacement of a pod: a copy of the old pod if it keeps its revision, else from the template."""
        template, kind = workload.template, workload.kind
        if template is None or self._stays(workload, template, gone):
            return _anew(gone.pod)
        node = target_node(gone.pod) if kind == "DaemonSet" else None
        if node is not None:
            return for_node(template, node)
        item = self._sets.get(key_of(workload))
        return template if item is None else of_template(item, template, gone.pod)

    def _stays(self, workload: Workload, template: Pod, gone: FollowedPod) -> bool:
        """Return whether the replacement is a copy of the removed pod."""
        match workload.kind:
            case "StatefulSet":
                item = self._sets.get(key_of(workload))
                kept = item is None or keeps_its_revision(item, gone.ordinal)
                return kept or is_of(gone.pod, template, workload.kind)
            case "DaemonSet":
                return is_of(gone.pod, template, workload.kind)
            case "Job":
                return self._job(workload).spec.completion_mode == "Indexed"
        # during a rollout, the pod's older ReplicaSet creates the replacement
        return TEMPLATE_HASH_LABEL in gone.labels and not is_of(gone.pod, template, workload.kind)


_REVISION_LABELS = {"StatefulSet": REVISION_HASH_LABEL, "DaemonSet": GENERATION_LABEL}


def is_of(pod: Pod, template: Pod, kind: str) -> bool:
    """Return whether a pod has the revision of a template."""
    label = _REVISION_LABELS.get(kind, TEMPLATE_HASH_LABEL)
    return pod.labels.get(label) == template.labels.get(label)


def _anew(pod: Pod) -> Pod:
    metadata = replace(pod.metadata, deletion_timestamp=None, creation_timestamp=None, uid=None)
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=None), status=None)
