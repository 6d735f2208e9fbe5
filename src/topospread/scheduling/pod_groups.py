"""The scheduling cycle of a pod group: its pods are attempted one by one and bound together, or not at all.

Source: pkg/scheduler/schedule_one_podgroup.go and plugins/gangscheduling of Kubernetes 1.37. `unjudged_group` names
groups that are not modelled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from topospread.api.device_claims import ResourceClaim
from topospread.api.pod import Pod
from topospread.api.pod_groups import PodGroup
from topospread.cluster import Cluster, PodClass
from topospread.cluster.cluster import PodKey
from topospread.cluster.objects import Key
from topospread.config.gates import Gates
from topospread.config.version_rules import rules_for, since
from topospread.plugins.claim_binding import reserve
from topospread.plugins.dynamic_resources.claims import (
    ClaimMissingError,
    PodDeviceClaim,
    consumer_of,
    is_releasable,
)
from topospread.plugins.interface import UNRESOLVABLE, NotJudgedError
from topospread.plugins.pod_group_members import group_key
from topospread.plugins.pod_volumes import is_bound, pod_claims
from topospread.plugins.volume_catalog import catalog_of

from .cycle import Placement, Scheduler
from .framework import Framework
from .group_preemption import prefilter_skips, remaining_victims
from .placements import Assignment, placements_by, scores
from .verdict import GANG, Verdict
from .victim_units import Unit, possible_victims, whole_group

UNSCHEDULABLE = "pod group is unschedulable"
_WAITED_FOR = "which several pods of a PodGroup wait for"
TOPOLOGY = "TopologyAwareWorkloadScheduling"
_DEVICES, _PREEMPTION = "DynamicResources", "DefaultPreemption"


@dataclass(frozen=True, slots=True)
class PodGroupRules:
    """The differences between Kubernetes versions in pod groups."""

    judged: bool = since(
        "1.37",
        "With the gate GenericWorkload, the pods of a PodGroup are scheduled together and bound together or not at "
        "all. Groups of 1.35 and 1.36 are not judged.",
    )


def min_count(group: PodGroup) -> int:
    """Return the number of pods that a group must place together (``minCount``); 1 without a gang policy."""
    gang = group.spec.scheduling_policy.gang
    return 1 if gang is None else gang.min_count


def scheduled_count(cluster: Cluster, key: Key) -> int:
    """Return the number of a group's pods with nodes."""
    return sum(sum(each.occupancy.values()) for each in _bound(cluster, key))


def bound_rows(cluster: Cluster, key: Key) -> list[int]:
    """Return the rows of the nodes with pods of a group."""
    return [row for each in _bound(cluster, key) for row in each.occupancy]


def group_topology_key(group: PodGroup, framework: Framework) -> str:
    """Return the key of the topology constraint that is in force for a group; "" without one."""
    constraints = group.spec.scheduling_constraints
    if constraints is None or not constraints.topology:
        return ""
    is_in_force = framework.gates.enabled(TOPOLOGY) and framework.profile.enabled("placement_generate")
    return constraints.topology[0].key if is_in_force else ""


def unjudged_group(pod_class: PodClass, cluster: Cluster, framework: Framework) -> NotJudgedError | None:
    """Return the part of a group member that topospread does not model; ``None`` if all of it is modelled."""
    gates, pod = framework.gates, pod_class.pod
    key = group_key(pod)
    if key is None or not rules_for(PodGroupRules, gates).judged:
        field = "spec.schedulingGroup" if key is not None else "spec.workloadRef"
        return _unjudged(field, "pod groups of Kubernetes before 1.37")
    group = cluster.objects.pod_groups.get(key)
    if group is None and not cluster.objects.pod_groups_known:
        return _unjudged("spec.schedulingGroup", f"the PodGroup {key[1]}, which is not in the input")
    profile = framework.profile
    if framework.without_reserve:
        return _unjudged("spec.schedulingGroup", "pod groups in a profile that binds no pod")
    if any(GANG not in profile.enabled(point) for point in ("pre_enqueue", "permit")):
        return _unjudged("spec.schedulingGroup", "pod groups without the plugin GangScheduling")
    if gates.enabled("CompositePodGroup") and _has_composites(cluster):
        return _unjudged("spec.schedulingGroup", "composite pod groups")
    return None


def unjudged_victims(cluster: Cluster, pod_class: PodClass, gates: Gates) -> NotJudgedError | None:
    """Return an error if a pod may preempt a pod group in a way that is not modelled, else ``None``."""
    composite = gates.enabled("CompositePodGroup") and _has_composites(cluster)
    if rules_for(PodGroupRules, gates).judged and not composite:
        return None
    for each in cluster.classes.values():
        key = group_key(each.pod)
        group = None if key is None or not each.occupancy else cluster.objects.pod_groups.get(key)
        if group is None or min(each.priority, group.spec.priority or 0) >= pod_class.priority:
            continue
        if whole_group(cluster, each) or each.priority != (group.spec.priority or 0):
            return _unjudged("spec.priority", f"the eviction of the PodGroup {group.name}")
    return None


def _has_composites(cluster: Cluster) -> bool:
    return any(each.spec.parent_composite_pod_group_name for each in cluster.objects.pod_groups.values())


def _unjudged(field: str, words: str) -> NotJudgedError:
    return NotJudgedError("podGroups", field, words)


class Member(NamedTuple):
    """A group's pod without a node. ``name``: its own name, because replicas may share one pod object."""

    key: PodKey
    pod: Pod
    name: str


class Status(msgspec.Struct):
    """The outcome of an attempt (``framework.Status``).

    Attributes:
        of_group: whether the status has the error ``errPodGroupUnschedulable``.
    """

    code: Literal["Success", "Wait", "Unschedulable", "Error"] = "Success"
    reasons: tuple[str, ...] = ()
    of_group: bool = False

    @property
    def message(self) -> str:
        """The reasons in one sentence."""
        return ", ".join((UNSCHEDULABLE, *self.reasons) if self.of_group else self.reasons)

    @property
    def as_error(self) -> str:
        """Text of the Go error that ``AsError`` returns."""
        return UNSCHEDULABLE if self.of_group else self.message


class MemberResult(msgspec.Struct):
    """The result for one pod.

    Attributes:
        row: the feasible node, −1 for none; the pod is bound only if the group succeeds.
        score: score of the node.
        verdict: the rejection; ``None`` if the pod found a node or was not attempted.
        message: kube-scheduler's message for a pending pod.
        error: whether the attempt ended with an error.
        keeps_promise: whether the pod keeps its nominated node.
        nominated: node that is nominated for the pod after preemption; "" without one.
        unavailable: the pod's device claims that Filter found allocated elsewhere on at least one node.
        claims: (name, device claim) for each claim that the pod's binding writes; empty unless pods of the group share
            unallocated claims.
        unbound: why the pod's binding failed, after which the pod is tried again; "" if it did not fail.
    """

    member: Member
    row: int = -1
    score: int | None = None
    verdict: Verdict | None = None
    message: str = ""
    error: bool = False
    keeps_promise: bool = False
    nominated: str = ""
    unavailable: Sequence[ResourceClaim] = ()
    claims: Sequence[tuple[str, ResourceClaim]] = ()
    unbound: str = ""


class _Preemption(NamedTuple):
    """The result of the PodGroupPostFilter plugins.

    Attributes:
        says: message of the plugins.
        victims: pods to evict.
        nodes: pod of the group → its node after the evictions; empty if evictions do not help.
    """

    says: str
    victims: tuple[Unit, ...] = ()
    nodes: dict[PodKey, str] = {}  # noqa: RUF012 it is not changed


class GroupAttempt(msgspec.Struct):
    """One attempt at a group.

    Attributes:
        results: one for each member, in order.
        fits: number of the group's pods that have a node or a feasible node.
        rejected: whether the scheduling algorithm did not place minCount pods; ``status`` may report a later error.
        tried: if the group fits in no topology domain: domain → number of pods that fit in it.
        victims: pods that are evicted for the group.
    """

    group: PodGroup
    status: Status
    results: list[MemberResult]
    fits: int = 0
    rejected: bool = False
    tried: dict[str, int] = {}
    victims: Sequence[Unit] = ()

    @property
    def queue_code(self) -> str:
        """The status code with which the group returns to the queue."""
        return "Unschedulable" if self.rejected else self.status.code

    def await_victims(self, found: _Preemption) -> None:
        """Nominate nodes for the group's pods until its victims have terminated."""
        self.victims = found.victims
        for each in self.results:
            each.nominated = found.nodes.get(each.member.key, "")
            if each.row >= 0:
                each.message, each.row, each.keeps_promise = self.status.message, -1, True

    def fail(self, message: str) -> None:
        """Give the group, and every pod without its own error, an error with this message."""
        self.status = Status("Error", (message,))
        for each in self.results:
            if not each.error:
                each.message, each.row, each.error, each.keeps_promise = message, -1, True, False


class AttemptOptions(NamedTuple):
    """Options of an attempt at a group.

    Attributes:
        alone: whether no other pod can be scheduled during the attempt.
        preempts: whether to try preemption if the group does not fit.
        counts_all: whether to continue after kube-scheduler would stop the attempt, to count all pods that fit.
    """

    alone: bool = False
    preempts: bool = True
    counts_all: bool = False


def try_group(
    scheduler: Scheduler,
    group: PodGroup,
    members: Sequence[Member],
    options: AttemptOptions,
) -> GroupAttempt:
    """Try to schedule the pods of a group. Bind the pods that found nodes if the group succeeds, else no pod.

    Raises:
        NotJudgedError: if a part of the answer is not modelled.
    """
    cluster = scheduler.cluster
    framework = scheduler.framework_of(cluster.shared_class(members[0].pod))
    refused = refusal(cluster, group, members, framework.gates)
    if refused:
        failed = [MemberResult(each, message=refused, error=True) for each in members]
        return GroupAttempt(group, Status("Error", (refused,)), failed)
    for each in members:
        unjudged = unjudged_group(cluster.shared_class(each.pod), cluster, framework)
        if unjudged is not None:
            raise unjudged
    cycle = _Cycle(scheduler, framework, group, members, options.counts_all)
    cycle.notes_claims = _releases_claims(framework, group)
    _note_unallocated(cycle)
    with cluster.savepoint():
        trial = cycle.run()
    cycle.notes_claims = False
    status, results = trial.status, trial.results
    untried = [MemberResult(each, message=status.message, keeps_promise=True) for each in members[len(results) :]]
    attempt = GroupAttempt(group, status, [*results, *untried], trial.fits, status.code == "Unschedulable", trial.tried)
    if status.code == "Unschedulable" and options.preempts:
        if _fails_on_devices(framework, group, results):
            attempt.fail(f'error in "{_DEVICES}" PodGroupPostFilter plugins: not found')
            return attempt
        evicting = _post_filter(cycle, results)
        status.reasons += (evicting.says,) if evicting.says else ()
        if evicting.nodes:
            attempt.await_victims(evicting)
            return attempt
    if status.code == "Success":
        found = trial.found
        cluster.objects.add(_lose_races(cycle, found, alone=options.alone))
        found = [each for each in found if each.row >= 0]
        with cluster.savepoint():
            if any(_bind(scheduler, result, names_claims=False) for result in found):
                raise _unjudged("spec.volumes", "pods of a PodGroup whose claims cannot be bound")
        for result in found:
            _bind(scheduler, result)
        return attempt
    if status.code == "Error":
        attempt.fail(status.message)
        return attempt
    for result in results:
        if result.row >= 0:
            result.message, result.row = ", ".join((UNSCHEDULABLE, status.message)), -1
    return attempt


def _bind(scheduler: Scheduler, result: MemberResult, *, names_claims: bool = True) -> str:
    """Bind a pod to its feasible node. Return the error, or ""."""
    key, pod, _ = result.member
    pod_class = scheduler.cluster.shared_class(pod)
    scheduler.bind(key, pod_class, result.row, pod.metadata.uid or key, names_claims=names_claims)
    return scheduler.reserve(pod_class, result.row) if pod_class.volumes else ""


def _lose_races(cycle: _Cycle, found: Sequence[MemberResult], *, alone: bool) -> list[ResourceClaim]:
    """Choose the pods that bind the claims that several pods share; the other pods lose their nodes.

    kube-scheduler binds the pods concurrently. If several pods share an unbound or unallocated claim, only the pod that
    writes the claim first is bound; here it is the first pod in order. A later pod fails at its first claim that
    another pod wrote, and is tried again. Its claims before that one stay allocated.

    Returns:
        Shared device claims with their allocations. The caller writes them before it binds the pods.

    Raises:
        NotJudgedError: if a pod loses in a way that is not modelled.
    """
    cluster, written, users = cycle.scheduler.cluster, dict[str, ResourceClaim](), dict[str, MemberResult]()
    lost, whole = "", len(found) == len(cycle.members)
    for each in found:
        volumes = unbound_claims(cluster, each.member.pod)
        taken = next((name for name in sorted(volumes) if name in users), "")
        if taken and not (
            whole and not cluster.objects.unjudged_groups and _write_the_same(cluster, users[taken], each)
        ):
            raise _unjudged("spec.volumes", f"the claim {taken}, {_WAITED_FOR}")
        if taken:
            each.unbound = f'running PreBind plugin "VolumeBinding": the claim {taken} has been modified'
        users |= dict.fromkeys(volumes, each)
        own = {name for name in cycle.unallocated.get(each.member.key, ()) if name in cycle.made}
        at = next((at for at, (name, _) in enumerate(each.claims) if name in written), len(each.claims))
        writes = dict(each.claims[:at])
        if at < len(each.claims):
            lost = each.claims[at][0]
            words = f"claim {each.member.pod.namespace}/{lost} got allocated elsewhere in the meantime"
            each.unbound = f'running PreBind plugin "{_DEVICES}": {words}'
            own &= writes.keys()
        if lost and (own or not whole or not alone):
            raise _unjudged("spec.resourceClaims", f"the claim {lost}, {_WAITED_FOR}")
        written |= writes
        if each.unbound:
            each.message, each.row, each.error = each.unbound, -1, True
    return [claim for name, claim in written.items() if name not in cycle.made]


def _write_the_same(cluster: Cluster, first: MemberResult, later: MemberResult) -> bool:
    """Return whether two pods bind the same volumes, so that the later pod fails at its first volume."""
    pod, other = first.member.pod, later.member.pod
    if other.spec.resource_claims or unbound_claims(cluster, pod) != unbound_claims(cluster, other):
        return False
    bindings = reserve(cluster, cluster.shared_class(pod), first.row).bindings
    row = np.array([later.row], dtype=np.int64)
    return first.row == later.row or all(catalog_of(cluster).reached(volume, row)[0] for _, volume in bindings)


def unbound_claims(cluster: Cluster, pod: Pod) -> frozenset[str]:
    """Return the names of a pod's PersistentVolumeClaims without volumes."""
    found = [each.claim for each in pod_claims(pod, cluster.objects)] if pod.spec.volumes else []
    return frozenset(each.name for each in found if each is not None and not is_bound(each))


def _note_unallocated(cycle: _Cycle) -> None:
    """Set ``unallocated`` and ``made`` if several pods of the group share an unallocated device claim."""
    cluster, devices = cycle.scheduler.cluster, cycle.framework.devices
    found, made = dict[PodKey, list[str]](), set[str]()
    for each in cycle.members:
        pod_class = cluster.shared_class(each.pod)
        if devices is None or not pod_class.may_need_devices:
            continue
        try:
            claims = devices.wanted(pod_class, cluster.objects).claims
        except ClaimMissingError:
            continue
        found[each.key] = []
        for known in claims:
            name = known.claim.name
            if known.is_new and known.group is None:
                made.add(name := f"{each.name}-{known.entry}")
            if not known.claim.status.allocation:
                found[each.key].append(name)
    if max(Counter(name for names in found.values() for name in names).values(), default=0) > 1:
        cycle.unallocated, cycle.made = found, made


def refusal(cluster: Cluster, group: PodGroup, members: Sequence[Member], gates: Gates) -> str:
    """Return why the pods cannot be one group; "" if they can (``validatePodGroup``)."""
    bound = [each.pod for each in _bound(cluster, (group.namespace, group.name))]
    first = members[0].pod.spec
    priority, policy = group.spec.priority or 0, first.preemption_policy or "PreemptLowerPriority"
    whose = ""
    if gates.enabled("PodGroupPreemptionPolicy"):
        policy = group.spec.preemption_policy or "PreemptLowerPriority"
        whose = " as the pod group's preemption policy"
    for pod in [*(each.pod for each in members), *bound]:
        spec = pod.spec
        if spec.scheduler_name != first.scheduler_name:
            return (
                "all pods in a single pod group should have the same .spec.schedulerName set, "
                f'got: "{spec.scheduler_name}" and "{first.scheduler_name}"'
            )
        if (spec.priority or 0) != priority:
            return (
                "all pods in a single pod group should have the same priority as the pod group's priority, "
                f"got {spec.priority or 0} and {priority}"
            )
        if (spec.preemption_policy or "PreemptLowerPriority") != policy:
            return (
                f"all pods in a single pod group should have the same preemption policy{whose}, "
                f"got {spec.preemption_policy or 'PreemptLowerPriority'} and {policy}"
            )
    return ""


class _Trial(msgspec.Struct):
    """The outcome of a trial placement of a group's pods.

    Attributes:
        results: results of the pods that were tried.
        fits: number of pods with a node or a feasible node.
        tried: name of each placement → number of pods with a node or a feasible node there.
    """

    status: Status
    results: list[MemberResult] = []
    fits: int = 0
    tried: dict[str, int] = {}

    @property
    def found(self) -> list[MemberResult]:
        return [each for each in self.results if each.row >= 0]


class _Cycle(msgspec.Struct):
    """One run of the scheduling algorithm over a group.

    Attributes:
        notes_claims: whether to set ``unavailable`` in results.
        unallocated: pod → names of its unallocated device claims; empty if no two pods share one.
        made: names of claims that are created from a template for one pod.
    """

    scheduler: Scheduler
    framework: Framework
    group: PodGroup
    members: Sequence[Member]
    counts_all: bool = False
    promised: dict[PodKey, str] = {}
    notes_claims: bool = False
    unallocated: dict[PodKey, list[str]] = {}
    made: set[str] = set()

    @property
    def key(self) -> Key:
        return self.group.namespace, self.group.name

    def run(self) -> _Trial:
        """Place the pods of the group; the caller undoes the placement (``runRootSchedulingAlgorithm``).

        Nominations of the group's pods do not count for each other. kube-scheduler looks up a nominated pod's priority
        in its queue, which does not contain pods in flight.
        """
        cluster = self.scheduler.cluster
        nominated = {each.key: node for each in self.members if (node := cluster.nominated_node(each.key))}
        if nominated and (self.group.spec.priority or 0) <= 0:
            raise _unjudged("spec.schedulingGroup", f"nominated pods of the PodGroup {self.group.name}")
        for key in nominated:
            cluster.withdraw(key)
        self.promised = nominated
        trial = self._on_placements() if self.framework.gates.enabled(TOPOLOGY) else self._place()
        if trial.status.code == "Success" and not trial.found:
            trial.status = Status("Unschedulable", of_group=True)
        return trial

    def _on_placements(self) -> _Trial:
        """Try each placement. Return the result of the best (``podGroupSchedulingPlacementAlgorithm``)."""
        scheduler, cluster = self.scheduler, self.scheduler.cluster
        key = group_topology_key(self.group, self.framework)
        if not key:
            trial = self._place()
            return self._none_of([trial]) if trial.status.code == "Unschedulable" else trial
        rows = bound_rows(cluster, self.key)
        placements = placements_by(key, cluster, rows)
        if not placements:
            return _Trial(Status("Unschedulable", ("no feasible placements found",)), fits=len(rows))
        trials: dict[str, _Trial] = {}
        for name, nodes in placements.items():
            with cluster.savepoint(), scheduler.within(nodes):
                trials[name] = trial = self._place()
            if trial.status.code == "Error":
                return trial
        good = [name for name, each in trials.items() if each.status.code == "Success"]
        if not good:
            return self._none_of(list(trials.values()), {name: each.fits for name, each in trials.items()})
        if len(good) == 1:
            return trials[good[0]]
        before = scheduled_count(cluster, self.key)
        assignments = [
            Assignment(placements[name], [cluster.shared_class(each.member.pod) for each in trials[name].found], before)
            for name in good
        ]
        points = scores(self.framework, cluster, assignments)
        return trials[good[points.index(max(points))]]

    def _none_of(self, trials: Sequence[_Trial], tried: dict[str, int] | None = None) -> _Trial:
        first = trials[0]
        count = f"0/{len(trials)} placements are available"
        said = f"{count}, first placement status: {first.status.as_error}"
        status = Status("Unschedulable", (said,), of_group=True)
        return _Trial(status, first.results, max(each.fits for each in trials), tried or {})

    def _place(self) -> _Trial:
        """Place pod after pod until minCount cannot be reached (``podGroupSchedulingDefaultAlgorithm``)."""
        minimum, remaining = min_count(self.group), len(self.members)
        scheduled = scheduled_count(self.scheduler.cluster, self.key)
        trial = _Trial(_feasible(minimum, scheduled, remaining), fits=scheduled)
        if trial.status.code == "Unschedulable":
            trial.status.of_group = True
            return trial
        for each in self.members:
            result = self._place_one(each)
            trial.results.append(result)
            if result.error:
                said = f"failed to schedule other pod from a pod group: {result.message}"
                trial.status = Status("Error", (said,))
                return trial
            remaining -= 1
            scheduled += result.row >= 0
            trial.status = _feasible(minimum, scheduled, remaining)
            if trial.status.code == "Unschedulable":
                break
        trial.fits = scheduled
        for each in self.members[len(trial.results) :] if self.counts_all else ():
            trial.fits += self._place_one(each).row >= 0
        return trial

    def _place_one(self, member: Member) -> MemberResult:
        key, pod, name = member
        unavailable: list[PodDeviceClaim] = []
        if self.notes_claims and pod.spec.resource_claims:
            unavailable = self.scheduler.unavailable_claims(pod, self.scheduler.verdict(pod, name))
        pending = self._pending(member) if key in self.unallocated else []
        placement = self.scheduler.schedule(pod, name, nominated=self.promised.get(key, ""), binds=False)
        result = _result(self.scheduler, member, placement)
        if result.row >= 0 and key in self.unallocated:
            result.claims = self._allocate(member, pending)
        result.unavailable = [each.claim for each in unavailable]
        return result

    def _pending(self, member: Member) -> list[str]:
        """Return the pod's unallocated claims that an earlier pod of the group allocates.

        Raises:
            NotJudgedError: if such a claim precedes the pod's claim for extended resources, or if the pod also has
                other claims to allocate after it and several feasible nodes.
        """
        key, pod, name = member
        claims, names = self.scheduler.cluster.objects.resource_claims, self.unallocated[key]
        if len(set(names)) < len(names):
            raise _unjudged("spec.resourceClaims", f"the pod {name}, which names a claim twice")
        found = [each for each in names if (claim := claims.get((pod.namespace, each))) and claim.status.allocation]
        new = dropwhile(lambda each: each not in found, names)
        mixed = [each for each in new if each not in found]
        if f"{name}-" in mixed or (mixed and len(self.scheduler.verdict(pod, name).feasible) > 1):
            raise _unjudged("spec.resourceClaims", f"the claim {found[0]}, {_WAITED_FOR}")
        return found

    def _allocate(self, member: Member, pending: Collection[str]) -> list[tuple[str, ResourceClaim]]:
        """Return (name, claim) for the claims that the pod's binding writes, in the pod's order.

        kube-scheduler moves the allocations of pending claims to the end of their list, but not the claims
        (``Filter`` and ``Reserve`` of DynamicResources). A claim may thus get the devices of another claim.
        """
        objects, (key, pod, _) = self.scheduler.cluster.objects, member
        claims = [(each, objects.resource_claims.get((pod.namespace, each))) for each in self.unallocated[key]]
        found = [(each, claim) for each, claim in claims if claim is not None]
        allocations = [claim.status.allocation for _, claim in sorted(found, key=lambda each: each[0] in pending)]
        written = []
        for (name, claim), allocation in zip(found, allocations, strict=True):
            changed = replace(claim, status=replace(claim.status, allocation=allocation))
            if name not in pending and allocation is not claim.status.allocation:
                objects.put(changed)
            written.append((name, replace(changed, status=replace(changed.status, reserved_for=None))))
        return written


def _bound(cluster: Cluster, key: Key) -> list[PodClass]:
    """Return the classes of a group's pods with nodes."""
    return [each for each in cluster.classes.values() if each.occupancy and group_key(each.pod) == key]


def _feasible(minimum: int, scheduled: int, remaining: int) -> Status:
    """Return Success if minCount is reached, Wait if it may still be reached, else an error (``PlacementFeasible``)."""
    counts = f"{scheduled} scheduled, {remaining} remaining"
    if remaining + scheduled < minimum:
        return Status("Unschedulable", (f"minCount ({minimum}) cannot be satisfied: {counts}",))
    if scheduled < minimum:
        return Status("Wait", (f"minCount ({minimum}) is not yet satisfied: {counts}",))
    return Status()


def _result(scheduler: Scheduler, member: Member, placement: Placement) -> MemberResult:
    _, pod, name = member
    if placement.node is not None:
        return MemberResult(member, scheduler.cluster.nodes.row_of[placement.node], placement.score)
    verdict = scheduler.pending_verdict(pod, name)
    if verdict.error:
        if verdict.unjudged:
            raise verdict.unjudged[0]
        return MemberResult(member, verdict=verdict, message=placement.message, error=True)
    if not verdict.nodes:
        return MemberResult(member, verdict=verdict, message="no nodes available to schedule pods")
    return MemberResult(member, verdict=verdict, message=verdict.message, keeps_promise=True)


def _fails_on_devices(framework: Framework, group: PodGroup, results: Sequence[MemberResult]) -> bool:
    """Return whether DynamicResources' PodGroupPostFilter fails, because its PreFilter ran for no pod."""
    if not _releases_claims(framework, group):
        return False
    return all(each.verdict is not None and _ends_before_devices(each.verdict) for each in results)


def _ends_before_devices(verdict: Verdict) -> bool:
    if not verdict.nodes:
        return True
    if not verdict.pre_filter:
        return False
    return any(each.code == UNRESOLVABLE and each.plugin != _DEVICES for each in verdict.rejections)


def _released(cycle: _Cycle, results: Sequence[MemberResult]) -> str:
    """Return DynamicResources' message on the claims that it deallocates for a group (``PodGroupPostFilter``).

    A claim that was not allocated before the attempt counts as deallocated, but does not change.

    Raises:
        NotJudgedError: if the plugin deallocates a claim, because preemption may run before or after the change.
    """
    cluster, group = cycle.scheduler.cluster, cycle.group
    claims, of_group, unreserves = cluster.objects.resource_claims, list[ResourceClaim](), False
    for each in results:
        if each.verdict is not None and _ends_before_devices(each.verdict):
            continue
        now = [claims.get((claim.namespace, claim.name), ResourceClaim()) for claim in each.unavailable]
        mine = [claim for claim in now if is_releasable(claim, each.member.pod.metadata.uid or each.member.key)]
        _refuse_releases(mine)
        unreserves = unreserves or not mine
        of_group += [claim for claim in now if is_releasable(claim, group.metadata.uid or "")]
    of_groups = cycle.framework.gates.enabled("DRAWorkloadResourceClaims")
    if of_groups and unreserves and not scheduled_count(cluster, cycle.key):
        user = consumer_of(group)
        _refuse_releases(of_group or [claim for claim in claims.values() if user in (claim.status.reserved_for or ())])
        if of_group:
            return "deallocation of PodGroup ResourceClaim completed"
    return "deallocation and deletion of ResourceClaims completed"


def _refuse_releases(claims: Iterable[ResourceClaim]) -> None:
    for each in claims:
        if each.status.allocation is not None:
            raise _unjudged("spec.resourceClaims", f"the release of the claim {each.name} for a PodGroup")


def _releases_claims(framework: Framework, group: PodGroup) -> bool:
    """Return whether DynamicResources may deallocate claims in PodGroupPostFilter for the group."""
    constrained = framework.gates.enabled(TOPOLOGY) and group.spec.scheduling_constraints is not None
    return _DEVICES in framework.profile.enabled("pod_group_post_filter") and not constrained


def _post_filter(cycle: _Cycle, results: Sequence[MemberResult]) -> _Preemption:
    """Run the PodGroupPostFilter plugins for a group that does not fit (``RunPodGroupPostFilterPlugins``)."""
    framework, group, members = cycle.framework, cycle.group, cycle.members
    said: list[str] = []
    for name in framework.profile.enabled("pod_group_post_filter"):
        if name == _DEVICES and _releases_claims(framework, group):
            said.append(_released(cycle, results))
        if name != _PREEMPTION:
            continue
        if any(each.pod.spec.preemption_policy == "Never" for each in members):
            said.append("pod group preemption: not eligible due to preemptionPolicy=Never.")
            continue
        units = possible_victims(cycle.scheduler.cluster, group.spec.priority or 0)
        if not units:
            return _Preemption("pod group preemption: No preemption victims found for incoming preemptor")
        found = _preempted(cycle, units)
        if found.nodes:
            return found
        said.append(found.says)
    return _Preemption(", ".join(said))


def _preempted(cycle: _Cycle, units: Sequence[Unit]) -> _Preemption:
    scheduler, cluster = cycle.scheduler, cycle.scheduler.cluster
    with cluster.objects.devices.kept(), cluster.savepoint():
        for key, _, _ in (pod for unit in units for pod in unit.pods):
            cluster.unbind(key)
        with cluster.savepoint():
            trial = cycle.run()
        for each in cycle.promised:
            cluster.withdraw(each)
        if trial.status.code != "Success":
            return _Preemption(f"pod group preemption: {trial.status.message}")
        assigned = [(each.member.key, cluster.shared_class(each.member.pod), each.row) for each in trial.found]
        victims = remaining_victims(scheduler, units, assigned, prefilter_skips(scheduler, assigned))
    count = sum(len(each.pods) for each in victims)
    words = f"pod group preemption: found a placement for podgroup, preempting {count} victims"
    return _Preemption(words, tuple(victims), {key: cluster.nodes.names[row] for key, _, row in assigned})
