"""One step of a StatefulSet's rolling update: which ordinals' pods go; what comes in their place is not told here.

Source: pkg/controller/statefulset/stateful_set_control.go (``updateStatefulSet``, ``processReplica``,
``updateStatefulSetAfterInvariantEstablished``) of 1.37; without the gate MaxUnavailableStatefulSet one goes at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from topospread.api.rollout import OrdinalStrategy


@dataclass(frozen=True, slots=True)
class Ordinal:
    """The pod of an ordinal.

    Attributes:
        is_new: it is of the revision that is rolled out.
        is_available: it is ready, and not being deleted.
    """

    is_new: bool
    is_available: bool
    is_terminating: bool = False


def ordinals_to_replace(
    pods: Sequence[Ordinal | None], strategy: OrdinalStrategy, *, in_order: bool, at_once: bool
) -> list[int]:
    """Return the pods that are deleted now, by their place in the range of ordinals.

    Args:
        pods: of every ordinal that is wanted; ``None`` where there is none yet.
        strategy: in numbers of pods.
        in_order: OrderedReady: nothing is replaced while a pod is missing or not available.
        at_once: the gate MaxUnavailableStatefulSet.
    """
    if in_order and any(each is None or not each.is_available for each in pods):
        return []
    if not at_once:
        return _one(pods, strategy.partition)
    missing = sum(each is None or not each.is_available for each in pods)
    if in_order:
        old = [place for place in _from_the_last(pods, strategy.partition) if _is_old(pods[place])]
        return old[: max(strategy.max_unavailable - missing, 0)]
    stuck = [
        place
        for place in _from_the_last(pods, strategy.partition)
        if (each := pods[place]) is not None and _is_old(each) and not each.is_available and not each.is_terminating
    ]
    good = [
        place
        for place in _from_the_last(pods, strategy.partition)
        if (each := pods[place]) is not None and _is_old(each) and each.is_available
    ]
    return [*stuck, *good[: max(strategy.max_unavailable - missing, 0)]]


def _one(pods: Sequence[Ordinal | None], partition: int) -> list[int]:
    """The last that is old, unless one behind it is not available."""
    for place in _from_the_last(pods, partition):
        each = pods[place]
        if each is not None and _is_old(each) and not each.is_terminating:
            return [place]
        if each is None or not each.is_available:
            return []
    return []


def _from_the_last(pods: Sequence[Ordinal | None], partition: int) -> range:
    return range(len(pods) - 1, partition - 1, -1)


def _is_old(each: Ordinal | None) -> bool:
    return each is not None and not each.is_new
