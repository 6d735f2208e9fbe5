"""Every rule, in the order in which findings of one place are reported; a new one is an entry of a `*_rules` module."""

from __future__ import annotations

from typing import Final

from . import (
    autoscaler_rules,
    availability_rules,
    budget_rules,
    configuration_rules,
    constraint_rules,
    domain_rules,
    field_rules,
    group_rules,
    ignore_rules,
    node_rules,
    object_rules,
    placement_rules,
    selector_rules,
    simulated_rules,
    version_rules,
)
from .rule import Rule

RULES: Final[tuple[Rule, ...]] = (
    *object_rules.RULES,
    *selector_rules.RULES,
    *constraint_rules.RULES,
    *field_rules.RULES,
    *placement_rules.RULES,
    *group_rules.RULES,
    *budget_rules.RULES,
    *availability_rules.RULES,
    *autoscaler_rules.RULES,
    *version_rules.RULES,
    *node_rules.RULES,
    *configuration_rules.RULES,
    *domain_rules.RULES,
    *simulated_rules.RULES,
    *ignore_rules.RULES,
)

BY_ID: Final = {rule.id: rule for rule in RULES}
