"""Changes of a workload that may keep a broken promise, the smallest first. `promise check` tries them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import msgspec
from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.rollout import strategy_of
from topospread.api.spread import DO_NOT_SCHEDULE, TopologySpreadConstraint
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.api.workload import Deployment, DeploymentStrategy
from topospread.drill.placed_pods import without_pods_of

from .fresh import LISTS, REVISION, Designed, autoscaling_of, with_constraints, workload_of
from .kept import Kept

_KEYS = {"zone-loss": (ZONE,), "node-loss": (HOSTNAME,), "drain": (HOSTNAME,), "quorum": (ZONE, HOSTNAME)}
_LOSSES = ("zone-loss", "node-loss", "quorum")
_MOST_MORE = 10
_PATH = "/spec/template/spec/topologySpreadConstraints"
_Edit = Mapping[int, Mapping[str, Any]]
"""Index of a constraint → its changed fields. The index after the last constraint adds a new one."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A change: its code and words, its JSON patch, the input with it, and the replicas if they change (else 0)."""

    code: str
    says: str
    patch: tuple[dict[str, Any], ...]
    inventory: Inventory
    replicas: int = 0


def fixes(inventory: Inventory, key: ObjectKey, broken: Kept, replicas: int) -> Iterator[Fix]:
    """Yield changes of a workload that may keep a promise; nothing if the current placement already breaks it."""
    if key[0] not in LISTS:
        return
    item = workload_of(inventory, key)
    if broken.want.about in _LOSSES and broken.want.least(replicas) >= replicas:
        yield from _more_replicas(inventory, key, broken, replicas)
        return
    if broken.part.when == "now":
        return
    if broken.want.about == "rollout":
        yield from _rolling(inventory, item, broken.want.least(replicas), replicas)
        return
    edits = _edits(item, broken, replicas)
    for edit in sorted(edits, key=lambda each: sum(map(len, each.values()))):
        yield _edited(inventory, key, item, edit)


def _more_replicas(inventory: Inventory, key: ObjectKey, broken: Kept, replicas: int) -> Iterator[Fix]:
    """Yield the smallest sufficient increase of replicas, with each constraint that may then keep the promise."""
    enough = (each for each in range(replicas + 1, 2 * replicas + _MOST_MORE) if broken.want.least(each) < each)
    number = next(enough, None)
    if number is None or autoscaling_of(inventory, key) is not None:
        return
    item = workload_of(inventory, key)
    more = with_fields(item, spec=with_fields(item.spec, replicas=number))
    made = without_pods_of(inventory, key)  # a changed template replaces all pods
    setattr(made, LISTS[key[0]], [more if each is item else each for each in getattr(made, LISTS[key[0]])])
    patch = {"op": "add", "path": "/spec/replicas", "value": number}
    for edit in sorted(_edits(more, broken, number), key=lambda each: sum(map(len, each.values()))):
        fix = _edited(made, key, more, edit)
        says = f"{number} replicas instead of {replicas}, and {fix.says}"
        yield replace(fix, code="replicas", says=says, patch=(patch, *fix.patch), replicas=number)


def _edits(item: Designed, broken: Kept, replicas: int) -> list[_Edit]:
    own = item.spec.template.spec.topology_spread_constraints or []
    want, hard = broken.want, [at for at, each in enumerate(own) if each.when_unsatisfiable == DO_NOT_SCHEDULE]
    keys = _KEYS.get(want.about, ())
    if want.about == "skew":
        keys = tuple(dict.fromkeys(each.topology_key or "" for each in own))
    most = want.number if want.about == "skew" else replicas - want.least(replicas)
    each_key = [list(_tighter(item, own, key, most)) for key in keys] if most > 0 else []
    tight = [*chain.from_iterable(each_key)]
    if len(each_key) > 1 and all(each_key):
        tight.append({at: fields for edits in each_key for at, fields in edits[-1].items()})
    if not isinstance(item, Deployment):
        return tight
    revisions: list[_Edit] = [
        {at: {"matchLabelKeys": [*(own[at].match_label_keys or []), REVISION]}}
        for at in hard
        if REVISION not in (own[at].match_label_keys or [])
    ]
    if len(revisions) > 1:
        revisions.append({at: fields for each in revisions for at, fields in each.items()})
    if broken.part.when != "after some rollout":
        revisions = revisions[-1:]
        both = [_joined(one, edit) for one in tight for edit in revisions]
        alone = [{at: {**fields, "matchLabelKeys": [REVISION]} for at, fields in one.items()} for one in tight]
        return [*tight, *both, *(each for each in alone if not revisions)]
    return [*revisions, *(_joined(one, edit) for one in tight for edit in revisions[-1:])]


def _joined(one: _Edit, other: _Edit) -> _Edit:
    return {at: {**one.get(at, {}), **other.get(at, {})} for at in (*one, *(at for at in other if at not in one))}


def _tighter(item: Designed, own: Sequence[TopologySpreadConstraint], key: str, most: int) -> Iterator[_Edit]:
    """Yield constraints over a key with at most this maxSkew, the loosest first."""
    there = next((at for at, each in enumerate(own) if each.topology_key == key), len(own))
    is_hard = there < len(own) and own[there].when_unsatisfiable == DO_NOT_SCHEDULE
    now = (own[there].max_skew or 1) if there < len(own) else most + 1
    harder = {} if is_hard else {"whenUnsatisfiable": DO_NOT_SCHEDULE}
    if harder and now <= most:
        yield {there: harder}
    top = min(now - 1, most)
    for skew in sorted({each for each in (top, top // 2, 4, 3, 2, 1) if 0 < each <= top}, reverse=True):
        new = {} if there < len(own) else {"topologyKey": key, "labelSelector": msgspec.to_builtins(item.spec.selector)}
        yield {there: {**new, "maxSkew": skew, **harder}}


def _edited(inventory: Inventory, key: ObjectKey, item: Designed, edit: _Edit) -> Fix:
    own = item.spec.template.spec.topology_spread_constraints or []
    made, says, patch = list(own), list[str](), list[dict[str, Any]]()
    for at, fields in sorted(edit.items()):
        old = msgspec.to_builtins(own[at]) if at < len(own) else {}
        changed = msgspec.convert({**old, **fields}, TopologySpreadConstraint)
        told = ", ".join(
            _field(name, value, old) for name, value in fields.items() if name not in {"labelSelector", "topologyKey"}
        )
        says.append(f"{told} on {changed.topology_key}" if old else f"a constraint on {changed.topology_key}: {told}")
        if old:
            made[at] = changed
            patch += ({"op": "add", "path": f"{_PATH}/{at}/{name}", "value": value} for name, value in fields.items())
        else:
            made.append(changed)
            patch.append({"op": "add", "path": f"{_PATH}/-" if own else _PATH, "value": fields if own else [fields]})
    code = "match-label-keys" if all(list(each) == ["matchLabelKeys"] for each in edit.values()) else "spread"
    return Fix(code, "; ".join(says), tuple(patch), with_constraints(inventory, key, made))


def _field(name: str, value: object, old: Mapping[str, object]) -> str:
    if isinstance(value, list):
        return f"{name}: [{', '.join(value)}]"
    return f"{name} {value} instead of {old[name]}" if name in old else f"{name} {value}"


def _rolling(inventory: Inventory, item: Designed, least: int, replicas: int) -> Iterator[Fix]:
    """Yield a Deployment's strategy with the largest maxUnavailable that leaves this number of pods."""
    if not isinstance(item, Deployment) or least > replicas:
        return
    now = strategy_of(with_fields(item, spec=with_fields(item.spec, replicas=replicas)))
    most = replicas - least
    surge = max(now.max_surge if now is not None else 0, int(not most))
    value = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": most}}
    changed = with_fields(item, spec=with_fields(item.spec, strategy=msgspec.convert(value, DeploymentStrategy)))
    deployments = [changed if each is item else each for each in inventory.deployments]
    before = "" if now is None else f" instead of {now.max_unavailable}"
    says = f"maxUnavailable {most}{before}" + (f", maxSurge {surge}" if now is None or surge != now.max_surge else "")
    patch = ({"op": "add", "path": "/spec/strategy", "value": value},)
    yield Fix("strategy", says, patch, replace(inventory, deployments=deployments))
