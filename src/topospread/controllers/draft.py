"""A plan under construction. The planner of each kind adds its workloads and pods to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from functools import cached_property
from itertools import islice
from math import inf

from msgspec.structs import replace

from topospread.admission.names import Names, generated_uid, pod_prefix
from topospread.admission.new_pods import VALIDATION, NewPodRules
from topospread.admission.pod_admission import Admission, status_message
from topospread.admission.policies import may_change, not_judged
from topospread.admission.quotas import Quotas, is_new
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.kinds import KINDS
from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.api.requests import incoming_requests, pod_requests
from topospread.api.running_resources import integers, quantities
from topospread.api.timestamps import seconds, snapshot_time
from topospread.api.validation.schema import STRUCT_OF
from topospread.api.workload import Job
from topospread.errors import InvalidError
from topospread.sources.synthetic_cluster import PROVISIONER

from .autoscaling import AutoscaleChoice, Autoscalers, stand_ins
from .claims import DefaultClass, VolumeClaims
from .control_plane import ControlPlane
from .controllers import Controller
from .planned import Plan, QueuedPod, Workload
from .removal import is_active, is_leaving
from .revisions import REVISION_HASH_LABEL

QUOTA = "ResourceQuota"
"""First word of the text that names a ResourceQuota which denies, or may deny, a new pod."""
MOST_PODS = 150_000
"""Limit on the replicas of all workloads: the number of pods that Kubernetes supports in a cluster."""
MOST_PER_NODE = 1_000
"""Limit on replicas per node. The larger limit, this or `MOST_PODS`, counts."""

_NOTHING = dict.fromkeys(("cpu", "memory", "ephemeral-storage", "pods"), 0)
"""Resource → 0, for the resources that a kubelet always checks. It ignores other resources that its node lacks."""


class Draft:
    """The plan under construction; `finished` orders its queue.

    Attributes:
        plan: the plan so far; its queue is in the order in which pods were added.
        gates: feature gates of the API server.
        admission: admission of new pods.
        new_pods: rules for new pods.
        default_class: StorageClass of claims that name no class.
        volumes: claims that are created with pods.
        scale: controller → replicas requested by ``--scale``.
        autoscalers: HorizontalPodAutoscalers; they apply to controllers that are not in ``scale``.
    """

    def __init__(
        self,
        inventory: Inventory,
        names: Names,
        control_plane: ControlPlane,
        autoscale: AutoscaleChoice = "keep",
    ) -> None:
        self.plan = Plan(inventory)
        self.gates = control_plane.apiserver
        self.names = names
        self.scale: Mapping[ObjectKey, int] = {}
        self.autoscalers = Autoscalers(inventory.horizontal_pod_autoscalers, autoscale, stand_ins(inventory))
        self.admission = Admission(inventory, self.gates)
        self.new_pods = self.plan.new_pods = NewPodRules(inventory, self.gates, self.admission)
        self.default_class = DefaultClass(inventory.storage_classes, self.gates.kube_version)
        self.volumes = VolumeClaims(self.plan, self.default_class)
        self._refuses, self._retries = control_plane.refuses, control_plane.retries
        self._made_bound: list[Pod] = []
        self._new_claims: Counter[Workload] = Counter()
        self._now: float | None = None
        self._desired = 0

    @cached_property
    def _free(self) -> dict[str, dict[str, int]]:
        """Node → resource → allocatable amount minus the requests of the node's pods."""
        free = {
            each.name: _NOTHING | integers(quantities(each.status.allocatable if each.status is not None else None))
            for each in self.plan.inventory.nodes
        }
        removed = {id(pod) for pod in self.plan.removed}
        for pod in self.plan.inventory.pods:
            if pod.spec.node_name in free and not _is_finished(pod) and id(pod) not in removed:
                _take(free[pod.spec.node_name], pod_requests(pod))
        return free

    def _admits(self, row: Workload, pod: Pod, node: str) -> bool:
        """Return whether a node's kubelet admits a new pod by its requests (pkg/kubelet/lifecycle/predicate.go)."""
        free, needs = self._free[node], incoming_requests(pod) | {"pods": 1}
        short = next((name for name, number in needs.items() if 0 < number > free.get(name, number)), "")
        if short:
            _note(row, f"nodeName is {node}, whose kubelet refuses its pods: OutOf{short}")
        else:
            _take(free, needs)
        return not short

    @property
    def now(self) -> float | None:
        """The time of the snapshot, if known."""
        if self._now is None:
            self._now = snapshot_time(self.plan.inventory.nodes, self.plan.inventory.pods)
        return self._now

    def row(self, kind: str, namespace: str, name: str, replicas: int) -> Workload:
        """Return a new workload at the end of the plan."""
        row = Workload(
            kind, namespace, name, replicas, autoscaling=self.autoscalers.applied.get((kind, namespace, name))
        )
        if row.autoscaling is not None and row.autoscaling.note:
            row.notes.append(row.autoscaling.note)
        self.plan.workloads.append(row)
        return row

    def desired(
        self, controller: Controller, given: int | None, field: str = "replicas", *, needed: int | None = None
    ) -> int:
        """Return the number of replicas: by --scale, else by an autoscaler, else by the manifest, else 1.

        Args:
            needed: upper bound on running pods, independent of the replicas; ``None`` for no bound.

        Raises:
            InvalidError: if the number is negative, or exceeds the limit of simulated pods together with other
                workloads.
        """
        asked = self.scale.get(controller.key)
        kept = self.autoscalers.replicas(controller.key, given, asked)
        replicas = next(each for each in (asked, kept, given, 1) if each is not None)
        problem = ""
        if replicas < 0:
            problem = f"Invalid value: {replicas}: must be greater than or equal to 0"
        pods = replicas if needed is None else min(replicas, needed)
        self._desired += pods
        most = max(MOST_PODS, MOST_PER_NODE * len(self.plan.inventory.nodes))
        if not problem and self._desired > most:
            earlier = f" and {self._desired - pods} of earlier workloads" if self._desired > pods else ""
            problem = f"{pods} pods{earlier} are more than can be simulated ({most}, or {MOST_PER_NODE} for each node)"
        if problem:
            raise InvalidError([problem], controller.place.at(f"spec.{field}"))
        return replicas

    def admitted(self, controller: Controller, pod: Pod, *, needed: bool) -> Pod:
        """Return a pod of a controller's template after admission.

        Raises:
            InvalidError: if the pod is ``needed`` and the API server denies it. The message is that of the
                controller's FailedCreate event.
        """
        try:
            made = self.admission.admit(pod, controller.place, "spec.template.", lenient=not needed)
            return self.changed(made, controller)
        except InvalidError as error:
            created = f"{pod.metadata.generate_name}…"
            message = _failed_create(controller.kind, controller.name, created, error.message)
            raise InvalidError([message], error.place) from None

    def changed(self, pod: Pod, controller: Controller | None = None) -> Pod:
        """Return a new pod after the changes of MutatingAdmissionPolicies."""
        item = controller.object if controller is not None else None
        is_indexed = isinstance(item, Job) and item.spec.completion_mode == "Indexed"
        return self.new_pods.policies.changed(pod, is_indexed=is_indexed)

    def keep(self, row: Workload, pods: Iterable[Pod]) -> None:
        """Add the existing pods of a workload: on nodes, pending or terminating. Finished pods are left out."""
        for pod in pods:
            if is_active(pod):
                if pod.spec.node_name:
                    row.existing.append(pod)
                else:
                    self.add(row, pod, pod.name)
            elif is_leaving(pod):
                row.terminating.append(pod)

    def add(self, row: Workload, pod: Pod, name: str, after: QueuedPod | None = None) -> QueuedPod | None:
        """Add a pod and return its queue entry; None if it is bound."""
        spec = pod.spec
        if any(volume.ephemeral is not None for volume in spec.volumes or ()):
            pod, new = self.volumes.of_ephemeral_volumes(pod, name)
            self.claims_made(row, new)
        # kube-scheduler does not schedule a pod with a node. On a missing or full node the pod never runs, so it is
        # queued here as if filters rejected it.
        if spec.node_name and spec.node_name in self._free and self._admits(row, pod, spec.node_name):
            pod = pod if pod.metadata.name == name else replace(pod, metadata=replace(pod.metadata, name=name))
            row.existing.append(pod)
            self._made_bound.append(pod)
            return None
        if spec.node_name:
            pod = replace(pod, spec=replace(spec, preemption_policy="Never"))
        queued = QueuedPod(pod, name, row, spec.priority or 0, pod.metadata.creation_timestamp or "", after)
        if spec.scheduling_gates:
            gates = ", ".join(gate.name for gate in spec.scheduling_gates)
            _note(row, f"its pods wait for their scheduling gates to be removed: {gates}")
            self.plan.gated.append(queued)
        else:
            self.plan.queue.append(queued)
        return queued

    def replicate(self, row: Workload, pod: Pod, count: int, controller_name: str) -> None:
        """Add equal new pods with generated names."""
        names = islice(self.names.generate(pod.namespace, pod_prefix(controller_name)), count)
        first = next(names, None)
        if first is None:
            return
        queued = self.add(row, pod, first)
        if queued is None or queued.pod is not pod:
            for name in names:
                self.add(row, pod, name)
            return
        # The pods differ only in their names, so the first pod decides for all of them.
        waiting = self.plan.gated if pod.spec.scheduling_gates else self.plan.queue
        priority, created = queued.priority, queued.created
        waiting += [QueuedPod(pod, name, row, priority, created) for name in names]

    def remove(self, pods: Iterable[Pod]) -> None:
        """Record pods that their controller deletes."""
        self.plan.removed += pods

    def claims_made(self, row: Workload, count: int) -> None:
        """Record the number of claims that were assumed for a workload."""
        if count:
            self._new_claims[row] += count

    def finished(self) -> Plan:
        """Return the plan with bound pods and the ordered queue."""
        plan = self.plan
        removed = {id(pod) for pod in plan.removed}
        for pod in plan.inventory.pods:
            if id(pod) not in removed:
                (plan.bound if pod.spec.node_name and not _is_finished(pod) else plan.unbound).append(pod)
        plan.bound += self._made_bound
        self._refuse()
        plan.queue = in_scheduling_order(plan.queue)
        for row, count in self._new_claims.items():
            what = "claim does" if count == 1 else "claims do"
            _note(row, f"{count} {what} not exist yet: assumed to get an existing or a new volume")
        plan.notes += self.default_class.notes(PROVISIONER)
        plan.warnings += [*self.autoscalers.warnings, *self.admission.warnings]
        return plan

    def _refuse(self) -> None:
        """Remove new pods that the API server denies from the queue, and mark pods that are not judged.

        A pod that its StatefulSet creates after a denied pod is also removed and uses no quota. A pod is not marked if
        a pod of the same revision is already stored. Without ``refuses``, removed pods are added to ``plan.gated``, and
        pods that may be denied are marked. With ``retries``, pods that exceed a quota are also added to ``plan.gated``,
        and terminating pods use no quota.
        """
        plan = self.plan
        new_pods = self.new_pods
        if not (plan.inventory.resource_quotas or new_pods):
            return
        policies = new_pods.policies
        removed = {id(pod) for pod in plan.removed}
        removed |= {id(pod) for pod in plan.inventory.pods if self._retries and is_leaving(pod)}
        there = (pod for pod in plan.inventory.pods if not is_new(pod) and id(pod) not in removed)
        quotas = plan.quotas = Quotas(plan.inventory.resource_quotas, there, new_pods.request_rules, self.now)
        rows = plan.workloads if policies else ()
        stored = {(id(row), _revision(pod)) for row in rows for pod in row.existing if pod.metadata.is_stored}
        self._unmark(stored)
        known: dict[int, tuple[Pod, tuple[str, str], list[str]]] = {}
        workloads = self._new_workloads(rows)
        marked: dict[tuple[int, str], Pod] = {}  # equal pods share one marked object, too
        refused: list[QueuedPod] = []
        for waiting in (plan.queue, plan.gated):
            for queued in waiting:
                pod, row = queued.pod, queued.workload
                if queued.after is not None and queued.after.refused:
                    queued.refused = queued.after.refused
                    continue
                if not is_new(pod):
                    continue
                if id(pod) not in known:
                    known[id(pod)] = (pod, new_pods.refusal(pod), policies.concerning(pod))
                _, (who, message), concerning = known[id(pod)]
                denied, opened = workloads.get(id(row), ("", []))
                if denied and self._refuses:
                    queued.refused = denied
                    continue
                if opened or denied:
                    concerning = [*concerning, *opened, *([f"{row.kind} {row.name}"] if denied else [])]
                is_certain = self._refuses or is_lasting(who, row)
                if not message:
                    who, message, is_certain = quota_refusal(quotas, pod)
                    is_certain = is_certain and (self._refuses or self._retries)
                if message and is_certain:
                    queued.refused = refused_words(queued, message)
                elif message or denied or opened or (policies and (id(row), _revision(pod)) not in stored):
                    if (id(pod), who) not in marked:
                        marked[id(pod), who] = not_judged(pod, *concerning, *filter(None, [who]))
                    queued.pod = marked[id(pod), who]
            refused += [each for each in waiting if each.refused]
            waiting[:] = [each for each in waiting if not each.refused]
        (plan.refused if self._refuses else plan.gated).extend(refused)

    def _unmark(self, stored: Container[tuple[int, str]]) -> None:
        """Remove the mark of pods if the API server has already stored a pod of the same revision."""
        plan, unmarked = self.plan, dict[int, tuple[Pod, Pod]]()
        for queued in (*plan.queue, *plan.gated):
            pod = queued.pod
            if pod.spec.unjudged_admission and (id(queued.workload), _revision(pod)) in stored:
                queued.pod = unmarked.setdefault(id(pod), (pod, _unmarked(pod)))[1]
        for row in plan.workloads:
            if row.template is not None and any(pod.metadata.is_stored for pod in row.existing[:1]):
                row.template = _unmarked(row.template)

    def _new_workloads(self, rows: Iterable[Workload]) -> dict[int, tuple[str, list[str]]]:
        """Return ``id`` of a new workload → (message of the policy that denies it, policies that are not evaluated)."""
        plan = self.plan
        if not (plan.inventory.validating_bindings or self.new_pods.policies.refused_workloads):
            return {}
        objects = {
            (kind, each.namespace, each.name): each
            for kind in STRUCT_OF.keys() - {"Pod"}
            for each in getattr(plan.inventory, KINDS[kind].attribute)
            if not each.metadata.resource_version
            and each.metadata.uid in (None, "", generated_uid(kind, each.namespace, each.name))
        }
        found: dict[int, tuple[str, list[str]]] = {}
        for row in rows:
            item = objects.get(key_of(row))
            refused = self.new_pods.policies.refused_workloads.get(key_of(row), "")
            if refused:
                found[id(row)] = refused, []
            elif item is not None:
                found[id(row)] = self.new_pods.on_workload(row.kind, item)
        return found


def _unmarked(pod: Pod) -> Pod:
    spec = pod.spec
    return replace(pod, spec=replace(spec, unjudged_admission=None)) if spec.unjudged_admission else pod


def _revision(pod: Pod) -> str:
    labels = pod.labels
    return labels.get("pod-template-hash") or labels.get(REVISION_HASH_LABEL) or ""


def in_scheduling_order(queue: Iterable[QueuedPod]) -> list[QueuedPod]:
    """Return pods in scheduling order: by priority, then age (new pods last), then input order.

    Source: pkg/scheduler/framework/plugins/queuesort/priority_sort.go. A pod never precedes the pod that must be placed
    before it is created.
    """
    keys: dict[QueuedPod, tuple[int, float]] = {}
    for each in queue:
        created = seconds(each.created) if each.created else None
        key = (-each.priority, inf if created is None else created)
        predecessor = keys.get(each.after) if each.after is not None else None
        keys[each] = key if predecessor is None else max(key, predecessor)
    return sorted(keys, key=keys.__getitem__)


def _is_finished(pod: Pod) -> bool:
    return pod.status is not None and pod.status.phase in FINISHED_PHASES


def quota_refusal(quotas: Quotas, pod: Pod) -> tuple[str, str, bool]:
    """Return (text that names the quota, API server's message, whether the denial is certain) for a new pod.

    Return ("", "", True) if the quotas admit the pod. A denial is not certain if a policy that is not evaluated may
    change the pod's requests.
    """
    words = quotas.refusal(pod)
    if not words:
        return "", "", True
    certain = "pods=" in words or not may_change(pod)
    return f"{QUOTA} of the namespace {pod.namespace}", status_message(pod, words), certain


def is_lasting(who: str, row: Workload) -> bool:
    """Return whether a denial applies to all new pods of a workload.

    A denial by a LimitRange or validation does. Another denial may not if the workload already has a stored pod.
    """
    return who.startswith(("LimitRange", VALIDATION)) or not any(pod.metadata.is_stored for pod in row.existing[:1])


def refused_words(queued: QueuedPod, message: str) -> str:
    """Return the API server's message on a denied pod, in the form of its controller's event."""
    pod, row = queued.pod, queued.workload
    name = pod.name or (pod.metadata.generate_name or "") + "…"
    return message if row.kind == "Pod" else _failed_create(row.kind, row.name, name, message)


def _failed_create(kind: str, owner: str, pod: str, message: str) -> str:
    """Return the text of the FailedCreate event that a pod's controller emits.

    Sources: pkg/controller/controller_utils.go, pkg/controller/statefulset/stateful_pod_control.go.
    """
    if kind == "StatefulSet":
        return f"FailedCreate: Create Pod {pod} in StatefulSet {owner} failed error: {message}"
    return f"FailedCreate: Error creating: {message}"


def _take(free: dict[str, int], requests: Mapping[str, int]) -> None:
    """Subtract a pod's requests, and one pod, from a node's free amounts."""
    for name, number in {**requests, "pods": 1}.items():
        if name in free:
            free[name] -= number


def _note(row: Workload, sentence: str) -> None:
    if sentence not in row.notes:
        row.notes.append(sentence)
