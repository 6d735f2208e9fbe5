"""Tolerations that the API server and the DaemonSet controller add to pods; `api.taints` matches them with taints.

Sources: plugin/pkg/admission/defaulttolerationseconds, pkg/util/tolerations/tolerations.go (``MergeTolerations``),
pkg/controller/daemon/util/daemonset_util.go (``AddOrUpdateDaemonPodTolerations``).
"""

from __future__ import annotations

from msgspec.structs import replace

from topospread.api.node_selection import Toleration
from topospread.api.pod import PodSpec

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
_DEFAULT_SECONDS = 300
_PRESSURES = (
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unschedulable",
)
_NETWORK_UNAVAILABLE = "node.kubernetes.io/network-unavailable"


def with_default_toleration_seconds(spec: PodSpec) -> PodSpec:
    """Return the spec with a NoExecute toleration of 300 s for each of the taints not-ready and unreachable.

    A taint that the spec already tolerates gets no further toleration.
    """
    tolerations = spec.tolerations or []
    added = [
        Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=_DEFAULT_SECONDS)
        for key in (NOT_READY, UNREACHABLE)
        if not any(
            (not each.key or each.key == key) and (not each.effect or each.effect == "NoExecute")
            for each in tolerations
        )
    ]
    return replace(spec, tolerations=[*tolerations, *added]) if added else spec


def daemon_tolerations(spec: PodSpec) -> list[Toleration]:
    """Return the tolerations of a DaemonSet's template with the tolerations that its controller adds."""
    added = [Toleration(key=key, operator="Exists", effect="NoExecute") for key in (NOT_READY, UNREACHABLE)]
    keys = (*_PRESSURES, _NETWORK_UNAVAILABLE) if spec.host_network else _PRESSURES
    added += [Toleration(key=key, operator="Exists", effect="NoSchedule") for key in keys]
    tolerations = list(spec.tolerations or ())
    for each in added:
        tolerations = _added_or_updated(tolerations, each)
    return tolerations


def _added_or_updated(tolerations: list[Toleration], added: Toleration) -> list[Toleration]:
    """Return the list with ``added`` in place of one of equal key, effect, operator and value, else at the end."""
    alike = [_parts(each) == _parts(added) for each in tolerations]
    if not any(alike):
        return [*tolerations, added]
    if any(_equal(each, added) for each in tolerations):
        return tolerations
    return [added if same else each for each, same in zip(tolerations, alike, strict=True)]


def _equal(left: Toleration, right: Toleration) -> bool:
    """Return whether two tolerations are equal; in Go, missing equals empty."""
    return _parts(left) == _parts(right) and left.toleration_seconds == right.toleration_seconds


def _parts(each: Toleration) -> tuple[str, str, str, str]:
    return each.key or "", each.effect or "", each.operator or "", each.value or ""


def merged_tolerations(first: list[Toleration], second: list[Toleration]) -> list[Toleration]:
    """Return both lists without redundant tolerations; the first of several equal tolerations stays."""
    everything = [*first, *second]
    merged: list[Toleration] = []
    for position, each in enumerate(everything):
        later = everything[position + 1 :]
        redundant = any(_covers(other, each) for other in merged) or any(
            not _equal(other, each) and _covers(other, each) for other in later
        )
        if not redundant:
            merged.append(each)
    return merged


def _covers(wide: Toleration, narrow: Toleration) -> bool:
    """Return whether ``wide`` tolerates at least what ``narrow`` does (``isSuperset``)."""
    if _equal(wide, narrow):
        return True
    if (narrow.key or "") != (wide.key or "") and (wide.key or wide.operator != "Exists"):
        return False
    if (narrow.effect or "") != (wide.effect or "") and wide.effect:
        return False
    if wide.effect == "NoExecute" and wide.toleration_seconds is not None:
        seconds = narrow.toleration_seconds
        if seconds is None or seconds > wide.toleration_seconds:
            return False
    if wide.operator in (None, "", "Equal"):
        return narrow.operator == "Equal" and (narrow.value or "") == (wide.value or "")
    return wide.operator == "Exists"
