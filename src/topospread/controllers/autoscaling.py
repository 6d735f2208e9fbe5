"""HorizontalPodAutoscalers: they keep the replicas of workloads and custom resources within their bounds.

Metrics are unknown, so an autoscaler only brings replicas within its bounds. It ignores a workload with 0 replicas.
Source: pkg/controller/podautoscaler/horizontal.go (``reconcileAutoscaler``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal

import msgspec
from msgspec.structs import replace

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.api.workload import CrossVersionObjectReference, HorizontalPodAutoscaler
from topospread.text import listed
from topospread.whole_number import whole_number

AutoscaleChoice = Literal["keep", "min", "max"]
"""Replicas of autoscaled workloads: ``keep`` brings them within the bounds; ``min`` and ``max`` set them to a
bound.
"""

_SHOWN = 3
_GROUPS = {"Deployment": "apps", "ReplicaSet": "apps", "StatefulSet": "apps", "ReplicationController": ""}
"""Kind that topospread can scale → its API group."""


def target_of(item: HorizontalPodAutoscaler) -> ObjectKey | None:
    """Return the key of the object that an autoscaler scales; None if topospread does not scale its kind."""
    reference = item.spec.scale_target_ref
    if reference.kind not in _GROUPS or group_of(reference) != _GROUPS[reference.kind]:
        return None
    return reference.kind, item.namespace or "default", reference.name


def group_of(reference: CrossVersionObjectReference) -> str:
    """Return the API group of a reference; "" for the core group."""
    group, slash, _ = reference.api_version.rpartition("/")
    return group if slash else ""


class Autoscaling(msgspec.Struct, frozen=True):
    """The effect of an autoscaler on a workload's replicas.

    Attributes:
        name: name of the HorizontalPodAutoscaler.
        least: minReplicas.
        most: maxReplicas.
        given: replicas in the workload's manifest, 1 by default.
        replicas: simulated replicas.
        asked: whether ``--scale`` sets ``replicas``, instead of the autoscaler.
    """

    name: str
    least: int
    most: int
    given: int
    replicas: int
    asked: bool = False

    @property
    def note(self) -> str:
        """Return a note for the workload; "" if its replicas do not change."""
        keeps = f"HorizontalPodAutoscaler {self.name} keeps {_range(self.least, self.most)}"
        if self.asked:
            return f"{keeps}; --scale says {self.replicas}"
        if not self.given:
            return f"{keeps}, but is disabled while replicas are 0"
        if self.replicas != self.given:
            return f"{keeps}: {self.replicas} instead of {self.given}"
        return ""


class Autoscalers:
    """HorizontalPodAutoscalers of an inventory, by scale target.

    Attributes:
        applied: controller → effect of its autoscaler, for controllers passed to `replicas` so far. For a custom
            resource, the key is the controller that stands in for it.
        warnings: warnings for the user.
    """

    def __init__(
        self,
        items: Iterable[HorizontalPodAutoscaler],
        autoscale: AutoscaleChoice,
        stand_ins: Mapping[tuple[str, str], ObjectKey] = MappingProxyType({}),
    ) -> None:
        self.applied: dict[ObjectKey, Autoscaling] = {}
        self.warnings: list[str] = []
        self._autoscale = autoscale
        self._of: dict[ObjectKey, HorizontalPodAutoscaler] = {}
        for key, item in _by_name(items, stand_ins):
            first = self._of.setdefault(key, item)
            if first is not item:
                self.warnings.append(
                    f"{key[0]} {key[1]}/{key[2]} has two HorizontalPodAutoscalers, {first.name} and {item.name}, which "
                    f"conflict: {first.name} is used"
                )

    def replicas(self, key: ObjectKey, given: int | None, asked: int | None) -> int | None:
        """Return the replicas that an autoscaler sets; None if the controller has no autoscaler.

        Args:
            given: replicas in the manifest.
            asked: value of --scale.
        """
        item = self._of.get(key)
        if item is None:
            return None
        own = 1 if given is None else given
        least, most = item.spec.least, item.spec.max_replicas
        wanted = {"keep": own, "min": least, "max": most}[self._autoscale]
        kept = min(max(wanted, least), most) if own else 0
        self.applied[key] = Autoscaling(
            item.name, least, most, own, kept if asked is None else asked, asked=asked is not None
        )
        return kept


def note_of_missing_targets(items: Iterable[HorizontalPodAutoscaler], there: Collection[ObjectKey]) -> str:
    """Return a sentence on autoscalers whose target has a supported kind but is missing; "" without any."""
    missing = [f"{key[1]}/{item.name} ({key[0]} {key[2]})" for key, item in _by_name(items, {}) if key not in there]
    if not missing:
        return ""
    what = "1 HorizontalPodAutoscaler has" if len(missing) == 1 else f"{len(missing)} HorizontalPodAutoscalers have"
    return f"{what} a scale target that does not exist: {listed(missing, _SHOWN)}"


def _by_name(
    items: Iterable[HorizontalPodAutoscaler], stand_ins: Mapping[tuple[str, str], ObjectKey]
) -> Iterator[tuple[ObjectKey, HorizontalPodAutoscaler]]:
    for item in sorted(items, key=lambda each: (each.namespace, each.name)):
        reference = item.spec.scale_target_ref
        custom = f"{group_of(reference)}/{reference.kind}/{reference.name}"
        key = target_of(item) or stand_ins.get((item.namespace or "default", custom))
        if key is not None and item.metadata.deletion_timestamp is None:
            yield key, item


def _range(least: int, most: int) -> str:
    if least == most:
        return f"{least} replica{'s' * (least != 1)}"
    return f"{least} to {most} replicas"


# HorizontalPodAutoscalers of custom resources. The input has built-in controllers or bare pods in place of a custom
# resource; `sources.custom_kinds` makes them and puts its name into an annotation.

StandIns = Mapping[tuple[str, str], ObjectKey]
"""Namespace and ``group/Kind/name`` of a custom resource → the controller that stands in for it."""


def stand_ins(inventory: Inventory) -> StandIns:
    """Return the controllers that stand in for custom resources."""
    kinds = (
        ("Deployment", inventory.deployments),
        ("ReplicaSet", inventory.replica_sets),
        ("StatefulSet", inventory.stateful_sets),
    )
    return {
        (item.namespace, made_of): (kind, item.namespace, item.name)
        for kind, items in kinds
        for item in items
        if (made_of := _made_of(item))
    }


def with_autoscaled_pods(inventory: Inventory, autoscale: AutoscaleChoice) -> tuple[Inventory, list[str]]:
    """Return an inventory with the autoscaled number of bare pods for each custom resource, and notes.

    A custom resource with a controller that stands in for it is skipped; that controller is scaled (`stand_ins`).
    """
    scalers = list(_scalers_of_custom_resources(inventory))
    pods_of = _pods_of(inventory.pods) if scalers else {}
    known = stand_ins(inventory) if scalers else {}
    notes: list[str] = []
    pods, places = list(inventory.pods), inventory.places.copy()
    for item, made_of in scalers:
        there = pods_of.pop((item.namespace or "default", made_of), None)
        _, kind, name = made_of.split("/", 2)
        what = f"{kind} {item.namespace or 'default'}/{name}"
        if there is None:
            if (item.namespace or "default", made_of) not in known:
                notes.append(f"HorizontalPodAutoscaler {item.name} is ignored: {what} has no pods in the input")
            continue
        kept = _kept(item, autoscale, len(there))
        if kept != len(there):
            least, most = item.spec.least, item.spec.max_replicas
            notes.append(
                f"HorizontalPodAutoscaler {item.name} keeps {least} to {most} pods of {what}: {kept} instead of "
                f"{len(there)}"
            )
        surplus = {id(pod) for pod in there[kept:]}
        pods = [pod for pod in pods if id(pod) not in surplus]
        for pod in _more(there[-1], kept - len(there)):
            pods.append(pod)
            places["Pod", pod.namespace, pod.name] = places["Pod", there[-1].namespace, there[-1].name]
    return (dataclasses.replace(inventory, pods=pods, places=places) if notes else inventory), notes


def _kept(item: HorizontalPodAutoscaler, autoscale: AutoscaleChoice, given: int) -> int:
    target = "Deployment", item.namespace, item.spec.scale_target_ref.name
    reference = replace(item.spec.scale_target_ref, api_version="apps/v1", kind="Deployment")
    like = replace(item, spec=replace(item.spec, scale_target_ref=reference))
    kept = Autoscalers([like], autoscale).replicas(target, given, None)
    return given if kept is None else kept


def _scalers_of_custom_resources(inventory: Inventory) -> Iterator[tuple[HorizontalPodAutoscaler, str]]:
    for item in inventory.horizontal_pod_autoscalers:
        reference = item.spec.scale_target_ref
        if target_of(item) is None and "." in group_of(reference) and item.metadata.deletion_timestamp is None:
            yield item, f"{group_of(reference)}/{reference.kind}/{reference.name}"


def _pods_of(pods: list[Pod]) -> dict[tuple[str, str], list[Pod]]:
    found: dict[tuple[str, str], list[Pod]] = {}
    for pod in pods:
        made_of = _made_of(pod)
        if made_of:
            found.setdefault((pod.namespace, made_of), []).append(pod)
    return found


def _made_of(item: KubeObject) -> str:
    """Return the custom resource behind an object (`sources.custom_kinds.MADE_OF`); "" for other objects."""
    annotations = item.metadata.annotations
    return (annotations.made_of if annotations is not None else None) or ""


def _more(last: Pod, number: int) -> Iterator[Pod]:
    """Yield more pods like a custom resource's last pod, with increasing numbers in their names."""
    stem, _, first = last.name.rpartition("-")
    for added in range(1, number + 1):
        yield replace(last, metadata=replace(last.metadata, name=f"{stem}-{(whole_number(first) or 0) + added}"))
