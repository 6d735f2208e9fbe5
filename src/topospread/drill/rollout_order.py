"""Replay a Deployment's rolling update in a given order of events.

An event is rejected if the real components could not cause it: kube-scheduler would choose another node, or the
controllers would delete other pods. Pods are created as early as allowed. `promise.rollout_orders` finds such orders;
`rolling` has rollouts in free order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace as with_fields
from itertools import groupby

from msgspec.structs import replace

from topospread.api.inventory import ObjectKey
from topospread.api.rollout import Strategy, strategy_of
from topospread.api.workload import Deployment
from topospread.cluster.cluster import pod_key
from topospread.controllers.planned import Workload
from topospread.controllers.removal import removal_groups
from topospread.controllers.rolling import to_create, to_remove
from topospread.errors import UsageError

from .drill_state import REPLACED, DrillState
from .placed_pods import bind_free, take_from_queue
from .pods import FollowedPod
from .rolling import RolledPods, template_item
from .steps import Rollout, RolloutStep


def stand(state: DrillState, step: Rollout, key: ObjectKey) -> None:
    """Place existing pods on their given nodes. In a fixed order, kube-scheduler must be able to choose each node.

    Raises:
        UsageError: if a pod is missing, or kube-scheduler would not have chosen its node.
    """
    by_name = {each.name: each for each in state.pods.of(key)}
    turns = [each for each in step.turns if each.does == "stands"]
    if not step.is_fixed:  # pods may have other names than in the file if the template has changed
        by_name = dict(zip((each.pod for each in turns), by_name.values(), strict=False))
        turns = [each for each in turns if each.pod in by_name and by_name[each.pod].node]
    for turn in turns:
        if turn.pod not in by_name:
            raise _refused(step, turn, f"{step.target} has no such pod")
    for turn in turns:
        state.cluster.unbind(by_name[turn.pod].key)
    for turn in turns:
        pod = by_name[turn.pod]
        state.pods.move(pod, _bind(state, step, turn, pod))


def play_turns(state: DrillState, step: Rollout, key: ObjectKey) -> None:
    """Run the given events of a started rollout. An order that is not fixed ends at the first impossible event.

    Raises:
        UsageError: if an event of a fixed order is impossible, or it is not a Deployment's rolling update.
    """
    workload, item = state.workload(key), template_item(state, key)
    strategy = None
    if workload is not None and isinstance(item, Deployment):
        strategy = strategy_of(replace(item, spec=replace(item.spec, replicas=workload.replicas)))
    if workload is None or strategy is None:
        raise UsageError(f"{step}: turns need a Deployment with a rolling update")
    _Turns(state, step, workload, strategy).take()


class _Turns:
    """The events of one rollout."""

    def __init__(self, state: DrillState, step: Rollout, workload: Workload, strategy: Strategy) -> None:
        self._state = state
        self._step = step
        self._workload = workload
        self._strategy = strategy
        self._pods = RolledPods(state, workload)

    def take(self) -> None:
        """Run all events after the initial placements. Deleted pods keep their resources until they have
        disappeared."""
        draws = self._state.draws
        slowly, draws.ends_slowly = draws.ends_slowly, True
        try:
            for does, turns in groupby(self._step.turns, lambda each: each.does):
                if does == "deleted":
                    self._create()
                    self._delete(list(turns))
                    continue
                for turn in turns if does != "stands" else ():
                    self._create()
                    self._take(turn)
        except UsageError:
            if self._step.is_fixed:
                raise
        finally:
            draws.ends_slowly = slowly

    def _create(self) -> None:
        created = to_create(self._pods.status, self._strategy)
        if created:
            self._state.create(self._workload, created)

    def _take(self, turn: RolloutStep) -> None:
        state, kubelets = self._state, self._state.kubelets
        match turn.does:
            case "placed":
                self._place(turn)
            case "ready":
                pod = next(iter(kubelets.starting.values()), None)
                if pod is None:
                    raise _refused(self._step, turn, "no new pod has a node and is not ready yet")
                del kubelets.starting[pod.key]
                state.started(pod)
            case "gone":
                pod = next((each for each in kubelets.ending if each.node == turn.node), None)
                if pod is None:
                    raise _refused(self._step, turn, "no deleted pod is left there")
                kubelets.ending.remove(pod)
                state.ended(pod)

    def _place(self, turn: RolloutStep) -> None:
        """Place the oldest pending new pod on its node."""
        state = self._state
        pod = next((each for each in self._pods.every if not each.node), None)
        if pod is None or pod.queued is None:
            raise _refused(self._step, turn, "no new pod waits for a node")
        _bind(state, self._step, turn, pod)
        take_from_queue(state, pod)

    def _delete(self, turns: Sequence[RolloutStep]) -> None:
        """Delete old pods, exactly as many as the controller deletes at once."""
        number = sum(to_remove(self._pods.status, self._strategy))
        if number != len(turns):
            raise _refused(self._step, turns[0], f"{number} old pods are removed together now, not {len(turns)}")
        chosen = list(self._chosen(turns))
        self._state.delete(chosen, REPLACED, replaced=False)

    def _chosen(self, turns: Sequence[RolloutStep]) -> Iterator[FollowedPod]:
        """Yield the old pods on these nodes. The controller must be able to choose them; ties by uid are free."""
        left = Counter(each.node for each in turns)
        for group in self._groups():
            number = left.total()
            there = []
            for pod in group:
                if left[pod.node]:
                    left[pod.node] -= 1
                    there.append(pod)
            yield from there
            if len(there) < min(number, len(group)):
                other = next(each for each in group if each not in there)
                raise _refused(self._step, turns[0], f"the old pod on {other.node} goes before")
            if not left.total():
                return
        raise _refused(self._step, turns[0], "the node has no old pod")

    def _groups(self) -> list[list[FollowedPod]]:
        """Return old pods in the order of removal. Pods that only a uid orders share a group."""
        state, every = self._state, self._pods.every
        stored = {pod_key(each.namespace, each.name): each for each in state.inventory().pods}
        by_key = {each.key: each for each in every}
        old = [stored[each.key] for each in every if not self._pods.is_new(each)]
        groups = removal_groups(old, [stored[key] for key in by_key if key in stored], state.began + state.now)
        return [[by_key[pod_key(each.namespace, each.name)] for each in group] for group in groups]


def _bind(state: DrillState, step: Rollout, turn: RolloutStep, pod: FollowedPod) -> str:
    """Place a pod on the event's node, which must be one of the best nodes. Return the node.

    If the order is not fixed, an existing pod is placed on one of the best nodes, or else on its old node.

    Raises:
        UsageError: if the node is not one of the best.
    """
    free = replace(pod.pod, spec=replace(pod.pod.spec, node_name=""))
    best = state.run.scheduler.verdict(free, pod.name).best
    node = turn.node
    if node not in best and turn.does == "stands" and not step.is_fixed:
        node = best[0] if best else pod.node
    elif node not in best:
        taken = f"takes {' or '.join(best)}" if best else "finds no node"
        raise _refused(step, turn, f"kube-scheduler {taken}")
    bind_free(state, pod, node)
    return node


def _refused(step: Rollout, turn: RolloutStep, why: str) -> UsageError:
    told = with_fields(step, turns=())
    return UsageError(f"{told}: {turn} cannot be: {why}")
