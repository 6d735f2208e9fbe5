"""Which API versions of built-in kinds a Kubernetes version serves."""

from __future__ import annotations

import pytest

from topospread.api.served import is_namespaced, kinds_served, served, versions_of
from topospread.sources.versions import VERSIONS

NEVER = 1000
"""The minor version that serves by default what is off by default in every version."""


@pytest.mark.parametrize("minor", range(18, 38))
def test_every_version_serves_one_that_is_current_or_was(minor: int) -> None:
    there = set(kinds_served(minor))
    later = {"CSIStorageCapacity": 21, "DeviceTaintRule": 37, "PodGroup": NEVER, "Workload": NEVER}
    later |= dict.fromkeys(("DeviceClass", "ResourceSlice", "ResourceClaim", "ResourceClaimTemplate"), 34)
    later |= dict.fromkeys(("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"), 30)
    later |= dict.fromkeys(("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"), 36)
    for kind, versions in VERSIONS.items():
        assert bool(there & {f"{version}/{kind}" for version in versions}) == (minor >= later.get(kind, 0)), kind


def test_todays_version_of_a_kind_is_served_by_the_newest() -> None:
    there = kinds_served(37)
    off = {"PodGroup", "Workload"}
    assert all(f"{versions[0]}/{kind}" in there for kind, versions in VERSIONS.items() if kind not in off)


def test_what_is_off_by_default_or_custom_is_not_known() -> None:
    assert served("resource.k8s.io/v1beta1", "DeviceClass") is None
    assert served("monitoring.coreos.com/v1", "Prometheus") is None


def test_a_beta_version_that_is_on_although_it_is_new_is_served() -> None:
    """``legacyBetaEnabledByDefaultResources``: FlowSchemas were served by default under each beta version."""
    served_by = [
        minor for minor in range(18, 38) if "flowcontrol.apiserver.k8s.io/v1beta3/FlowSchema" in kinds_served(minor)
    ]
    assert served_by == list(range(26, 32))


def test_stable_versions_of_a_kind_go_before_beta_ones_and_those_before_what_is_gone() -> None:
    beta = ("autoscaling/v2beta2", "autoscaling/v2beta1")
    assert versions_of("HorizontalPodAutoscaler") == ("autoscaling/v2", "autoscaling/v1", *beta)
    assert versions_of("CronJob") == ("batch/v1", "batch/v1beta1", "batch/v2alpha1")


def test_nodes_are_in_no_namespace_and_pods_are() -> None:
    assert (is_namespaced("Node"), is_namespaced("Pod")) == (False, True)
