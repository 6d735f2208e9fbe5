"""The fields of the configuration come with the versions that brought them, in every version of the configuration."""

from __future__ import annotations

import pytest

from topospread.config.api_versions import API_VERSIONS
from topospread.config.kinds import configuration, plugin_args, plugin_points
from topospread.config.schema import INT32, STRING, ListOf, Object
from topospread.config.versions import KubeVersion


def at(kind: Object, path: str) -> object:
    """What a path leads to, ``None`` where there is nothing."""
    found: object = kind
    for name in path.split("."):
        found = found.item if isinstance(found, ListOf) else found
        found = found.fields.get(name) if isinstance(found, Object) else None
    return found


@pytest.mark.parametrize(
    ("api", "minor", "path", "there"),
    [
        ("v1alpha2", 18, "disablePreemption", True),
        ("v1alpha2", 18, "extenders.enableHttps", True),
        ("v1alpha2", 18, "extenders.enableHTTPS", False),
        ("v1beta1", 19, "parallelism", False),
        ("v1beta1", 20, "parallelism", True),
        ("v1beta2", 27, "healthzBindAddress", True),
        ("v1beta3", 27, "healthzBindAddress", False),
        ("v1", 25, "profiles.percentageOfNodesToScore", False),
        ("v1", 26, "profiles.percentageOfNodesToScore", True),
        ("v1", 27, "delayCacheUntilActive", False),
        ("v1", 28, "delayCacheUntilActive", True),
    ],
)
def test_a_field_is_there_from_its_version_on(api: str, minor: int, path: str, there: bool) -> None:
    assert (at(configuration(API_VERSIONS[api], KubeVersion(1, minor)), path) is not None) == there


@pytest.mark.parametrize(
    ("api", "minor", "count"), [("v1alpha2", 18, 6), ("v1beta1", 22, 12), ("v1", 33, 7), ("v1", 34, 8), ("v1", 37, 8)]
)
def test_plugins_with_arguments_of_their_own(api: str, minor: int, count: int) -> None:
    kinds = plugin_args(API_VERSIONS[api], KubeVersion(1, minor))
    assert len(kinds) == count
    assert all(kind.fields["kind"] is STRING for kind in kinds.values())


def test_spread_constraints_grow_with_the_versions() -> None:
    v1 = API_VERSIONS["v1beta2"]
    fields = {minor: plugin_args(v1, KubeVersion(1, minor))["PodTopologySpread"] for minor in (23, 24, 25)}
    assert at(fields[23], "defaultConstraints.minDomains") is None
    assert at(fields[24], "defaultConstraints.minDomains") is INT32
    assert at(fields[24], "defaultConstraints.matchLabelKeys") is None
    assert at(fields[25], "defaultConstraints.matchLabelKeys") == ListOf(STRING)


def test_extension_points_of_a_version() -> None:
    def points(api: str, minor: int) -> set[str]:
        return set(plugin_points(API_VERSIONS[api], KubeVersion(1, minor)))

    assert "unreserve" in points("v1alpha2", 18)
    assert points("v1beta3", 26) - points("v1beta3", 25) == {"preEnqueue"}
    assert points("v1", 37) - points("v1", 36) == {"podGroupPostFilter"}
