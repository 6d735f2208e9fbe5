"""Constraints of a claim: devices that share an attribute, or differ in it, chosen and taken back one by one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.device_claims import DeviceConstraint
from topospread.api.devices import Device, ResourceSlice
from topospread.plugins.dynamic_resources.constraints import AttributeConstraint, attribute_of
from topospread.plugins.dynamic_resources.pools import PoolDevice

Json = dict[str, Any]


def device(name: str = "x", **attributes: Json) -> PoolDevice:
    named = {key.replace("__", "/").replace("_", "."): value for key, value in attributes.items()}
    given = msgspec.convert({"name": name, "attributes": named}, Device)
    return PoolDevice(("gpu.com", "p", name), given, ResourceSlice(), (), {}, {})


def constraint(kind: str = "matchAttribute", lists: bool = False, **more: Any) -> AttributeConstraint:
    return AttributeConstraint(msgspec.convert({kind: "gpu.com/a"} | more, DeviceConstraint), lists=lists)


def added(one: AttributeConstraint, *values: Json) -> list[bool]:
    return [one.add(device(a=each), attribute_of) for each in values]


@pytest.mark.parametrize(
    ("requests", "request_", "parent", "concerned"),
    [
        ([], "r", "", True),
        (["r"], "r", "", True),
        (["r"], "s", "", False),
        (["r"], "sub", "r", True),
        (["r/sub"], "sub", "r", True),
        (["r/other"], "sub", "r", False),
        (["sub"], "sub", "r", False),
    ],
)
def test_which_requests_it_concerns(requests: list[str], request_: str, parent: str, concerned: bool) -> None:
    assert constraint(requests=requests).concerns(request_, parent) == concerned


def test_an_attribute_is_found_by_its_full_name_or_as_the_drivers_own() -> None:
    one = device(a={"int": 1}, other_com__a={"int": 2})
    own, other = attribute_of(one, "gpu.com/a"), attribute_of(one, "other.com/a")
    assert own is not None
    assert other is not None
    assert (own.int_value, other.int_value, attribute_of(one, "else.com/a")) == (1, 2, None)


def test_devices_share_a_value_of_one_type() -> None:
    one = constraint()
    assert added(one, {"int": 1}, {"int": 1}, {"int": 2}, {"string": "1"}, {"bool": True}) == [
        True,
        True,
        False,
        False,
        False,
    ]
    one.remove()
    one.remove()
    assert added(one, {"version": "1.0.0"}, {"version": "1.0.0"}) == [True, True]
    assert not one.add(device(), attribute_of)
    assert not one.add(device(a={}), attribute_of)


def test_devices_differ_in_a_value() -> None:
    one = constraint("distinctAttribute")
    assert added(one, {"string": "a"}, {"string": "a"}, {"string": "b"}, {"int": 1}) == [True, False, True, True]
    one.remove()
    one.remove()
    assert added(one, {"string": "b"}) == [True]


def test_of_lists_only_what_all_have_in_common_is_left() -> None:
    one = constraint(lists=True)
    assert added(one, {"strings": ["a", "b"]}, {"strings": ["b", "c"]}, {"strings": ["a"]}, {"string": "b"}) == [
        True,
        True,
        False,
        True,
    ]
    for _ in range(2):
        one.remove()
    assert added(one, {"strings": ["a"]}) == [True]
    assert added(constraint(lists=False), {"strings": ["a"]}) == [False]
    assert added(constraint("distinctAttribute", lists=True), {"ints": [1, 2]}, {"ints": [2, 3]}, {"ints": [3]}) == [
        True,
        False,
        True,
    ]
