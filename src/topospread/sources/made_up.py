"""A cluster made up from a line of text, ``zones=3,nodes=12,cpu=8,memory=32Gi``: nodes, and nothing that runs there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final, NoReturn

from topospread.api.label_syntax import label_key_problems, label_value_problems
from topospread.api.meta import ObjectMeta, ResourceList
from topospread.api.node import Node, NodeSpec, NodeStatus
from topospread.api.node_selection import Taint
from topospread.api.quantity import QuantityError, parse_quantity
from topospread.errors import InputError, Place

ZONE_KEY: Final = "topology.kubernetes.io/zone"
REGION_KEY: Final = "topology.kubernetes.io/region"
RACK_KEY: Final = "rack"
HOSTNAME_KEY: Final = "kubernetes.io/hostname"

MAX_NODES: Final = 100_000

GRAMMAR: Final = f"""\
A made-up cluster is a list of KEY=VALUE, with commas between them:
  zones=N             zones zone-a, zone-b … as label {ZONE_KEY} (3; 0: no zones)
  nodes=N             nodes node-1, node-2 …, dealt to the zones in turn (one a zone);
  nodes=N+N+…         or that many for each zone
  regions=N           regions region-1 … as label {REGION_KEY}: zones next to each other share one
  racks=N             racks in each zone, zone-a-rack-1 …, as label {RACK_KEY}
  cpu=4 memory=16Gi pods=110 RESOURCE=QUANTITY
                      what a pod can have of each node; RESOURCE such as nvidia.com/gpu, ephemeral-storage
  label=[WHERE:]KEY=VALUE
  taint=[WHERE:]KEY[=VALUE]:EFFECT
                      WHERE is a zone, region, rack or node by name; everywhere without it. May be repeated.
Example: zones=3,nodes=12,cpu=8,memory=32Gi,taint=zone-c:dedicated=gpu:NoSchedule,label=zone-a:disk=ssd"""

_COUNTS: Final = ("zones", "regions", "racks")
_KEYS: Final = (*_COUNTS, "nodes", "cpu", "memory", "pods", "ephemeral-storage", "label", "taint")
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_DEFAULT_RESOURCES: Final[dict[str, str]] = {"cpu": "4", "memory": "16Gi", "pods": "110"}
_MADE_UP: Final = re.compile(r"\s*[A-Za-z][-A-Za-z0-9./]*\s*=")
_PLACE: Final = Place("--cluster")


@dataclass(slots=True)
class _Shape:
    """What was asked for.

    Attributes:
        counts: of zones, regions and racks, as far as given.
        nodes: how many in all, or for each zone; None when not given.
        resources: what can be had of each node.
        labels: where (None: everywhere), key and value.
        taints: where (None: everywhere) and taint.
    """

    counts: dict[str, int] = field(default_factory=dict)
    nodes: list[int] | None = None
    resources: dict[str, str] = field(default_factory=lambda: dict(_DEFAULT_RESOURCES))
    labels: list[tuple[str | None, str, str]] = field(default_factory=list)
    taints: list[tuple[str | None, Taint]] = field(default_factory=list)


def is_made_up(cluster: str) -> bool:
    """Whether a text describes a cluster, and is not the path of a file that holds one."""
    return bool(_MADE_UP.match(cluster)) and not os.path.exists(cluster)


def made_up_nodes(text: str) -> list[tuple[Node, Place]]:
    """The nodes that a text describes, in the order of their names, each with its place.

    Raises:
        InputError: a part of the text says nothing that can be made up; the message names it.
    """
    shape = _parse(text)
    places = _dealt(shape)
    width = len(str(len(places)))
    zones = shape.counts["zones"]
    in_zone = [0] * max(zones, 1)
    nodes: list[Node] = []
    for number, zone in enumerate(places, 1):
        name = f"node-{number:0{width}}"
        labels = {HOSTNAME_KEY: name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        labels |= dict(_topology(shape, zone, in_zone[zone]))
        in_zone[zone] += 1
        resources: ResourceList = {**shape.resources}
        status = NodeStatus(allocatable=resources, capacity=dict(resources))
        nodes.append(Node(api_version="v1", kind="Node", metadata=ObjectMeta(name=name, labels=labels), status=status))
    _mark(nodes, shape)
    return [(node, Place("--cluster", object=f"Node {node.name}")) for node in nodes]


def _parse(text: str) -> _Shape:
    shape = _Shape()
    given: set[str] = set()
    for part in text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key or not value:
            _refuse(part.strip() or "an empty part", "is not KEY=VALUE")
        if key in given and key not in ("label", "taint"):
            _refuse(key, "is given twice")
        given.add(key)
        _read_part(shape, key, value)
    _settle_counts(shape)
    return shape


def _read_part(shape: _Shape, key: str, value: str) -> None:
    if key in _COUNTS:
        shape.counts[key] = _number(key, value)
    elif key == "nodes":
        shape.nodes = [_number(key, each) for each in value.split("+")]
    elif key == "label":
        shape.labels.append(_label(value))
    elif key == "taint":
        shape.taints.append(_taint(value))
    elif key in _KEYS or "/" in key or key.startswith("hugepages-"):
        shape.resources[key] = _quantity(key, value)
    else:
        close = get_close_matches(key, _KEYS, 1)
        what = (
            f"did you mean {close[0]}?" if close else f"known are {', '.join(_KEYS)} and resources like nvidia.com/gpu"
        )
        _refuse(key, f"is no part of a made-up cluster; {what}")


def _settle_counts(shape: _Shape) -> None:
    """Fill in what was not given, and refuse numbers that contradict each other."""
    counts = shape.counts
    if shape.nodes is not None and len(shape.nodes) > 1:
        zones = counts.setdefault("zones", len(shape.nodes))
        if zones != len(shape.nodes):
            _refuse("nodes", f"gives numbers for {len(shape.nodes)} zones, and there are {zones}")
    zones = counts.setdefault("zones", 3 if shape.nodes is None else min(3, shape.nodes[0]))
    if shape.nodes is None:
        shape.nodes = [max(zones, 1)]
    total = sum(shape.nodes)
    if not 0 < total <= MAX_NODES:
        _refuse("nodes", f"is {total}: at least 1 and at most {MAX_NODES} can be made up")
    if len(shape.nodes) == 1 and total < zones:
        _refuse("nodes", f"is {total}, which is too few for {zones} zones")
    if counts.setdefault("regions", 0) > max(zones, 1):
        _refuse("regions", f"is {counts['regions']}, and there are {zones} zones to put into them")
    counts.setdefault("racks", 0)


def _dealt(shape: _Shape) -> list[int]:
    """The zone of each node, zones taking turns until each has its number."""
    zones = max(shape.counts["zones"], 1)
    numbers = shape.nodes or []
    if len(numbers) == 1:
        return [index % zones for index in range(numbers[0])]
    return [zone for turn in range(max(numbers)) for zone in range(zones) if turn < numbers[zone]]


def _topology(shape: _Shape, zone: int, position: int) -> Iterator[tuple[str, str]]:
    """Labels that say where the node is: the ``position``-th of its zone."""
    counts = shape.counts
    if counts["zones"]:
        yield ZONE_KEY, _zone_name(zone)
    if counts["regions"]:
        yield REGION_KEY, f"region-{zone * counts['regions'] // max(counts['zones'], 1) + 1}"
    if counts["racks"]:
        rack = f"rack-{position % counts['racks'] + 1}"
        yield RACK_KEY, f"{_zone_name(zone)}-{rack}" if counts["zones"] else rack


def _zone_name(zone: int) -> str:
    """zone-a … zone-z, zone-aa …."""
    letters = ""
    number = zone + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return f"zone-{letters}"


def _mark(nodes: list[Node], shape: _Shape) -> None:
    """Put labels and taints where they belong."""
    for where, key, value in shape.labels:
        for node in _selected(nodes, where, "label"):
            (node.metadata.labels or {})[key] = value
    for where, taint in shape.taints:
        for node in _selected(nodes, where, "taint"):
            node.spec = NodeSpec(taints=[*(node.spec.taints or ()), taint])


def _selected(nodes: list[Node], where: str | None, part: str) -> list[Node]:
    """The nodes of a zone, region or rack, or the one of this name."""
    if where is None:
        return nodes
    topology = (ZONE_KEY, REGION_KEY, RACK_KEY)
    found = [node for node in nodes if where in (node.name, *(node.labels.get(key) for key in topology))]
    if not found:
        names = {node.name for node in nodes} | {node.labels.get(key, "") for node in nodes for key in topology} - {""}
        close = get_close_matches(where, sorted(names), 1)
        _refuse(
            part,
            f"names {where}, which is no zone, region, rack or node" + (f"; did you mean {close[0]}?" if close else ""),
        )
    return found


def _label(text: str) -> tuple[str | None, str, str]:
    where, colon, rest = text.rpartition(":")
    key, equals, value = rest.partition("=")
    if not equals:
        _refuse("label", f"{text} is not [WHERE:]KEY=VALUE")
    _check_label("label", key, value)
    return (where if colon else None), key, value


def _taint(text: str) -> tuple[str | None, Taint]:
    rest, colon, effect = text.rpartition(":")
    where, separator, label = rest.rpartition(":")
    if not colon:
        _refuse("taint", f"{text} is not [WHERE:]KEY[=VALUE]:EFFECT")
    if effect not in _EFFECTS:
        close = get_close_matches(effect, _EFFECTS, 1)
        _refuse(
            "taint",
            f"{effect} is no effect; " + (f"did you mean {close[0]}?" if close else f"there are {', '.join(_EFFECTS)}"),
        )
    key, _, value = label.partition("=")
    _check_label("taint", key, value)
    return (where if separator else None), Taint(key=key, value=value or None, effect=effect)


def _check_label(part: str, key: str, value: str) -> None:
    problems = label_key_problems(key) or label_value_problems(value)
    if problems:
        _refuse(part, f"{key}={value}: {problems[0]}")


def _number(key: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        _refuse(key, f"{text} is not a whole number")
    return int(text)


def _quantity(key: str, text: str) -> str:
    try:
        quantity = parse_quantity(text)
    except QuantityError as error:
        _refuse(key, f"{text} is no quantity: {error}")
    if quantity.sign < 0:
        _refuse(key, f"{text} is less than nothing")
    return text


def _refuse(part: str, problem: str) -> NoReturn:
    raise InputError(f"{part} {problem}" if not problem[0].isdigit() else f"{part}={problem}", _PLACE)
