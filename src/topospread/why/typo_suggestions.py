"""Corrections of likely mistakes in a pod's spec: labels that no node has, a wrong namespace, too strict anti-affinity.

`suggest` finds the changes that help. `meant_by` compares with the nodes and pods at the end of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec.structs import replace

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.node_selection import PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm
from topospread.api.pod import Pod, PodSpec
from topospread.api.well_known_labels import ARCH, OS

from .changes import Change, of_spec, pointer
from .owner import Owned
from .rejections_per_node import RejectionsPerNode
from .result import Json

_AFFINITY = "InterPodAffinity"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_WEIGHT = 100
_ALIKE = 0.8
_OLD_NAMES = {
    "zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "hostname": "kubernetes.io/hostname",
}
Label = tuple[str, str]


@dataclass(frozen=True)
class Meant:
    """Values of a pod that match no object, with the likely intended values.

    Attributes:
        keys: topology key that no node has → the likely intended label.
        selected: label of ``nodeSelector`` that no node has → the likely intended label; ``None`` if none is similar.
        anti_affinity: whether required anti-affinity keeps the pod from nodes.
        namespaces: position of a required affinity term that matches no pod → namespace with pods that it matches.
    """

    keys: Mapping[str, str] = field(default_factory=dict)
    selected: Mapping[Label, Label | None] = field(default_factory=dict)
    anti_affinity: bool = False
    namespaces: Mapping[int, str] = field(default_factory=dict)


def meant_by(obstacles: RejectionsPerNode) -> Meant:
    """Return the likely intended values of the pod, in the final state."""
    labels: dict[str, set[str]] = {}
    for node in obstacles.cluster.nodes.nodes:
        for key, value in node.labels.items() if node is not None else ():
            labels.setdefault(key, set()).add(value)
    spec = obstacles.pod.spec
    asked = [each.topology_key or "" for each in spec.topology_spread_constraints or ()]
    asked += [each.topology_key for each in _required(spec, "pod_affinity")]
    by_affinity = bool(obstacles.rejected_by(_AFFINITY).any())
    return Meant(
        {key: found for key in asked if key not in labels and (found := close_key(key, labels))},
        dict(_selected(spec.node_selector or {}, labels)),
        by_affinity and bool(_required(spec, "pod_anti_affinity")),
        dict(_elsewhere(obstacles)) if by_affinity else {},
    )


def close_key(key: str, known: Iterable[str]) -> str:
    """Return the known label key most similar to an unknown one; "" if none is similar."""
    keys = sorted(known)
    old = _OLD_NAMES.get(key, "")
    if old in keys:
        return old
    name = key.rpartition("/")[2]
    alike = [each for each in keys if each.rpartition("/")[2] == name]
    found = alike if len(alike) == 1 else get_close_matches(key, keys, 1, _ALIKE)
    return found[0] if found else ""


def _selected(wanted: Mapping[str, str], labels: Mapping[str, set[str]]) -> Iterator[tuple[Label, Label | None]]:
    for key, value in wanted.items():
        if key not in labels:
            found = close_key(key, [each for each, values in labels.items() if value in values])
            yield (key, value), (found, value) if found and found not in wanted else None
        elif value not in labels[key]:
            close = get_close_matches(value, sorted(labels[key]), 1, _ALIKE)
            yield (key, value), (key, close[0]) if close else None


def _elsewhere(obstacles: RejectionsPerNode) -> Iterator[tuple[int, str]]:
    """Yield (position, namespace) of required affinity terms that only match pods of another namespace."""
    for position, term in enumerate(_required(obstacles.pod.spec, "pod_affinity")):
        if term.namespaces or term.namespace_selector is not None:
            continue
        try:
            selector = Selector.from_label_selector(term.label_selector)
        except InvalidSelectorError:
            continue  # The verdict reports the invalid selector.
        found: Counter[str] = Counter()
        for _, pod_class, _ in obstacles.cluster.pods():
            if selector.matches(pod_class.labels):
                found[pod_class.namespace] += 1
        if found and obstacles.pod.namespace not in found:
            yield position, min(found, key=lambda each: (-found[each], each))


def meant_changes(owner: Owned, meant: Meant) -> Iterator[Change]:
    """Yield the corrections, except of topology keys in spread constraints (see `changes.topology_key_change`)."""
    for (key, value), label in meant.selected.items():
        # Do not remove the selector of an operating system or architecture: the image needs it.
        if (owner.spec.node_selector or {}).get(key) == value and (label or key not in (OS, ARCH)):
            yield _selector_change(owner, (key, value), label)
    terms = _required(owner.spec, "pod_affinity")
    for position, term in enumerate(terms):
        if term.topology_key in meant.keys:
            key = meant.keys[term.topology_key]
            title = f"topologyKey {key} instead of {term.topology_key} in the affinity to pods"
            changed = replace(term, topology_key=key)
            yield _term_change(owner, position, title, ("topologyKey", key), changed)
        if position in meant.namespaces:
            name = meant.namespaces[position]
            title = f"namespaces: [{name}] in the affinity to pods, where those are that it matches"
            changed = replace(term, namespaces=[name])
            yield _term_change(owner, position, title, ("namespaces", [name]), changed)
    # The anti-affinity of a StatefulSet's old pods also rejects the new pods, so its rolling update would get stuck.
    waits = owner.reference["kind"] == "StatefulSet" and owner.means == "rollout"
    if meant.anti_affinity and not waits and _required(owner.spec, "pod_anti_affinity"):
        yield _preferred(owner)


def keeps_away(spec: PodSpec) -> bool:
    """Return whether a spec has required pod anti-affinity."""
    return bool(_required(spec, "pod_anti_affinity"))


def _required(spec: PodSpec, side: str) -> Sequence[PodAffinityTerm]:
    affinity = getattr(spec.affinity, side, None)
    return affinity.required_during_scheduling_ignored_during_execution or () if affinity is not None else ()


def _selector_change(owner: Owned, asked: Label, meant: Label | None) -> Change:
    """Return the change to the intended label, or the change that removes a label."""
    key, value = asked
    path = f"{owner.path}/nodeSelector"
    patch: list[Json] = [] if meant and meant[0] == key else [{"op": "remove", "path": f"{path}/{pointer(key)}"}]
    if meant:
        patch.append({"op": "add", "path": f"{path}/{pointer(meant[0])}", "value": meant[1]})

    def of_pod(pod: Pod) -> Pod:
        kept = {name: each for name, each in (pod.spec.node_selector or {}).items() if name != key}
        return replace(pod, spec=replace(pod.spec, node_selector=kept | (dict([meant]) if meant else {})))

    title = (
        f"nodeSelector {'='.join(meant)} instead of {key}={value}" if meant else f"nodeSelector without {key}={value}"
    )
    return of_spec(owner, ("nodeSelector", title, (1.5 if meant else 3.5,)), tuple(patch), of_pod)


def _term_change(owner: Owned, position: int, title: str, put: tuple[str, Any], changed: PodAffinityTerm) -> Change:
    """Return a change that sets a field in one required pod affinity term."""
    path = f"{owner.path}/affinity/podAffinity/{_REQUIRED}/{position}"
    patch = ({"op": "add", "path": f"{path}/{put[0]}", "value": put[1]},)

    def of_pod(pod: Pod) -> Pod:
        terms = list(_required(pod.spec, "pod_affinity"))
        terms[position] = changed
        near = replace(_side(pod, "pod_affinity"), required_during_scheduling_ignored_during_execution=terms)
        return _with_affinity(pod, pod_affinity=near)

    return of_spec(owner, ("affinity", title, (1.5, float(position))), patch, of_pod)


def _preferred(owner: Owned) -> Change:
    """Return a change that makes all required anti-affinity preferred, with the highest weight."""
    path = f"{owner.path}/affinity/podAntiAffinity"
    terms = _weighted(_required(owner.spec, "pod_anti_affinity"))
    there = _side_of(owner.spec, "pod_anti_affinity").preferred_during_scheduling_ignored_during_execution or []
    patch: tuple[Json, ...] = (
        {"op": "remove", "path": f"{path}/{_REQUIRED}"},
        {"op": "add", "path": f"{path}/{_PREFERRED}", "value": msgspec.to_builtins([*there, *terms])},
    )

    def of_pod(pod: Pod) -> Pod:
        away = _side(pod, "pod_anti_affinity")
        wished = away.preferred_during_scheduling_ignored_during_execution or []
        own = _weighted(_required(pod.spec, "pod_anti_affinity"))
        changed = replace(
            away,
            required_during_scheduling_ignored_during_execution=None,
            preferred_during_scheduling_ignored_during_execution=[*wished, *own],
        )
        return _with_affinity(pod, pod_anti_affinity=changed)

    title = "anti-affinity preferred instead of required"
    return of_spec(owner, ("antiAffinity", title, (5.5,)), patch, of_pod)


def _weighted(terms: Sequence[PodAffinityTerm]) -> list[WeightedPodAffinityTerm]:
    return [WeightedPodAffinityTerm(weight=_WEIGHT, pod_affinity_term=each) for each in terms]


def _side(pod: Pod, side: str) -> PodAffinity:
    return _side_of(pod.spec, side)


def _side_of(spec: PodSpec, side: str) -> PodAffinity:
    found = getattr(spec.affinity, side, None)
    return found if isinstance(found, PodAffinity) else PodAffinity()


def _with_affinity(pod: Pod, **sides: PodAffinity) -> Pod:
    affinity = pod.spec.affinity
    assert affinity is not None, "what is changed is there"
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, **sides)))
