"""DynamicResources at Filter: claims whose devices report that they cannot be bound."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.device_claims import ResourceClaim
from topospread.plugins.dynamic_resources.filtering import has_failed

Json = dict[str, Any]
READY, BROKEN = {"type": "Ready", "status": "True"}, {"type": "Broken", "status": "True"}


def result(name: str, conditions: bool = True) -> Json:
    bound = {"bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]} if conditions else {}
    return {"request": "r", "driver": "d", "pool": "p", "device": name} | bound


def claim(results: list[Json], **conditions: list[Json]) -> ResourceClaim:
    devices = [{"driver": "d", "pool": "p", "device": name, "conditions": each} for name, each in conditions.items()]
    status = {"allocation": {"devices": {"results": results}}, "devices": devices}
    return msgspec.convert({"metadata": {"name": "c"}, "spec": {}, "status": status}, ResourceClaim)


@pytest.mark.parametrize(
    ("given", "failed"),
    [
        (claim([]), False),
        (claim([result("a")]), False),
        (claim([result("a")], a=[BROKEN]), True),
        (claim([result("a")], a=[BROKEN | {"status": "False"}]), False),
        (claim([result("a")], b=[BROKEN]), False),
        (claim([result("a", conditions=False)], a=[BROKEN]), False),
        (claim([result("a", conditions=False), result("b")], b=[BROKEN]), True),
        (claim([result("a"), result("b")], a=[READY], b=[BROKEN]), True),
        (claim([result("a"), result("b")], b=[BROKEN]), False),
        (msgspec.convert({"metadata": {"name": "c"}, "spec": {}}, ResourceClaim), False),
    ],
)
def test_a_claim_has_failed_where_a_device_says_so_before_one_that_is_not_ready(
    given: ResourceClaim, failed: bool
) -> None:
    assert has_failed(given) == failed
