"""Write spread constraints into a pod, in place of its own or the default constraints."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from topospread.api.labels import LabelSelector, LabelSelectorRequirement, Requirement, Selector
from topospread.api.pod import Pod
from topospread.api.spread import TopologySpreadConstraint
from topospread.controllers.revisions import TEMPLATE_HASH_LABEL
from topospread.plugins.spread_constraints import Constraint
from topospread.plugins.spread_counts import Spread
from topospread.scheduling.view import View

from .rejections_per_node import SPREAD

_EXPRESSED = {"In": "In", "NotIn": "NotIn", "Exists": "Exists", "DoesNotExist": "DoesNotExist"}


def in_force(view: View) -> list[Constraint]:
    """Return the constraints in force for a view's pods, by index in their source list."""
    prepared = view.plugins.prepared.get(SPREAD)
    watcher = prepared.watcher if prepared is not None else None
    if not isinstance(watcher, Spread):
        return []
    return sorted((each.constraint for each in (*watcher.hard, *watcher.soft)), key=lambda each: each.position)


def written(constraints: Sequence[Constraint]) -> list[TopologySpreadConstraint]:
    """Return constraints in manifest form.

    A pod-template-hash in a selector, which comes from a ReplicaSet, becomes a key of matchLabelKeys.
    """
    return [_written(each) for each in constraints]


def _written(each: Constraint) -> TopologySpreadConstraint:
    left = tuple(one for one in each.selector.requirements if one.key != TEMPLATE_HASH_LABEL)
    hashed = len(left) < len(each.selector.requirements)
    return TopologySpreadConstraint(
        max_skew=each.max_skew,
        topology_key=each.topology_key,
        when_unsatisfiable=each.when_unsatisfiable,
        label_selector=label_selector(Selector(left) if hashed else each.selector),
        min_domains=each.min_domains if each.min_domains > 1 else None,
        node_affinity_policy=None if each.honors_affinity else "Ignore",
        node_taints_policy="Honor" if each.honors_taints else None,
        match_label_keys=[TEMPLATE_HASH_LABEL] if hashed else None,
    )


def label_selector(selector: Selector) -> LabelSelector | None:
    """Return a selector in manifest form; ``None`` if it matches nothing."""
    if selector.selects_nothing:
        return None
    plain: dict[str, str] = {}
    expressions: list[LabelSelectorRequirement] = []
    for each in selector.requirements:
        if each.operator == "=" and each.key not in plain:
            plain[each.key] = each.values[0]
        else:
            expressions.append(_expression(each))
    return LabelSelector(match_labels=plain or None, match_expressions=expressions or None)


def _expression(each: Requirement) -> LabelSelectorRequirement:
    operator = "In" if each.operator == "=" else _EXPRESSED[each.operator]
    return LabelSelectorRequirement(key=each.key, operator=operator, values=list(each.values) or None)


def with_constraints(pod: Pod, constraints: Sequence[TopologySpreadConstraint]) -> Pod:
    """Return the pod with these constraints."""
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=list(constraints) or None))
