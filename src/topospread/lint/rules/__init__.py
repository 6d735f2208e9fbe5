"""All rules, in the order in which findings at one place are reported. Add new rules to their subject's module."""

from __future__ import annotations

from typing import Final

from topospread.lint.rule import Rule

from . import (
    autoscalers,
    constraint_fields,
    disruption_budgets,
    domains,
    extender_annotations,
    ignores,
    kubernetes_versions,
    manifests,
    node_labels,
    own_annotations,
    pod_groups,
    pod_spec,
    replicas,
    resource_claims,
    scheduler_configuration,
    selectors,
    shared_selectors,
    storage_capacities,
    stuck_pods,
)

RULES: Final[tuple[Rule, ...]] = (
    *manifests.RULES,
    *selectors.RULES,
    *constraint_fields.RULES,
    *pod_spec.RULES,
    *pod_groups.RULES,
    *extender_annotations.RULES,
    *own_annotations.RULES,
    *shared_selectors.RULES,
    *disruption_budgets.RULES,
    *replicas.RULES,
    *autoscalers.RULES,
    *kubernetes_versions.RULES,
    *node_labels.RULES,
    *storage_capacities.RULES,
    *resource_claims.RULES,
    *scheduler_configuration.RULES,
    *domains.RULES,
    *stuck_pods.RULES,
    *ignores.RULES,
)

BY_ID: Final = {rule.id: rule for rule in RULES}
