"""Remarks on facts that affect a drill and are easily missed, such as pods that are never replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from topospread.api.inventory import key_of
from topospread.controllers.planned import Workload
from topospread.controllers.revisions import TEMPLATE_CHANGED
from topospread.controllers.scale import short_target
from topospread.simulation.result import PendingGroup
from topospread.text import agreeing

from .drill_state import DrillState
from .node_failure import NodeFailures
from .pods import FollowedPod
from .result import LostReplicas, StepOutcome, WorkloadState

STATEFUL_SETS_WAIT = (
    "a StatefulSet replaces a pod only after the old one is deleted: bring the node back, delete the Node "
    "object, or add the taint node.kubernetes.io/out-of-service"
)
_NAMED = 3
_VOLUME_REASONS = ("PersistentVolume's node affinity", "volume node affinity conflict")


def remarks(
    state: DrillState, failures: NodeFailures, changed: Sequence[WorkloadState], pending: Sequence[PendingGroup]
) -> Iterator[str]:
    """Yield remarks on the state after a step."""
    unready = [each for each in state.pods.by_key.values() if each.is_unready and not each.terminating]
    if unready:
        yield _said(unready, "are not ready in the input; in a drill, only new pods become ready")
    yield from _held_back(state, failures)
    waits = not_replaced(state)
    if waits:
        yield _said(waits, f"are not replaced: {STATEFUL_SETS_WAIT}")
    held = state.successors.held_back()
    if held:
        yield _said(held, "are not replaced: the StatefulSet waits until all earlier pods are ready")
    yield from _not_counted(_terminating(state))
    yield from _pinned(pending)
    yield from _staying(state)
    skewed = []
    for each in changed:
        exceeded = [spread for spread in each.spread if spread.hard and spread.is_exceeded]
        if exceeded and not each.pending:
            worst = max(exceeded, key=lambda spread: spread.skew - spread.max_skew)
            skewed.append(f"{each.namespace}/{each.name} (skew {worst.skew}, maxSkew {worst.max_skew})")
    if skewed:
        yield f"{_listed(skewed)} {agreeing('stay', len(skewed))} skewed: nothing moves pods that are placed"


def not_rolled_out(workloads: Iterable[Workload], outcomes: Iterable[StepOutcome]) -> Iterator[str]:
    """Yield a warning about each workload whose changed template no step rolled out."""
    rolled = {key_of(each) for outcome in outcomes for each in outcome.rollouts}
    for each in workloads:
        for note in each.notes:
            if note.startswith(TEMPLATE_CHANGED) and key_of(each) not in rolled:
                target = short_target(key_of(each))
                yield f"{each.namespace}/{each.name}: {note.partition(';')[0]}; --rollout {target} rolls it out"


def _held_back(state: DrillState, failures: NodeFailures) -> Iterator[str]:
    zones = sorted(zone for zone in failures.held_back)
    if not zones:
        return
    if len(state.down) == len(state.cluster.nodes):
        yield "every node is NotReady: the node lifecycle controller suspects its own connection and evicts no pod"
        return
    names = _listed([zone or "no zone" for _, zone in zones])
    yield (
        f"at least 55 % of the nodes of {names} are NotReady: in zones of at most 50 nodes, the node lifecycle "
        "controller then evicts no pod (PartialDisruption)"
    )


def not_replaced(state: DrillState) -> list[FollowedPod]:
    """Return the terminating pods of StatefulSets on NotReady nodes. A StatefulSet does not replace a pod that still
    exists."""
    terminating = _terminating(state)
    return [each for each in terminating if each.workload is not None and each.workload.kind == "StatefulSet"]


def lost_replicas(state: DrillState) -> tuple[LostReplicas, ...]:
    """Return the StatefulSets with pods that are not replaced, smallest share of ready pods first."""
    counts = Counter(each.workload for each in (*not_replaced(state), *state.successors.held_back()))
    lost = [
        LostReplicas(
            namespace=each.namespace,
            name=each.name,
            pods=pods,
            ready=state.health.ready[key_of(each)],
            replicas=each.replicas,
        )
        for each, pods in counts.items()
        if each is not None and each.replicas
    ]
    return tuple(sorted(lost, key=lambda each: (each.ready / each.replicas, -each.replicas, each.key)))


def _terminating(state: DrillState) -> list[FollowedPod]:
    return [each for each in state.pods.by_key.values() if each.terminating]


def _not_counted(terminating: Sequence[FollowedPod]) -> Iterator[str]:
    if len(terminating) == 1:
        yield "1 pod is terminating on a NotReady node: it keeps its resources there, but no constraint counts it"
    elif terminating:
        yield (
            f"{len(terminating)} pods are terminating on NotReady nodes: they keep their resources there, "
            "but no constraint counts them"
        )


def _pinned(pending: Sequence[PendingGroup]) -> Iterator[str]:
    for group in pending:
        if any(reason in group.message for reason in _VOLUME_REASONS):
            who = ", ".join(f"{group.namespace}/{each}" for each in group.pods[:_NAMED])
            more = f" and {len(group.pods) - _NAMED} more" if len(group.pods) > _NAMED else ""
            whose, them = ("its", "it") if len(group.pods) == 1 else ("their", "them")
            yield f"{who}{more}: {whose} volumes are bound to a zone or node that does not take {them}"


def _staying(state: DrillState) -> Iterator[str]:
    """Yield a remark on pods that tolerate NotReady nodes forever."""
    tainted = [name for name in state.down if any(t.effect == "NoExecute" for t in state.node(name).spec.taints or ())]
    stay = [each for each in state.pods.on(sorted(tainted)) if each.leaves_at is None and not each.terminating]
    daemons = [each for each in stay if each.workload is not None and each.workload.kind == "DaemonSet"]
    if daemons:
        yield (f"{_said(daemons, 'stay')} where {_they(daemons)}: DaemonSet pods tolerate NotReady nodes forever")
    others = [each for each in stay if each not in daemons and each.workload is not None]
    if others:
        yield (
            f"{_said(others, 'stay')} where {_they(others)}, as "
            f"{'its' if len(others) == 1 else 'their'} tolerations of the taints have no tolerationSeconds"
        )


def _names(pods: Sequence[FollowedPod]) -> str:
    workloads: dict[tuple[str, str, str], Workload] = {
        key_of(each.workload): each.workload for each in pods if each.workload is not None
    }
    if len(pods) <= _NAMED:
        return _listed([each.key for each in pods])
    owners = _listed([f"{each.namespace}/{each.name}" for each in workloads.values()])
    return f"{len(pods)} pods of {owners}"


def _said(pods: Sequence[FollowedPod], words: str) -> str:
    """Return the pods' names and a clause whose verb agrees with their number."""
    return f"{_names(pods)} {agreeing(words, len(pods))}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > _NAMED + 1:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _they(pods: Sequence[FollowedPod]) -> str:
    return "it is" if len(pods) == 1 else "they are"
