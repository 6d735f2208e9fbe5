"""What the exporter says after any history of events is what `status` says of the objects that are left."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from prometheus_client import CollectorRegistry

from tests.drawn import drawn
from tests.property.explained import clusters
from topospread.answers.status import status
from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.node_selection import Taint
from topospread.api.policy import PriorityClass
from topospread.config.gates import gates_for
from topospread.config.load import default_configuration
from topospread.exporter.collector import SeriesLimits, SpreadCollector
from topospread.exporter.tracker import Tracker
from topospread.exporter.watch_health import WatchHealth
from topospread.live.exposition import exposition_of
from topospread.simulation.options import SimulationOptions
from topospread.status.result import Loss, WorkloadStatus
from topospread.status.risk import WELL_KNOWN

Key = tuple[type[KubeObject], str, str]


def tracker() -> Tracker:
    return Tracker(SimulationOptions(default_configuration(), gates=gates_for()))


def key(item: KubeObject) -> Key:
    return type(item), item.namespace, item.name


def stored(item: Any) -> KubeObject:
    """The object as an API server has it: in a namespace, with a uid, its owners' uids in its references."""
    kind, metadata = type(item).__name__, item.metadata
    space = (metadata.namespace or "default") if KINDS[kind].namespaced else None
    owners = [replace(each, uid=f"{each.kind}.{each.name}") for each in metadata.owner_references or ()]
    known = replace(metadata, namespace=space, uid=f"{kind}.{metadata.name}", owner_references=owners or None)
    return replace(item, metadata=known)


def inventory(objects: dict[Key, KubeObject]) -> Inventory:
    """As the API server lists them."""
    found = Inventory()
    for item in sorted(objects.values(), key=lambda each: f"{each.namespace}/{each.name}"):
        getattr(found, KINDS[type(item).__name__].attribute).append(item)
    return found


def told(each: WorkloadStatus, keys: Collection[str]) -> Any:
    constraints = tuple(
        replace(
            one,
            counted={},
            closed=(),  # only `status` explains why domains take no pod
            left_out=(),
            domains=tuple(replace(domain, nodes=0) for domain in one.domains),
        )
        for one in each.constraints
    )
    largest: dict[str, Loss] = {}
    for one in each.losses:
        largest.setdefault(one.topology_key, one)
    return each.existing, constraints, each.refused, {key: one for key, one in largest.items() if key in keys}


def expected(objects: dict[Key, KubeObject]) -> dict[Any, Any]:
    """What `status` says of objects, of each workload by its own keys."""
    return {
        (each.kind, each.namespace, each.name): told(
            each, {*WELL_KNOWN, *(one.topology_key for one in each.constraints)}
        )
        for each in status(inventory(objects)).workloads
    }


def figures(of: Tracker) -> dict[Any, Any]:
    assert of.work(time.monotonic() + 600)
    assert of.done.failures == {}
    return {
        (each.kind, each.namespace, each.name): told(each, {one.topology_key for one in each.losses})
        for each in of.figures.values()
    }


def shown(of: Tracker) -> list[str]:
    """The lines of a scrape in any order, without the work done."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(SpreadCollector(of, WatchHealth(), "1.37", SeriesLimits()))
    lines = exposition_of(registry, "")[0].decode().splitlines()
    return sorted(each for each in lines if "_looked_at_total " not in each)


def follows_again(objects: dict[Key, KubeObject]) -> Tracker:
    """An exporter that starts now."""
    again = tracker()
    for item in sorted(objects.values(), key=lambda each: not isinstance(each, PriorityClass)):
        again.put(item)
    assert again.work(time.monotonic() + 600)
    return again


@st.composite
def changed(draw: st.DrawFn, node: Any) -> Node:
    """Another state of a node: cordoned or not, tainted, with other labels, or with less room."""
    labels = dict(node.labels)
    key = draw(st.sampled_from([*WELL_KNOWN, "disk", "rack", *labels]))
    if draw(st.booleans()):
        labels[key] = draw(st.sampled_from(["a", "b", "ssd"]))
    else:
        labels.pop(key, None)
    taints = [
        Taint(key=draw(st.sampled_from(["gpu", "old"])), effect=draw(st.sampled_from(["NoSchedule", "NoExecute"])))
    ]
    room = {"cpu": "1", "memory": "1Gi", "pods": draw(st.sampled_from(["1", "9"]))}
    states: list[Node] = [
        replace(node, spec=replace(node.spec, unschedulable=not node.spec.unschedulable)),
        replace(node, spec=replace(node.spec, taints=None if node.spec.taints else taints)),
        replace(node, metadata=replace(node.metadata, labels=labels)),
        replace(node, status=replace(node.status, allocatable=room)),
    ]
    return draw(st.sampled_from(states))


@drawn(10)
@given(cluster=clusters(), data=st.data())
def test_figures_after_any_changes_of_nodes_are_those_of_status(
    cluster: tuple[Inventory, str], data: st.DataObject
) -> None:
    objects = {key(item): item for item in map(stored, cluster[0].objects())}
    follows = follows_again(objects)
    assert figures(follows) == expected(objects)
    nodes = {each: item for each, item in objects.items() if each[0] is Node}
    for _ in range(data.draw(st.integers(1, 4))):
        for _ in range(data.draw(st.integers(1, 3))):
            there = [each for each in nodes if each in objects]
            chosen = data.draw(st.sampled_from(sorted(nodes, key=repr)))
            if chosen in objects and len(there) > 1 and data.draw(st.integers(0, 2)) == 0:
                follows.delete(*chosen, objects.pop(chosen))
            else:
                objects[chosen] = nodes[chosen] = data.draw(st.one_of(st.just(nodes[chosen]), changed(nodes[chosen])))
                follows.put(objects[chosen])
        assert figures(follows) == expected(objects)
        assert shown(follows) == shown(follows_again(objects))


@drawn(10)
@given(first=clusters(), second=clusters(), data=st.data())
def test_figures_after_any_history_are_those_of_status(
    first: tuple[Inventory, str], second: tuple[Inventory, str], data: st.DataObject
) -> None:
    follows = tracker()
    objects: dict[Key, KubeObject] = {}
    for given_inventory, _ in (first, second, first):
        events = sorted(map(stored, given_inventory.objects()), key=lambda each: not isinstance(each, PriorityClass))
        for item in events:
            if objects and data.draw(st.integers(0, 3)) == 0:
                gone = data.draw(st.sampled_from(sorted(objects, key=repr)))
                if gone[0] is not PriorityClass:  # templates that name it would be refused
                    follows.delete(*gone, objects.pop(gone))
            if isinstance(item, PriorityClass) or data.draw(st.integers(0, 4)):
                follows.put(item)
                objects[key(item)] = item
            if data.draw(st.integers(0, 3)) == 0:
                follows.work(time.monotonic())
        assert figures(follows) == expected(objects)
        assert shown(follows) == shown(follows_again(objects))
