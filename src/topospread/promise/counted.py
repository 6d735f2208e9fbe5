"""Pods left after losses for many workloads, counted on one shared cluster without a search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.pod import Pod
from topospread.api.workload import ReplicaSet
from topospread.cluster.cluster import pod_key
from topospread.controllers.planned import QueuedPod, Workload
from topospread.controllers.scale import short_target
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import prepare
from topospread.simulation.unscored import unscored

from .asking import Asking, placed_first, prepared_with_groups, unjudged_classes, unjudged_parts
from .fresh import LISTS, REVISION, without_placed_pods, workload_of
from .grouped_pods import GroupedPods
from .kept import WorkloadPromises
from .orders import SearchBudget
from .rollout_orders import counted_rollout

_BUDGET = SearchBudget(states=1, seconds=1.0)


class CountedWorkloads:
    """The promise checks of many workloads, which share one cluster.

    Args:
        inventory: the objects.
        options: the control plane.
    """

    def __init__(self, inventory: Inventory, options: SimulationOptions) -> None:
        self.inventory = inventory
        self.options = replace(options, preemption=False, refuses=False, tries_groups=True)
        how = unscored(self.options)
        self._run = prepared_with_groups(inventory, how)
        self._others = placed_first(self._run)
        fresh = prepare(replace(without_placed_pods(inventory), replica_sets=_bare(inventory)), how, with_spreads=False)
        # Incoming pods belong to these ReplicaSets. Default constraints take their selector from the ReplicaSet.
        self._run.cluster.objects.add(fresh.plan.inventory.replica_sets)
        self._coming: dict[ObjectKey, list[QueuedPod]] = {}
        for each in fresh.queue:
            self._coming.setdefault(key_of(each.workload), []).append(each)
        self._workloads = {key_of(each): each for each in self._run.plan.workloads}
        self._unjudged = unjudged_classes(self._run, [*fresh.queue, *self._run.queue])
        self.is_enough = not any(part.changes_pod for parts in self._unjudged.values() for part in parts)
        """Whether counting is enough. False if an admission policy may change incoming pods."""

    @contextmanager
    def judge(self, key: ObjectKey) -> Iterator[WorkloadPromises]:
        """Yield the promise checks of a workload; all its pods are incoming until the context ends."""
        cluster, workload = self._run.cluster, self._workloads[key]
        made = WorkloadPromises(self.inventory, self.options, key, _BUDGET, {}, shared=self._run)
        now = {loss: made.now_left(loss) for loss in ("zone", "node", "")}
        with cluster.savepoint():
            for each in workload.existing:
                if pod_key(each.namespace, each.name) in cluster.placed:
                    cluster.unbind(pod_key(each.namespace, each.name))
            own = _of(workload, self._coming.get(key, []))
            others = [each for each in self._others if each.workload is not workload]
            unsearched = GroupedPods(self._run, [*own, *others]).unsearched()
            asking = Asking(self._run, [*own, *others], _BUDGET, {}, None, {**self._unjudged, **unsearched}, None)
            made.askings[None] = asking
            made.unjudged += unjudged_parts(self._run, own, asking.unjudged)
            item = workload_of(self.inventory, key) if key[0] in LISTS else None
            begun = counted_rollout(self._run, workload, item, own, others)
            if begun is not None:
                made.askings[short_target(key)] = Asking(self._run, own, _BUDGET, {}, begun, self._unjudged, None)
            made.now = now
            yield made


def _bare(inventory: Inventory) -> list[ReplicaSet]:
    return [each for each in inventory.replica_sets if each.metadata.controller is None]


def _of(workload: Workload, queue: list[QueuedPod]) -> list[QueuedPod]:
    """Return the pods with `workload`, its labels and its owner references.

    The pods were planned without the workload's ReplicaSet, by which default constraints select pods.
    """
    made: dict[int, QueuedPod] = {}
    pods: dict[int, Pod] = {}
    template = workload.template if workload.template is not None and REVISION in workload.template.labels else None
    for each in queue:
        after = None if each.after is None else made.get(id(each.after))
        if id(each.pod) not in pods:
            pods[id(each.pod)] = each.pod if template is None else _of_revision(each.pod, template)
        made[id(each)] = with_fields(each, workload=workload, after=after, pod=pods[id(each.pod)])
    return list(made.values())


def _of_revision(pod: Pod, template: Pod) -> Pod:
    own = template.metadata
    metadata = with_fields(pod.metadata, labels=own.labels, owner_references=own.owner_references)
    return with_fields(pod, metadata=metadata)
