"""Drill steps after which controllers plan again: scaling and new nodes."""

from __future__ import annotations

from dataclasses import replace as with_fields

from msgspec.structs import replace

from topospread.api.inventory import key_of
from topospread.api.meta import Annotations, ObjectMeta
from topospread.api.node import Node, NodeSpec
from topospread.api.taints import UNSCHEDULABLE_TAINT
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.controllers.node_lifecycle import as_well
from topospread.controllers.scale import the_workload
from topospread.errors import UsageError

from .choosing import one_node
from .drill_state import DrillState
from .steps import AddNodes, Scale


def scale(state: DrillState, step: Scale) -> None:
    """Change a workload's replicas.

    Raises:
        UsageError: if the workload is missing or cannot be scaled, or a scale-down is not below its current replicas.
    """
    if step.down:
        key = the_workload(step.target, [key_of(each) for each in state.run.plan.workloads])
        workload = state.workload(key)
        if workload is not None and workload.replicas <= step.replicas:
            raise UsageError(f"{step}: it already has {workload.replicas}; use --scale to add replicas")
    state.note("scaled", detail=f"{step.target}={step.replicas}")
    state.replan(scale={step.target: step.replicas})


def add_nodes(state: DrillState, step: AddNodes) -> None:
    """Add nodes.

    Raises:
        UsageError: if the model node is missing, or has no zone label.
    """
    there = [each for each in state.cluster.nodes.nodes if each is not None]
    model = one_node(step.like, there, str(step))
    if step.zone and ZONE not in model.labels:
        raise UsageError(f"{step}: {model.name} has no label {ZONE}, so the new nodes cannot be in another zone")
    taken = {each.name for each in there}
    made: list[Node] = []
    number = 0
    while len(made) < step.number:
        number += 1
        name = f"{model.name}-new-{number}"
        if name not in taken:
            made.append(node_like(model, name, step.zone))
    state.note("added", nodes=[each.name for each in made])
    state.replan(lambda inventory: with_fields(inventory, nodes=[*inventory.nodes, *made]))


def node_like(model: Node, name: str, zone: str) -> Node:
    """Return a new node with the labels and resources of `model`, ready and not cordoned."""
    labels = {**model.labels, HOSTNAME: name} if HOSTNAME in model.labels else dict(model.labels)
    if zone:
        labels[ZONE] = zone
    well = as_well(model)
    taints = [each for each in well.spec.taints or () if each != UNSCHEDULABLE_TAINT]
    annotations = replace(model.metadata.annotations or Annotations(), added="true")
    return replace(
        model,
        metadata=ObjectMeta(name=name, labels=labels, annotations=annotations),
        spec=NodeSpec(taints=taints or None),
    )
