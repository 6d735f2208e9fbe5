"""What becomes of a case under the whole scheduler: queue, claims, preemption, binding, in the judge's form.

A case has objects and steps: objects are created, updated and deleted, time passes, and pods are tried until nothing is
left to try. Claims are made from templates and released as the resourceclaim controller does it.
"""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from conformance.judging.cases import Json, profiles_of
from topospread.api.device_claims import ResourceClaim, ResourceClaimStatus, ResourceClaimTemplate
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject, OwnerReference
from topospread.api.node import Node
from topospread.api.pod import Pod, PodResourceClaimStatus, PodStatus
from topospread.api.pod_groups import PodGroup
from topospread.api.policy import PriorityClass
from topospread.api.storage import PersistentVolumeClaim
from topospread.cluster import Cluster
from topospread.cluster.cluster import pod_key
from topospread.config.gates import gates_for
from topospread.config.request_rules import request_rules
from topospread.plugins.cluster_event import ADD, ASSIGNED_POD_DELETE, DELETE, UPDATE, ClusterEvent
from topospread.plugins.interface import UNRESOLVABLE, NotJudgedError
from topospread.plugins.pod_group_members import group_key
from topospread.plugins.pod_volumes import selected_node
from topospread.plugins.volume_controller import VolumeController
from topospread.scheduling.backoff_queue import BackoffSettings
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework
from topospread.scheduling.object_changes import node_changes
from topospread.scheduling.pod_group_queue import UNSCHEDULED_POD_ADD, PodGroupQueue
from topospread.scheduling.pod_groups import AttemptOptions, GroupAttempt, try_group
from topospread.scheduling.preemption import Preemption
from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.queued_pod_info import SECOND, QueuedPodInfo
from topospread.scheduling.requeueing import Requeueing, requeueing_of
from topospread.scheduling.verdict import Verdict

_MILLISECOND = SECOND // 1000
_STEADY = 24
"""Attempts in a row without an effect, after which a settle ends."""
_BUDGET = 240
_DEVICES = "DynamicResources"


def judge_whole(case: Json) -> Json:
    """Return the state after the last settle: pods, claims, and whether attempts would go on for ever."""
    try:
        return _answer(case)
    except NotJudgedError as error:
        return {"id": case.get("id", ""), "error": str(error)}


def _answer(case: Json) -> Json:
    world = _World(case)
    steps = list(case.get("steps") or [])
    if not steps or not (steps[-1].get("settle") or steps[-1].get("advance")):
        steps.append({"settle": True})
    settled: list[Json] = []
    for step in steps:
        if step.get("settle") or step.get("advance"):
            world.sleep(int(step.get("advance") or 0) * SECOND)
            world.settle()
            settled.append(world.state())
        else:
            world.step(step)
            world.sleep(_MILLISECOND)
    answer: Json = {"id": case.get("id", ""), **settled[-1], "attempts": world.tries}
    if settled[:-1]:
        answer["settles"] = settled[:-1]
    return answer | {name: True for name in ("retrying", "unsettled") if getattr(world, name)}


class _World:
    """A cluster, its scheduler, and what the API server holds of pods."""

    def __init__(self, case: Json) -> None:
        gates = gates_for("1.37", case.get("featureGates") or {})
        self.cluster = Cluster(request_rules(gates))
        groups = gates.enabled("GenericWorkload")
        self._composites = gates.enabled("CompositePodGroup")
        frameworks = {
            name: Framework(each, gates, tries_groups=groups) for name, each in profiles_of(case, gates).items()
        }
        self.cluster.objects.devices_known = self.cluster.objects.pod_groups_known = True
        self.scheduler = Scheduler(self.cluster, frameworks, sampled=True)
        self.scheduler.generated = self._generated
        self._requeueings = {name: requeueing_of(each, self.cluster) for name, each in frameworks.items()}
        settings = BackoffSettings(pops_early=gates.enabled("SchedulerPopFromBackoffQ"))
        self.now = 0
        self.scheduler.runs_by(lambda: self.now)
        self.queue = SchedulingQueue(lambda: self.now, self._requeueing_of, settings, self.cluster.rules)
        self.cluster.objects.whole_groups = None
        self.groups = PodGroupQueue(self.queue, self.cluster, self._requeueing_of) if groups else None
        self.queue.groups = self.groups
        self.group_conditions: dict[tuple[str, str], Json] = {}
        self.pods: dict[str, Pod] = {}
        self.conditions: dict[str, tuple[str, str]] = {}
        self.deleted: list[Pod] = []
        self.classes: dict[str, int] = {}
        self.tries, self.retrying, self.unsettled, self.names = 0, False, False, 0
        self.versions = 0
        objects = [_typed(each) for each in case.get("objects") or ()]
        objects.sort(key=_listed)
        for each in objects:
            if not isinstance(each, Node) and not (isinstance(each, Pod) and not each.spec.node_name):
                self._create(each)
        self._volumes = VolumeController(self.cluster, attributes_classes=gates.enabled("VolumeAttributesClass"))
        self._control_volumes()
        for each in objects:
            if isinstance(each, Node):
                self._create(each)
        for each in objects:
            if isinstance(each, Pod) and not each.spec.node_name:
                self._create(each)
                self.sleep(_MILLISECOND)

    def _generated(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}g{self.names}"

    def _requeueing_of(self, pod: Pod) -> Requeueing | None:
        return self._requeueings.get(pod.spec.scheduler_name or "default-scheduler")

    # Time.

    def sleep(self, time: int) -> None:
        """Let time pass: each whole second waits end, each half minute those that waited too long are tried."""
        until = self.now + time
        while (tick := (self.now // SECOND + 1) * SECOND) <= until:
            self.now = tick
            self.queue.flush_backoff_completed()
            if tick % (30 * SECOND) == 0:
                self.queue.flush_unschedulable_leftover()
        self.now = until

    def settle(self) -> None:
        """Try pods until there is none to try, or trying changes nothing any more."""
        last, same = "", 0
        while True:
            if self.deleted:
                self._control()
                continue
            for _ in range(900):
                if len(self.queue.active) or not len(self.queue.backoff):
                    break
                self.sleep(SECOND)
            if not len(self.queue.active):
                return
            self.tries += 1
            if self.tries > _BUDGET:
                self.unsettled = True
                return
            self._schedule_one()
            now = self._places()
            last, same = (last, same + 1) if now == last else (now, 0)
            if same >= _STEADY:
                self.retrying = True
                return

    # Steps.

    def step(self, step: Json) -> None:
        """Create, update or delete an object."""
        if "create" in step:
            self._create(_typed(step["create"]))
        elif "update" in step:
            self._update(_typed(step["update"]))
        elif "delete" in step:
            given = step["delete"]
            kind, name, namespace = given["kind"], given["name"], given.get("namespace", "")
            if kind == "Pod":
                if pod_key(namespace, name) not in self.pods:
                    raise NotJudgedError("steps", name, f"the deletion of pod {name}, which is gone")
                self._delete_pod(pod_key(namespace, name))
            elif kind == "Node":
                self.cluster.delete_node(name)
                self._note_node()
            else:
                struct = KINDS[kind].struct
                item = struct(kind=kind)
                item.metadata.name, item.metadata.namespace = name, namespace or None
                self._delete(item)
        self._control_volumes()

    def _create(self, item: KubeObject) -> None:
        self.versions += 1
        if not item.metadata.uid:
            item.metadata.uid = f"uid-{item.namespace}-{item.name}"
        if not item.metadata.creation_timestamp:
            seconds = self.versions
            item.metadata.creation_timestamp = (
                f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"
            )
        if isinstance(item, PriorityClass):
            self.classes[item.name] = item.value
        if isinstance(item, Node):
            self.cluster.add_node(item)
            self._note_node()
            self.queue.move_all(ClusterEvent("Node", ADD), None, item)
        elif isinstance(item, Pod):
            self._create_pod(item)
        else:
            self._put(item)

    def _note_node(self) -> None:
        """Put nodes in order at once: it depends on nodes that are gone before the next pod is tried."""
        sampler = self.scheduler._search._sampler
        assert sampler is not None, "the scheduler is sampled"
        sampler._order.catch_up()

    def _put(self, item: KubeObject) -> None:
        """Create or update an object that plugins look up, and tell the queue."""
        if self._composites and isinstance(item, PodGroup) and item.spec.parent_composite_pod_group_name:
            # The parent decides when its pods are tried, which takes room from pods alone.
            raise NotJudgedError("podGroups", "spec.parentCompositePodGroupName", "composite pod groups")
        before = self._known(item)
        if not self.cluster.apply("ADDED", item):
            return
        if isinstance(item, PodGroup) and self.groups is not None and before is None:
            self.groups.group_added((item.namespace, item.name))
        kind: Any = type(item).__name__
        self.queue.move_all(ClusterEvent(kind, ADD if before is None else UPDATE), before, item)

    def _delete(self, item: KubeObject) -> None:
        before = self._known(item)
        if self.cluster.apply("DELETED", item):
            if isinstance(item, PodGroup) and self.groups is not None:
                self.groups.group_deleted((item.namespace, item.name))
                self.group_conditions.pop((item.namespace, item.name), None)
            kind: Any = type(item).__name__
            self.queue.move_all(ClusterEvent(kind, DELETE), before, None)

    def _known(self, item: KubeObject) -> KubeObject | None:
        table, key = self.cluster.objects._place(item)
        return None if table is None else table.get(key)

    def _update(self, item: KubeObject) -> None:
        if isinstance(item, Node):
            before = self.cluster.nodes.nodes[self.cluster.nodes.row_of[item.name]]
            assert before is not None, "it is there"
            self.cluster.put_node(item)
            self._note_node()
            for event in node_changes(before, item):
                self.queue.move_all(event, before, item)
        elif isinstance(item, Pod):
            key = pod_key(item.namespace, item.name)
            old = self.pods[key]
            item.metadata.uid, item.metadata.creation_timestamp = old.metadata.uid, old.metadata.creation_timestamp
            self._replace_pod(key, item)
        else:
            known = self._known(item)
            if known is not None:
                item.metadata.uid = known.metadata.uid
                item.metadata.creation_timestamp = known.metadata.creation_timestamp
            self._put(item)

    # Pods and their claims.

    def _create_pod(self, pod: Pod) -> None:
        if pod.spec.priority is None:
            pod.spec.priority = self.classes.get(pod.spec.priority_class_name or "", 0)
        key = pod_key(pod.namespace, pod.name)
        self.pods[key] = pod
        if pod.spec.node_name:
            self.cluster.put_pod(pod)
            self.queue.assigned_pod_added(pod)
            return
        self.queue.add(pod)
        if self.groups is not None:
            self.queue.move_all(UNSCHEDULED_POD_ADD, None, pod)
        self._make_claims(key, pod)

    def _make_claims(self, key: str, pod: Pod) -> None:
        """Make the claims of a pod's templates, as the resourceclaim controller does."""
        statuses = list((pod.status.resource_claim_statuses or ()) if pod.status is not None else ())
        have = {each.name for each in statuses}
        made = False
        for entry in pod.spec.resource_claims or ():
            template = self.cluster.objects.resource_claim_templates.get(
                (pod.namespace, entry.resource_claim_template_name or "")
            )
            if entry.name in have or template is None:
                continue
            owner = OwnerReference(
                api_version="v1", kind="Pod", name=pod.name, uid=pod.metadata.uid or "", controller=True
            )
            claim = _claim_of(template, f"{pod.name}-{entry.name}", owner)
            self._create(claim)
            statuses.append(PodResourceClaimStatus(name=entry.name, resource_claim_name=claim.name))
            made = True
        if made:
            status = replace(pod.status or PodStatus(), resource_claim_statuses=statuses)
            self._replace_pod(key, replace(pod, status=status))

    def _replace_pod(self, key: str, pod: Pod) -> None:
        old, self.pods[key] = self.pods[key], pod
        if pod.spec.node_name:
            self.cluster.put_pod(pod)
            self.queue.assigned_pod_updated(old, pod)
        else:
            self.queue.update(old, pod)

    def _delete_pod(self, key: str) -> None:
        pod = self.pods.pop(key)
        self.deleted.append(pod)
        self.conditions.pop(key, None)
        if not pod.spec.node_name:
            self.cluster.withdraw(key)
            self.queue.delete(key)
            group = group_key(pod)
            if self.groups is not None and group is not None:
                self.groups.delete(group, key)
            return
        # Claims are given back by the controller, which comes later.
        with self.cluster.objects.devices.kept():
            self.cluster.delete_pod(key)
        self.queue.move_all(ASSIGNED_POD_DELETE, pod, None)

    def _control(self) -> None:
        """Delete the claims of pods that are gone, and release those that they shared."""
        gone, self.deleted = self.deleted, []
        for pod in gone:
            for claim in sorted(self.cluster.objects.resource_claims.values(), key=lambda each: each.name):
                owner = claim.metadata.controller
                if owner is not None and owner.uid == pod.metadata.uid:
                    self._delete(claim)
                    continue
                users = claim.status.reserved_for or []
                left = [each for each in users if each.uid != pod.metadata.uid]
                if len(left) < len(users):
                    status = replace(claim.status, reserved_for=left) if left else ResourceClaimStatus()
                    self._put(replace(claim, status=status))

    def _control_volumes(self) -> None:
        """Let the controller of volumes do its part."""
        before = self._written()
        self._volumes.sync()
        self._tell_of_writes(before)

    # One attempt.

    def _schedule_one(self) -> None:
        info = self.queue.pop()
        if info is None:
            return
        if info.members:
            self._schedule_group(info)
            return
        pod = self.pods.get(info.key)
        if pod is None or pod.metadata.uid != info.uid:
            self.queue.done(info.uid)
            return
        nominated = self.cluster.nominated_node(info.key)
        written = self._written()
        placement = self.scheduler.schedule(pod, nominated=nominated)
        if placement.node is None:
            self._fail(info, pod, placement.message)
            self._tell_of_writes(written)
            return
        bound = replace(pod, spec=replace(pod.spec, node_name=placement.node))
        self.pods[info.key] = bound
        self.conditions.pop(info.key, None)
        self.queue.done(info.uid)
        self._bind_volumes(written)
        self.queue.assigned_pod_added(bound)

    def _schedule_group(self, info: QueuedPodInfo) -> None:
        """Try the pods of a group (``scheduleOnePodGroup``)."""
        groups = self.groups
        assert groups is not None, "a group was popped"
        group, members = groups.popped(info)
        if group is None:
            raise NotImplementedError("a PodGroup went while its pods stood in the queue")
        written = self._written()
        attempt = try_group(self.scheduler, group, members, AttemptOptions(alone=self.queue.is_empty))
        infos = {each.key: each for each in info.members}
        code = attempt.status.code
        bound = []
        for result in attempt.results:
            key = result.member.key
            if result.row >= 0:
                pod = self.pods[key]
                placed = replace(pod, spec=replace(pod.spec, node_name=self.cluster.nodes.names[result.row]))
                self.pods[key] = placed
                self.conditions.pop(key, None)
                groups.bound((group.namespace, group.name), key)
                bound.append(placed)
                continue
            self.conditions[key] = (
                "SchedulerError" if result.error or code == "Error" else "Unschedulable",
                result.message,
            )
            rejectors = result.verdict.rejectors if result.verdict is not None and not result.error else ()
            if not result.unbound:
                groups.failed(infos[key], rejectors)
            if result.nominated or not result.keeps_promise:
                self._nominate(key, result.nominated)
        self._note_group(group, attempt)
        groups.tried(info, attempt.queue_code)
        for unit in attempt.victims:
            for victim, _, _ in unit.pods:
                self._delete_pod(victim)
        for result in attempt.results:
            if result.unbound:
                self.queue.assigned_pod_deleted(result.member.pod)
                groups.failed(infos[result.member.key])
        self._bind_volumes(written)
        for placed in bound:
            self.queue.assigned_pod_added(placed)

    def _note_group(self, group: PodGroup, attempt: GroupAttempt) -> None:
        """Write the group's condition; one that is true stays so."""
        key, status = (group.namespace, group.name), attempt.status
        before = self.group_conditions.get(key)
        if before is not None and before["status"] == "True" and status.code != "Success":
            return
        reason = {"Success": "Scheduled", "Error": "SchedulerError"}.get(status.code, "Unschedulable")
        told = {"status": str(status.code == "Success"), "reason": reason, "message": status.message}
        self.group_conditions[key] = {name: text for name, text in told.items() if text}

    def _bind_volumes(self, before: dict[str, dict[Any, KubeObject]]) -> None:
        """Tell the queue of what PreBind wrote. It looks a second later whether volumes are bound."""
        if self._tell_of_writes(before) & {"PersistentVolume", "PersistentVolumeClaim"}:
            self.sleep(SECOND)

    def _written(self) -> dict[str, dict[Any, KubeObject]]:
        """Return the objects that plugins and the controller of volumes write."""
        objects = self.cluster.objects
        return {
            "ResourceClaim": dict(objects.resource_claims),
            "PersistentVolume": dict(objects.persistent_volumes),
            "PersistentVolumeClaim": dict(objects.persistent_volume_claims),
        }

    def _tell_of_writes(self, before: dict[str, dict[Any, KubeObject]]) -> set[str]:
        """Tell the queue of objects that were written. Return their kinds."""
        told = set()
        for name, now in self._written().items():
            for key in sorted(now):
                item, old, kind = now[key], before[name].get(key), cast("Any", name)
                if item is not old:
                    told.add(name)
                    self.queue.move_all(ClusterEvent(kind, ADD if old is None else UPDATE), old, item)
        return told

    def _fail(self, info: QueuedPodInfo, pod: Pod, message: str) -> None:
        """Put a pod back that found no node; ``message``: the error of the first node that fails, if one does."""
        scheduler, key = self.scheduler, info.key
        verdict = scheduler.verdict(pod)
        if verdict.error:
            self._put_back(info, "SchedulerError", message, ())
            return
        if not verdict.nodes:
            self._put_back(info, "Unschedulable", "no nodes available to schedule pods", ())
            return
        if verdict.pre_filter and _ends_before_devices(verdict, scheduler.framework_of(self.cluster.shared_class(pod))):
            self._put_back(info, "Unschedulable", f"{verdict.message} not found", verdict.rejectors, None)
            return
        words = [verdict.message]
        released = scheduler.release_claim(pod, pod.name, verdict)
        found = Preemption()
        if scheduler.preempts(pod):
            found = scheduler.preemption(pod, verdict)
        candidate = scheduler.pick(found)
        after = [released] if released else []
        nominated: str | None = None if found.keeps_promise else ""
        if candidate is not None:
            mine = self.cluster.shared_class(pod)
            for unjudged in scheduler.framework_of(mine).extenders(mine, "preemptVerb"):
                raise unjudged
            after.append(
                f"preemption: found a potential placement for pod on node {candidate.node}, "
                f"preempting {len(candidate.victims)} victims"
            )
            nominated = candidate.node
        elif found.sentence:
            after.append(found.sentence)
        if after:
            words.append(", ".join(after))
        self._put_back(info, "Unschedulable", " ".join(words), verdict.rejectors, nominated)
        if candidate is not None:
            row = self.cluster.nodes.row_of[candidate.node]
            lower = self.cluster.nominated.get(row, {})
            mine = self.cluster.shared_class(pod)
            for other in [other for other, each in lower.items() if each.priority < mine.priority and other != key]:
                self._nominate(other, "")
            for victim in candidate.victims:
                self._delete_pod(victim.key)

    def _put_back(
        self, info: QueuedPodInfo, reason: str, message: str, rejectors: Any, nominated: str | None = ""
    ) -> None:
        self.conditions[info.key] = (reason, message)
        info.pod = self.pods[info.key]
        self.queue.add_unschedulable(info, rejectors)
        if nominated is not None:
            self._nominate(info.key, nominated)

    def _nominate(self, key: str, node: str) -> None:
        pod = self.pods[key]
        if node:
            self.cluster.nominate(key, self.cluster.shared_class(pod), node)
        else:
            self.cluster.withdraw(key)
        if pod.nominated_node_name != node:
            status = replace(pod.status or PodStatus(), nominated_node_name=node or None)
            self._replace_pod(key, replace(pod, status=status))

    # The answer.

    def _places(self) -> str:
        state = self.state()
        pods = {key: (each.get("node"), each.get("nominatedNodeName")) for key, each in state["pods"].items()}
        return json.dumps([pods, state.get("claims")])

    def state(self) -> Json:
        """Return pods and claims in the judge's form."""
        pods: Json = {}
        for key in sorted(self.pods):
            pod = self.pods[key]
            if pod.spec.node_name:
                pods[key] = {"node": pod.spec.node_name}
                continue
            reason, message = self.conditions.get(key, ("", ""))
            told = {"reason": reason, "message": message, "nominatedNodeName": pod.nominated_node_name}
            pods[key] = {name: text for name, text in told.items() if text}
        claims = {f"{each.namespace}/{each.name}": _claim_json(each) for each in self._claims()}
        groups = {
            f"{namespace}/{name}": {"PodGroupInitiallyScheduled": told} if told else {}
            for namespace, name in sorted(self.cluster.objects.pod_groups)
            for told in [self.group_conditions.get((namespace, name))]
        }
        held = self.cluster.objects.persistent_volume_claims
        volumes = {f"{namespace}/{name}": _volume_of(held[namespace, name]) for namespace, name in sorted(held)}
        found = {"pods": pods, "claims": claims, "podGroups": groups, "volumes": volumes}
        return {name: each for name, each in found.items() if each or name == "pods"}

    def _claims(self) -> list[ResourceClaim]:
        return sorted(self.cluster.objects.resource_claims.values(), key=lambda each: (each.namespace, each.name))


def _volume_of(claim: PersistentVolumeClaim) -> str:
    """Return a claim's phase, volume and selected node."""
    phase = claim.status.phase if claim.status is not None else ""
    return f"{phase or ''} {claim.spec.volume_name or ''} {selected_node(claim) or ''}"


def _ends_before_devices(verdict: Verdict, framework: Framework) -> bool:
    """Return whether PreFilter ended before DynamicResources was asked, whose PostFilter fails then."""
    ended = any(each.code == UNRESOLVABLE and each.plugin != _DEVICES for each in verdict.rejections)
    return ended and _DEVICES in framework.profile.enabled("post_filter")


def _claim_of(template: ResourceClaimTemplate, name: str, owner: OwnerReference) -> ResourceClaim:
    claim = ResourceClaim(api_version="resource.k8s.io/v1", kind="ResourceClaim", spec=template.spec.spec)
    claim.metadata = replace(template.spec.metadata, name=name, namespace=template.namespace, owner_references=[owner])
    return claim


def _claim_json(claim: ResourceClaim) -> Json:
    allocation = claim.status.allocation
    answer: Json = {
        "allocated": [],
        "isAllocated": allocation is not None,
        "reservedFor": sorted(each.name for each in claim.status.reserved_for or ()),
    }
    if allocation is None:
        return answer
    for each in allocation.devices.results or ():
        device: Json = {"request": each.request, "driver": each.driver, "pool": each.pool, "device": each.device}
        if each.share_id is not None:
            device["share"] = True
        if each.consumed_capacity:
            device["consumed"] = {name: str(amount) for name, amount in each.consumed_capacity.items()}
        if each.admin_access:
            device["admin"] = True
        answer["allocated"].append(device)
    if allocation.node_selector is not None:
        answer["nodeSelector"] = msgspec.to_builtins(allocation.node_selector)
    return answer


def _listed(item: Any) -> tuple[str, str]:
    """Return a key by which pods on nodes come last and in the order of their names, as they are listed."""
    return (item.namespace, item.name) if isinstance(item, Pod) and item.spec.node_name else ("", "")


def _typed(value: Json) -> Any:
    kind = value["kind"]
    how = KINDS[kind]
    item = msgspec.convert(value, how.struct, strict=False)
    if how.namespaced and not item.metadata.namespace:
        item.metadata.namespace = "default"
    return item
