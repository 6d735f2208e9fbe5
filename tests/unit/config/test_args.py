"""The configurations that editions of the documentation show, in our own copies: each loads and means what it says."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from topospread.config.api_versions import API_VERSIONS
from topospread.config.args import SYSTEM_CONSTRAINTS
from topospread.config.load import load_configuration
from topospread.config.profile import Profile

SOFT_ZONES = """
    pluginConfig:
      - name: PodTopologySpread
        args:
          defaultConstraints:
            - maxSkew: 1
              topologyKey: topology.kubernetes.io/zone
              whenUnsatisfiable: ScheduleAnyway
"""
LIST = "          defaultingType: List\n"
NONE = """
    pluginConfig:
      - name: PodTopologySpread
        args:
          defaultConstraints: []
          defaultingType: List
"""


def loaded(api_version: str, rest: str, kube_version: str, head: str = "  - schedulerName: default-scheduler") -> Any:
    text = f"apiVersion: kubescheduler.config.k8s.io/{api_version}\nkind: KubeSchedulerConfiguration\n\nprofiles:\n"
    return load_configuration(yaml.safe_load(text + head + rest), kube_version=kube_version)


def in_force(profile: Profile) -> list[tuple[str, int, str]]:
    constraints = profile.args.pod_topology_spread.constraints_in_force
    return [(each.topology_key, each.max_skew, each.when_unsatisfiable) for each in constraints]


@pytest.mark.parametrize("api_version", ["v1", "v1beta3", "v1beta2", "v1beta1"])
@pytest.mark.parametrize("kube_version", ["1.37", "1.27", "1.22"])
def test_default_constraints(api_version: str, kube_version: str) -> None:
    (profile,) = loaded(api_version, SOFT_ZONES + LIST, kube_version).profiles
    assert in_force(profile) == [("topology.kubernetes.io/zone", 1, "ScheduleAnyway")]


def test_default_constraints_of_the_first_version() -> None:
    """A profile without a name, and no defaultingType yet; SelectorSpread is on under its old name."""
    configuration = loaded("v1alpha2", SOFT_ZONES.lstrip("\n").replace("    p", "  - p", 1), "1.18", "")
    (profile,) = configuration.profiles
    assert profile.scheduler_name == "default-scheduler"
    assert in_force(profile) == [("topology.kubernetes.io/zone", 1, "ScheduleAnyway")]
    assert profile.weights["DefaultPodTopologySpread"] == 1
    assert configuration.warnings == ()


@pytest.mark.parametrize("api_version", ["v1", "v1beta3", "v1beta2", "v1beta1"])
def test_no_default_constraints(api_version: str) -> None:
    assert in_force(loaded(api_version, NONE, "1.37").profiles[0]) == []


@pytest.mark.parametrize("api_version", API_VERSIONS)
def test_built_in_constraints_where_nothing_is_said(api_version: str) -> None:
    constraints = loaded(api_version, "\n", "1.37").profiles[0].args.pod_topology_spread.constraints_in_force
    since = api_version not in ("v1alpha2",)
    assert constraints == (SYSTEM_CONSTRAINTS if since else ())


@pytest.mark.parametrize(
    ("api_version", "last"), [("v1alpha2", "1.18"), ("v1beta1", "1.22"), ("v1beta2", "1.27"), ("v1beta3", "1.28")]
)
def test_version_that_is_no_longer_served_is_named_with_its_last(api_version: str, last: str) -> None:
    (warning,) = loaded(api_version, "\n", "1.37").warnings
    assert warning == (
        f"kubescheduler.config.k8s.io/{api_version} is no longer served by Kubernetes 1.37; the last version that did "
        f"is {last}, and its defaults are used"
    )
