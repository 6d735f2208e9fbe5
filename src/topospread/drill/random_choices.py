"""Random choices in a drill, so that repeated drills cover different outcomes.

The choices decide the order of equal pods, and whether kubelets, controllers or kube-scheduler act first. The same run
number gives the same choices; the first run is in input order. In each of the first eight runs, one actor is always
faster; in later runs the faster actor can change each time. The scheduling cycle chooses between nodes with equal
scores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from topospread.admission.names import generated_uid
from topospread.controllers.planned import QueuedPod
from topospread.controllers.removal import removal_order

from .cluster_inventory import Times, stored, with_uid
from .pods import FollowedPod

_AT_A_TIME = 32
"""Divisor: in runs with slow kubelets, 1/32 of the starting pods (at least one) becomes ready at a time."""


class RandomChoices:
    """The random choices of one run.

    Attributes:
        controllers_first: controllers create a replacement before kube-scheduler gives the freed room to a pending pod.
        ends_slowly: deleted pods keep their resources until controllers and kube-scheduler are idle.
    """

    def __init__(self, number: int) -> None:
        """Create the choices of a run.

        Args:
            number: number of the run; 0 is the first.
        """
        self._number = number
        self._one_by_one = bool(number % 2)
        self._all_at_once = bool(number // 2 % 2)
        self._races_anew = bool(number // 8 % 2)
        self._races = 0
        self.controllers_first = bool(number // 4 % 2)
        self.ends_slowly = bool(number.bit_count() % 2)

    def controller_goes_on(self) -> bool:
        """Return whether a controller takes another step before pods are placed."""
        return bool(self._race(2)) if self._races_anew else self._all_at_once

    def started(self, pods: Collection[FollowedPod]) -> list[FollowedPod]:
        """Return the pods that become ready next, at the same time."""
        found = sorted(pods, key=self.key)
        if self._races_anew:
            return found[: 1 + self._race(len(found))] if found else found
        return found[: 1 + len(found) // _AT_A_TIME] if self._one_by_one else found

    def _race(self, ways: int) -> int:
        """Choose one of `ways` possible outcomes."""
        self._races += 1
        return int(generated_uid("Pod", f"race {self._races}", str(self._number))[:8], 16) % ways

    def key(self, pod: FollowedPod) -> str:
        """Return a random tie-breaker for a pod."""
        return generated_uid("Pod", pod.namespace, f"{pod.name}{self._number or ''}")

    def order(self, pods: Iterable[FollowedPod]) -> list[FollowedPod]:
        """Shuffle pods whose order Kubernetes does not define. In the first run return them unchanged."""
        return sorted(pods, key=self.key) if self._number else list(pods)

    def created(self, pods: Iterable[QueuedPod]) -> list[QueuedPod]:
        """Shuffle pods that several controllers create at the same time. In the first run return them unchanged."""
        found = list(pods)
        if not self._number or len({id(each.workload) for each in found}) < 2:
            return found
        return sorted(found, key=lambda each: generated_uid("Pod", each.namespace, f"{each.name}{self._number}"))

    def turns(self, pods: Iterable[FollowedPod]) -> list[list[FollowedPod]]:
        """Split pods that are deleted at the same time into groups that are deleted one after another.

        The first run has one group. Later runs may have several, and controllers may act between them.
        """
        turns: list[list[FollowedPod]] = [[]]
        for each in self.order(pods):
            if self._number and turns[-1] and self._coin(f"turn {each.namespace}/{each.name}"):
                turns.append([])
            turns[-1].append(each)
        return turns

    def _coin(self, of: str) -> bool:
        return bool(int(generated_uid("Pod", of, str(self._number))[:8], 16) % 2)

    def in_order_of_removal(
        self, pods: Iterable[FollowedPod], related: Iterable[FollowedPod], times: Times, down: set[str]
    ) -> list[FollowedPod]:
        """Return a ReplicaSet's pods in the order of removal when it is scaled down.

        Args:
            pods: pods of the ReplicaSet.
            related: pods of all ReplicaSets of the same owner.
            times: the drill's times.
            down: nodes that are NotReady.
        """
        by_key = {each.key: each for each in self.order(pods)}
        there = [with_uid(stored(each, times, down), self._uid(each)) for each in by_key.values()]
        own = {f"{each.namespace}/{each.name}": each for each in there}
        others = [own[each.key] if each.key in own else stored(each, times, down) for each in related]
        return [by_key[f"{each.namespace}/{each.name}"] for each in removal_order(there, others, times.seconds)]

    def _uid(self, pod: FollowedPod) -> str:
        """Return a pod's simulated uid, which orders pods of almost the same age."""
        return pod.pod.metadata.uid or self.key(pod)
