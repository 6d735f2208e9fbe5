"""The allocator's features by version and gate."""

from __future__ import annotations

import pytest

from topospread.config.gates import gates_for
from topospread.config.version_rules import rules_for
from topospread.plugins.dynamic_resources.rules import DynamicResourcesRules


@pytest.mark.parametrize(("conditions", "status"), [(True, True), (False, True), (False, False)])
def test_binding_conditions_need_both_gates(conditions: bool, status: bool) -> None:
    overrides = {"DRADeviceBindingConditions": conditions, "DRAResourceClaimDeviceStatus": status}
    found = rules_for(DynamicResourcesRules, gates_for("1.35", overrides))
    assert found.binds_by_conditions == (conditions and status)


def test_extended_resources_are_on_by_default_since_1_36() -> None:
    found = [rules_for(DynamicResourcesRules, gates_for(f"1.{minor}")) for minor in (34, 35, 36, 37)]
    assert [(each.minor, each.extended_resources) for each in found] == [
        *((34, False), (35, False)),
        *((36, True), (37, True)),
    ]
