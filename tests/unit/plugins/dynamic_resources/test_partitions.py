"""Counters that devices share: drawn and given back one by one, beside what allocated devices draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from topospread.api.devices import Device, ResourceSlice
from topospread.cluster.device_use import DeviceUse
from topospread.plugins.dynamic_resources.partitions import Partitions
from topospread.plugins.dynamic_resources.pools import DevicePool, PoolDevice

Json = dict[str, Any]


def device(name: str, groups: list[str] | None = None, **counters: int) -> PoolDevice:
    consumed: Json = {"counterSet": "set", "counters": {each: {"value": str(n)} for each, n in counters.items()}}
    consumed |= {"compatibilityGroups": groups} if groups is not None else {}
    given = msgspec.convert({"name": name, "consumesCounters": [consumed]}, Device)
    drawn: Any = {("set", each): n for each, n in counters.items()}
    return PoolDevice(("d", "p", name), given, ResourceSlice(), (), drawn, {})


def partitions(
    *there: PoolDevice,
    allocated: tuple[str, ...] = (),
    others: tuple[PoolDevice, ...] = (),
    groups: bool = True,
    **sets: int,
) -> Partitions:
    use = DeviceUse()
    for name in allocated:
        use.dedicated["d", "p", name] = 1
    counters: Any = {("set", each): n for each, n in sets.items()}
    return Partitions([DevicePool(("d", "p"), [list(there)], list(others), counters)], use, groups=groups)


def test_devices_draw_until_a_counter_is_used_up_and_give_back() -> None:
    a, b, c = device("a", m=3), device("b", m=2), device("c", m=2)
    made = partitions(a, b, c, m=5)
    undo: list[Callable[[], None]] = []
    assert [made.draw(each, undo) for each in (a, b, c)] == [True, True, False]
    before = 2
    while len(undo) > before:
        undo.pop()()
    assert made.draw(c, undo)
    assert not made.draw(b, undo)


@pytest.mark.parametrize(("held", "left"), [((), True), (("x",), False), (("far",), False), (("x", "far"), False)])
def test_allocated_devices_have_drawn_wherever_they_are(held: tuple[str, ...], left: bool) -> None:
    x, far, new = device("x", m=2), device("far", m=2), device("new", m=4)
    assert partitions(x, new, allocated=held, others=(far,), m=5).draw(new, []) == left


def test_shares_and_consumed_capacity_are_allocations_too() -> None:
    x, new = device("x", m=2), device("new", m=4)
    for held in ("shares", "consumed"):
        made = partitions(x, new, m=5)
        getattr(made._use, held)["d", "p", "x"] = 1
        assert not made.draw(new, [])


def test_a_counter_that_is_overdrawn_rejects_every_device() -> None:
    x, new = device("x", m=9), device("new", n=1)
    assert not partitions(x, new, allocated=("x",), m=5, n=5).draw(new, [])
    assert partitions(x, new, m=5, n=5).draw(new, [])


@pytest.mark.parametrize(
    ("first", "second", "joins"),
    [
        (["a"], ["a"], True),
        (["a"], ["b"], False),
        (["a", "b"], ["b"], True),
        (None, None, True),
        (None, ["a"], False),
        (["a"], None, False),
    ],
)
def test_devices_of_one_counter_set_have_a_group_in_common(
    first: list[str] | None, second: list[str] | None, joins: bool
) -> None:
    one, two = device("one", first, m=1), device("two", second, m=1)
    made = partitions(one, two, m=9)
    assert made.draw(one, [])
    assert made.draw(two, []) == joins
    assert partitions(one, two, allocated=("one",), m=9).draw(two, []) == joins
    ignored = partitions(one, two, groups=False, m=9)
    assert ignored.draw(one, [])
    assert ignored.draw(two, [])


def test_groups_are_left_again_in_order() -> None:
    a, ab, b = device("a", ["a"], m=1), device("ab", ["a", "b"], m=1), device("b", ["b"], m=1)
    made, undo = partitions(a, ab, b, m=9), list[Callable[[], None]]()
    assert made.draw(ab, undo)
    mark = len(undo)
    assert made.draw(a, undo)
    assert not made.draw(b, undo)
    while len(undo) > mark:
        undo.pop()()
    assert made.draw(b, undo)
    while undo:
        undo.pop()()
    assert made.draw(a, undo)
    assert made._groups
