"""Random choices of a cluster, drawn once for each of several drills that are otherwise equal.

Which of equals comes first, who is faster: kubelets, controllers or kube-scheduler. The same number draws the same
every time; the first drill takes things in one order. In the first eight somebody is faster all the time; in some of
those after them that is drawn each time, as nothing keeps anybody ahead. Which of equal nodes is taken is drawn by the
cycle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from topospread.workloads.names import made_up_uid
from topospread.workloads.planned import QueuedPod
from topospread.workloads.removal import removal_order

from .cluster_inventory import Times, stored, with_uid
from .pods import FollowedPod


class Draws:
    """The draws of one drill.

    Attributes:
        controllers_first: who waits for a place gets another pod before kube-scheduler gives the place away.
        ends_slowly: deleted pods hold what they have until controllers and kube-scheduler have nothing else to do.
    """

    def __init__(self, number: int) -> None:
        """``number``: of this drill among those that are alike."""
        self._number = number
        self._one_by_one = bool(number % 2)
        self._all_at_once = bool(number // 2 % 2)
        self._races_anew = bool(number // 8 % 2)
        self._races = 0
        self.controllers_first = bool(number // 4 % 2)
        self.ends_slowly = bool(number.bit_count() % 2)

    def controller_goes_on(self) -> bool:
        """Return whether a controller that took a step takes another one before pods are placed."""
        return bool(self._race(2)) if self._races_anew else self._all_at_once

    def started(self, pods: Collection[FollowedPod]) -> list[FollowedPod]:
        """Return the pods that get ready next, together."""
        found = sorted(pods, key=self.key)
        if self._races_anew:
            return found[: 1 + self._race(len(found))] if found else found
        return found[:1] if self._one_by_one else found

    def _race(self, ways: int) -> int:
        """One of several ways in which it may go: the next one."""
        self._races += 1
        return int(made_up_uid("Pod", f"race {self._races}", str(self._number))[:8], 16) % ways

    def key(self, pod: FollowedPod) -> str:
        """Return the tie-breaker between pods."""
        return made_up_uid("Pod", pod.namespace, f"{pod.name}{self._number or ''}")

    def order(self, pods: Iterable[FollowedPod]) -> list[FollowedPod]:
        """Pods in an order that nothing decides, as that of a cache; in the first drill as they come."""
        return sorted(pods, key=self.key) if self._number else list(pods)

    def created(self, pods: Iterable[QueuedPod]) -> list[QueuedPod]:
        """Pods that several controllers create at the same moment; in the first drill as they come."""
        found = list(pods)
        if not self._number or len({id(each.workload) for each in found}) < 2:
            return found
        return sorted(found, key=lambda each: made_up_uid("Pod", each.namespace, f"{each.name}{self._number}"))

    def turns(self, pods: Iterable[FollowedPod]) -> list[list[FollowedPod]]:
        """Pods that are asked to go at the same moment, by many who do not wait for each other.

        In the first drill all of them before anybody else acts; in others some are first, in any order, and what
        follows of that may be done when the next are asked.
        """
        turns: list[list[FollowedPod]] = [[]]
        for each in self.order(pods):
            if self._number and turns[-1] and self._coin(f"turn {each.namespace}/{each.name}"):
                turns.append([])
            turns[-1].append(each)
        return turns

    def _coin(self, of: str) -> bool:
        return bool(int(made_up_uid("Pod", of, str(self._number))[:8], 16) % 2)

    def in_order_of_removal(
        self, pods: Iterable[FollowedPod], related: Iterable[FollowedPod], times: Times, down: set[str]
    ) -> list[FollowedPod]:
        """Pods of a ReplicaSet, first the one that goes first.

        Args:
            pods: of the ReplicaSet.
            related: those of all its owner's ReplicaSets.
            times: what time it is.
            down: nodes whose kubelet is not there.
        """
        by_key = {each.key: each for each in self.order(pods)}
        there = [with_uid(stored(each, times, down), self._uid(each)) for each in by_key.values()]
        others = [stored(each, times, down) for each in related]
        return [by_key[f"{each.namespace}/{each.name}"] for each in removal_order(there, others, times.seconds)]

    def _uid(self, pod: FollowedPod) -> str:
        """Return the tie-breaker between pods of almost the same age: drawn when a pod is created."""
        return pod.pod.metadata.uid or self.key(pod)
