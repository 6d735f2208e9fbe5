"""Pods of PodGroups in questions about every order of pods.

kube-scheduler tries the pods of a group one after another, and binds them only if `minCount` pods have nodes then. A
proof by counting therefore holds for a group if enough pods exist and each of them certainly finds a node. The search
places the pods that a gang needs in one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from topospread.api.pod import Pod
from topospread.api.pod_groups import PodGroup
from topospread.cluster import PodClass
from topospread.cluster.cluster import pod_key
from topospread.cluster.objects import Key
from topospread.controllers.planned import QueuedPod, Workload
from topospread.plugins.interface import NotJudgedError
from topospread.plugins.pod_group_members import group_key
from topospread.scheduling.placements import placements_by, scores
from topospread.scheduling.pod_groups import (
    Member,
    bound_rows,
    group_topology_key,
    min_count,
    refusal,
    scheduled_count,
    unbound_claims,
)
from topospread.simulation.run import Run

ORDERS = "orders"
"""`Unjudged.what` of pods that drills can judge, but whose orders are not searched."""


@dataclass
class GroupedPods:
    """The incoming pods of PodGroups.

    Attributes:
        in_rollout: whether the pods with nodes may be deleted, as in a rollout.
    """

    run: Run
    queue: Sequence[QueuedPod]
    in_rollout: bool = False

    @cached_property
    def _members(self) -> Mapping[Key, list[QueuedPod]]:
        found: dict[Key, list[QueuedPod]] = {}
        for each in self.queue if self.run.scheduler.has_groups else ():
            if (key := group_key(each.pod)) is not None:
                found.setdefault(key, []).append(each)
        return found

    def unsearched(self) -> dict[int, Sequence[NotJudgedError]]:
        """Return class ``index`` → why the orders of its pods are not searched, for groups that drills can judge."""
        found: dict[int, Sequence[NotJudgedError]] = {}
        for key, members in self._members.items():
            why = self._why_unsearched(key, members) if self._is_judged(key) else ""
            if why:
                because = f"the orders of PodGroup {key[0]}/{key[1]} are not searched: {why}"
                error = NotJudgedError(ORDERS, "spec.schedulingGroup", because, because)
                found |= dict.fromkeys((each.index for each in self._classes(members)), (error,))
        return found

    def _why_unsearched(self, key: Key, members: Sequence[QueuedPod]) -> str:
        topology_key, cluster = self._topology_key(members[0].pod), self.run.cluster
        if why := self._why_waiting(key):
            return why
        if self._needs_devices(members) or any(unbound_claims(cluster, each.pod) for each in members):
            return "its pods need devices or volumes that are not bound"
        if self._least(key) == 1 and not topology_key:
            return ""
        if self.in_rollout:
            return "rollouts of gangs are only simulated"
        framework = self.run.scheduler.framework_of(cluster.shared_class(members[0].pod))
        if topology_key:
            try:
                placements_by(topology_key, cluster, bound_rows(cluster, key))
                scores(framework, cluster, ())
            except NotJudgedError as error:
                return error.because
        return ""

    def with_partners(self, classes: Sequence[PodClass]) -> Sequence[PodClass] | None:
        """Return the classes, and the classes of all other pods in the same groups.

        Return ``None`` if a group may stay pending even if each of its pods has a feasible node.
        """
        keys = [key for key in self._members if any(group_key(each.pod) == key for each in classes)]
        for key in keys:
            if self._why_uncounted(key) or not self.at_once(self._members[key]):
                return None
        return [*classes, *(each for key in keys for each in self._classes(self._members[key]))]

    def shared_domain(self, workload: Workload, topology_key: str) -> str:
        """Return why all pods of a workload are in one domain of a topology key; "" if they may be in several."""
        key = "" if workload.template is None else self._topology_key(workload.template)
        if workload.template is None or not key:
            return ""
        within = dict[str, set[str | None]]()
        for node in self.run.cluster.nodes.nodes:
            if node is not None and key in node.labels:
                within.setdefault(node.labels[key], set()).add(node.labels.get(topology_key))
        is_lost = all(len(each) == 1 and None not in each for each in within.values())
        group = "/".join(group_key(workload.template) or ())
        return f"all pods of PodGroup {group} are in one {key}" if is_lost else ""

    def _topology_key(self, pod: Pod) -> str:
        """Return the key of the topology constraint that is in force for a pod's group; "" without one."""
        group = self._judged(pod)
        if group is None:
            return ""
        return group_topology_key(group, self.run.scheduler.framework_of(self.run.cluster.shared_class(pod)))

    @cached_property
    def topology_keys(self) -> frozenset[str]:
        """The topology keys of the groups' constraints."""
        return frozenset(filter(None, (self._topology_key(each[0].pod) for each in self._members.values())))

    def together(self, pod: Pod) -> tuple[int, str] | None:
        """Return the `least` and `topology_key` of `GroupOrders`, which finds the outcomes for a pod's group.

        Return ``None`` for a pod without a group, and for a group whose pods can be placed line by line.
        """
        group = self._judged(pod)
        if group is None:
            return None
        key = group.namespace, group.name
        least, topology_key = self._least(key), self._topology_key(pod)
        return (least, topology_key) if topology_key or (least > 1 and key in self._mixed) else None

    @cached_property
    def _mixed(self) -> set[Key]:
        """Groups of several workloads, and groups whose pods differ and may be more than a gang needs."""
        found = set[Key]()
        for key, members in self._members.items():
            differ = self._is_judged(key) and len(self._classes(members)) > 1 and len(members) > self._least(key)
            if differ or _of_several(members):
                found.add(key)
        return found

    def _judged(self, pod: Pod) -> PodGroup | None:
        """Return the group of a pod; ``None`` without one, or if topospread does not judge it."""
        key, objects = group_key(pod) if self.run.scheduler.has_groups else None, self.run.cluster.objects
        return None if key is None or not self._is_judged(key) else objects.pod_groups.get(key)

    def is_of_gang(self, pod: Pod) -> bool:
        """Return whether a pod must be placed together with other pods now."""
        group = self._judged(pod)
        if group is None:
            return False
        return self._least((group.namespace, group.name)) > 1 or bool(self._topology_key(pod))

    def at_once(self, pods: Sequence[QueuedPod]) -> int:
        """Return the number of pods that kube-scheduler must place together; 0 if too few of them exist.

        ``pods``: the pods of a gang, or a single pod, without nodes and in order.
        """
        group = self._judged(pods[0].pod)
        least = 1 if group is None else self._least((group.namespace, group.name))
        return 0 if len(pods) < least or (least > 1 and _in_order(pods[1:])) else least

    def _least(self, key: Key) -> int:
        """Return the number of the group's pods that must find nodes together now."""
        bound = 0 if self.in_rollout else scheduled_count(self.run.cluster, key)
        return max(1, min_count(self.run.cluster.objects.pod_groups[key]) - bound)

    def _is_judged(self, key: Key) -> bool:
        whole = self.run.cluster.objects.whole_groups
        return whole is None or key in whole

    def _classes(self, members: Iterable[QueuedPod]) -> list[PodClass]:
        shared = self.run.cluster.shared_class
        return list({(made := shared(each.pod)).index: made for each in members}.values())

    def _why_uncounted(self, key: Key) -> str:
        """Return why the group may stay pending even if each of its pods has a feasible node; "" if it may not."""
        members = self._members[key]
        if why := self._why_waiting(key):
            return why
        if self._needs_devices(members) or any(each.volumes for each in self._classes(members)):
            return "its pods need volumes or devices"
        return "it has a topology constraint" if self._topology_key(members[0].pod) else ""

    def _why_waiting(self, key: Key) -> str:
        """Return why kube-scheduler may place no pod of the group in any order; "" without such a reason."""
        run, members = self.run, self._members[key]
        group = run.cluster.objects.pod_groups.get(key)
        if group is None:
            return "it does not exist"
        if not self._is_judged(key):
            return "it is not judged"
        if any(group_key(each.pod) == key for each in run.plan.gated):
            return "some of its pods have scheduling gates"
        pods = [Member(pod_key(each.namespace, each.name), each.pod, each.name) for each in members]
        gates = run.scheduler.framework_of(run.cluster.shared_class(members[0].pod)).gates
        return refusal(run.cluster, group, pods, gates)

    def _needs_devices(self, members: Iterable[QueuedPod]) -> bool:
        slices = self.run.cluster.objects.resource_slices
        classes = self._classes(members)
        return any(each.pod.spec.resource_claims or (slices and each.may_need_devices) for each in classes)


def _in_order(pods: Iterable[QueuedPod]) -> bool:
    """Return whether a StatefulSet creates a pod only after another pod has a node."""
    return any(each.after is not None for each in pods)


def _of_several(pods: Iterable[QueuedPod]) -> bool:
    return len({id(each.workload) for each in pods}) > 1
