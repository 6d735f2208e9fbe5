"""Constraints that a design adds: as data, in an inventory, and as YAML. `design_checks` judges them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.node_selection import Affinity, PodAffinity, PodAffinityTerm
from topospread.api.policy import PodDisruptionBudget
from topospread.api.spread import DO_NOT_SCHEDULE, TopologySpreadConstraint
from topospread.api.well_known_labels import HOSTNAME
from topospread.api.workload import Deployment, DeploymentStrategy, RollingUpdateDeployment
from topospread.drill.placed_pods import without_pods_of
from topospread.scheduling.disruption_budgets import budget_selector

from .fresh import LISTS, Designed, autoscaling_of, simulated_replicas, workload_of
from .kept import budgets_over

_HASH = "pod-template-hash"


@dataclass(frozen=True, slots=True)
class SpreadRule:
    """A hard constraint over a topology key, which replaces the pods' own constraint over this key.

    Attributes:
        min_domains: 0 for none.
        without_tainted: ``nodeTaintsPolicy: Honor``.
        by_revision: ``matchLabelKeys: [pod-template-hash]``.
    """

    key: str
    max_skew: int
    min_domains: int = 0
    without_tainted: bool = False
    by_revision: bool = False

    @property
    def words(self) -> list[str]:
        """Return the constraint's fields as words."""
        found = [self.key, f"maxSkew {self.max_skew}"]
        found += [f"minDomains {self.min_domains}"] if self.min_domains else []
        found += ["nodeTaintsPolicy Honor"] if self.without_tainted else []
        return found + ([f"matchLabelKeys [{_HASH}]"] if self.by_revision else [])

    def data(self) -> dict[str, Any]:
        """Return the fields except the selector in manifest form."""
        made: dict[str, Any] = {"maxSkew": self.max_skew, "topologyKey": self.key, "whenUnsatisfiable": DO_NOT_SCHEDULE}
        made |= {"minDomains": self.min_domains} if self.min_domains else {}
        made |= {"nodeTaintsPolicy": "Honor"} if self.without_tainted else {}
        return made | ({"matchLabelKeys": [_HASH]} if self.by_revision else {})


@dataclass(frozen=True, slots=True)
class DesignRules:
    """The constraints and budget that a design adds.

    Attributes:
        apart: no two pods on one node, by required anti-affinity.
        available: ``minAvailable`` of a disruption budget; 0 for no budget.
        rolling: maxSurge and maxUnavailable of a Deployment; ``None`` to keep its own.
    """

    spreads: tuple[SpreadRule, ...] = ()
    apart: bool = False
    available: int = 0
    rolling: tuple[int, int] | None = None

    @property
    def cost(self) -> tuple[int, int]:
        """Sort key: number of parts, then tightness of the skews. The cheapest design is tried first."""
        fields = sum(2 + bool(e.min_domains) + e.without_tainted + e.by_revision for e in self.spreads)
        parts = fields + 3 * self.apart + bool(self.available) + (self.rolling is not None)
        return parts, -sum(each.max_skew for each in self.spreads)

    @property
    def title(self) -> str:
        """The design in one line."""
        spreads = ["topologySpreadConstraints: " + ", ".join(each.words) for each in self.spreads]
        others = [line for line, _ in replace(self, spreads=()).parts()]
        return "; ".join([*spreads, *others]) or "nothing added"

    def over(self, key: str) -> SpreadRule | None:
        """The constraint over a key."""
        return next((each for each in self.spreads if each.key == key), None)

    def with_spread(self, rule: SpreadRule) -> DesignRules:
        """Return the rules with this constraint, which replaces the constraint over the same key."""
        others = tuple(each for each in self.spreads if each.key != rule.key)
        return replace(self, spreads=(*others, rule))

    def parts(self) -> Iterator[tuple[str, DesignRules]]:
        """Yield the name of each part, and the rules without this part."""
        for each in self.spreads:
            rest = tuple(other for other in self.spreads if other is not each)
            yield f"topologySpreadConstraints: {each.key}, maxSkew {each.max_skew}", replace(self, spreads=rest)
            if each.min_domains:
                yield f"minDomains: {each.min_domains}", self.with_spread(replace(each, min_domains=0))
            if each.without_tainted:
                yield "nodeTaintsPolicy: Honor", self.with_spread(replace(each, without_tainted=False))
            if each.by_revision:
                yield f"matchLabelKeys: [{_HASH}]", self.with_spread(replace(each, by_revision=False))
        if self.apart:
            yield f"podAntiAffinity: {HOSTNAME}", replace(self, apart=False)
        if self.available:
            yield f"PodDisruptionBudget: minAvailable {self.available}", replace(self, available=0)
        if self.rolling:
            surge, unavailable = self.rolling
            yield f"strategy: maxSurge {surge}, maxUnavailable {unavailable}", replace(self, rolling=None)


def present(item: Designed, rules: DesignRules) -> Iterator[bool]:
    """Yield for each part of the constraints, in the order of `DesignRules.parts`, whether the workload has it."""
    constraints = item.spec.template.spec.topology_spread_constraints or ()
    hard = {each.topology_key: each for each in constraints if each.when_unsatisfiable == DO_NOT_SCHEDULE}
    for rule in rules.spreads:
        own = hard.get(rule.key)
        counts = own is not None and own.label_selector == item.spec.selector
        yield counts and own is not None and own.max_skew == rule.max_skew
        if rule.min_domains:
            yield own is not None and own.min_domains == rule.min_domains
        if rule.without_tainted:
            yield own is not None and own.node_taints_policy == "Honor"
        if rule.by_revision:
            yield own is not None and _HASH in (own.match_label_keys or ())


def with_rules(inventory: Inventory, key: ObjectKey, rules: DesignRules, replicas: int) -> Inventory:
    """Return the inventory with the rules applied to the workload and without its pods."""
    item = workload_of(inventory, key)
    made = without_pods_of(inventory, key)
    others = [each for each in getattr(inventory, LISTS[key[0]]) if each is not item]
    setattr(made, LISTS[key[0]], [*others, _ruled(item, rules, replicas)])
    if rules.available:
        own = _own_budget(inventory, item)
        data = _budget_data(inventory, item, rules.available, replicas)
        budget = msgspec.convert(data, PodDisruptionBudget)
        if own is not None:
            # kubectl apply changes only these fields of an existing budget.
            fields = {"min_available": budget.spec.min_available, "max_unavailable": budget.spec.max_unavailable}
            budget = with_fields(own, status=None, spec=with_fields(own.spec, **fields))
        others = [each for each in inventory.pod_disruption_budgets if each is not own]
        made.pod_disruption_budgets = [*others, budget]
    return made


def _ruled(item: Designed, rules: DesignRules, replicas: int) -> Designed:
    pod = item.spec.template.spec
    keys = {each.key for each in rules.spreads}
    hard = {
        each.topology_key: each
        for each in pod.topology_spread_constraints or ()
        if each.topology_key in keys and each.when_unsatisfiable == DO_NOT_SCHEDULE
    }
    kept = [each for each in pod.topology_spread_constraints or () if each is not hard.get(each.topology_key or "")]
    # Like kubectl apply, keep the fields that a rule does not set.
    merged = ((hard[each.key].to_dict() if each.key in hard else {}) | each.data() for each in rules.spreads)
    added = [
        with_fields(TopologySpreadConstraint.from_dict(each), label_selector=item.spec.selector) for each in merged
    ]
    affinity = pod.affinity
    if rules.apart:
        term = PodAffinityTerm(label_selector=item.spec.selector, topology_key=HOSTNAME)
        own = affinity or Affinity()
        anti = own.pod_anti_affinity or PodAffinity()
        terms = [*(anti.required_during_scheduling_ignored_during_execution or ()), term]
        anti = with_fields(anti, required_during_scheduling_ignored_during_execution=terms)
        affinity = with_fields(own, pod_anti_affinity=anti)
    pod = with_fields(pod, topology_spread_constraints=[*kept, *added] or None, affinity=affinity)
    template = with_fields(item.spec.template, spec=pod)
    if isinstance(item, Deployment):
        spec = with_fields(item.spec, template=template, replicas=replicas)
        if rules.rolling:
            surge, unavailable = rules.rolling
            rolling = RollingUpdateDeployment(max_surge=surge, max_unavailable=unavailable)
            spec = with_fields(spec, strategy=DeploymentStrategy(type="RollingUpdate", rolling_update=rolling))
        return with_fields(item, spec=spec)
    return with_fields(item, spec=with_fields(item.spec, template=template, replicas=replicas))


def _own_budget(inventory: Inventory, item: Designed) -> PodDisruptionBudget | None:
    """Return the budget that selects the workload's pods. A second budget would block all evictions."""
    found = budgets_over(inventory, item.namespace, item.spec.template.metadata.labels or {})
    return next((each for each, _ in found), None)


def _budget_data(inventory: Inventory, item: Designed, available: int, replicas: int) -> dict[str, Any]:
    """Return a budget over the workload's pods as a manifest: a new one, or the changed fields of its own.

    For an autoscaled workload, minAvailable of a new budget is the percentage that equals ``available`` pods.
    """
    own = _own_budget(inventory, item)
    metadata = {"name": item.name if own is None else own.metadata.name, "namespace": item.namespace}
    spec: dict[str, Any] = {"minAvailable": available, "selector": _selector(item)}
    if own is None and replicas <= 100 and autoscaling_of(inventory, key_of(item)) is not None:
        spec["minAvailable"] = f"{100 * available // replicas}%"
    if own is not None and own.spec.max_unavailable is not None:
        spec = {"maxUnavailable": replicas - available}
    elif own is not None:
        selector = budget_selector(own)
        beside = (
            simulated_replicas(inventory, key_of(each))
            for name in LISTS.values()
            for each in getattr(inventory, name)
            if each.namespace == item.namespace and (each.kind, each.name) != (item.kind, item.name)
            and selector is not None and selector.matches(each.spec.template.metadata.labels or {})
        )  # fmt: skip
        spec = {"minAvailable": available + sum(beside)}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec}


def _selector(item: Designed) -> Any:
    """Return the workload's own selector as an independent copy of plain data."""
    return msgspec.to_builtins(item.spec.selector)


def manifest_data(inventory: Inventory, item: Designed, rules: DesignRules, replicas: int) -> list[Mapping[str, Any]]:
    """Return the rules as objects for ``kubectl apply --server-side``, with only the fields that a design sets."""
    pod: dict[str, Any] = {}
    if rules.apart:
        term = {"labelSelector": _selector(item), "topologyKey": HOSTNAME}
        own = item.spec.template.spec.affinity
        anti = own.pod_anti_affinity if own else None
        terms = (anti.required_during_scheduling_ignored_during_execution if anti else None) or []
        required = [*map(msgspec.to_builtins, terms), term]
        pod["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    if rules.spreads:
        pod["topologySpreadConstraints"] = [each.data() | {"labelSelector": _selector(item)} for each in rules.spreads]
    spec: dict[str, Any] = {} if replicas == simulated_replicas(inventory, key_of(item)) else {"replicas": replicas}
    if rules.rolling:
        surge, unavailable = rules.rolling
        rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
        spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": rolling}
    spec |= {"template": {"spec": pod}} if pod else {}
    metadata = {"name": item.name, "namespace": item.namespace}
    found: list[Mapping[str, Any]] = []
    if spec:
        found.append({"apiVersion": "apps/v1", "kind": item.kind, "metadata": metadata, "spec": spec})
    return [*found, *([_budget_data(inventory, item, rules.available, replicas)] if rules.available else [])]
