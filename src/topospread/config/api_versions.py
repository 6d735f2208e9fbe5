"""The versions of KubeSchedulerConfiguration and the Kubernetes versions that serve each; nothing about their fields.

Source: pkg/scheduler/apis/config/scheme/scheme.go and, for the default, apis/config/latest/latest.go of 1.18 to 1.37.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from topospread.config.versions import NEWEST, KubeVersion
from topospread.errors import ConfigError, Place

GROUP = "kubescheduler.config.k8s.io"
KIND = "KubeSchedulerConfiguration"


class ApiVersion(msgspec.Struct, frozen=True):
    """One version of the configuration.

    Attributes:
        name: ``v1beta2``.
        first: the first Kubernetes version that serves it (of those supported).
        last: the last one.
        rank: position, oldest first.
    """

    name: str
    first: KubeVersion
    last: KubeVersion
    rank: int

    @property
    def group_version(self) -> str:
        """As it stands in ``apiVersion``."""
        return f"{GROUP}/{self.name}"

    def source_version(self, kube_version: KubeVersion) -> KubeVersion:
        """The Kubernetes version whose defaults this one has under another: the nearest that serves it."""
        return min(max(kube_version, self.first), self.last)

    def warning(self, kube_version: KubeVersion) -> str:
        """What to say when a Kubernetes version does not serve it; "" when it does."""
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


def _served(rank: int, name: str, first: int, last: int) -> ApiVersion:
    return ApiVersion(name, KubeVersion(1, first), KubeVersion(1, last), rank)


API_VERSIONS: Mapping[str, ApiVersion] = {
    version.name: version
    for version in (
        _served(0, "v1alpha2", 18, 18),
        _served(1, "v1beta1", 19, 22),
        _served(2, "v1beta2", 22, 27),
        _served(3, "v1beta3", 23, 28),
        _served(4, "v1", 25, NEWEST.minor),
    )
}

_LATEST_FROM = ((18, "v1alpha2"), (19, "v1beta1"), (22, "v1beta2"), (23, "v1beta3"), (25, "v1"))


def latest_api_version(kube_version: KubeVersion) -> ApiVersion:
    """The version whose defaults a kube-scheduler without a configuration file has."""
    name = next(name for minor, name in reversed(_LATEST_FROM) if minor <= kube_version.minor)
    return API_VERSIONS[name]


def api_version(text: object, place: Place | None = None) -> ApiVersion:
    """The version that stands in ``apiVersion``.

    Raises:
        ConfigError: missing, of another group, or not one that can be read; it names those that can.
    """
    where = (place or Place()).at("apiVersion")
    if not isinstance(text, str) or not text:
        raise ConfigError(f"apiVersion is missing; write for example {GROUP}/v1", where)
    group, _, name = text.partition("/")
    if group != GROUP or name not in API_VERSIONS:
        readable = ", ".join(version.group_version for version in reversed(list(API_VERSIONS.values())))
        raise ConfigError(f'no kind "{KIND}" is known for version "{text}"; known are {readable}', where)
    return API_VERSIONS[name]
