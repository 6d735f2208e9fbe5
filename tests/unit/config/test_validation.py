"""Refusals that the stored verdicts of 1.37 cannot show: those of earlier versions, and of gates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.config.builders import configuration
from topospread.config.gates import gates_for
from topospread.config.load import problems


def messages(data: dict[str, Any], kube_version: str = "1.37", **gates: bool) -> list[str]:
    """What validation says."""
    return [error.message for error in problems(data, kube_version=kube_version, gates=gates_for(kube_version, gates))]


@pytest.mark.parametrize(
    ("data", "kube_version", "found"),
    [
        (configuration("v1beta3", leaderElection={"resourceLock": "endpointsleases"}), "1.25", []),
        (
            configuration("v1beta3", leaderElection={"resourceLock": "endpointsleases"}),
            "1.26",
            ['leaderElection.resourceLock: Invalid value: "endpointsleases": resourceLock value must be "leases"'],
        ),
        (configuration("v1beta1"), "1.19", []),
    ],
)
def test_by_version(data: dict[str, Any], kube_version: str, found: list[str]) -> None:
    assert messages(data, kube_version) == found


def test_problems_have_type_and_field() -> None:
    (error,) = problems(configuration(parallelism=-1))
    assert (error.type, error.field) == ("FieldValueInvalid", "parallelism")


@pytest.mark.parametrize(("kube_version", "refused"), [("1.25", False), ("1.26", True), ("1.37", True)])
def test_lease_as_long_as_its_renewal(kube_version: str, refused: bool) -> None:
    election = {"leaderElect": True, "leaseDuration": "15s", "renewDeadline": "15s"}
    assert bool(messages(configuration("v1", leaderElection=election), kube_version)) is refused


@pytest.mark.parametrize(("api_version", "refused"), [("v1beta2", False), ("v1beta3", True)])
def test_queue_sort_differs_by_what_is_disabled_only_where_that_is_remembered(api_version: str, refused: bool) -> None:
    profiles = [
        {"schedulerName": "one", "plugins": {"queueSort": {"disabled": [{"name": "EBSLimits"}]}}},
        {"schedulerName": "two"},
    ]
    assert bool(messages(configuration(api_version, profiles=profiles), "1.25")) is refused
