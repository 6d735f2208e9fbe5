"""Tolerations that are added to new pods and to pods of DaemonSets, and merged ones of a RuntimeClass."""

from __future__ import annotations

import pytest

from topospread.admission.tolerations import daemon_tolerations, merged_tolerations, with_default_toleration_seconds
from topospread.api.node_selection import Toleration
from topospread.api.pod import PodSpec

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"


def t(
    key: str = "", effect: str = "", operator: str = "Exists", value: str = "", seconds: int | None = None
) -> Toleration:
    return Toleration(key=key, operator=operator, value=value, effect=effect, toleration_seconds=seconds)


def added(*given: Toleration) -> list[tuple[str | None, int | None]]:
    spec = with_default_toleration_seconds(PodSpec(tolerations=list(given)))
    return [(each.key, each.toleration_seconds) for each in (spec.tolerations or [])[len(given) :]]


@pytest.mark.parametrize(
    ("given", "keys"),
    [
        ([], [NOT_READY, UNREACHABLE]),
        ([t(NOT_READY, "NoExecute", seconds=5)], [UNREACHABLE]),
        ([t(UNREACHABLE)], [NOT_READY]),
        ([t(NOT_READY, "NoSchedule")], [NOT_READY, UNREACHABLE]),
        ([t("other", "NoExecute")], [NOT_READY, UNREACHABLE]),
        ([t()], []),
        ([t("", "NoExecute")], []),
        ([t("", "NoSchedule")], [NOT_READY, UNREACHABLE]),
    ],
)  # fmt: skip
def test_five_minutes_where_the_pod_says_nothing(given: list[Toleration], keys: list[str]) -> None:
    assert added(*given) == [(key, 300) for key in keys]


def test_a_spec_that_needs_nothing_stays_the_same_object() -> None:
    spec = PodSpec(tolerations=[t()])
    assert with_default_toleration_seconds(spec) is spec
    made = with_default_toleration_seconds(PodSpec())
    assert [(each.operator, each.effect) for each in made.tolerations or ()] == [("Exists", "NoExecute")] * 2


def test_daemon_pods_stay_on_bad_nodes() -> None:
    found = [
        ((each.key or "").removeprefix("node.kubernetes.io/"), each.effect) for each in daemon_tolerations(PodSpec())
    ]
    pressures = [(f"{each}-pressure", "NoSchedule") for each in ("disk", "memory", "pid")]
    expected = [("not-ready", "NoExecute"), ("unreachable", "NoExecute"), *pressures, ("unschedulable", "NoSchedule")]
    assert found == expected
    hosted = daemon_tolerations(PodSpec(host_network=True))
    assert [each.key for each in hosted[len(found) :]] == ["node.kubernetes.io/network-unavailable"]
    assert {each.operator for each in hosted} == {"Exists"}


def test_a_daemon_pods_own_toleration_is_replaced_in_its_place() -> None:
    own = [t(NOT_READY, "NoExecute", seconds=9), t("mine"), t(UNREACHABLE, "NoExecute")]
    found = daemon_tolerations(PodSpec(tolerations=own))
    assert [(each.key, each.toleration_seconds) for each in found[:3]] == [
        (NOT_READY, None),
        ("mine", None),
        (UNREACHABLE, None),
    ]
    assert found[2] is own[2]
    assert len(found) == 7


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ([t("a")], [t("b")], [t("a"), t("b")]),
        ([t("a")], [t("a")], [t("a")]),
        ([t("a", "NoSchedule")], [t("a")], [t("a")]),
        ([t("a")], [t("a", "NoSchedule")], [t("a")]),
        ([t("a", "NoSchedule")], [t("a", "NoExecute")], [t("a", "NoSchedule"), t("a", "NoExecute")]),
        ([t("a", "NoSchedule")], [t()], [t()]),
        ([t("a", operator="Equal", value="1")], [t("a")], [t("a")]),
        ([t("a", operator="Equal", value="1")], [t("a", operator="Equal", value="2")], None),
        ([t("a", operator="Equal", value="1")], [t("a", operator="", value="1")], [t("a", operator="", value="1")]),
        ([t("a", operator="", value="1")], [t("a", operator="", value="1", effect="NoSchedule")], None),
        ([t("a")], [t("a", operator="Equal")], [t("a")]),
        ([t("", operator="Equal")], [t("a", operator="Equal")], None),
        ([t("a", "NoExecute", seconds=5)], [t("a", "NoExecute", seconds=9)], [t("a", "NoExecute", seconds=9)]),
        ([t("a", "NoExecute", seconds=9)], [t("a", "NoExecute", seconds=5)], [t("a", "NoExecute", seconds=9)]),
        ([t("a", "NoExecute", seconds=9)], [t("a", "NoExecute")], [t("a", "NoExecute")]),
        ([t("a", operator="Odd")], [t("a", "NoSchedule", operator="Odd")], None),
    ],
)  # fmt: skip
def test_what_another_one_covers_is_left_out(
    first: list[Toleration], second: list[Toleration], merged: list[Toleration] | None
) -> None:
    assert merged_tolerations(first, second) == ([*first, *second] if merged is None else merged)
