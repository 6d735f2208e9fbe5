"""The versions of KubeSchedulerConfiguration and the Kubernetes versions that serve each.

``api_versions.json`` lists the served versions, the preferred one first. `conformance/oracle/cmd/fieldhistory` prints
it from pkg/scheduler/apis/config/scheme/scheme.go of every minor version.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from topospread.api.shipped_table import in_force, shipped_table
from topospread.config.versions import NEWEST, OLDEST, KubeVersion
from topospread.errors import ConfigError, Place

GROUP = "kubescheduler.config.k8s.io"
KIND = "KubeSchedulerConfiguration"


class ApiVersion(msgspec.Struct, frozen=True):
    """One version of the configuration.

    Attributes:
        name: ``v1beta2``.
        first: the first supported Kubernetes version that serves it.
        last: the last supported Kubernetes version that serves it.
        rank: position among all versions, oldest first.
    """

    name: str
    first: KubeVersion
    last: KubeVersion
    rank: int

    @property
    def group_version(self) -> str:
        """The value of ``apiVersion``."""
        return f"{GROUP}/{self.name}"

    def source_version(self, kube_version: KubeVersion) -> KubeVersion:
        """Return the Kubernetes version nearest to ``kube_version`` that serves this version; its defaults apply."""
        return min(max(kube_version, self.first), self.last)

    def warning(self, kube_version: KubeVersion) -> str:
        """Return a warning if a Kubernetes version does not serve this version; "" if it does."""
        if kube_version > self.last:
            return (
                f"{self.group_version} is no longer served by Kubernetes {kube_version}; the last version that did is "
                f"{self.last}, and its defaults are used"
            )
        if kube_version < self.first:
            return (
                f"{self.group_version} is not yet served by Kubernetes {kube_version}; the first version that does is "
                f"{self.first}, and its defaults are used"
            )
        return ""


_SERVED = shipped_table(__package__, "api_versions.json", dict[int, list[str]])
"""First minor version of Kubernetes → names of the configuration versions that are served from then on."""

_NOT_READ = "v1alpha1"
"""A configuration version of 1.18 without profiles, which topospread does not read."""


def _api_versions() -> dict[str, ApiVersion]:
    served: dict[str, list[KubeVersion]] = {}
    for minor in range(OLDEST.minor, NEWEST.minor + 1):
        for name in reversed(in_force(_SERVED, minor)):
            served.setdefault(name, []).append(KubeVersion(1, minor))
    served.pop(_NOT_READ)
    return {name: ApiVersion(name, by[0], by[-1], rank) for rank, (name, by) in enumerate(served.items())}


API_VERSIONS: Mapping[str, ApiVersion] = _api_versions()


def latest_api_version(kube_version: KubeVersion) -> ApiVersion:
    """Return the version with the defaults of a kube-scheduler without a configuration file."""
    return API_VERSIONS[in_force(_SERVED, kube_version.minor)[0]]


def api_version(text: object, place: Place | None = None) -> ApiVersion:
    """Return the version in ``apiVersion``.

    Raises:
        ConfigError: if it is missing, of another group, or unsupported; the message lists the supported versions.
    """
    where = (place or Place()).at("apiVersion")
    if not isinstance(text, str) or not text:
        raise ConfigError(f"apiVersion is missing; write for example {GROUP}/v1", where)
    group, _, name = text.partition("/")
    if group != GROUP or name not in API_VERSIONS:
        readable = ", ".join(version.group_version for version in reversed(list(API_VERSIONS.values())))
        raise ConfigError(f'no kind "{KIND}" is known for version "{text}"; known are {readable}', where)
    return API_VERSIONS[name]
