"""The scheduling cycle of a pod group: its pods are attempted one by one and bound together, or not at all.

Source: pkg/scheduler/schedule_one_podgroup.go and plugins/gangscheduling of Kubernetes 1.37. `unjudged_group` names
groups that are not modelled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Literal, NamedTuple

import msgspec

from topospread.api.device_claims import ResourceClaim
from topospread.api.pod import Pod
from topospread.api.pod_groups import PodGroup
from topospread.cluster import Cluster, PodClass
from topospread.cluster.cluster import PodKey
from topospread.cluster.objects import Key
from topospread.config.gates import Gates
from topospread.config.version_rules import rules_for, since
from topospread.plugins.dynamic_resources.claims import (
    ClaimMissingError,
    PodDeviceClaim,
    consumer_of,
    is_releasable,
)
from topospread.plugins.interface import UNRESOLVABLE, NotJudgedError
from topospread.plugins.pod_volumes import is_bound, pod_claims

from .cycle import Placement, Scheduler
from .framework import Framework
from .group_preemption import prefilter_skips, remaining_victims
from .placements import Assignment, placements_by, scores
from .pod_group_members import group_key
from .verdict import GANG, Verdict
from .victim_units import Unit, possible_victims, whole_group

UNSCHEDULABLE = "pod group is unschedulable"
_WAITED_FOR = "which several pods of a PodGroup wait for"
_MOST_RACES = 16
"""Number of possible outcomes of a race for claims that are compared."""
_TOPOLOGY = "TopologyAwareWorkloadScheduling"
_DEVICES, _PREEMPTION = "DynamicResources", "DefaultPreemption"


@dataclass(frozen=True, slots=True)
class PodGroupRules:
    """The versions whose pod groups are modelled."""

    judged: bool = since(
        "1.37",
        "With the gate GenericWorkload the pods of a PodGroup are tried together and take their nodes together or not "
        "at all. Groups of 1.35 and 1.36 are not judged.",
    )


def min_count(group: PodGroup) -> int:
    """Return how many pods of a group must have nodes at once; 1 without a gang policy."""
    gang = group.spec.scheduling_policy.gang
    return 1 if gang is None else gang.min_count


def scheduled_count(cluster: Cluster, key: Key) -> int:
    """Return how many pods of a group have nodes."""
    return sum(sum(each.occupancy.values()) for each in _bound(cluster, key))


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
    """Return why preempting members of a group for a pod is not modelled: the version, for groups evicted whole."""
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
    """A group's pod without a node; ``name``: its own name if it shares its object with others."""

    key: PodKey
    pod: Pod
    name: str


class Status(msgspec.Struct):
    """The outcome of an attempt (``framework.Status``).

    Attributes:
        of_group: the status carries ``errPodGroupUnschedulable``.
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
        """The words of Go's ``AsError``."""
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
        unavailable: its claims on devices that are allocated elsewhere, on any node.
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


class _Preemption(NamedTuple):
    """The result of the PodGroupPostFilter plugins.

    Attributes:
        says: their message.
        victims: the pods to evict.
        nodes: pod → the node that it would have then; empty if evictions do not help.
    """

    says: str
    victims: tuple[Unit, ...] = ()
    nodes: dict[PodKey, str] = {}  # noqa: RUF012 it is not changed


class GroupAttempt(msgspec.Struct):
    """One attempt at a group.

    Attributes:
        results: one for each member, in order.
        fits: number of its pods with a node or a feasible node.
        rejected: whether the scheduling algorithm found no room, whatever later steps report.
        tried: topology domain of the group that failed → number of pods that fit in it.
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
        """The group waits for the end of its victims, with the nodes that its pods would have then."""
        self.victims = found.victims
        for each in self.results:
            each.nominated = found.nodes.get(each.member.key, "")
            if each.row >= 0:
                each.message, each.row, each.keeps_promise = self.status.message, -1, True

    def fail(self, message: str) -> None:
        """Fail the group, and every pod without an error of its own."""
        self.status = Status("Error", (message,))
        for each in self.results:
            if not each.error:
                each.message, each.row, each.error, each.keeps_promise = message, -1, True, False


class AttemptOptions(NamedTuple):
    """Options of an attempt at a group.

    Attributes:
        alone: no other pod may take a node meanwhile.
        preempts: if the group does not fit, also try preemption, for its message.
        counts_all: go on after the pod at which kube-scheduler gives up, to count all pods that fit.
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
    """Try the pods of a group. Those that found nodes are bound if the group succeeds; otherwise nothing changes.

    Raises:
        NotJudgedError: a part of the answer is not modelled.
    """
    cluster = scheduler.cluster
    framework = scheduler.framework_of(cluster.shared_class(members[0].pod))
    refused = _refusal(cluster, group, members, framework.gates)
    if refused:
        failed = [MemberResult(each, message=refused, error=True) for each in members]
        return GroupAttempt(group, Status("Error", (refused,)), failed)
    for each in members:
        unjudged = unjudged_group(cluster.shared_class(each.pod), cluster, framework)
        if unjudged is not None:
            raise unjudged
    _refuse_mixed_claims(framework, cluster, members)
    cycle = _Cycle(scheduler, framework, group, members, options.counts_all)
    cycle.notes_claims = _releases_claims(framework, group)
    with cluster.savepoint():
        trial = cycle.run()
    cycle.notes_claims = False
    status, results = trial.status, trial.results
    untried = [MemberResult(each, message=status.message) for each in members[len(results) :]]
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
        found, written = _after_race(cycle, trial.found, alone=options.alone)
        cluster.objects.add(written)
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


def _bind(scheduler: Scheduler, result: MemberResult, *, names_claims: bool = True, binds: bool = True) -> str:
    """Bind a pod to the node that it found. Return why that fails, or "". ``binds``: also bind its claims."""
    key, pod, _ = result.member
    pod_class = scheduler.cluster.shared_class(pod)
    scheduler.bind(key, pod_class, result.row, pod.metadata.uid or key, names_claims=names_claims)
    return scheduler.reserve(pod_class, result.row, binds=binds) if pod_class.volumes else ""


def _after_race(
    cycle: _Cycle, found: Sequence[MemberResult], *, alone: bool
) -> tuple[list[MemberResult], list[ResourceClaim]]:
    """Return the pods that found nodes in the order of their binding, after a race for claims without a volume or
    devices, and the claims on devices with their allocations.

    Of the pods that share a claim only the pod that writes first is bound. The others are tried again. Chance decides
    which pod is first, and whether the PV controller has bound the claim by then.

    Raises:
        NotJudgedError: if chance decides more than the names of equal pods.
    """
    scheduler, cluster = cycle.scheduler, cycle.scheduler.cluster
    claims = {each.member.key: _claims(cycle.framework, cluster, each.member) for each in found}
    users = Counter(name for each in claims.values() for name, _ in each)
    writers: dict[frozenset[object], list[MemberResult]] = {}
    for each in found:
        new = [name for name, known in claims[each.member.key] if users[name] > 1 and not known.claim.status.allocation]
        writers.setdefault(_unbound(cluster, each.member.pod) | {(name, "devices") for name in new}, []).append(each)
    written = Counter(name for names, pods in writers.items() for name in names for _ in pods)
    if not written or max(written.values()) == 1:
        return list(found), []
    named = written.most_common(1)[0][0]
    of_devices = isinstance(named, tuple)
    field, name = ("spec.resourceClaims", named[0]) if isinstance(named, tuple) else ("spec.volumes", named)
    by_chance = _unjudged(field, f"the claim {name}, {_WAITED_FOR}")
    racing = [pods for names, pods in writers.items() if names and len(pods) > 1]
    overlap = len(frozenset[object]().union(*writers)) < sum(map(len, writers))
    firsts = [{_place(cluster, each): each for each in reversed(pods)}.values() for pods in racing]
    # A failed binding also ends a nomination, and releases devices and claims that are made for a pod.
    more = (
        bool(cycle.promised)
        or (not of_devices and any(claims.values()))
        or any(
            known.is_new and known.group is None
            for pods in racing
            for each in pods
            for _, known in claims[each.member.key]
        )
    )
    if not alone or overlap or more or len(found) < len(cycle.members) or prod(map(len, firsts)) > _MOST_RACES:
        raise by_chance
    allocated = _allocated(scheduler, found) if of_devices else []
    places = Counter(_place(cluster, each) for each in found)
    after: list[MemberResult] = []
    for first in product(*firsts):
        losers = {each.member.key for pods in racing for each in pods} - {each.member.key for each in first}
        sure = [each for each in found if each.member.key not in losers]
        again = msgspec.structs.replace(cycle, members=[each.member for each in found if each.member.key in losers])
        for binds in (True,) if of_devices else (True, False):
            with cluster.savepoint():
                cluster.objects.add(allocated)
                for each in sure:
                    _bind(scheduler, each, names_claims=False, binds=binds)
                retried = [*sure, *again.run().found]
            if Counter(_place(cluster, each) for each in retried) != places:
                raise by_chance
            after = after or retried
    result_of = {each.member.key: each for each in found}
    for each in after:
        result_of[each.member.key].row, result_of[each.member.key].score = each.row, each.score
    return [result_of[each.member.key] for each in after], allocated


def _allocated(scheduler: Scheduler, found: Sequence[MemberResult]) -> list[ResourceClaim]:
    """Return the claims that the pods get allocated, not yet reserved for them; without claims made for a pod."""
    claims = scheduler.cluster.objects.resource_claims
    before = dict(claims)
    with scheduler.cluster.savepoint():
        for each in found:
            _bind(scheduler, each, names_claims=False, binds=False)
        after = dict(claims)
    none = ResourceClaim()
    return [
        msgspec.structs.replace(claim, status=msgspec.structs.replace(claim.status, reserved_for=users))
        for key, claim in after.items()
        if claim is not before.get(key) and (key in before or (claim.metadata.controller or none).kind == "PodGroup")
        for users in [before.get(key, none).status.reserved_for]
    ]


def _place(cluster: Cluster, result: MemberResult) -> tuple[object, int]:
    """Return the class and the node's row of a pod."""
    return cluster.shared_class(result.member.pod).key, result.row


def _unbound(cluster: Cluster, pod: Pod) -> frozenset[object]:
    """Return the pod's claims without a volume."""
    found = [each.claim for each in pod_claims(pod, cluster.objects)] if pod.spec.volumes else []
    return frozenset(each.name for each in found if each is not None and not is_bound(each))


def _refuse_mixed_claims(framework: Framework, cluster: Cluster, members: Sequence[Member]) -> None:
    """Check that no pod asks for a claim that a pod before it gets allocated, and then for another claim.

    kube-scheduler writes the allocations of such claims into each other.

    Raises:
        NotJudgedError: if a pod does.
    """
    taken: set[object] = set()
    for each in members:
        new = [name for name, known in _claims(framework, cluster, each) if not known.claim.status.allocation]
        shared = [name in taken for name in new]
        if True in shared and False in shared[shared.index(True) :]:
            raise _unjudged("spec.resourceClaims", f"the claim {new[shared.index(True)]}, {_WAITED_FOR}")
        taken.update(new)


def _claims(framework: Framework, cluster: Cluster, member: Member) -> list[tuple[object, PodDeviceClaim]]:
    """Return the pod's claims on devices with what identifies each: a name, or the pod's if the claim is new."""
    devices, pod_class = framework.devices, cluster.shared_class(member.pod)
    if devices is None or not pod_class.may_need_devices:
        return []
    try:
        claims = devices.wanted(pod_class, cluster.objects).claims
    except ClaimMissingError:
        return []
    own = [each.is_new and each.group is None for each in claims]
    return [((member.key, each.entry) if new else each.claim.name, each) for new, each in zip(own, claims, strict=True)]


def _refusal(cluster: Cluster, group: PodGroup, members: Sequence[Member], gates: Gates) -> str:
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
    """The outcome of placing a group's pods for now.

    Attributes:
        results: of the pods that were tried.
        fits: how many pods have nodes or would find them.
        tried: name of each placement → number of pods with a node or a feasible node there.
    """

    status: Status
    results: list[MemberResult] = []
    fits: int = 0
    tried: dict[str, int] = {}

    @property
    def found(self) -> list[MemberResult]:
        """The pods that found nodes."""
        return [each for each in self.results if each.row >= 0]


class _Cycle(msgspec.Struct):
    """One run of the scheduling algorithm over a group."""

    scheduler: Scheduler
    framework: Framework
    group: PodGroup
    members: Sequence[Member]
    counts_all: bool = False
    promised: dict[PodKey, str] = {}
    notes_claims: bool = False

    @property
    def key(self) -> Key:
        """Namespace and name of the group."""
        return self.group.namespace, self.group.name

    def run(self) -> _Trial:
        """Place the pods of the group for now (``runRootSchedulingAlgorithm``).

        kube-scheduler knows the priority of nominated pods in its queue only, where the group's pods are not: they do
        not count for each other.
        """
        cluster = self.scheduler.cluster
        nominated = {each.key: node for each in self.members if (node := cluster.nominated_node(each.key))}
        if nominated and (self.group.spec.priority or 0) <= 0:
            raise _unjudged("spec.schedulingGroup", f"nominated pods of the PodGroup {self.group.name}")
        for key in nominated:
            cluster.withdraw(key)
        self.promised = nominated
        trial = self._on_placements() if self.framework.gates.enabled(_TOPOLOGY) else self._place()
        if trial.status.code == "Success" and not trial.found:
            trial.status = Status("Unschedulable", of_group=True)
        return trial

    def _on_placements(self) -> _Trial:
        """Try each placement, and take the best (``podGroupSchedulingPlacementAlgorithm``)."""
        scheduler, cluster = self.scheduler, self.scheduler.cluster
        constraints = self.group.spec.scheduling_constraints
        generates = self.framework.profile.enabled("placement_generate")
        if constraints is None or not constraints.topology or not generates:
            trial = self._place()
            return self._none_of([trial]) if trial.status.code == "Unschedulable" else trial
        rows = [row for each in _bound(cluster, self.key) for row in each.occupancy]
        placements = placements_by(constraints.topology[0].key, cluster, rows)
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
        """Place pod after pod until too few can find nodes (``podGroupSchedulingDefaultAlgorithm``)."""
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
        placement = self.scheduler.schedule(pod, name, nominated=self.promised.get(key, ""), binds=False)
        result = _result(self.scheduler, member, placement)
        result.unavailable = [each.claim for each in unavailable]
        return result


def _bound(cluster: Cluster, key: Key) -> list[PodClass]:
    """The classes of a group's pods that have nodes."""
    return [each for each in cluster.classes.values() if each.occupancy and group_key(each.pod) == key]


def _feasible(minimum: int, scheduled: int, remaining: int) -> Status:
    """Return whether enough pods have nodes, or may find them yet (``PlacementFeasible``)."""
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
    """Return whether DynamicResources has no state for the group, because its PreFilter never ran."""
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
    """Return what DynamicResources says of claims that it releases for a group (``PodGroupPostFilter``).

    A claim that was not allocated before the attempt counts, and stays as it is.

    Raises:
        NotJudgedError: if it releases a claim, which preemption may see or not.
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
    """Return whether DynamicResources has a part in PodGroupPostFilter."""
    constrained = framework.gates.enabled(_TOPOLOGY) and group.spec.scheduling_constraints is not None
    return _DEVICES in framework.profile.enabled("pod_group_post_filter") and not constrained


def _post_filter(cycle: _Cycle, results: Sequence[MemberResult]) -> _Preemption:
    """Run the PodGroupPostFilter plugins for a group without room (``RunPodGroupPostFilterPlugins``)."""
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
    """Find the victims among `units` for a group."""
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
