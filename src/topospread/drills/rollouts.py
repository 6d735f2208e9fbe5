"""Rollouts that go on step by step as pods come and go: Deployments, as their controller does it.

How many pods come and go is the rule of `workloads.rolling`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from topospread.api.inventory import Inventory
from topospread.api.meta import Annotations
from topospread.api.rollout import strategy_of
from topospread.api.workload import Deployment
from topospread.errors import UsageError
from topospread.sources.collection import applied
from topospread.workloads.planned import Workload
from topospread.workloads.revisions import TEMPLATE_HASH_LABEL, canonical
from topospread.workloads.rolling import Standing, to_create, to_remove
from topospread.workloads.scale import the_workload

from .pods import FollowedPod, WorkloadKey, key_of
from .result import RolloutState
from .steps import Rollout
from .world import World

REPLACED = "replaced by a rollout"
"""Why old pods go."""


def roll_out(world: World, step: Rollout, manifests: Inventory | None) -> None:
    """Begin a rollout: as ``kubectl rollout restart`` does, or by applying manifests.

    Raises:
        InputError: an object that the API server would refuse.
        UsageError: the workload is not there, or is none that is rolled out here.
    """
    before = world.inventory()
    key = the_workload(step.target, [key_of(each) for each in world.run.plan.workloads])
    if key[0] != "Deployment":
        raise UsageError(f"{step}: rollouts of Deployments are played, not of a {key[0]}")
    if manifests is not None:
        apply_and_roll(world, manifests, step.path)
        item = _deployment(world, key)
        if item is not None and not _changed(before, key, item):
            raise UsageError(f"{step}: it does not change the template of {step.target}")
        return
    world.note("rollout", detail=step.target)
    world.replan(lambda inventory: _restarted(inventory, key, f"in the drill, at {world.now:.0f} s"))
    _begin(world, key)


def apply_and_roll(world: World, manifests: Inventory, path: str) -> None:
    """Apply manifests, and begin the rollouts of Deployments whose templates they change."""
    before = world.inventory()
    world.note("applied", detail=path)
    world.replan(lambda inventory: applied(inventory, manifests))
    for item in world.run.plan.inventory.deployments:
        key = ("Deployment", item.namespace, item.name)
        if _changed(before, key, item):
            _begin(world, key)


def states(world: World) -> list[RolloutState]:
    """How the rollouts stand that have begun; those that are over are let go of."""
    found = []
    for key in list(world.rollouts):
        workload = world.workload(key)
        if workload is None:
            del world.rollouts[key]
            continue
        standing = _Pods(world, workload).standing
        kind, namespace, name = key
        found.append(RolloutState(kind, namespace, name, standing.new_available, standing.replicas, standing.old))
        if standing.is_over:
            del world.rollouts[key]
    return found


def _begin(world: World, key: WorkloadKey) -> None:
    world.rollouts[key] = partial(_go_on, world, key)


def _deployment(world: World, key: WorkloadKey) -> Deployment | None:
    return next((each for each in world.run.plan.inventory.deployments if (each.namespace, each.name) == key[1:]), None)


def _changed(before: Inventory, key: WorkloadKey, item: Deployment) -> bool:
    """Whether a Deployment that was there had another template."""
    was = next((each for each in before.deployments if (each.namespace, each.name) == key[1:]), None)
    return was is not None and canonical(was.spec.template) != canonical(item.spec.template)


def _restarted(inventory: Inventory, key: WorkloadKey, when: str) -> Inventory:
    """The cluster with an annotation in a Deployment's template (``kubectl rollout restart``)."""

    def changed(item: Deployment) -> Deployment:
        if (item.namespace, item.name) != key[1:]:
            return item
        template = item.spec.template
        annotations = replace(template.metadata.annotations or Annotations(), restarted_at=when)
        metadata = replace(template.metadata, annotations=annotations)
        return replace(item, spec=replace(item.spec, template=replace(template, metadata=metadata)))

    inventory.deployments = [changed(each) for each in inventory.deployments]
    return inventory


@dataclass(slots=True)
class _Pods:
    """The pods of a rollout: of the new revision, and of older ones; those that are being deleted are none any more."""

    world: World
    workload: Workload

    @property
    def every(self) -> list[FollowedPod]:
        return [each for each in self.world.pods.of(key_of(self.workload)) if not each.terminating]

    def is_new(self, pod: FollowedPod) -> bool:
        template = self.workload.template
        return template is not None and pod.labels.get(TEMPLATE_HASH_LABEL) == template.labels.get(TEMPLATE_HASH_LABEL)

    @property
    def standing(self) -> Standing:
        counts = {(new, ready): 0 for new in (True, False) for ready in (True, False)}
        for each in self.every:
            counts[self.is_new(each), self.world.is_ready(each)] += 1
        return Standing(
            self.workload.replicas, counts[True, True], counts[True, False], counts[False, True], counts[False, False]
        )


def _go_on(world: World, key: WorkloadKey) -> bool:
    """Take the next step of a rollout; whether there was one to take."""
    workload, item = world.workload(key), _deployment(world, key)
    if workload is None or item is None or item.spec.paused:
        return False
    pods = _Pods(world, workload)
    standing = pods.standing
    strategy = strategy_of(replace(item, spec=replace(item.spec, replicas=workload.replicas)))
    if strategy is None:
        return _recreate(world, pods)
    created = to_create(standing, strategy)
    if created:
        world.create(workload, created)
        return True
    number = sum(to_remove(standing, strategy))
    if not number:
        return False
    every = pods.every
    order = world.in_order_of_removal([each for each in every if not pods.is_new(each)], every)
    return world.delete(order[:number], REPLACED, replaced=False)


def _recreate(world: World, pods: _Pods) -> bool:
    """All old pods go; new ones are created when they are gone for good (pkg/controller/deployment/recreate.go)."""
    old = [each for each in world.pods.of(key_of(pods.workload)) if not pods.is_new(each)]
    running = [each for each in old if not each.terminating]
    if running:
        return world.delete(running, REPLACED, replaced=False)
    missing = pods.workload.replicas - len(pods.every)
    if old or missing <= 0:
        return False
    world.create(pods.workload, missing)
    return True
