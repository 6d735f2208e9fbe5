"""Synthetic clusters from a specification such as ``zones=3,nodes=12,cpu=8,memory=32Gi``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from string import ascii_lowercase
from typing import Final

import msgspec

from topospread.api.label_syntax import label_key_problems, label_value_problems
from topospread.api.meta import Annotations, ObjectMeta
from topospread.api.node import Node, NodeSpec, NodeStatus
from topospread.api.node_selection import Taint
from topospread.api.quantity import QuantityError, parse_quantity
from topospread.api.requests import is_scalar_resource
from topospread.api.storage import StorageClass
from topospread.api.well_known_labels import ARCH, HOSTNAME, OS, REGION, ZONE
from topospread.errors import InputError, Place, UsageError

GRAMMAR: Final = """\
A synthetic cluster is a list of KEY=VALUE, separated by commas:

  nodes=12             number of nodes, which go to the zones in turn; by
                       default one per zone; nodes=5+3+1 sets it per zone
  zones=3              zone-a, zone-b, … as topology.kubernetes.io/zone;
                       without it nodes have no zone
  regions=1            region-1, … as topology.kubernetes.io/region; zones
                       belong to them in turn
  racks=2              racks in each zone, zone-a-rack-1, …, as
                       topology.kubernetes.io/rack
  cpu=8 memory=32Gi pods=110 ephemeral-storage=100Gi
                       what each node can allocate; by default 4, 16Gi, 110
                       and 100Gi
  nvidia.com/gpu=2     an extended resource on each node
  label=disk=ssd       a label on each node; label=zone-a:disk=ssd only in a
                       zone, region or rack, or on one node
  taint=zone-c:dedicated=gpu:NoSchedule
                       a taint; without zone-c: on each node
  cordon=node-3        no new pods on a node, or in a zone, region or rack
  storage-class=gp3    a StorageClass; several may be given, and the first is
                       the default; storage-class=none for none at all

label and taint may be given several times. Nodes are named node-1, node-2
and so on, and labelled kubernetes.io/hostname, kubernetes.io/os=linux and
kubernetes.io/arch=amd64, as most nodes are. Unless the manifests bring a
default StorageClass, there is one, "standard". Volumes of these classes are
made for the pod that comes first (WaitForFirstConsumer), in its zone.
"""

RACK: Final = "topology.kubernetes.io/rack"

_COUNTS: Final = {"nodes": 100_000, "zones": 1_000, "regions": 1_000, "racks": 1_000}
_DEFAULTS: Final = {"cpu": "4", "memory": "16Gi", "pods": "110", "ephemeral-storage": "100Gi"}
_KEYS: Final = (*_COUNTS, *_DEFAULTS, "label", "taint", "cordon", "storage-class")
_MOST_COMPARISONS: Final = 10_000_000
_NO_CLASS: Final = "none"
PROVISIONER: Final = "topospread.dev/made-up"
"""Provisioner of synthetic StorageClasses."""
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_CLASS_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_SYNTHETIC: Final = re.compile(r"[A-Za-z0-9_./-]+=")
_PLACE: Final = Place(source="--on")


class _Wishes(msgspec.Struct):
    """The parsed specification. Labels, taints and cordons have a zone or node; "" means all.

    Attributes:
        nodes: total number, or the number for each zone; empty if not given.
    """

    nodes: list[int] = []
    counts: dict[str, int] = {}
    resources: dict[str, str] = msgspec.field(default_factory=lambda: dict(_DEFAULTS))
    labels: list[tuple[str, str, str]] = []
    taints: list[tuple[str, Taint]] = []
    cordons: list[str] = []
    storage_classes: list[str] = []


def is_synthetic(text: str) -> bool:
    """Return whether ``--on`` is a synthetic cluster rather than a file.

    Raises:
        UsageError: if a file has the same name, because a pull request may have added it.
    """
    if _SYNTHETIC.match(text) is None or text.startswith((".", "/")):
        return False
    if not os.path.lexists(text):
        return True
    if any(part.partition("=")[0] in _KEYS for part in text.split(",")):
        raise UsageError(f"{text} is both a synthetic cluster and a file; write ./{text} for the file")
    return False


def synthetic_nodes(text: str) -> list[tuple[Node, Place]]:
    """Return the nodes of a synthetic cluster, with their places. Raise InputError if its text is invalid."""
    wishes = _read(text)
    sites = list(_sites(wishes))
    special = len(wishes.labels) + len(wishes.taints) + len(wishes.cordons)
    if special * len(sites) > _MOST_COMPARISONS:
        raise _error(f"{special} labels, taints and cordons are too many for {len(sites)} nodes; give fewer")
    names = {name for site in sites for name in site.names}
    for where in (*(each[0] for each in wishes.labels), *(each[0] for each in wishes.taints), *wishes.cordons):
        if where and where not in names:
            raise _error(f"{where} is not a zone, region, rack or node of this cluster{_meant(where, sorted(names))}")
    for where, taint in wishes.taints:
        if not where and taint.key in names:
            at = f"{taint.key}{'' if taint.value is None else f'={taint.value}'}:{taint.effect}"
            raise _error(
                f"taint={at}: {taint.key} is a zone, region, rack or node of this cluster, not a key; write "
                f"taint={taint.key}:{taint.value or 'KEY'}:{taint.effect}"
            )
    nodes = [_node(site, wishes) for site in sites]
    return [(node, Place(source="--on", object=f"Node {node.name}")) for node in nodes]


def synthetic_storage_classes(text: str) -> list[tuple[StorageClass, Place]]:
    """Return a synthetic cluster's StorageClasses, the default first, with places. Raise InputError if invalid."""
    names = _read(text).storage_classes or ["standard"]
    classes = [_storage_class(name, default=i == 0) for i, name in enumerate(names) if name != _NO_CLASS]
    return [(each, Place(source="--on", object=f"StorageClass {each.name}")) for each in classes]


def _storage_class(name: str, *, default: bool) -> StorageClass:
    annotations = Annotations(is_default_class="true") if default else None
    return StorageClass(
        api_version="storage.k8s.io/v1",
        kind="StorageClass",
        metadata=ObjectMeta(name=name, annotations=annotations),
        provisioner=PROVISIONER,
        volume_binding_mode="WaitForFirstConsumer",
    )


def is_unasked(text: str, item: StorageClass) -> bool:
    """Return whether a StorageClass is the implicit default of a synthetic cluster."""
    return item.provisioner == PROVISIONER and not _read(text).storage_classes


class _Site(msgspec.Struct, frozen=True):
    """The place of a node: its name and its topology labels, key → name."""

    node: str
    topology: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Names with which labels, taints and cordons can refer to it."""
        return (self.node, *self.topology.values())


def _sites(wishes: _Wishes) -> Iterator[_Site]:
    """Yield a site for each node. Nodes alternate between zones until each has its number, and between racks."""
    zones = _number_of_zones(wishes)
    counts = wishes.counts
    used = [0] * zones
    for i, zone in enumerate(_dealt(wishes.nodes or [zones], zones)):
        topology = {}
        if "zones" in counts:
            topology[ZONE] = zone_name(zone)
        if "regions" in counts:
            topology[REGION] = f"region-{zone % counts['regions'] + 1}"
        if "racks" in counts:
            topology[RACK] = f"{zone_name(zone)}-rack-{used[zone] % counts['racks'] + 1}"
        used[zone] += 1
        yield _Site(f"node-{i + 1}", topology)


def _number_of_zones(wishes: _Wishes) -> int:
    nodes, counts = wishes.nodes, wishes.counts
    if len(nodes) > 1 and counts.setdefault("zones", len(nodes)) != len(nodes):
        raise _error(f"nodes: numbers for {len(nodes)} zones, but zones={counts['zones']}; make them equal")
    zones = counts.get("zones", 1)
    if len(nodes) == 1 and nodes[0] < zones:
        raise _error(f"nodes={nodes[0]}: must be at least the number of zones, {zones}")
    if counts.get("regions", 1) > zones:
        raise _error(f"regions={counts['regions']}: must be at most the number of zones, {zones}")
    return zones


def _dealt(nodes: list[int], zones: int) -> Iterator[int]:
    if len(nodes) == 1:
        return (i % zones for i in range(nodes[0]))
    return (zone for turn in range(max(nodes)) for zone in range(zones) if turn < nodes[zone])


def zone_name(index: int) -> str:
    """Return ``zone-a`` … ``zone-z``, then ``zone-aa``."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, len(ascii_lowercase))
        letters = ascii_lowercase[rest] + letters
    return f"zone-{letters}"


def _node(site: _Site, wishes: _Wishes) -> Node:
    labels = {HOSTNAME: site.node, OS: "linux", ARCH: "amd64", **site.topology}
    here = ("", *site.names)
    labels |= {key: value for where, key, value in wishes.labels if where in here}
    taints = [taint for where, taint in wishes.taints if where in here]
    cordoned = any(where in here for where in wishes.cordons)
    if cordoned:
        taints.append(Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule"))
    amounts = dict(wishes.resources)
    return Node(
        api_version="v1",
        kind="Node",
        metadata=ObjectMeta(name=site.node, labels=labels),
        spec=NodeSpec(unschedulable=True if cordoned else None, taints=taints or None),
        status=NodeStatus(allocatable=dict(amounts), capacity=dict(amounts)),
    )


def _read(text: str) -> _Wishes:
    wishes = _Wishes()
    given: set[str] = set()
    readers: dict[str, Callable[[_Wishes, str], None]] = {
        "label": _label,
        "taint": _taint,
        "cordon": _cordon,
        "storage-class": _wish_storage_class,
    }
    for part in text.split(","):
        key, equals, value = part.strip().partition("=")
        if not equals or not value:
            raise _error(f"{part.strip() or 'an empty part'} is not KEY=VALUE")
        if key in readers:
            readers[key](wishes, value)
            continue
        if key in given:
            raise _error(f"{key} is given twice")
        given.add(key)
        if key == "nodes":
            wishes.nodes = [_count(key, each) for each in value.split("+")]
        elif key in _COUNTS:
            wishes.counts[key] = _count(key, value)
        elif key in _DEFAULTS or is_scalar_resource(key):
            try:
                quantity = parse_quantity(value)
            except QuantityError as error:
                raise _error(f"{key}={value}: {error}") from None
            if quantity.sign < 0:
                raise _error(f"{key}={value}: must be greater than or equal to 0")
            wishes.resources[key] = value
        else:
            near = [each for each in get_close_matches(key, _KEYS, n=1) if each[0] == key[0]]
            keys = (
                f"keys are {', '.join(_KEYS)} and extended resources (example.com/gpu=1); devices need ResourceSlices"
            )
            hint = f"write {near[0]}={value}" if near else f"{keys} in -f"
            raise _error(f"{key}={value}: {hint} (topospread explain clusters)")
    return wishes


def _count(key: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or not 1 <= int(value[:9]) <= _COUNTS[key] or len(value) > 9:
        raise _error(f"{key}={value}: expected a whole number from 1 to {_COUNTS[key]}")
    return int(value)


def _where(value: str) -> tuple[str, str]:
    """Split ``WHERE:REST``, where WHERE is a zone or node. A value without WHERE gives "" and the whole value."""
    where, colon, rest = value.partition(":")
    return (where, rest) if colon and "=" not in where and rest not in _EFFECTS else ("", value)


def _label(wishes: _Wishes, value: str) -> None:
    where, rest = _where(value)
    key, equals, text = rest.partition("=")
    if not equals:
        raise _error(f"label={value}: expected [WHERE:]KEY=VALUE")
    _check_label(f"label={value}", key, text)
    wishes.labels.append((where, key, text))


def _taint(wishes: _Wishes, value: str) -> None:
    where, rest = _where(value)
    text, _, effect = rest.rpartition(":")
    key, _, taint_value = text.partition("=")
    if effect not in _EFFECTS or not key:
        hint = _meant(effect, _EFFECTS)
        raise _error(f"taint={value}: expected [WHERE:]KEY[=VALUE]:EFFECT, EFFECT one of {', '.join(_EFFECTS)}{hint}")
    _check_label(f"taint={value}", key, taint_value)
    wishes.taints.append((where, Taint(key=key, value=taint_value or None, effect=effect)))


def _check_label(part: str, key: str, value: str) -> None:
    problems = label_key_problems(key) or label_value_problems(value)
    if problems:
        raise _error(f"{part}: {problems[0]}")


def _cordon(wishes: _Wishes, value: str) -> None:
    wishes.cordons.append(value)


def _wish_storage_class(wishes: _Wishes, value: str) -> None:
    named = wishes.storage_classes
    if not _CLASS_NAME.fullmatch(value):
        raise _error(f"storage-class={value}: expected a name of lower case letters, digits, '-' and '.'")
    if value in named or _NO_CLASS in named or (named and value == _NO_CLASS):
        again = "is given twice" if value in named else f"and storage-class={named[0]}"
        raise _error(f"storage-class={value} {again}")
    named.append(value)


def _meant(word: str, known: tuple[str, ...] | list[str]) -> str:
    close = get_close_matches(word, known, n=1)
    return f" (is {close[0]} meant?)" if close else ""


def _error(words: str) -> InputError:
    return InputError(words, _PLACE)
