"""LimitRanges: which new pods are refused, in the API server's words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.admission.limit_ranges import LimitRanges
from topospread.api.pod import Pod
from topospread.api.policy import LimitRange
from topospread.api.requests import RequestRules

Json = dict[str, Any]


def limit_range(*items: Json, namespace: str = "ns") -> LimitRange:
    return msgspec.convert(
        {"metadata": {"name": "l", "namespace": namespace}, "spec": {"limits": list(items)}}, LimitRange
    )


def pod(*containers: Json, init: Json | None = None) -> Pod:
    spec: Json = {"containers": [{"name": "c", "resources": each} for each in containers]}
    spec |= {"initContainers": [{"name": "i", "resources": init}]} if init else {}
    return msgspec.convert({"metadata": {"name": "p", "namespace": "ns"}, "spec": spec}, Pod)


def refusal(item: Json, *containers: Json, init: Json | None = None) -> str:
    return LimitRanges([limit_range({"type": "Container"} | item)], RequestRules()).refusal(pod(*containers, init=init))


def cpu(requests: str = "", limits: str = "") -> Json:
    return {"requests": {"cpu": requests} if requests else {}, "limits": {"cpu": limits} if limits else {}}


RATIO_IS = "cpu max limit to request ratio per Container is 2, "
LEAST, MOST, RATIO = {"min": {"cpu": "100m"}}, {"max": {"cpu": "1"}}, {"maxLimitRequestRatio": {"cpu": "2"}}


@pytest.mark.parametrize(
    ("bounds", "given", "said"),
    [
        (LEAST, cpu("100m", "100m"), ""),
        (LEAST, cpu("100m"), ""),
        (LEAST, cpu(), "minimum cpu usage per Container is 100m.  No request is specified"),
        (LEAST, cpu("99m", "1"), "minimum cpu usage per Container is 100m, but request is 99m"),
        (LEAST, cpu("100m", "99m"), "minimum cpu usage per Container is 100m, but limit is 99m"),
        (MOST, cpu("1", "1"), ""),
        (MOST, cpu("", "1"), ""),
        (MOST, cpu("1"), "maximum cpu usage per Container is 1.  No limit is specified"),
        (MOST, cpu("1", "1001m"), "maximum cpu usage per Container is 1, but limit is 1001m"),
        (MOST, cpu("1001m", "1"), "maximum cpu usage per Container is 1, but request is 1001m"),
        (RATIO, cpu("1", "2"), ""),
        (RATIO, cpu("", "2"), RATIO_IS + "but no request is specified or request is 0"),
        (RATIO, cpu("0", "2"), RATIO_IS + "but no request is specified or request is 0"),
        (RATIO, cpu("1", "0"), RATIO_IS + "but no limit is specified or limit is 0"),
        (RATIO, cpu("1", "2500m"), RATIO_IS + "but provided ratio is 2.500000"),
    ],
)  # fmt: skip
def test_bounds_of_a_container(bounds: Json, given: Json, said: str) -> None:
    assert refusal(bounds, given) == said


def test_amounts_that_are_no_thousandths_any_more_are_compared_in_units() -> None:
    most = {"max": {"memory": "9Ei"}}
    huge = {"requests": {"memory": "1"}, "limits": {"memory": "9000000000000000001"}}
    assert refusal({"max": {"memory": "9000000000000000000"}}, huge).endswith("but limit is 9000000000000000001")
    assert refusal({"max": {"memory": "9000000000000000000001m"}}, huge) == "", "rounded up to units"
    assert refusal(most, {"limits": {"memory": "7Ei"}}) == ""


def test_init_containers_are_bound_too_and_problems_are_listed_once() -> None:
    assert "request is 1m" in refusal(LEAST, cpu("1"), init=cpu("1m"))
    assert refusal(LEAST, cpu("1m"), cpu("1m")) == "minimum cpu usage per Container is 100m, but request is 1m"
    assert refusal(LEAST, cpu("1m"), cpu("2m")) == (
        "[minimum cpu usage per Container is 100m, but request is 1m, "
        "minimum cpu usage per Container is 100m, but request is 2m]"
    )


def test_a_pods_containers_are_summed_up() -> None:
    item = {"type": "Pod"} | MOST
    assert refusal(item, cpu("1m", "500m"), cpu("1m", "500m")) == ""
    assert refusal(item, cpu("1m", "500m"), cpu("1m", "501m")) == "maximum cpu usage per Pod is 1, but limit is 1001m"
    assert refusal({"type": "Pod"} | LEAST, cpu("50m"), cpu("50m")) == ""
    assert refusal({"type": "PersistentVolumeClaim"} | MOST, cpu("5", "5")) == ""


def test_only_the_own_namespace_counts_and_the_first_range_that_refuses_speaks() -> None:
    ranges = [
        limit_range({"type": "Container", "max": {"cpu": "1m"}}, namespace="other"),
        limit_range({"type": "Container"} | MOST),
        limit_range({"type": "Container", "max": {"cpu": "2"}}),
        limit_range({"type": "Container", "max": {"cpu": "3"}}),
    ]
    made = LimitRanges(ranges, RequestRules())
    assert made.refusal(pod(cpu("1", "1"))) == ""
    assert "is 1, but limit is 5" in made.refusal(pod(cpu("1", "5")))
    assert "is 2, but limit is 5" in LimitRanges(ranges[2:], RequestRules()).refusal(pod(cpu("1", "5")))
