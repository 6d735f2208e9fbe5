"""Read node pools: topospread's own format, Karpenter NodePools, and cluster-autoscaler's template tags.

Sources: karpenter.sh/v1 ``NodePool`` (requirements, limits), and cluster-autoscaler's ``node-template`` tags
(cluster-autoscaler/cloudprovider/aws/aws_manager.go: ``extractLabelsFromAsg``, ``extractTaintsFromAsg``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import msgspec

from topospread.api.label_syntax import label_key_problems, label_value_problems
from topospread.api.node_selection import Taint
from topospread.api.pools import Limits, NodePool
from topospread.api.quantity import QuantityError, parse_quantity
from topospread.api.well_known_labels import ZONE
from topospread.errors import ConfigError, Place
from topospread.whole_number import whole_number

from .files import Source, read_text
from .line_breaks import line_break_in
from .text import printable
from .yaml import read_documents

API_VERSION = "topospread.dev/v1alpha1"
EXAMPLE = f"""\
apiVersion: {API_VERSION}
kind: Pools
pools:
- name: web-a              # a group of nodes in one zone
  zone: zone-a
  labels: {{pool: web}}      # labels of its nodes; taints: as on nodes
  shape: {{cpu: 4, memory: 16Gi}}
  min: 4                   # optional; nodes that it always has
  max: 9                   # optional
  price: 0.19              # optional; all pools have one, or none has
"""
"""A file with one pool."""
_NODE_POOL = "karpenter.sh/nodepool"
_TEMPLATE = "k8s.io/cluster-autoscaler/node-template/"
_DEFAULTS = {"pods": "110"}
_MOST_NODES = 100_000
"""Maximum number of nodes, the same as for a synthetic cluster."""
_MOST_POOLS = 20_000
_MOST_BYTES = 256 << 20
"""Maximum bytes of all pools. Karpenter's NodePools produce one pool per instance type and zone."""
_PRICE = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class _Strict(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    pass


class GivenPool(_Strict):
    """A pool in topospread's own format, as written."""

    name: str
    zone: str = ""
    shape: dict[str, str | int | float] = {}
    labels: dict[str, str] = {}
    taints: list[Taint] = []
    tags: dict[str, str] = {}
    min: int = 0
    max: int | None = None
    price: str | int | float | None = None


class GivenInstanceType(_Strict):
    """An instance type for Karpenter, as written."""

    name: str
    shape: dict[str, str | int | float]
    zones: list[str]
    labels: dict[str, str] = {}
    price: str | int | float | None = None


class _Pools(_Strict):
    api_version: str
    kind: str
    pools: list[GivenPool] = []
    instance_types: list[GivenInstanceType] = []


class _Requirement(msgspec.Struct, rename="camel"):
    key: str
    operator: str
    values: list[str] = []


class _Template(msgspec.Struct, rename="camel"):
    requirements: list[_Requirement] = []
    taints: list[Taint] = []


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    labels: dict[str, str] = {}


class _NodePoolTemplate(msgspec.Struct, rename="camel"):
    spec: _Template
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _NodePoolSpec(msgspec.Struct, rename="camel"):
    template: _NodePoolTemplate
    limits: dict[str, str | int] = {}


class _NodePool(msgspec.Struct, rename="camel"):
    metadata: _Metadata
    spec: _NodePoolSpec


def read_pools(paths: Iterable[str]) -> tuple[NodePool, ...]:
    """Read the pools in files. Raise InputError, whose place names the field, if a file is unreadable or invalid."""
    given: list[tuple[Place, _Pools]] = []
    karpenter: list[tuple[Place, _NodePool]] = []
    for path in paths:
        text = read_text(Source(path, None))
        for document in read_documents(text):
            place = Place(text.name, document=document.number)
            value = document.value
            kind, version = (value.get("kind"), value.get("apiVersion")) if isinstance(value, dict) else (None, None)
            if kind == "NodePool" and str(version).startswith("karpenter.sh/"):
                karpenter.append((place, _converted(value, _NodePool, place)))
            elif kind == "Pools" and version == API_VERSION:
                given.append((place, _converted(value, _Pools, place)))
            else:
                words = f"expected kind Pools of {API_VERSION}, or Karpenter's NodePool"
                words += "; an example: topospread explain pools"
                raise ConfigError(words, place)
    types = [each for _, file in given for each in file.instance_types]
    _check_number(given, karpenter, types)
    found = [pool for place, file in given for pool in _own(file, place)]
    for place, item in karpenter:
        found += _of_karpenter(item, types, place)
    places = [place for place, _ in (*given, *karpenter)]
    if not found:
        raise ConfigError("no pool can have a node; raise a max or a limit", places[0] if places else Place("--pools"))
    least = sum(each.least for each in found)
    if least > _MOST_NODES:
        raise ConfigError(f"min: {least} nodes in all pools; lower it, at most {_MOST_NODES} are allowed", places[0])
    names = Counter(each.name for each in found)
    twice = [name for name, number in names.items() if number > 1]
    if twice:
        raise ConfigError(f"two pools have the name {twice[0]}; rename one", places[0])
    return tuple(found)


def _check_number(
    given: Sequence[tuple[Place, _Pools]],
    karpenter: Sequence[tuple[Place, _NodePool]],
    types: Sequence[GivenInstanceType],
) -> None:
    zones = sum(len(each.zones) for each in types)
    number = sum(len(file.pools) for _, file in given) + len(karpenter) * zones
    size = zones * sum(len(msgspec.json.encode(each)) for _, each in karpenter)
    size += len(karpenter) * sum(len(each.zones) * len(msgspec.json.encode(each)) for each in types)
    if number > _MOST_POOLS or size > _MOST_BYTES:
        words = f"these are {number} pools, but at most {_MOST_POOLS} are allowed"
        words = words if number > _MOST_POOLS else f"these {number} pools are larger than {_MOST_BYTES >> 20} MiB"
        raise ConfigError(f"{words}: name fewer instance types or zones", (*given, *karpenter)[0][0])


def _converted(value: Any, kind: Any, place: Place) -> Any:
    try:
        found = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        words, _, path = str(error).partition(" - at `$.")
        raise ConfigError(words, place.at(path.rstrip("`"))) from None
    if broken := line_break_in(msgspec.to_builtins(found), matters=True):
        raise ConfigError("a name must be on one line", place.at(printable(broken)))
    return found


def _own(file: _Pools, place: Place) -> Iterator[NodePool]:
    for number, each in enumerate(file.pools):
        here = place.at(f"pools[{number}]")
        labels, amounts, taints = _tagged(each.tags, here)
        labels |= each.labels | ({ZONE: each.zone} if each.zone else {})
        amounts |= _texts(each.shape)
        taints += each.taints
        if "cpu" not in amounts or "memory" not in amounts:
            raise ConfigError("its nodes need cpu and memory: shape: {cpu: 8, memory: 32Gi}", here)
        if each.min < 0 or (each.max is not None and each.max < each.min):
            raise ConfigError(f"min {each.min} and max {each.max}: both must be at least 0, and max at least min", here)
        pool = NodePool(each.name, labels, _DEFAULTS | amounts, tuple(taints), each.min, each.max)
        yield _checked(replace(pool, price=_price(each.price, here)), here)


def _tagged(tags: Mapping[str, str], place: Place) -> tuple[dict[str, str], dict[str, str], list[Taint]]:
    """Return labels, resources and taints from cluster-autoscaler's template tags. Other tags are ignored."""
    labels: dict[str, str] = {}
    amounts: dict[str, str] = {}
    taints: list[Taint] = []
    for key, value in tags.items():
        if not key.startswith(_TEMPLATE):
            continue
        what, _, name = key.removeprefix(_TEMPLATE).partition("/")
        if what == "label":
            labels[name] = value
        elif what == "resources":
            amounts[name] = value
        elif what == "taint":
            text, _, effect = value.rpartition(":")
            if effect not in _EFFECTS:
                raise ConfigError(f"tags[{key}]: expected VALUE:EFFECT, got {value}", place)
            taints.append(Taint(key=name, value=text or None, effect=effect))
    return labels, amounts, taints


def _price(given: str | float | None, place: Place) -> Fraction | None:
    if given is None:
        return None
    found = _PRICE.fullmatch(str(given))
    if found is None or not Fraction(found[0]):
        raise ConfigError(f"price {given}: write a number above 0 without a currency, for example 0.19", place)
    return Fraction(found[0])


def _texts(shape: Mapping[str, str | int | float]) -> dict[str, str]:
    return {name: str(amount) for name, amount in shape.items()}


def _checked(pool: NodePool, place: Place) -> NodePool:
    """Return the pool after checking that a valid node can be created from it."""
    for key, value in pool.labels.items():
        problems = [*label_key_problems(key), *label_value_problems(value)]
        if problems:
            raise ConfigError(f"label {key}={value}: {problems[0]}", place)
    for name, amount in pool.amounts.items():
        try:
            parse_quantity(amount)
        except QuantityError as error:
            raise ConfigError(f"{name}: {amount}: {error}", place) from None
    wrong = [each.effect for each in pool.taints if each.effect not in _EFFECTS]
    if wrong:
        raise ConfigError(f"effect {wrong[0]}: use one of {', '.join(_EFFECTS)}", place)
    return pool


def _of_karpenter(item: _NodePool, types: Sequence[GivenInstanceType], place: Place) -> Iterator[NodePool]:
    """Yield a pool per instance type and zone that the NodePool allows; of other labels the first value."""
    name, template = item.metadata.name, item.spec.template
    if not types:
        words = "a NodePool does not list its instance types: add a document of kind Pools with instanceTypes"
        raise ConfigError(f"NodePool {name}: {words}", place)
    own = {_NODE_POOL: name, **template.metadata.labels}
    try:
        milli = {name: parse_quantity(amount).milli_value() for name, amount in item.spec.limits.items()}
    except QuantityError as error:
        raise ConfigError(f"spec.limits: {error}", place) from None
    limits = Limits((_NODE_POOL, item.metadata.name), milli) if milli else None
    for kind in types:
        for zone in kind.zones:
            labels = {**own, **kind.labels, "node.kubernetes.io/instance-type": kind.name, ZONE: zone}
            for each in template.spec.requirements:
                if each.operator == "In" and each.key not in labels and each.values:
                    labels[each.key] = each.values[0]
            if all(_meets(each, labels) for each in template.spec.requirements):
                shape = _DEFAULTS | _texts(kind.shape)
                pool = NodePool(f"{name}-{kind.name}-{zone}", labels, shape, tuple(template.spec.taints), limits=limits)
                yield _checked(replace(pool, price=_price(kind.price, place)), place)


def _meets(requirement: _Requirement, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(requirement.key), requirement.values
    if requirement.operator in ("Gt", "Lt"):
        own, limit = whole_number(value), whole_number(values[0]) if len(values) == 1 else None
        if own is None or limit is None:
            return False
        return own > limit if requirement.operator == "Gt" else own < limit
    meets = {
        "In": value in values,
        "NotIn": value not in values,
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }
    return meets.get(requirement.operator, False)
