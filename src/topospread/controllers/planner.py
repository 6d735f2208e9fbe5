"""The plan of an inventory: the pods and nodes that kube-scheduler receives from the controllers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property, partial

from msgspec.structs import replace

from topospread.admission.completion import completed
from topospread.admission.dropped_fields import without_dropped_fields
from topospread.admission.names import Names, generated_uid
from topospread.admission.pod_admission import is_stored
from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.meta import KubeObject, OwnerReference
from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim, VolumeStatus
from topospread.api.taints import with_taint_of_cordon
from topospread.config.versions import NEWEST
from topospread.errors import Place

from .autoscaling import AutoscaleChoice, note_of_missing_targets, with_autoscaled_pods
from .changed_workloads import change_workloads
from .control_plane import ControlPlane
from .controllers import Controller, controller, controllers_of
from .daemon_set import DaemonNodes, plan_daemon_set
from .draft import Draft
from .job import plan_job, run_of
from .ownership import Claims, Owners, claim
from .planned import Plan
from .removal import is_active
from .replica_sets import missing_replica_set, plan_deployment, plan_replica_set
from .scale import requested_runs, scaled
from .stateful_set import plan_stateful_set

# ReplicaSets by Deployment, and ReplicaSets that are missing but referenced by pods.
# Source: pkg/controller/controller_ref_manager.go (``ClaimReplicaSets``).


class Hierarchy:
    """The controllers of an inventory.

    Attributes:
        of_deployment: key of a Deployment → its ReplicaSets.
        pod_owners: controllers that own pods: all except Deployments.
    """

    def __init__(self, plan: Plan, controllers: Mapping[ObjectKey, Controller]) -> None:
        self._plan = plan
        self._all = controllers
        self._deployments = {
            (each.namespace, each.name): each for each in controllers.values() if each.kind == "Deployment"
        }
        self._managed: set[ObjectKey] = set()
        self.of_deployment: dict[ObjectKey, list[Controller]] = {each.key: [] for each in self._deployments.values()}
        self.pod_owners = {key: each for key, each in controllers.items() if each.kind != "Deployment"}
        owners = Owners((each.kind, each.object) for each in self._deployments.values())
        for each in list(self.pod_owners.values()):
            owner = self._deployment_of(each, owners) if each.kind == "ReplicaSet" else None
            if owner is not None:
                self._manage(owner, each)

    def planned(self) -> list[Controller]:
        """Return the controllers that are reported as workloads: all except ReplicaSets of Deployments."""
        return [each for key, each in self._all.items() if key not in self._managed]

    def siblings(self, each: Controller) -> list[Controller]:
        """Return the ReplicaSets with the same controller as a ReplicaSet (``getReplicaSetsWithSameController``).

        Return an empty list for a ReplicationController, because Kubernetes' index has only ReplicaSets.
        """
        reference = each.object.metadata.controller
        return [] if reference is None else self._by_owner.get((each.kind, each.namespace, reference.uid), [])

    @cached_property
    def _by_owner(self) -> dict[ObjectKey, list[Controller]]:
        """Kind, namespace and owner's uid → ReplicaSets."""
        found: dict[ObjectKey, list[Controller]] = {}
        for each in self._all.values():
            reference = each.object.metadata.controller
            if reference is not None and each.kind == "ReplicaSet":
                found.setdefault((each.kind, each.namespace, reference.uid), []).append(each)
        return found

    def missing(self, reference: OwnerReference, pod: Pod) -> Controller | None:
        """Return the missing ReplicaSet that a pod refers to, if a Deployment of the input owns it, else ``None``.

        Add the ReplicaSet to the inventory.
        """
        if ("ReplicaSet", pod.namespace, reference.name) in self._all:
            return None  # the input has another ReplicaSet of this name, so the pod's ReplicaSet was deleted
        owner = self._deployments.get((pod.namespace, reference.name.rpartition("-")[0]))
        made = missing_replica_set(owner, reference, pod) if owner else None
        if owner is None or made is None:
            return None
        self._plan.inventory.replica_sets.append(made)
        self._plan.notes.append(
            f"ReplicaSet {made.namespace}/{made.name} is not in the input: its pods are assumed to be of Deployment "
            f"{owner.name}"
        )
        found = controller("ReplicaSet", made, owner.place)
        self._manage(owner, found)
        return found

    def _deployment_of(self, each: Controller, owners: Owners) -> Controller | None:
        """Return the Deployment whose selector matches a ReplicaSet: the referenced one, or any for an orphan."""
        reference = each.object.metadata.controller
        labels = each.object.labels
        if reference is not None:
            key = owners.find(reference, each.namespace)
            owner = self._deployments[key[1:]] if key else None
            return owner if owner is not None and owner.selector.matches(labels) else None
        for owner in self._deployments.values():
            deleting = owner.object.metadata.deletion_timestamp is not None
            if owner.namespace == each.namespace and not deleting and owner.selector.matches(labels):
                self._plan.notes.append(
                    f"ReplicaSet {each.namespace}/{each.name} has no controller and is adopted by "
                    f"Deployment {owner.name}, whose selector matches"
                )
                return owner
        return None

    def _manage(self, owner: Controller, replica_set: Controller) -> None:
        self.of_deployment[owner.key].append(replica_set)
        self._managed.add(replica_set.key)


# Fields that the node and volume controllers set on new objects: the taint of a cordon, the phase of a volume.


def marked_volumes(
    volumes: Iterable[PersistentVolume], claims: Iterable[PersistentVolumeClaim]
) -> list[PersistentVolume]:
    """Return the volumes; a volume without a phase gets one (pv_controller.go, ``syncVolume``).

    An unbound or only pre-bound volume is Available; a volume whose claim is deleted is Released.
    """
    uids = {(each.namespace, each.name): each.metadata.uid for each in claims}
    return [
        each if _has_phase(each) else replace(each, status=VolumeStatus(phase=_phase(each, uids))) for each in volumes
    ]


def _phase(volume: PersistentVolume, uids: dict[tuple[str, str], str | None]) -> str:
    reference = volume.spec.claim_ref
    if reference is None or not reference.uid:
        return "Available"
    key = reference.namespace or "", reference.name or ""
    return "Bound" if key in uids and uids[key] in (None, "", reference.uid) else "Released"


def _has_phase(volume: PersistentVolume) -> bool:
    return volume.status is not None and bool(volume.status.phase)


def plan(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    *,
    scale: Mapping[str, int] | None = None,
    run_cron_jobs: Collection[str] = (),
    kube_version: str = str(NEWEST),
    control_plane: ControlPlane | None = None,
    autoscale: AutoscaleChoice = "keep",
) -> Plan:
    """Return the result of the cluster's controllers and API server for an inventory.

    Args:
        inventory: the input, which is not changed.
        scale: ``[NAMESPACE/]KIND/NAME`` → replicas that replace those of the manifest.
        run_cron_jobs: ``[NAMESPACE/]NAME`` of CronJobs that run once.
        kube_version: version of a control plane with default gates.
        control_plane: the API server and the schedulers; overrides ``kube_version``.
        autoscale: replicas of workloads with a HorizontalPodAutoscaler.

    Raises:
        InputError: if the API server would deny an object.
        UsageError: if ``scale`` or ``run_cron_jobs`` names a missing object.
    """
    by = control_plane or ControlPlane.of_version(kube_version)
    inventory, autoscaled = with_autoscaled_pods(inventory, autoscale)
    inventory, unused = without_dropped_fields(inventory, by.apiserver, by.scheduler)
    taken = (pod.metadata for pod in inventory.pods)
    names = Names((each.namespace or "default", each.name) for each in taken if each.name)
    whole = completed(inventory, names)
    # Cordoned nodes get the taint unschedulable (pkg/controller/nodelifecycle, `doNoScheduleTaintingPass`), in every
    # version since 1.17: TaintNodesByCondition cannot be turned off.
    whole.nodes = [each if each.metadata.is_stored else with_taint_of_cordon(each) for each in whole.nodes]
    whole.persistent_volumes = marked_volumes(whole.persistent_volumes, whole.persistent_volume_claims)
    draft = Draft(whole, names, by, autoscale)
    change_workloads(draft)
    waiting = _add_runs(whole, run_cron_jobs)
    controllers = {each.key: each for each in controllers_of(whole)}
    draft.scale = scaled(scale or {}, controllers)
    draft.plan.unused = unused
    missing_targets = note_of_missing_targets(whole.horizontal_pod_autoscalers, controllers)
    draft.plan.notes += [missing_targets, *autoscaled] if missing_targets else autoscaled
    if waiting:
        cron_jobs = "1 CronJob was" if waiting == 1 else f"{waiting} CronJobs were"
        draft.plan.notes.append(f"{cron_jobs} not run: a run is simulated on request (--run-cron-job)")
    whole.pods = [_admitted(draft, pod) for pod in whole.pods]
    whole.persistent_volume_claims = [
        draft.default_class.admit(each, whole.places.get(("PersistentVolumeClaim", each.namespace, each.name)))
        for each in whole.persistent_volume_claims
    ]
    hierarchy = Hierarchy(draft.plan, controllers)
    claims = claim(whole.pods, hierarchy.pod_owners, hierarchy.missing)
    for key, count in claims.adopted.items():
        pods = "pod without a controller is" if count == 1 else "pods without a controller are"
        draft.plan.notes.append(f"{count} {pods} adopted by {key[0]} {key[1]}/{key[2]}, whose selector matches")
    _plan_all(draft, hierarchy, claims, inventory.places)
    return draft.finished()


def _add_runs(inventory: Inventory, run_cron_jobs: Collection[str]) -> int:
    """Add the Jobs of CronJobs that run. Return the number of unstored CronJobs that do not run."""
    cron_jobs = {("CronJob", each.namespace, each.name): each for each in inventory.cron_jobs}
    runs = requested_runs(run_cron_jobs, cron_jobs)
    for key, item in cron_jobs.items():
        if key in runs:
            job = run_of(item)
            inventory.jobs.append(job)
            place = inventory.places.get(key)
            if place is not None:
                inventory.places["Job", job.namespace, job.name] = place
    return sum(
        key not in runs and item.metadata.uid == generated_uid(*key) and not item.metadata.resource_version
        for key, item in cron_jobs.items()
    )


def _admitted(draft: Draft, pod: Pod) -> Pod:
    """Return a pod of the input after admission. Pods on nodes and finished pods are never denied."""
    if is_stored(pod):
        return pod
    there = bool(pod.spec.node_name) or pod.phase in FINISHED_PHASES
    if there:
        return draft.admission.admit(pod, lenient=True)
    key = "Pod", pod.namespace, pod.name
    place = draft.plan.inventory.places.get(key)
    return draft.changed(draft.admission.admit(pod, place or Place(object=f"Pod {pod.namespace}/{pod.name}")))


def _plan_all(draft: Draft, hierarchy: Hierarchy, claims: Claims, given: Iterable[ObjectKey]) -> None:
    """Plan all workloads in the input order of their objects. Objects that are not in ``given`` come last.

    ``given``: keys of the objects in input order.
    """
    inventory = draft.plan.inventory
    order = {key: position for position, key in enumerate(given)}
    nodes = DaemonNodes(inventory.nodes, comparison_operators=draft.gates.enabled("TaintTolerationComparisonOperators"))
    steps: list[tuple[int, Callable[[], None]]] = []
    for each in hierarchy.planned():
        step = partial(_plan_controller, draft, hierarchy, nodes, each)
        steps.append((_position(each.kind, each.object, order), step))
    for stranger, pods in claims.strangers.items():
        steps.append((_position("Pod", pods[0], order), partial(_plan_stranger, draft, stranger, pods)))
    steps += (
        (_position("Pod", pod, order), partial(_plan_pod, draft, pod))
        for pod in claims.bare
        if not pod.spec.node_name and is_active(pod)
    )
    for _, take in sorted(steps, key=lambda each: each[0]):
        take()


def _position(kind: str, item: KubeObject, order: Mapping[ObjectKey, int]) -> int:
    """Return the position of an object in the input. A generated object has its owner's position."""
    keys = [(kind, item.namespace, item.name), (kind, item.namespace, item.metadata.generate_name or "")]
    owner = item.metadata.controller
    if owner is not None:
        keys.append((owner.kind, item.namespace, owner.name))
    return next((order[key] for key in keys if key in order), len(order))


def _plan_controller(draft: Draft, hierarchy: Hierarchy, nodes: DaemonNodes, each: Controller) -> None:
    match each.kind:
        case "Deployment":
            plan_deployment(draft, each, hierarchy.of_deployment[each.key])
        case "StatefulSet":
            plan_stateful_set(draft, each)
        case "DaemonSet":
            plan_daemon_set(draft, each, nodes)
        case "Job":
            plan_job(draft, each)
        case _:
            plan_replica_set(draft, each, hierarchy.siblings(each))


def _plan_stranger(draft: Draft, key: ObjectKey, pods: list[Pod]) -> None:
    """Plan the existing pods of an owner that is not in the input."""
    row = draft.row(*key, sum(map(is_active, pods)))
    draft.keep(row, pods)


def _plan_pod(draft: Draft, pod: Pod) -> None:
    row = draft.row("Pod", pod.namespace, pod.name, 1)
    row.template = pod
    draft.add(row, pod, pod.name)
