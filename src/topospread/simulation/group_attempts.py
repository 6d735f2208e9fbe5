"""Attempts to schedule the pod groups of a run, and the outcome of their pods."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from topospread.admission.pod_admission import Admission
from topospread.cluster import PodClass
from topospread.cluster.cluster import pod_key
from topospread.cluster.objects import Key
from topospread.controllers.planned import QueuedPod
from topospread.plugins.interface import NotJudgedError
from topospread.plugins.pod_group_members import group_key
from topospread.scheduling.cycle import Placement
from topospread.scheduling.pod_group_queue import PodGroupQueue
from topospread.scheduling.pod_groups import (
    AttemptOptions,
    GroupAttempt,
    Member,
    MemberResult,
    min_count,
    scheduled_count,
    try_group,
    unjudged_group,
)
from topospread.scheduling.queued_pod_info import QueuedPodInfo
from topospread.scheduling.verdict import GANG, Rejection, Verdict

from .evictions import MOST_PREEMPTIONS, evict
from .run import PodOutcome, Run, note_placed
from .virtual_queue import VirtualQueue

_NAMES = 3
"""Maximum number of domains or pods that a message names."""


def judge_groups(run: Run, known: Mapping[Key, Exception] = MappingProxyType({})) -> set[Key]:
    """Return the groups of a run without unmodelled parts, and set them and the other groups in the cluster.

    ``known``: group → error, for groups that an earlier attempt found to have an unmodelled part.
    """
    cluster, scheduler = run.cluster, run.scheduler
    objects = cluster.objects
    objects.pod_groups_known = bool(objects.pod_groups)
    admission = Admission(run.plan.inventory, run.options.in_force[0])
    objects.add([admission.admit_group(each) for each in objects.pod_groups.values()])
    groups: dict[Key, dict[int, PodClass]] = {}
    templates = (each.template for each in run.plan.workloads if each.template is not None)
    for each in (*cluster.classes.values(), *map(cluster.shared_class, (*(q.pod for q in run.queue), *templates))):
        if (key := group_key(each.pod)) is not None:
            groups.setdefault(key, {})[id(each)] = each
    unjudged = dict(known)
    created_later = {
        group_key(each.pod)
        for each in run.plan.gated
        if each.after and not each.refused and not each.after.pod.spec.scheduling_gates
    }
    for key, classes in groups.items():
        found = [unjudged_group(each, cluster, scheduler.framework_of(each)) for each in classes.values()]
        if key in created_later:
            found.append(NotJudgedError("podGroups", "spec.schedulingGates", "new pods with gates in a StatefulSet"))
        reason = next((each for each in found if each is not None), None)
        if reason is not None:
            unjudged[key] = reason
    judged = groups.keys() - unjudged.keys()
    objects.judge_groups(judged, unjudged)
    return judged


def take_in_groups(run: Run, queue: VirtualQueue, known: Mapping[Key, Exception] = MappingProxyType({})) -> None:
    """Queue the pods of each PodGroup as a group, except groups that are not judged (see `judge_groups`)."""
    judged = judge_groups(run, known)
    if judged:
        together = [place for place, queued in enumerate(run.queue) if group_key(queued.pod) in judged]
        created = [
            each for each in run.plan.gated if each.after is None and not each.refused and group_key(each.pod) in judged
        ]
        queue.take_in(PodGroupQueue(queue.queue, run.cluster, queue.plugins_of), dict.fromkeys(together), created)


def try_group_at_hand(run: Run, queue: VirtualQueue) -> None:
    """Schedule the pods of the current group together, and record their outcomes."""
    info, groups = queue.group, queue.groups
    assert info is not None, "a group is at hand"
    assert groups is not None, "a group is at hand"
    group, members = groups.popped(info)
    assert group is not None, "groups stay while pods are placed"
    infos = {each.key: each for each in info.members}
    first = queue.member(members[0].key)
    before = run.outcome(first)
    preempted = before.preempted if before is not None else 0
    if run.budgets is not None:
        run.budgets.recount()
    options = AttemptOptions(
        alone=queue.is_empty,
        preempts=run.options.preemption and preempted < MOST_PREEMPTIONS,
        counts_all=run.options.sampling == "all",
    )
    try:
        attempt = try_group(run.scheduler, group, members, options)
    except NotJudgedError as error:
        give_up(run, (group.namespace, group.name), error)
        groups.dissolve(info)
        return
    placed = []
    for result in attempt.results:
        key = result.member.key
        queued = queue.member(key)
        outcome = run.outcomes[id(queued)] = _outcome(run, attempt, result)
        outcome.preempted, outcome.nominated = preempted + bool(attempt.victims), result.nominated
        if outcome.placement.node is None:
            rejectors = result.verdict.rejectors if result.verdict is not None and not result.error else ()
            if not result.unbound:
                groups.failed(infos[key], rejectors)
            if result.nominated:
                run.cluster.nominate(key, run.cluster.shared_class(queued.pod), result.nominated)
            elif not result.keeps_promise:
                run.cluster.withdraw(key)
            continue
        note_placed(run, queued, key)
        groups.bound((group.namespace, group.name), key)
        placed.append(key)
    queue.group_tried(info, attempt.queue_code, placed)
    for result in attempt.results:
        if result.unbound:
            queue.evicted(run.cluster.shared_class(result.member.pod))
            groups.failed(infos[result.member.key])
    victims = [key for unit in attempt.victims for key, _, _ in unit.pods]
    for gone in evict(run, victims, first):
        queue.evicted(gone)
    if victims:
        queue.created()


def give_up(run: Run, group: Key, error: NotJudgedError) -> None:
    """Mark a group as not judged from now on, with the error that names the reason."""
    objects = run.cluster.objects
    objects.judge_groups((objects.whole_groups or set()) - {group}, {**objects.unjudged_groups, group: error})


def try_more(run: Run, pods: Sequence[QueuedPod], *, all_exist: bool) -> list[PodOutcome] | None:
    """Schedule more pods of a group, without preemption. Return their outcomes; ``None`` if they are not judged.

    Args:
        pods: pods without nodes. The group has no other such pods.
        all_exist: whether the group gets no further pods, so its number of pods is final.
    """
    cluster, key = run.cluster, group_key(pods[0].pod)
    assert key is not None, "a pod of a group"
    group, there = cluster.objects.pod_groups.get(key), scheduled_count(cluster, key)
    members = [Member(pod_key(each.namespace, each.name), each.pod, each.name) for each in pods]
    try:
        begins = not there and not all_exist and group is not None and group.spec.scheduling_constraints is not None
        if group is None or there + len(pods) < min_count(group) or begins:
            raise NotJudgedError(
                "podGroups",
                "spec.schedulingGroup",
                f"the start of the PodGroup {key[1]}: its first pods are not simulated alone",
            )
        attempt = try_group(run.scheduler, group, members, AttemptOptions(alone=True, preempts=False))
        if lost := next((each for each in attempt.results if each.unbound), None):
            raise NotJudgedError(
                "podGroups", "spec.schedulingGroup", f"{lost.member.name} waits for a claim that another pod is to bind"
            )
    except NotJudgedError as error:
        give_up(run, key, error)
        return None
    return [_outcome(run, attempt, each) for each in attempt.results]


def _outcome(run: Run, attempt: GroupAttempt, result: MemberResult) -> PodOutcome:
    key, cluster = result.member.key, run.cluster
    if result.row >= 0:
        return PodOutcome(Placement(key, cluster.nodes.names[result.row], result.score), stamp=cluster.journal.stamp)
    verdict = result.verdict
    if verdict is None or not verdict.message:
        verdict = _refused(run, key, _sentence(attempt))
    return PodOutcome(Placement(key, None, message=result.message), verdict, stamp=cluster.journal.stamp)


def _refused(run: Run, key: str, says: str) -> Verdict:
    """Return the verdict on a pod that waits for its group: a PreFilter rejection with the reason ``says``."""
    names = tuple(sorted(run.cluster.nodes.row_of))
    rejection = Rejection("Unschedulable", GANG, (says,))
    return Verdict(key, names, np.zeros(len(names), dtype=np.int64), (rejection,), pre_filter=says)


def _sentence(attempt: GroupAttempt) -> str:
    """Return why the group is not scheduled: its minCount, and the number of its pods that would find nodes."""
    group, least = attempt.group, min_count(attempt.group)
    name = f"PodGroup {group.namespace}/{group.name}"
    if attempt.status.code == "Error":
        return f"{name} fails: {attempt.status.message}"
    if attempt.fits >= least:
        return f"{name} has its minCount of {_pods(least)}, and its other pods find no node"
    needs, fits = f"{name} needs {_pods(least)} at once (minCount)", attempt.fits
    constraints = group.spec.scheduling_constraints
    if not attempt.tried or constraints is None or not constraints.topology:
        return f"{needs}: {fits} find{'s' * (fits == 1)} nodes"
    ranked = sorted(attempt.tried, key=lambda each: -attempt.tried[each])
    most = ", ".join(f"{attempt.tried[each]} in {each}" for each in ranked[:_NAMES])
    rest = f", at most as many in {len(ranked) - _NAMES} more" if len(ranked) > _NAMES else ""
    return f"{needs} in one {constraints.topology[0].key}: {most} find nodes{rest}"


def outcomes_of_waiting(run: Run, queue: VirtualQueue) -> dict[int, PodOutcome]:
    """Return the outcomes of pods that were never scheduled, by ``id`` of the queued pod.

    The message says what their group or StatefulSet waits for.
    """
    groups, cluster, found = queue.groups, run.cluster, dict[int, PodOutcome]()
    assert groups is not None, "there are groups"
    for key, infos in groups.members.items():
        group = cluster.objects.pod_groups.get(key)
        for pod in infos:
            queued = queue.member(pod)
            if run.outcome(queued) is not None or queued.pod.spec.scheduling_gates:
                continue
            name = f"{key[0]}/{key[1]}"
            there = len(infos) + scheduled_count(cluster, key)
            if group is None:
                says = f'waiting for pods\'s pod group "{key[1]}" to appear in scheduling queue'
                why = f"PodGroup {name} does not exist"
            elif there >= min_count(group):
                says = why = f"PodGroup {name} waits for {_held(infos.values())}"
            else:
                says = "waiting for minCount pods from a gang to appear in scheduling queue"
                why = f"PodGroup {name} needs {_pods(min_count(group))} (minCount): {there} exist{'s' * (there == 1)}"
            found[id(queued)] = PodOutcome(
                Placement(pod, None, message=says), _refused(run, pod, why), stamp=cluster.journal.stamp
            )
    for queued in run.queue:
        if run.outcome(queued) is None and queued.after is not None:
            message = f"not created: its StatefulSet waits for {queued.after.name}, which is pending"
            found[id(queued)] = PodOutcome(Placement(f"{queued.namespace}/{queued.name}", None, message=message))
    return found


def _held(infos: Collection[QueuedPodInfo]) -> str:
    """Return a text that names the pods that PreEnqueue plugins hold, and why."""
    gated = [each for each in infos if each.pod.spec.scheduling_gates]
    held = [each.key.partition("/")[2] for each in gated or infos if gated or each.gating_plugin]
    names = ", ".join(held[:_NAMES]) + (f" and {len(held) - _NAMES} more" if len(held) > _NAMES else "")
    return f"pods with scheduling gates: {names}" if gated else f"pods whose resource claims do not exist: {names}"


def _pods(count: int) -> str:
    return f"{count} pod{'s' * (count != 1)}"
