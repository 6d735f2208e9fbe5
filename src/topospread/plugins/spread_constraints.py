"""The spread constraints of a pod: its own constraints, or else the default constraints, with compiled selectors.

Source: plugins/podtopologyspread/common.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from topospread.api.labels import InvalidSelectorError, LabelSelector, Selector
from topospread.api.spread import TopologySpreadConstraint
from topospread.cluster import Cluster, PodClass
from topospread.config.args import DefaultConstraint, PodTopologySpreadArgs

from .default_selector import SelectorOf, default_selector
from .interface import PluginError
from .pod_topology_spread_rules import PodTopologySpreadRules

Origin = Literal["pod", "profile", "system"]
WhenUnsatisfiable = Literal["DoNotSchedule", "ScheduleAnyway"]


class Constraint(msgspec.Struct, frozen=True):
    """A constraint with defaults, a compiled selector, and matchLabelKeys merged into the selector.

    Attributes:
        position: index in the pod's list, or in the list of default constraints.
        origin: ``pod``, ``profile`` (defaultConstraints) or ``system`` (built-in default constraints).
    """

    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    selector: Selector
    min_domains: int
    honors_affinity: bool
    honors_taints: bool
    position: int
    origin: Origin

    def counts_itself(self, pod_class: PodClass) -> int:
        """Return 1 if the pod matches the constraint's own selector, else 0."""
        return int(self.selector.matches(pod_class.labels))


class ConstraintsInForce:
    """A function that returns a pod's constraints, given a profile's arguments and a version's rules."""

    def __init__(
        self, args: PodTopologySpreadArgs, rules: PodTopologySpreadRules, selector_of: SelectorOf = default_selector
    ) -> None:
        self._args = args
        self._rules = rules
        self._selector_of = selector_of

    def __call__(self, pod_class: PodClass, cluster: Cluster, when: WhenUnsatisfiable) -> list[Constraint]:
        """Return the pod's constraints of one kind, or the default constraints if the pod has none.

        Raises:
            PluginError: if a selector is invalid.
        """
        if own := pod_class.pod.spec.topology_spread_constraints:
            try:
                return [
                    self._compiled(
                        each, i, "pod", self._selector(each.label_selector, each.match_label_keys, pod_class)
                    )
                    for i, each in enumerate(own)
                    if each.when_unsatisfiable == when
                ]
            except InvalidSelectorError as error:
                raise PluginError(f"{self._failing(when)} topology spread constraints: {error}") from error
        defaults = [(i, c) for i, c in enumerate(self._args.constraints_in_force) if c.when_unsatisfiable == when]
        if not defaults:
            return []
        selector = self._selector_of(pod_class, cluster.objects)
        if selector.empty:
            return []
        origin: Origin = "system" if self._args.defaulting_type == "System" else "profile"
        return [self._compiled(each, i, origin, selector) for i, each in defaults]

    def _failing(self, when: WhenUnsatisfiable) -> str:
        """Return the name of kube-scheduler's step that fails because of an invalid selector, for its message."""
        if when == "ScheduleAnyway":
            return 'running PreScore plugin "PodTopologySpread": calculating preScoreState: obtaining pod\'s soft'
        getting = "get constraints from pod: " if self._rules.names_getting else ""
        return f'running PreFilter plugin "PodTopologySpread": {getting}obtaining pod\'s hard'

    def _selector(self, given: LabelSelector | None, keys: Sequence[str] | None, pod_class: PodClass) -> Selector:
        selector = Selector.from_label_selector(given)
        if not self._rules.match_label_keys:
            return selector
        if given is None and not self._rules.keys_need_selector and any(key in pod_class.labels for key in keys or ()):
            selector = Selector.everything()
        return selector.with_match_label_keys(keys, pod_class.labels)

    def _compiled(
        self, given: TopologySpreadConstraint | DefaultConstraint, position: int, origin: Origin, selector: Selector
    ) -> Constraint:
        policies = self._rules.inclusion_policies
        return Constraint(
            topology_key=given.topology_key or "",
            when_unsatisfiable=given.when_unsatisfiable or "",
            max_skew=given.max_skew or 0,
            selector=selector,
            min_domains=1 if given.min_domains is None or not self._rules.min_domains else given.min_domains,
            honors_affinity=not policies or (given.node_affinity_policy or "Honor") == "Honor",
            honors_taints=policies and given.node_taints_policy == "Honor",
            position=position,
            origin=origin,
        )
