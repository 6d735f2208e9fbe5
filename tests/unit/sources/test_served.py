"""Which API versions of built-in kinds a Kubernetes version serves."""

from __future__ import annotations

import pytest

from topospread.sources.served import kinds_served, served
from topospread.sources.versions import VERSIONS


@pytest.mark.parametrize("minor", range(18, 38))
def test_every_version_serves_one_that_is_current_or_was(minor: int) -> None:
    there = set(kinds_served(minor))
    later = {"DeviceClass": 34, "CSIStorageCapacity": 21}
    for kind, versions in VERSIONS.items():
        assert bool(there & {f"{version}/{kind}" for version in versions}) == (minor >= later.get(kind, 0)), kind


def test_todays_version_of_a_kind_is_served_by_the_newest() -> None:
    there = kinds_served(37)
    assert all(f"{versions[0]}/{kind}" in there for kind, versions in VERSIONS.items())


def test_what_is_off_by_default_or_custom_is_not_known() -> None:
    assert served("resource.k8s.io/v1beta1", "DeviceClass") is None
    assert served("monitoring.coreos.com/v1", "Prometheus") is None
