"""The capacity that a share of a device consumes, and whether it is left."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.device_claims import CapacityRequirements
from topospread.api.devices import Device
from topospread.plugins.dynamic_resources.capacity import CapacityError, consumed_capacity, is_left

GIB = 2**30 * 10**9


def device(**policy: Any) -> Device:
    capacity = {"value": "40Gi", **({"requestPolicy": policy} if policy else {})}
    return msgspec.convert({"name": "gpu", "capacity": {"memory": capacity}}, Device)


def consumed(made: Device, request: str | None = None, *, fractional: bool = False) -> str:
    wanted = None if request is None else CapacityRequirements(requests={"memory": request})
    found = consumed_capacity(made, wanted, fractional=fractional)
    assert found is not None
    return str(found["memory"])


def test_without_a_request_or_policy_a_share_consumes_everything() -> None:
    assert consumed(device()) == "40Gi"


def test_without_a_request_a_share_consumes_the_default() -> None:
    assert consumed(device(default="2Gi")) == "2Gi"


def test_without_a_policy_a_share_consumes_its_request() -> None:
    assert consumed(device(), "3Gi") == "3Gi"


def test_a_device_without_the_requested_capacity_takes_no_share() -> None:
    wanted = CapacityRequirements(requests={"cores": "1"})
    assert consumed_capacity(device(), wanted, fractional=False) is None


@pytest.mark.parametrize(("request_", "amount"), [("1Gi", "2Gi"), ("2Gi", "2Gi"), ("3Gi", "4Gi"), ("9Gi", "9Gi")])
def test_a_request_becomes_the_next_valid_value_or_stays(request_: str, amount: str) -> None:
    assert consumed(device(validValues=["2Gi", "4Gi"]), request_) == amount


@pytest.mark.parametrize(("request_", "amount"), [("1Gi", "2Gi"), ("2Gi", "2Gi"), ("3Gi", "5Gi"), ("5Gi", "5Gi")])
def test_a_request_is_rounded_up_to_a_step_above_the_minimum(request_: str, amount: str) -> None:
    assert consumed(device(validRange={"min": "2Gi", "step": "3Gi"}), request_) == amount


def test_a_range_without_a_step_only_has_a_minimum() -> None:
    made = device(validRange={"min": "2Gi"})
    assert (consumed(made, "1Gi"), consumed(made, "2500Mi")) == ("2Gi", "2500Mi")


def test_fractions_of_a_unit_count_only_with_the_gate() -> None:
    made = device(validRange={"min": "500m", "step": "250m"})
    assert consumed(made, "600m", fractional=True) == "750m"
    assert consumed(made, "600m") == "1"


def test_a_request_below_a_thousandth_cannot_be_rounded() -> None:
    with pytest.raises(CapacityError, match="not a representable milli value"):
        consumed(device(validRange={"min": "500m", "step": "250m"}), "600100u", fractional=True)


def test_a_negative_request_is_an_error() -> None:
    with pytest.raises(CapacityError, match="capacity value is negative"):
        consumed(device(), "-1")


@pytest.mark.parametrize(
    ("used", "here", "left"), [(0, 0, True), (37, 0, True), (30, 7, True), (38, 0, False), (30, 8, False)]
)
def test_what_claims_and_the_pod_consume_is_gone(used: int, here: int, left: bool) -> None:
    made = device()
    share = consumed_capacity(made, CapacityRequirements(requests={"memory": "3Gi"}), fractional=False)
    assert share is not None
    assert is_left(made, share, {"memory": used * GIB}, {"memory": here * GIB}, False) is left


@pytest.mark.parametrize(
    ("policy", "request_", "left"),
    [
        ({"validRange": {"min": "1Gi", "max": "4Gi"}}, "4Gi", True),
        ({"validRange": {"min": "1Gi", "max": "4Gi"}}, "5Gi", False),
        ({"validValues": ["2Gi"]}, "2Gi", True),
        ({"validValues": ["2Gi"]}, "3Gi", False),
        ({"validValues": ["2Gi"], "default": "3Gi"}, "3Gi", True),
    ],
)
def test_an_amount_outside_of_the_policy_is_not_left_but_the_default_is(
    policy: dict[str, Any], request_: str, left: bool
) -> None:
    made = device(**policy)
    share = consumed_capacity(made, CapacityRequirements(requests={"memory": request_}), fractional=False)
    assert share is not None
    assert is_left(made, share, {}, {}, False) is left
