"""The API versions of built-in kinds that a Kubernetes version serves by default.

``kinds.json`` lists the API versions. `conformance/oracle/cmd/kinds` prints it from the paths of
api/openapi-spec/swagger.json and the defaults in pkg/controlplane/instance.go, of every minor version from 1.18 to
1.37. This module adds older and disabled versions of the kinds that topospread reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Final, NamedTuple

from .shipped_table import shipped_table


class Served(NamedTuple):
    """The minor versions of Kubernetes that serve an API version by default: from ``since`` on, before ``until``."""

    since: int = 0
    until: int = 1000

    def by(self, minor: int) -> bool:
        """Return whether Kubernetes 1.``minor`` serves the API version."""
        return self.since <= minor < self.until


_OLDEST: Final = 18
_NEVER: Final = Served(0, 0)
_GONE: Final[Mapping[str, str]] = {
    "apps/v1beta2": "DaemonSet Deployment ReplicaSet StatefulSet",
    "apps/v1beta1": "Deployment StatefulSet",
    "extensions/v1beta1": "DaemonSet Deployment Job ReplicaSet",
    "batch/v2alpha1": "CronJob",
    "policy/v1alpha1": "PodDisruptionBudget",
    "scheduling.k8s.io/v1alpha1": "PriorityClass",
    "node.k8s.io/v1alpha1": "RuntimeClass",
}
"""Removed API version → its kinds; Kubernetes served it before 1.18, or only if enabled."""
_DEVICES: Final = "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice"
_POLICIES: Final = (
    "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding"
)
_OFF: Final[Mapping[str, str]] = {
    "admissionregistration.k8s.io/v1beta1": _POLICIES,
    "admissionregistration.k8s.io/v1alpha1": _POLICIES,
    "storage.k8s.io/v1alpha1": "CSIStorageCapacity VolumeAttachment",
    "resource.k8s.io/v1beta2": _DEVICES,
    "resource.k8s.io/v1beta1": _DEVICES,
    "resource.k8s.io/v1alpha3": _DEVICES,
    "scheduling.k8s.io/v1beta1": "PodGroup Workload",
    "scheduling.k8s.io/v1alpha3": "PodGroup Workload",
    "scheduling.k8s.io/v1alpha2": "PodGroup Workload",
    "scheduling.k8s.io/v1alpha1": "Workload",
}
"""API version that is served only if enabled → its kinds."""
_NAMESPACED_WHERE_ON: Final = frozenset({"PodGroup", "Workload"})
"""Namespaced kinds of which no API version is on by default."""
_VERSION: Final = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STABILITY: Final = {"alpha": 0, "beta": 1, None: 2}


@cache
def _printed() -> Mapping[str, Mapping[str, str]]:
    """Return API version → kind → text with its scope and the minor versions that serve it: ``namespaced 18-24``.

    ``30-`` means that the newest version still serves it.
    """
    return shipped_table(__package__, "kinds.json", dict[str, dict[str, str]])


def served(api_version: str, kind: str) -> Served | None:
    """Return the Kubernetes versions that serve a kind under an API version; ``None`` if the pair is not known."""
    text = _printed().get(api_version, {}).get(kind)
    if text is None:
        return _NEVER if kind in _GONE.get(api_version, "").split() else None
    first, _, last = text.split()[1].partition("-")
    since = int(first) if int(first) > _OLDEST else 0
    return Served(since, int(last) + 1) if last else Served(since)


def is_off(api_version: str, kind: str) -> bool:
    """Return whether Kubernetes serves a kind under an API version only if enabled."""
    return kind in _OFF.get(api_version, "").split()


def kinds_served(minor: int) -> list[str]:
    """Return the kinds that Kubernetes 1.``minor`` serves, in the form of Helm's APIVersions: ``batch/v1/CronJob``."""
    found = ((version, kind, served(version, kind)) for version, kinds in _printed().items() for kind in kinds)
    return [f"{version}/{kind}" for version, kind, when in found if when is not None and when.by(minor)]


def versions_of(kind: str) -> tuple[str, ...]:
    """Return all API versions of a kind, current versions first."""
    known = [version for version, kinds in _printed().items() if kind in kinds]
    older = [version for version, kinds in (*_GONE.items(), *_OFF.items()) if kind in kinds.split()]
    return (*sorted(known, key=_priority, reverse=True), *older)


@lru_cache(maxsize=512)
def similar_kind(kind: str, api_version: str) -> str | None:
    """Return the built-in kind that an unknown kind probably misspells; None if none is similar.

    The result is also None for kinds of other API groups and kinds that Kubernetes once served.
    """
    group = api_version.rpartition("/")[0]
    groups = {version.rpartition("/")[0] for version in (*_printed(), *_GONE, *_OFF)}
    known = {each for kinds in _printed().values() for each in kinds}
    if group not in groups or kind in known:
        return None
    close = get_close_matches(kind, known, 1, cutoff=0.85)
    return close[0] if close else None


@lru_cache(maxsize=512)
def is_namespaced(kind: str) -> bool:
    """Return whether objects of a built-in kind are in a namespace."""
    return kind in _NAMESPACED_WHERE_ON or any(
        kinds.get(kind, "").startswith("namespaced") for kinds in _printed().values()
    )


def _priority(api_version: str) -> tuple[int, int, int]:
    """Return a sort key: stable versions last, each by its numbers (``CompareKubeAwareVersionStrings``)."""
    found = _VERSION.fullmatch(api_version.rpartition("/")[2])
    assert found is not None, "printed ones are"
    return _STABILITY[found[2]], int(found[1]), int(found[3] or 0)
