"""Drain nodes like kubectl: cordon them, then evict their pods as PodDisruptionBudgets allow.

`workloads.draining` selects the pods and decides like the Eviction API. A rejected eviction is retried every five
seconds. kubectl retries forever; here a drain ends when the cluster no longer changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from topospread.api.node import Node
from topospread.api.taints import UNSCHEDULABLE_TAINT, with_taint_of_cordon
from topospread.controllers.draining import RETRY_SECONDS, treatment

from .drill_state import DrillState
from .pods import FollowedPod, owner_of
from .result import UnevictedPod


def cordon(state: DrillState, names: Sequence[str]) -> None:
    """Cordon nodes. The node lifecycle controller adds the taint."""
    for name in names:
        node = state.node(name)
        state.change_node(with_taint_of_cordon(replace(node, spec=replace(node.spec, unschedulable=True))))
    state.note("cordoned", nodes=names)


def uncordon(state: DrillState, names: Sequence[str]) -> None:
    """Uncordon nodes."""
    cordoned = [name for name in names if state.node(name).spec.unschedulable]
    for name in cordoned:
        state.change_node(_without_cordon(state.node(name)))
    if cordoned:
        state.note("uncordoned", nodes=cordoned)


def _without_cordon(node: Node) -> Node:
    left = [each for each in node.spec.taints or () if each != UNSCHEDULABLE_TAINT]
    return replace(node, spec=replace(node.spec, unschedulable=None, taints=left or None))


def drain(state: DrillState, names: Sequence[str], *, forced: bool = False) -> list[UnevictedPod]:
    """Cordon nodes and evict their pods. Return the pods that could not be evicted, with the reasons.

    Args:
        forced: whether to ignore budgets and also delete pods without a controller.
    """
    cordon(state, names)
    state.settle()
    left: list[UnevictedPod] = []
    waiting: list[FollowedPod] = []
    for name in names:
        there = [each for each in state.pods.on([name]) if not each.terminating]
        bare = [each for each in there if not forced and treatment(each.pod) == "refused"]
        meant = [each for each in there if treatment(each.pod) != "left" and each not in bare]
        waiting += [] if bare else meant
        left += [_left(each, _BARE) for each in bare]
        left += [_left(each, _refused_with(bare)) for each in meant if bare]
    return [*left, *_evict(state, sorted(waiting, key=lambda each: each.key), forced)]


def _left(pod: FollowedPod, why: str) -> UnevictedPod:
    return UnevictedPod(pod.namespace, pod.name, owner_of(pod), pod.node, why)


_BARE = "no controller would recreate it, so kubectl drain refuses its node without --force"


def _refused_with(bare: Sequence[FollowedPod]) -> str:
    return f"kubectl drain evicts no pod of its node, because {bare[0].key} has no controller"


def _evict(state: DrillState, waiting: list[FollowedPod], forced: bool) -> list[UnevictedPod]:
    silent = [_left(each, _on_silent_node(each)) for each in waiting if each.node in state.down]
    while waiting:
        reasons: dict[str, str] = {}
        gone = False
        for turn in state.draws.turns(waiting):
            gone |= state.delete(_allowed(state, turn, reasons, forced), "drained")
            state.settle()
        waiting = [each for each in waiting if each.key in reasons]
        if not waiting:
            break
        if not gone and not state.expects_something:
            return [*silent, *(_left(each, reasons[each.key]) for each in waiting)]
        state.pass_time(RETRY_SECONDS)
    return silent


def _allowed(
    state: DrillState, pods: Iterable[FollowedPod], reasons: dict[str, str], forced: bool
) -> Iterator[FollowedPod]:
    """Yield pods that may be evicted; check each after the previous eviction. Fill `reasons` for the other pods."""
    for each in pods:
        why = "" if forced else state.health.why_not_evicted(each, healthy=state.is_ready(each))
        if why:
            reasons[each.key] = why
        elif not each.terminating and each.key in state.pods.by_key:
            yield each


def _on_silent_node(pod: FollowedPod) -> str:
    return f"it stays terminating after the eviction, because {pod.node} is NotReady"
