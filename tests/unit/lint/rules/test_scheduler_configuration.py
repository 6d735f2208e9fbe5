"""Default constraints and plugins that get in each other's way, in versions that have them."""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import findings, messages

ZONES = "{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}"
SOFT_ZONES = ZONES.replace("DoNotSchedule", "ScheduleAnyway")
BUILT_IN = (
    "{maxSkew: 5, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}",
    "{maxSkew: 3, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}",
)


def configuration(*constraints: str, plugins: str = "", version: str = "v1") -> str:
    head = f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    listed = "".join(f"      - {each}\n" for each in constraints)
    args = f"      defaultingType: List\n      defaultConstraints:\n{listed}" if constraints else ""
    config = f"  pluginConfig:\n  - name: PodTopologySpread\n    args:\n{args}" if args else ""
    return f"{head}- schedulerName: default-scheduler\n{plugins}{config}"


def off(point: str) -> str:
    return f"  plugins:\n    {point}:\n      disabled:\n      - name: PodTopologySpread\n"


SELECTOR_SPREAD = "  plugins:\n    score:\n      enabled:\n      - {name: SelectorSpread, weight: 1}\n"


@pytest.mark.parametrize(
    ("manifest", "kube_version", "found"),
    [
        (configuration(plugins=SELECTOR_SPREAD, version="v1beta2"), "1.23", True),
        (configuration(SOFT_ZONES, plugins=SELECTOR_SPREAD, version="v1beta2"), "1.23", True),
        (configuration(version="v1beta2"), "1.23", False),
        (configuration(version="v1beta1"), "1.19", False),
        (configuration(ZONES), "1.37", False),
    ],
)
def test_two_plugins_that_spread_the_same_pods(manifest: str, kube_version: str, found: bool) -> None:
    assert bool(messages(manifest, "two-plugins-spread", kube_version=kube_version)) == found


@pytest.mark.parametrize(
    ("constraints", "found"),
    [
        (BUILT_IN, True),
        (BUILT_IN[::-1], True),
        (BUILT_IN[:1], False),
        ((BUILT_IN[0].replace("5", "4"), BUILT_IN[1]), False),
    ],
)
def test_a_list_of_the_built_in_constraints_is_a_hint(constraints: tuple[str, ...], found: bool) -> None:
    said = findings(configuration(*constraints), "defaults-repeat-built-in")
    assert [each.severity for each in said] == ["hint"] * found


@pytest.mark.parametrize(
    ("constraint", "plugins", "found"),
    [
        (ZONES, off("multiPoint"), True),
        (ZONES, off("filter"), True),
        (ZONES, off("score"), False),
        (SOFT_ZONES, off("score"), True),
        (SOFT_ZONES, off("filter"), False),
        (ZONES, "", False),
    ],
)
def test_constraints_whose_plugin_is_off_never_apply(constraint: str, plugins: str, found: bool) -> None:
    assert bool(messages(configuration(constraint, plugins=plugins), "defaults-without-plugin")) == found


def test_a_default_key_that_no_node_has_is_found_at_the_constraint() -> None:
    manifest = configuration(SOFT_ZONES, ZONES.replace("topology.kubernetes.io/zone", "rack"))
    (found,) = findings(manifest, "default-key-on-no-node", cluster="zones=3,nodes=6")
    assert found.place.line == 11
    assert found.message == "none of 6 nodes has rack: every pod that it applies to stays pending"
    assert messages(manifest, "default-key-on-no-node") == []
