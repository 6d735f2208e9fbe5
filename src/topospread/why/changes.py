"""Changes of a pod's spec that may make it schedulable, each with the patch of the object to edit.

If the pod has a workload, the workload is the object to edit. `suggest` finds the changes that help. Patches start from
the values in the input, before the API server's defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from typing import Any

import msgspec
from msgspec.structs import replace

from topospread.api.meta import KubeObject, RawQuantity
from topospread.api.node import Node
from topospread.api.node_selection import Taint, Toleration
from topospread.api.pod import Pod, ResourceRequirements
from topospread.api.quantity import parse_quantity
from topospread.api.rollout import Strategy
from topospread.api.spread import HONOR, SCHEDULE_ANYWAY, TopologySpreadConstraint
from topospread.plugins.pod_topology_spread import lacks_domains
from topospread.plugins.spread_constraints import Constraint

from .own_constraints import with_constraints
from .owner import Owned
from .rejections_per_node import Shortage, shown_taint
from .result import Json, Means

TAINTS_OF_HEALTH = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Key prefixes of the taints of unhealthy nodes. No suggestion tolerates or removes these taints."""
What = tuple[str, str, tuple[float, ...]]
"""Kind, title and size of a change."""


@dataclass(frozen=True)
class Change:
    """A change to simulate.

    Attributes:
        size: sorts smaller changes first.
        of_pod: returns the changed pod spec; ``None`` for a change of the cluster.
        of_node: returns the changed node that ``object`` names.
        nodes: new nodes.
        deleted: pods to delete.
        objects: claims and StorageClasses to create, or to replace by name.
        file: file of the object; "" if unknown.
        strategy: rolling update strategy of the Deployment.
        alone: whether it can help by itself. Otherwise its node rejects the pod for another reason, too.
        parts: the combined changes, each of one object; empty for a single change.
    """

    kind: str
    title: str
    object: dict[str, str]
    patch: tuple[Json, ...]
    means: Means
    size: tuple[float, ...] = ()
    of_pod: Callable[[Pod], Pod] | None = None
    of_node: Callable[[Node], Node] | None = None
    nodes: tuple[Node, ...] = ()
    deleted: tuple[Pod, ...] = field(default=())
    objects: tuple[KubeObject, ...] = ()
    file: str = ""
    strategy: Strategy | None = None
    alone: bool = True
    parts: tuple[Change, ...] = ()

    @property
    def each(self) -> tuple[Change, ...]:
        """The combined changes, or only this change if it is single."""
        return self.parts or (self,)


def of_spec(owner: Owned, what: What, patch: tuple[Json, ...], of_pod: Callable[[Pod], Pod]) -> Change:
    """Return a change of the pod spec in the owner."""
    kind, title, size = what
    return Change(
        kind, title, owner.reference, patch, owner.means, size, of_pod, file=owner.file, strategy=owner.strategy
    )


def as_in_template(owner: Owned, template: Pod, *, older: bool) -> Change:
    """Return a change without a patch: recreate the pods from the current template.

    ``older``: whether the pod is of an older template.
    """
    kind, title = "restart", "restart: recreate the pods from the present template"
    if older:
        kind, title = "rollout", "the rollout of the newest template: this pod is of an older revision"

    def of_pod(pod: Pod) -> Pod:
        own = pod.spec
        return replace(pod, spec=replace(template.spec, volumes=own.volumes, node_name=own.node_name))

    return of_spec(owner, (kind, title, (0.5 if older else 1.2,)), (), of_pod)


def strategy_change(
    reference: dict[str, str], at: str = "", surge: int | str = 0, unavailable: int | str = 1
) -> Change:
    """Return the change to a rolling update that, by default, deletes an old pod before it creates a new one.

    ``at`` is the end of the title.
    """
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    patch = ({"op": "add", "path": "/spec/strategy", "value": rolling},)
    title = f"maxSurge {surge} and maxUnavailable {unavailable}{at}"
    return Change("strategy", title, reference, patch, "cluster", (-1.0,))


def max_skew_change(owner: Owned, constraint: Constraint, value: int) -> Change:
    """Return the change to a larger maxSkew."""
    return _constraint_change(
        owner,
        constraint,
        ("maxSkew", f"maxSkew {value} instead of {constraint.max_skew}", (4, value - constraint.max_skew)),
        {"maxSkew": value},
    )


def constraint_changes(owner: Owned, constraint: Constraint, domains: int) -> Iterator[Change]:
    """Yield the changes of one DoNotSchedule constraint except maxSkew; ``domains``: number of eligible domains."""
    if not constraint.honors_taints:
        what: What = ("nodeTaintsPolicy", "nodeTaintsPolicy: Honor", (2.0,))
        yield _constraint_change(owner, constraint, what, {"nodeTaintsPolicy": HONOR})
    if not constraint.honors_affinity:
        what = ("nodeAffinityPolicy", "nodeAffinityPolicy: Honor", (2.0,))
        yield _constraint_change(owner, constraint, what, {"nodeAffinityPolicy": HONOR})
    if lacks_domains(domains, constraint.min_domains):
        title = f"minDomains {domains} instead of {constraint.min_domains}"
        what = ("minDomains", title, (3.0, float(constraint.min_domains - domains)))
        yield _constraint_change(owner, constraint, what, {"minDomains": domains})
    what = ("whenUnsatisfiable", "whenUnsatisfiable: ScheduleAnyway", (6.0,))
    yield _constraint_change(owner, constraint, what, {"whenUnsatisfiable": SCHEDULE_ANYWAY, "minDomains": None})


def _constraint_change(owner: Owned, constraint: Constraint, what: What, fields: dict[str, Any]) -> Change:
    """Return the change that sets fields of one constraint; ``None`` removes a field."""
    kind, title, size = what
    own = owner.own()
    at = constraint.position if owner.spec.topology_spread_constraints else _place_in(owner, constraint)
    changed = _changed(own[at], fields)
    others = own[:at] + own[at + 1 :]
    # The API server denies two constraints with the same topologyKey and whenUnsatisfiable.
    same = (changed.topology_key, changed.when_unsatisfiable)
    if any((each.topology_key, each.when_unsatisfiable) == same for each in others):
        return _dropped(owner, constraint, at)
    if constraint.origin == "pod":
        patch = tuple(_set_fields(f"{owner.path}/topologySpreadConstraints/{at}", own[at], fields))
    else:
        own[at] = changed
        patch = ({"op": "add", "path": f"{owner.path}/topologySpreadConstraints", "value": _plain(own)},)
        title += ", as constraints of its own instead of the default ones"

    def of_pod(pod: Pod) -> Pod:
        there = list(pod.spec.topology_spread_constraints or ()) or list(own)
        there[at] = _changed(there[at], fields)
        return with_constraints(pod, there)

    preposition = "of" if kind == "topologyKey" else "on"
    what = (kind, f"{title} {preposition} {constraint.topology_key}", (*size, constraint.position))
    return of_spec(owner, what, patch, of_pod)


def topology_key_change(owner: Owned, constraint: Constraint, key: str) -> Change | None:
    """Return the change to another topology key; ``None`` for a default constraint or if the key has a constraint."""
    own = owner.own()
    asked = (key, constraint.when_unsatisfiable)
    if constraint.origin != "pod" or any((each.topology_key, each.when_unsatisfiable) == asked for each in own):
        return None
    what = ("topologyKey", f"topologyKey {key} instead", (1.5,))
    return _constraint_change(owner, constraint, what, {"topologyKey": key})


def _dropped(owner: Owned, constraint: Constraint, at: int) -> Change:
    """Return the change that removes a DoNotSchedule constraint next to a ScheduleAnyway one with its key."""
    path = f"{owner.path}/topologySpreadConstraints/{at}"

    def of_pod(pod: Pod) -> Pod:
        there = list(pod.spec.topology_spread_constraints or ())
        return with_constraints(pod, [each for i, each in enumerate(there) if i != at])

    title = f"only the ScheduleAnyway constraint on {constraint.topology_key}, without the hard one"
    size = (6.0, float(constraint.position))
    patch = ({"op": "remove", "path": path},)
    return of_spec(owner, ("whenUnsatisfiable", title, size), patch, of_pod)


def _place_in(owner: Owned, constraint: Constraint) -> int:
    return next(i for i, each in enumerate(owner.constraints) if each.position == constraint.position)


def _changed(constraint: TopologySpreadConstraint, fields: dict[str, Any]) -> TopologySpreadConstraint:
    merged = constraint.to_dict() | fields
    return TopologySpreadConstraint.from_dict({name: value for name, value in merged.items() if value is not None})


def _set_fields(path: str, constraint: TopologySpreadConstraint, fields: dict[str, Any]) -> Iterator[Json]:
    there = constraint.to_dict()
    for name, value in fields.items():
        if value is not None:
            yield {"op": "replace" if name in there else "add", "path": f"{path}/{name}", "value": value}
        elif name in there:
            yield {"op": "remove", "path": f"{path}/{name}"}


def combined(changes: Sequence[Change]) -> Change:
    """Return several changes as one; changes to one object's pod spec share a patch."""
    changes = sorted(changes, key=lambda each: each.each[0].of_pod is None)
    of_spec: dict[str, list[Change]] = {}
    others: list[Change] = []
    for each in (part for change in changes for part in change.each):
        (others if each.of_pod is None else of_spec.setdefault(str(each.object), [])).append(each)
    parts = [*map(_one_patch, of_spec.values()), *others]
    return dataclass_replace(
        parts[0],
        kind="+".join(each.kind for each in changes),
        title=f"{', '.join(each.title for each in changes[:-1])}, and {changes[-1].title}",
        size=(9.0, float(len(changes)), *(size for each in changes for size in each.size)),
        alone=True,
        parts=tuple(parts) if len(parts) > 1 else (),
    )


def _one_patch(changes: Sequence[Change]) -> Change:
    """Return the changes of one pod spec in sequence; additions to one new list are merged."""
    patch: list[Json] = []
    for operation in (each for change in changes for each in change.patch):
        same = next((each for each in patch if each["path"] == operation["path"]), None)
        if same is None:
            patch.append(dict(operation))
        else:
            same["value"] = [*same["value"], *operation["value"]]

    def of_pod(pod: Pod) -> Pod:
        for each in changes:
            pod = each.of_pod(pod) if each.of_pod is not None else pod
        return pod

    hardest = next((each for each in changes if each.means != "in place"), changes[0])
    title = ", and ".join(each.title for each in changes)
    return dataclass_replace(hardest, title=title, patch=tuple(patch), of_pod=of_pod)


def go_together(one: Change, other: Change) -> bool:
    """Return whether two changes can be combined: they differ, and neither invalidates the other's paths.

    Deleting a surplus pod is only combined with changes of the cluster: a change of the workload replaces the pod
    anyway.
    """
    return all(_parts_go_together(first, second) for first in one.each for second in other.each)


def _parts_go_together(one: Change, other: Change) -> bool:
    if one.of_pod is None or other.of_pod is None:
        useless = (one.deleted and other.of_pod) or (other.deleted and one.of_pod)
        return not useless and (one.object != other.object or one.kind != other.kind)
    if one.object != other.object:
        return True
    first, second = ({each["path"] for each in change.patch} for change in (one, other))
    if any(each["op"] == "remove" and each["path"][-1].isdigit() for each in (*one.patch, *other.patch)):
        return False
    lists = one.kind == other.kind == "toleration"
    return lists or not any(a == b or a.startswith(f"{b}/") or b.startswith(f"{a}/") for a in first for b in second)


def request_change(owner: Owned, short: Sequence[Shortage]) -> Change | None:
    """Return a change to the largest requests that fit on a node; ``None`` if they are below a tenth of the current."""
    containers = owner.spec.containers or []
    put: dict[tuple[int, str], str] = {}
    words = []
    for each in short:
        asked = [
            (_units(each.resource, value), at)
            for at, one in enumerate(containers)
            if one.resources is not None and (value := (one.resources.requests or {}).get(each.resource)) is not None
        ]
        largest, at = max(asked, default=(0, 0))
        left = largest - each.missing
        if left * 10 < largest or left <= 0:
            return None
        put[at, each.resource] = _amount(each.resource, left)
        milli = put[at, each.resource].endswith("m")
        before = f"{largest}m" if milli else _amount(each.resource, largest, exact=True)
        words.append(f"{each.resource} request {put[at, each.resource]} instead of {before}")
    patch = tuple(
        {
            "op": "replace",
            "path": f"{owner.path}/containers/{at}/resources/requests/{pointer(name)}",
            "value": text,
        }
        for (at, name), text in put.items()
    )

    def of_pod(pod: Pod) -> Pod:
        made = list(pod.spec.containers or ())
        for (at, name), text in put.items():
            resources = made[at].resources or ResourceRequirements()
            requests = {**(resources.requests or {}), name: text}
            made[at] = replace(made[at], resources=replace(resources, requests=requests))
        return replace(pod, spec=replace(pod.spec, containers=made))

    size = (6.2, max(each.share for each in short))
    return of_spec(owner, ("requests", " and ".join(words), size), patch, of_pod)


def _units(resource: str, value: RawQuantity) -> int:
    quantity = parse_quantity(value)
    return quantity.milli_value() if resource == "cpu" else quantity.value()


def _amount(resource: str, amount: int, *, exact: bool = False) -> str:
    """Return an amount in manifest form, rounded down to whole MiB unless ``exact``."""
    if resource == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    mebibytes, rest = divmod(amount, 1 << 20)
    return f"{mebibytes}Mi" if mebibytes and (not rest or not exact) and _in_bytes(resource) else str(amount)


def _in_bytes(resource: str) -> bool:
    return resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")


def toleration_change(owner: Owned, taints: Sequence[Taint]) -> Change:
    """Return a change that tolerates some taints; existing pods accept new tolerations without recreation."""
    added = [_toleration(each) for each in taints]
    plain = _plain(added)
    path = f"{owner.path}/tolerations"
    if owner.spec.tolerations:
        patch: tuple[Json, ...] = tuple({"op": "add", "path": f"{path}/-", "value": each} for each in plain)
    else:
        patch = ({"op": "add", "path": path, "value": plain},)

    def of_pod(pod: Pod) -> Pod:
        return replace(pod, spec=replace(pod.spec, tolerations=[*(pod.spec.tolerations or ()), *added]))

    words = ", ".join(shown_taint(each.key, each.value, each.effect) for each in taints)
    change = of_spec(owner, ("toleration", f"tolerate {words}", (5.0, len(taints))), patch, of_pod)
    return dataclass_replace(change, means="in place") if owner.is_pod else change


def _toleration(taint: Taint) -> Toleration:
    if taint.value:
        return Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)
    return Toleration(key=taint.key, operator="Exists", effect=taint.effect)


def pointer(name: str) -> str:
    """Return a member's name escaped for a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _plain(items: Sequence[object]) -> list[Json]:
    data: list[Json] = msgspec.to_builtins(list(items))
    return data
