"""An inventory → the plan of what kube-scheduler is given: every controller asked once, in input order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial

from msgspec.structs import replace

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.meta import KubeObject
from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim, VolumeStatus
from topospread.api.taints import with_taint_of_cordon
from topospread.config.versions import NEWEST
from topospread.errors import Place

from .admission import is_stored
from .autoscaling import AutoscaleChoice, note_of_missing_targets
from .completion import completed
from .control_plane import ControlPlane
from .controllers import Controller, controllers_of
from .custom_autoscaling import with_autoscaled_pods
from .daemon_set import DaemonNodes, plan_daemon_set
from .draft import Draft
from .dropped_fields import without_dropped_fields
from .hierarchy import Hierarchy
from .job import plan_job, run_of
from .names import Names, made_up_uid
from .ownership import Claims, claim
from .planned import Plan
from .removal import is_active
from .replica_sets import plan_deployment, plan_replica_set
from .scale import requested_runs, scaled
from .stateful_set import plan_stateful_set

# What the node and volume controllers write into objects that were just created: a cordon's taint, a volume's phase.


def marked_volumes(
    volumes: Iterable[PersistentVolume], claims: Iterable[PersistentVolumeClaim]
) -> list[PersistentVolume]:
    """Volumes that say no phase, with the one that they would have (pv_controller.go, ``syncVolume``).

    One that is bound to nothing, or only reserved for a claim, is Available; one whose claim is gone is Released.
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
    """Return what the cluster's controllers and API server make of the objects that were read.

    Args:
        inventory: stays as it is.
        scale: ``[NAMESPACE/]KIND/NAME`` → replicas in place of the manifest's.
        run_cron_jobs: ``[NAMESPACE/]NAME`` of CronJobs that are to run once.
        kube_version: of the control plane, when that is as the version has it by default.
        control_plane: the API server and the schedulers.
        autoscale: how many replicas there are of what a HorizontalPodAutoscaler scales.

    Raises:
        InputError: an object that the API server would refuse, with its place.
        UsageError: a target of ``scale`` or ``run_cron_jobs`` that is not there.
    """
    by = control_plane or ControlPlane.of_version(kube_version)
    inventory, autoscaled = with_autoscaled_pods(inventory, autoscale)
    inventory, unused = without_dropped_fields(inventory, by.apiserver, by.scheduler)
    names = Names((pod.namespace or "default", pod.name) for pod in inventory.pods if pod.metadata.name)
    whole = completed(inventory, names)
    # Cordoned nodes with the taint that says so (pkg/controller/nodelifecycle, `doNoScheduleTaintingPass`). Every
    # version from 1.17 on does it: TaintNodesByCondition cannot be turned off any more.
    whole.nodes = [each if each.metadata.is_stored else with_taint_of_cordon(each) for each in whole.nodes]
    whole.persistent_volumes = marked_volumes(whole.persistent_volumes, whole.persistent_volume_claims)
    waiting = _add_runs(whole, run_cron_jobs)
    controllers = {each.key: each for each in controllers_of(whole)}
    draft = Draft(whole, names, by, scaled(scale or {}, controllers), autoscale)
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
    """The Jobs of CronJobs that are to run, at their CronJobs' places; how many others no API server has stored."""
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
        key not in runs and item.metadata.uid == made_up_uid(*key) and not item.metadata.resource_version
        for key, item in cron_jobs.items()
    )


def _admitted(draft: Draft, pod: Pod) -> Pod:
    """A pod of the input after admission; one that is on a node, or finished, cannot be refused any more."""
    if is_stored(pod):
        return pod
    there = bool(pod.spec.node_name) or pod.phase in FINISHED_PHASES
    if there:
        return draft.admission.admit(pod, lenient=True)
    key = "Pod", pod.namespace, pod.name
    place = draft.plan.inventory.places.get(key)
    return draft.admission.admit(pod, place or Place(object=f"Pod {pod.namespace}/{pod.name}"))


def _plan_all(draft: Draft, hierarchy: Hierarchy, claims: Claims, given: Iterable[ObjectKey]) -> None:
    """One workload after the other, as their objects come in the input; what has no place there comes last.

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
    """Return the position of an object in the input; a made object has its owner's."""
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
    """Pods of an owner that was not read: as many as there are."""
    row = draft.row(*key, sum(map(is_active, pods)))
    draft.keep(row, pods)


def _plan_pod(draft: Draft, pod: Pod) -> None:
    row = draft.row("Pod", pod.namespace, pod.name, 1)
    row.template = pod
    draft.add(row, pod, pod.name)
