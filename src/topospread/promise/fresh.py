"""Inventories without the pods of a workload, so that guarantees do not depend on their current nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.kinds import OWNER_LISTS
from topospread.api.pod import Volume
from topospread.api.spread import DO_NOT_SCHEDULE, TopologySpreadConstraint
from topospread.api.well_known_labels import HOSTNAME
from topospread.api.workload import Deployment, StatefulSet
from topospread.controllers.autoscaling import Autoscalers, Autoscaling
from topospread.simulation.options import SimulationOptions

Designed = Deployment | StatefulSet
LISTS = {"Deployment": "deployments", "StatefulSet": "stateful_sets"}
REVISION = "pod-template-hash"
"""Label that distinguishes the revisions of a Deployment."""


def workload_of(inventory: Inventory, key: ObjectKey) -> Designed:
    """Return the object of a workload."""
    found: Designed = next(each for each in getattr(inventory, LISTS[key[0]]) if (each.namespace, each.name) == key[1:])
    return found


def autoscaling_of(inventory: Inventory, key: ObjectKey) -> Autoscaling | None:
    """Return the autoscaling of a workload; None without an autoscaler."""
    scalers = Autoscalers(inventory.horizontal_pod_autoscalers, "keep")
    scalers.replicas(key, workload_of(inventory, key).spec.replicas, None)
    return scalers.applied.get(key)


def simulated_replicas(inventory: Inventory, key: ObjectKey) -> int:
    """Return the number of replicas to simulate: the workload's own, within the bounds of its autoscaler."""
    own, scaling = workload_of(inventory, key).spec.replicas, autoscaling_of(inventory, key)
    return scaling.replicas if scaling is not None else 1 if own is None else own


_PLACED_ANEW = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet"})


def without_placed_pods(inventory: Inventory) -> Inventory:
    """Return the inventory without the pods of workloads that a rollout replaces."""
    pods = [
        each
        for each in inventory.pods
        if not (each.metadata.controller and each.metadata.controller.kind in _PLACED_ANEW)
    ]
    return replace(inventory, pods=pods)


POD_LISTS = ("pods", *OWNER_LISTS)
"""Attributes of an inventory whose objects are or create pods."""


def only_workload(inventory: Inventory, key: ObjectKey) -> Inventory:
    """Return the inventory without all pods, and without all workloads but one."""
    made = replace(inventory)
    for each in POD_LISTS:
        setattr(made, each, [])
    setattr(made, LISTS[key[0]], [workload_of(inventory, key)])
    return made


def counts_revisions_alone(item: Designed, key: str, options: SimulationOptions) -> bool:
    """Return whether a rollout spreads new pods over a key regardless of its old pods.

    Either the constraint counts each revision alone, or no two pods share a node. New pods then go where pods of an
    empty workload could go. A promise on every order therefore also holds after a rollout.

    Args:
        item: the workload.
        key: topology key.
        options: the control plane; ``matchLabelKeys`` counts only if its gate is on.
    """
    by_labels = all(each.enabled("MatchLabelKeysInPodTopologySpread") for each in options.in_force)
    pod = item.spec.template.spec
    hard = (each for each in pod.topology_spread_constraints or () if each.when_unsatisfiable == DO_NOT_SCHEDULE)
    if by_labels and any(each.topology_key == key and REVISION in (each.match_label_keys or ()) for each in hard):
        return True
    anti = pod.affinity.pod_anti_affinity if pod.affinity else None
    terms = (anti.required_during_scheduling_ignored_during_execution if anti else None) or ()
    own = any(each.label_selector == item.spec.selector and each.topology_key == HOSTNAME for each in terms)
    return key == HOSTNAME and own


def without_unjudged(inventory: Inventory, key: ObjectKey) -> Inventory:
    """Return the inventory in which the workload's pods have no part that topospread cannot judge."""
    item = workload_of(inventory, key)
    volumes = [Volume(name=each.name) for each in item.spec.template.spec.volumes or ()]
    made = _with_spec(inventory, key, resource_claims=None, scheduling_group=None, workload_ref=None, volumes=volumes)
    made.stateful_sets = [
        with_fields(each, spec=with_fields(each.spec, volume_claim_templates=None))
        if key == ("StatefulSet", each.namespace, each.name)
        else each
        for each in made.stateful_sets
    ]
    return made


def with_constraints(
    inventory: Inventory, key: ObjectKey, constraints: Sequence[TopologySpreadConstraint]
) -> Inventory:
    """Return the inventory with other constraints on a workload's pods."""
    return _with_spec(inventory, key, topology_spread_constraints=list(constraints))


def _with_spec(inventory: Inventory, key: ObjectKey, **fields: object) -> Inventory:
    item = workload_of(inventory, key)
    template = with_fields(item.spec.template, spec=with_fields(item.spec.template.spec, **fields))
    changed = with_fields(item, spec=with_fields(item.spec, template=template))
    name = LISTS[key[0]]
    made = replace(inventory)
    setattr(made, name, [changed if each is item else each for each in getattr(inventory, name)])
    return made
