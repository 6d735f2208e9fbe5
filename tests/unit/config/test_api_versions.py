"""Versions of the configuration: which Kubernetes versions serve them, and what is said when they do not."""

from __future__ import annotations

import pytest

from topospread.config.api_versions import API_VERSIONS, api_version, latest_api_version
from topospread.config.versions import KubeVersion
from topospread.errors import ConfigError


@pytest.mark.parametrize(
    ("kube_version", "name"),
    [
        ("1.18", "v1alpha2"),
        ("1.19", "v1beta1"),
        ("1.21", "v1beta1"),
        ("1.22", "v1beta2"),
        ("1.23", "v1beta3"),
        ("1.24", "v1beta3"),
        ("1.25", "v1"),
        ("1.37", "v1"),
    ],
)
def test_version_without_a_file(kube_version: str, name: str) -> None:
    assert latest_api_version(KubeVersion.parse(kube_version)).name == name


@pytest.mark.parametrize(
    ("name", "kube_version", "source"),
    [
        ("v1", "1.37", "1.37"),
        ("v1", "1.27", "1.27"),
        ("v1", "1.20", "1.25"),
        ("v1beta2", "1.37", "1.27"),
        ("v1beta3", "1.37", "1.28"),
        ("v1beta1", "1.20", "1.20"),
        ("v1alpha2", "1.30", "1.18"),
    ],
)
def test_defaults_come_from_the_nearest_version_that_serves_it(name: str, kube_version: str, source: str) -> None:
    assert str(API_VERSIONS[name].source_version(KubeVersion.parse(kube_version))) == source


def test_warnings_name_the_version_that_served_it() -> None:
    beta3, stable = API_VERSIONS["v1beta3"], API_VERSIONS["v1"]
    assert beta3.warning(KubeVersion(1, 28)) == ""
    assert beta3.warning(KubeVersion(1, 29)) == (
        "kubescheduler.config.k8s.io/v1beta3 is no longer served by Kubernetes 1.29; the last version that did is "
        "1.28, and its defaults are used"
    )
    assert stable.warning(KubeVersion(1, 24)) == (
        "kubescheduler.config.k8s.io/v1 is not yet served by Kubernetes 1.24; the first version that does is 1.25, "
        "and its defaults are used"
    )


@pytest.mark.parametrize(
    "text", [None, "", 1, "v1", "apps/v1", "kubescheduler.config.k8s.io/v2", "kubescheduler.config.k8s.io/v1alpha1"]
)
def test_refuses_what_it_cannot_read(text: object) -> None:
    with pytest.raises(ConfigError) as caught:
        api_version(text)
    assert caught.value.place.field == "apiVersion"
    assert "kubescheduler.config.k8s.io/v1" in caught.value.message
