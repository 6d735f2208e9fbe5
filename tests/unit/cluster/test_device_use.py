"""Devices in use: counted by device, shares beside whole devices, with the pods that use the claims."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.device_claims import ResourceClaim
from topospread.cluster.device_use import DeviceUse, nanos


def claim(*results: dict[str, Any], name: str = "c", users: tuple[str, ...] = ()) -> ResourceClaim:
    placed = [{"request": "r", "driver": "d", "pool": "p", "device": "x"} | each for each in results]
    reserved = [{"resource": "pods", "name": each, "uid": each} for each in users]
    status = {"reservedFor": reserved} | ({"allocation": {"devices": {"results": placed}}} if results else {})
    return msgspec.convert({"metadata": {"name": name, "namespace": "ns"}, "spec": {}, "status": status}, ResourceClaim)


def share(identifier: str, memory: str = "") -> dict[str, Any]:
    return {"shareID": identifier} | ({"consumedCapacity": {"memory": memory}} if memory else {})


@pytest.mark.parametrize(
    ("amount", "billionths"), [("1", 10**9), ("500m", 5 * 10**8), ("1n", 1), ("1Gi", 2**30 * 10**9), (2, 2 * 10**9)]
)
def test_amounts_are_billionths(amount: str | float, billionths: int) -> None:
    assert nanos(amount) == billionths


def test_whole_devices_and_shares_are_counted_and_given_back() -> None:
    use, device = DeviceUse(), ("d", "p", "x")
    whole, first, second = claim({}), claim(share("1", "1Gi")), claim(share("2", "2Gi"))
    for each in (whole, first, second):
        use.replaced(None, each)
    assert use.dedicated == {device: 1}
    assert use.shares == {device: 2}
    assert use.consumed == {device: {"memory": 3 * nanos("1Gi")}}
    use.replaced(first, claim(share("1", "4Gi")))
    assert use.consumed == {device: {"memory": 6 * nanos("1Gi")}}
    for each in (whole, claim(share("1", "4Gi")), second):
        use.replaced(each, None)
    assert (dict(use.dedicated), dict(use.shares), use.consumed) == ({}, {}, {})


def test_a_device_that_is_not_shared_consumes_nothing_and_a_share_may_say_nothing() -> None:
    use = DeviceUse()
    use.replaced(None, claim({"consumedCapacity": {"memory": "1"}}, share("1")))
    assert use.consumed == {}
    assert (sum(use.dedicated.values()), sum(use.shares.values())) == (1, 1)


def test_access_of_administrators_takes_no_device() -> None:
    use = DeviceUse()
    use.replaced(None, claim({"adminAccess": True}, {"device": "y"}))
    assert use.dedicated == {("d", "p", "y"): 1}
    assert use.version == 1


def test_pools_are_told_newest_first_since_a_version() -> None:
    use = DeviceUse()
    for pool in "abca":
        use.replaced(None, claim({"pool": pool}))
    assert list(use.changed_since(0)) == [("d", "a"), ("d", "c"), ("d", "b")]
    assert list(use.changed_since(2)) == [("d", "a"), ("d", "c")]
    assert list(use.changed_since(4)) == []
    assert use.version == 4


def test_pods_use_claims_until_the_last_is_gone() -> None:
    use = DeviceUse()
    one, other = claim(users=("web", "api")), claim(name="d", users=("web",))
    use.replaced(None, one)
    use.replaced(None, other)
    assert use.users == {("ns", "web"): {("ns", "c"), ("ns", "d")}, ("ns", "api"): {("ns", "c")}}
    use.replaced(one, None)
    assert use.users == {("ns", "web"): {("ns", "d")}}
    use.replaced(other, None)
    use.replaced(other, None)
    assert use.users == {}
