"""Simulate one more node of each size in each zone, and how many more replicas fit. Prices are in `sizing`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as with_fields
from itertools import count

from msgspec.structs import replace

from topospread.api.inventory import Inventory
from topospread.api.node import Node
from topospread.api.pools import NodePool
from topospread.api.well_known_labels import BETA_REGION, BETA_ZONE, HOSTNAME, REGION, ZONE
from topospread.controllers.node_lifecycle import is_silent
from topospread.drill.interruption import Interrupted
from topospread.drill.manifests import node_like
from topospread.drill.steps import POOL_LABELS
from topospread.errors import InputError, Place, UsageError
from topospread.sources.synthetic_cluster import synthetic_nodes

from .filling import CapacityQuestion, ParallelRun, SomeAnswers, capacity_of
from .result import Capacity, Purchase

NEW_ZONE = "a new zone"
"""Name of a zone without nodes."""
_OF_ZONES = (ZONE, REGION, BETA_ZONE, BETA_REGION)
"""Labels that describe the zone."""
_CLUSTER_KEYS = ("nodes", "zones", "regions", "racks", "storage-class", "cordon")


@dataclass(frozen=True, slots=True)
class Shape:
    """The size and labels of a node, independent of its zone.

    Attributes:
        name: ``like node-1``, with its pool, if it is copied from the node node-1, else the user's own words.
    """

    name: str
    model: Node


def read_shape(text: str) -> Shape:
    """Parse the size of a node in the syntax of ``--on``: ``cpu=8,memory=32Gi,label=pool=big,taint=gpu:NoSchedule``.

    Raises:
        UsageError: if it describes a whole cluster, or is invalid.
    """
    given = [part.partition("=")[0].strip() for part in text.split(",")]
    whole = [key for key in given if key in _CLUSTER_KEYS]
    if whole:
        raise UsageError(f"--shape {text}: {whole[0]} describes a cluster, not a node")
    try:
        model = synthetic_nodes(f"nodes=1,{text}")[0][0]
    except InputError as error:
        words = str(error).removeprefix(str(Place(source="--on"))).removeprefix(": ")
        raise UsageError(f"--shape {text}: {words}") from None
    return Shape(text, model)


def shapes_of(nodes: Sequence[Node]) -> list[Shape]:
    """Return one shape for each group of nodes with equal room, taints and labels.

    The name, labels that only one node has, and labels that differ by zone are not compared.
    """
    number = Counter(label for node in nodes for label in node.labels.items())
    places = {HOSTNAME, *_of_zones(nodes)}
    sorts: dict[object, Node] = {}
    for node in nodes:
        shared = {each for each in node.labels.items() if number[each] > 1 and each[0] not in places}
        room = tuple(sorted((node.status.allocatable or node.status.capacity or {}).items()))
        taints = tuple(
            sorted((each.key, each.value or "", each.effect) for each in node_like(node, "", "").spec.taints or ())
        )
        sorts.setdefault((frozenset(shared), room, taints), node)
    pools = {node.name: next((node.labels[key] for key in POOL_LABELS if key in node.labels), "") for node in nodes}
    return [
        Shape(f"like {node.name}{f' of pool {pools[node.name]}' if pools[node.name] else ''}", node)
        for node in sorts.values()
    ]


def _of_zones(nodes: Sequence[Node]) -> set[str]:
    """Return labels that depend on the zone: well-known ones, and ones such as node groups with one value per zone."""
    by_zone: dict[str, list[dict[str, str]]] = {}
    for node in nodes:
        by_zone.setdefault(node.labels.get(ZONE, ""), []).append(dict(node.labels))
    keys = set.intersection(*({*each} for every in by_zone.values() for each in every)) if nodes else set()
    found = set(_OF_ZONES)
    for key in keys if 1 < len(by_zone) < len(nodes) else ():  # with one node in each zone, any label could be distinct
        values = [{each[key] for each in every} for every in by_zone.values()]
        if all(len(each) == 1 for each in values) and len(set.union(*values)) == len(values):
            found.add(key)
    return found


def purchases(
    settled: Inventory, without: Capacity, question: CapacityQuestion, shapes: Sequence[Shape], work: ParallelRun
) -> list[Purchase]:
    """Return the replicas gained by one more node of each shape in each zone, most first.

    Args:
        settled: the cluster after its pending pods were placed where they fit.
        shapes: node sizes; by default the cluster's.

    Raises:
        Interrupted: on Ctrl-C, with `SomeAnswers`.
    """
    wanted = _wanted(settled.nodes, without, shapes)

    def bought(each: tuple[Shape, str]) -> Purchase:
        shape, zone = each
        capacity = capacity_of(_with_node(settled, shape, zone), question)
        return Purchase(shape.name, zone, capacity.placed - without.placed, capacity.rounds)

    try:
        return _ranked(work.answers(bought, wanted))
    except Interrupted as ended:
        raise Interrupted(SomeAnswers(_ranked(ended.finished), len(wanted))) from None


def as_pools(nodes: Sequence[Node], without: Capacity, shapes: Sequence[Shape]) -> tuple[NodePool, ...]:
    """Return each shape in each zone as a pool without a limit; by default shapes of the nodes.

    Nodes of an autoscaled group share its label, so each group has its own size.
    """
    made = [(shape, _made(nodes, shape, zone)) for shape, zone in _wanted(nodes, without, shapes)]
    return tuple(
        NodePool(
            shape.name,
            {key: value for key, value in node.labels.items() if key != HOSTNAME},
            {key: str(value) for key, value in (node.status.allocatable or node.status.capacity or {}).items()},
            tuple(node.spec.taints or ()),
        )
        for shape, node in made
    )


def _wanted(nodes: Sequence[Node], without: Capacity, shapes: Sequence[Shape]) -> list[tuple[Shape, str]]:
    """Return each shape in each zone, and in a new zone if the constraints want one."""
    # The zones with a ready, reachable node, or all zones if none has one; [""] without zones.
    living = [node for node in nodes if not is_silent(node)]
    named = ({node.labels[ZONE] for node in some if ZONE in node.labels} for some in (living, nodes))
    zones = [*sorted(next(filter(None, named), {""})), *([NEW_ZONE] if _lacks_a_zone(without) else [])]
    return [(shape, zone) for shape in shapes or shapes_of(nodes) for zone in zones]


def _ranked(found: list[Purchase]) -> list[Purchase]:
    return sorted(found, key=lambda each: -each.gain)


def _lacks_a_zone(capacity: Capacity) -> bool:
    """Return whether the limit is a constraint's minDomains, because there are too few zones."""
    pending = capacity.pending
    each_of = pending.outcomes if pending is not None else ()
    return any(arithmetic.topology_key == ZONE and arithmetic.lacks_domains for arithmetic, _ in each_of)


def _with_node(inventory: Inventory, shape: Shape, zone: str) -> Inventory:
    return with_fields(inventory, nodes=[*inventory.nodes, _made(inventory.nodes, shape, zone)])


def _made(nodes: Sequence[Node], shape: Shape, zone: str) -> Node:
    """Return a node of this size in a zone, with the topology labels of the zone's nodes."""
    taken = {each.name for each in nodes}
    name = next(name for number in count(1) if (name := f"one-more-{number}") not in taken)
    node = node_like(shape.model, name, zone)
    neighbour = next((each for each in nodes if zone and each.labels.get(ZONE) == zone), None)
    if neighbour is None:
        return node
    places = _of_zones(nodes)
    labels = {key: value for key, value in node.labels.items() if key not in places}
    labels |= {key: value for key, value in neighbour.labels.items() if key in places}
    return replace(node, metadata=replace(node.metadata, labels=labels))
