"""Soft fallback: a pod's hard spread constraints become soft while they count a lost domain.

A domain is lost if it has nodes and all of them are tainted as not ready or unreachable. kube-scheduler has no such
fallback (kubernetes/kubernetes 105977).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

from msgspec.structs import replace

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.spread import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY
from topospread.config.durations import parse_duration
from topospread.errors import UsageError
from topospread.plugins.spread_arithmetic import ConstraintArithmetic

from .node_lifecycle import is_silent

ANNOTATION = "topospread.dev/fallback"
PodKind = TypeVar("PodKind", bound=Pod)
Domain = tuple[str, str]
"""Topology key and value."""


def fallback_seconds(value: str) -> float:
    """Return the seconds that a domain must have been lost before constraints become soft, from the annotation.

    Raises:
        UsageError: if the annotation is not ``after=DURATION``.
    """
    name, _, duration = value.partition("=")
    nanoseconds = parse_duration(duration) if name == "after" else None
    if nanoseconds is None or nanoseconds < 0:
        raise UsageError(f"{ANNOTATION}: {value}: write after=DURATION, for example after=5m")
    return nanoseconds / 1e9


def lost_domains(nodes: Iterable[Node], keys: Collection[str]) -> set[Domain]:
    """Return the domains of these topology keys that are lost."""
    lost: set[Domain] = set()
    live: set[Domain] = set()
    for each in nodes:
        (lost if is_silent(each) else live).update((key, each.labels[key]) for key in keys if key in each.labels)
    return lost - live


def counted_lost(arithmetic: Iterable[ConstraintArithmetic], lost: Iterable[Domain]) -> list[Domain]:
    """Return the lost domains that hard constraints of the pod's spec count; default constraints do not matter."""
    own = (each for each in arithmetic if each.hard and each.origin == "pod")
    counted = {each.topology_key: {one.name for one in each.domains} for each in own}
    return [(key, value) for key, value in lost if value in counted.get(key, ())]


def hard_keys(pod: Pod) -> list[str]:
    """Return the topology keys of the pod's own hard constraints."""
    own = pod.spec.topology_spread_constraints or ()
    return [each.topology_key or "" for each in own if each.when_unsatisfiable == DO_NOT_SCHEDULE]


def softened(pod: PodKind, keys: Collection[str]) -> PodKind:
    """Return the pod with its hard constraints over these keys made soft.

    A hard constraint is dropped if the pod has a soft constraint with the same key, because the API server allows
    only one soft constraint for each key.
    """
    own = pod.spec.topology_spread_constraints or []
    soft = {each.topology_key for each in own if each.when_unsatisfiable == SCHEDULE_ANYWAY}
    changed = []
    for each in own:
        if each.when_unsatisfiable != DO_NOT_SCHEDULE or each.topology_key not in keys:
            changed.append(each)
        elif each.topology_key not in soft:
            changed.append(replace(each, when_unsatisfiable=SCHEDULE_ANYWAY, min_domains=None))
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=changed))
