"""HorizontalPodAutoscalers of custom resources: which built-in objects stand in for what they scale, and bare pods.

Between which bounds replicas are kept is in `autoscaling`; which objects stand in for a custom resource, and carry its
name in an annotation, in `sources.custom_kinds`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from topospread.api.autoscaling import HorizontalPodAutoscaler
from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.whole_number import whole_number

from .autoscaling import AutoscaleChoice, Autoscalers, group_of, target_of

StandIns = Mapping[tuple[str, str], ObjectKey]
"""Namespace and ``group/Kind/name`` of a custom resource → the controller that stands in for it."""


def stand_ins(inventory: Inventory) -> StandIns:
    """The controllers that stand in for custom resources."""
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
    """An inventory with as many pods of custom resources as their autoscalers keep, and sentences that say so.

    Of custom resources for which a controller stands in, that one is scaled instead (`stand_ins`).
    """
    scalers = list(_of_custom_resources(inventory))
    pods_of = _pods_of(inventory.pods) if scalers else {}
    known = stand_ins(inventory) if scalers else {}
    notes: list[str] = []
    pods, places = list(inventory.pods), dict(inventory.places)
    for item, made_of in scalers:
        there = pods_of.pop((item.namespace or "default", made_of), None)
        _, kind, name = made_of.split("/", 2)
        what = f"{kind} {item.namespace or 'default'}/{name}"
        if there is None:
            if (item.namespace or "default", made_of) not in known:
                notes.append(f"HorizontalPodAutoscaler {item.name} of {what} is not followed")
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


def _of_custom_resources(inventory: Inventory) -> Iterator[tuple[HorizontalPodAutoscaler, str]]:
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
    """The custom resource that an object stands in for (`sources.custom_kinds.MADE_OF`), "" for every other object."""
    annotations = item.metadata.annotations
    return (annotations.made_of if annotations is not None else None) or ""


def _more(last: Pod, number: int) -> Iterator[Pod]:
    """So many pods like a custom resource's last one, whose name ends in its number."""
    stem, _, first = last.name.rpartition("-")
    for added in range(1, number + 1):
        yield replace(last, metadata=replace(last.metadata, name=f"{stem}-{(whole_number(first) or 0) + added}"))
