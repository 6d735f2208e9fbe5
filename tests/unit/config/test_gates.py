"""Feature gates: defaults by version, overrides, and the words of refusals."""

from __future__ import annotations

import pytest

from topospread.config.gates import gates_for, parse_gates
from topospread.errors import ConfigError


@pytest.mark.parametrize(
    ("gate", "version", "on"),
    [
        ("EvenPodsSpread", "1.18", True),
        ("EvenPodsSpread", "1.37", True),
        ("DefaultPodTopologySpread", "1.18", False),
        ("DefaultPodTopologySpread", "1.19", False),
        ("DefaultPodTopologySpread", "1.20", True),
        ("DefaultPodTopologySpread", "1.37", True),
        ("MinDomainsInPodTopologySpread", "1.23", False),
        ("MinDomainsInPodTopologySpread", "1.26", False),
        ("MinDomainsInPodTopologySpread", "1.27", True),
        ("MinDomainsInPodTopologySpread", "1.32", True),
        ("NodeInclusionPolicyInPodTopologySpread", "1.25", False),
        ("NodeInclusionPolicyInPodTopologySpread", "1.26", True),
        ("MatchLabelKeysInPodTopologySpread", "1.26", False),
        ("MatchLabelKeysInPodTopologySpread", "1.27", True),
        ("MatchLabelKeysInPodTopologySpreadSelectorMerge", "1.33", False),
        ("MatchLabelKeysInPodTopologySpreadSelectorMerge", "1.34", True),
        ("MatchLabelKeysInPodAffinity", "1.30", False),
        ("MatchLabelKeysInPodAffinity", "1.31", True),
        ("TaintTolerationComparisonOperators", "1.37", False),
        ("SidecarContainers", "1.28", False),
        ("SidecarContainers", "1.29", True),
        ("SidecarContainers", "1.37", True),
        ("PodLevelResources", "1.33", False),
        ("PodLevelResources", "1.34", True),
        ("ResourceLimitsPriorityFunction", "1.37", False),
        ("VolumeCapacityPriority", "1.37", False),
    ],
)
def test_default_by_version(gate: str, version: str, on: bool) -> None:
    assert gates_for(version).enabled(gate) is on


def test_override_takes_effect() -> None:
    gates = gates_for("1.27", {"MinDomainsInPodTopologySpread": False})
    assert not gates.enabled("MinDomainsInPodTopologySpread")
    assert gates.overridden == {"MinDomainsInPodTopologySpread"}
    assert gates.enabled("MatchLabelKeysInPodTopologySpread")


def test_locked_gate_may_be_set_to_what_it_is() -> None:
    assert gates_for("1.33", {"NodeInclusionPolicyInPodTopologySpread": True})


@pytest.mark.parametrize(
    ("version", "overrides", "message"),
    [
        ("1.37", {"NoSuchGate": True}, "unrecognized feature gate: NoSuchGate"),
        (
            "1.31",
            {"ServerSideApply": False},
            "cannot set feature gate ServerSideApply to false, feature is locked to true",
        ),
        (
            "1.24",
            {"MatchLabelKeysInPodTopologySpread": True},
            "unrecognized feature gate: MatchLabelKeysInPodTopologySpread",
        ),
        ("1.32", {"MinDomainsInPodTopologySpread": True}, "unrecognized feature gate: MinDomainsInPodTopologySpread"),
        (
            "1.30",
            {"MinDomainsInPodTopologySpread": False},
            "cannot set feature gate MinDomainsInPodTopologySpread to false, feature is locked to true",
        ),
        (
            "1.37",
            {"NodeInclusionPolicyInPodTopologySpread": False, "Nope": True},
            "cannot set feature gate NodeInclusionPolicyInPodTopologySpread to false, feature is locked to true; "
            "unrecognized feature gate: Nope",
        ),
        (
            "1.35",
            {"MatchLabelKeysInPodTopologySpread": False},
            "MatchLabelKeysInPodTopologySpreadSelectorMerge is enabled, but depends on features that are disabled: "
            "[MatchLabelKeysInPodTopologySpread]",
        ),
    ],
)
def test_refused_in_the_words_of_component_base(version: str, overrides: dict[str, bool], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        gates_for(version, overrides)
    assert caught.value.message == message


def test_dependencies_are_not_looked_at_before_1_35() -> None:
    assert gates_for("1.34", {"MatchLabelKeysInPodTopologySpread": False}).enabled(
        "MatchLabelKeysInPodTopologySpreadSelectorMerge"
    )


def test_gates_of_other_features_are_accepted_and_change_nothing() -> None:
    assert gates_for("1.27", {"GracefulNodeShutdown": True}).values == gates_for("1.27").values


@pytest.mark.parametrize(("version", "known"), [("1.18", True), ("1.19", True), ("1.20", False)])
def test_gates_of_other_features_are_forgotten_in_time(version: str, known: bool) -> None:
    if known:
        assert gates_for(version, {"TaintBasedEvictions": True})
    else:
        with pytest.raises(ConfigError, match="unrecognized feature gate: TaintBasedEvictions"):
            gates_for(version, {"TaintBasedEvictions": True})


def test_all_alpha_spares_what_is_set_by_name() -> None:
    gates = gates_for("1.25", {"AllAlpha": True, "MatchLabelKeysInPodTopologySpread": False})
    assert gates.enabled("NodeInclusionPolicyInPodTopologySpread")
    assert not gates.enabled("MatchLabelKeysInPodTopologySpread")
    assert not gates.enabled("MinDomainsInPodTopologySpread")


def test_all_beta_off() -> None:
    gates = gates_for("1.27", {"AllBeta": False})
    assert not gates.enabled("MinDomainsInPodTopologySpread")


def test_gate_that_is_not_in_the_table() -> None:
    with pytest.raises(KeyError):
        gates_for("1.37").enabled("MinDomains")


@pytest.mark.parametrize(
    ("text", "gates"),
    [
        ("", {}),
        ("A=true", {"A": True}),
        ("A=true,B=false", {"A": True, "B": False}),
        (" A = T ,, B=0,", {"A": True, "B": False}),
        ("A=true,A=false", {"A": False}),
    ],
)
def test_parses(text: str, gates: dict[str, bool]) -> None:
    assert parse_gates(text) == gates


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A", "missing bool value for A"),
        ("A=yes", 'invalid value of A=yes, err: strconv.ParseBool: parsing "yes": invalid syntax'),
        ("A=", 'invalid value of A=, err: strconv.ParseBool: parsing "": invalid syntax'),
        ("A=tRUE", 'invalid value of A=tRUE, err: strconv.ParseBool: parsing "tRUE": invalid syntax'),
    ],
)
def test_refuses_to_parse(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_gates(text)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("version", "overrides", "message"),
    [
        (
            "1.37",
            {"PodLevelResources": False, "PodLevelResourcesFixDefaulting": False},
            "PodLevelResourcesFixKubeletQOSClass is enabled, but depends on features that are disabled: "
            "[PodLevelResources]",
        ),
        (
            "1.37",
            {"WorkloadWithJob": True},
            "WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]",
        ),
    ],
)
def test_gates_that_scheduling_does_not_touch_need_others_too(
    version: str, overrides: dict[str, bool], message: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        gates_for(version, overrides)
    assert message in str(refused.value)


def test_everything_that_needs_a_gate_may_be_off_with_it() -> None:
    off = {
        "PodLevelResources": False,
        "PodLevelResourcesFixDefaulting": False,
        "PodLevelResourcesFixKubeletQOSClass": False,
        "InPlacePodLevelResourcesVerticalScaling": False,
    }
    assert not gates_for("1.37", off).enabled("PodLevelResources")
