"""The check that a pod may preempt (``PodEligibleToPreemptOthers``); `preemption` finds the nodes.

Source: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go.
"""

from __future__ import annotations

from dataclasses import dataclass

from topospread.config.version_rules import by_gates
from topospread.plugins.interface import UNRESOLVABLE

from .verdict import Verdict
from .view import View

NEVER = "not eligible due to preemptionPolicy=Never."
STILL_TERMINATING = "not eligible due to a terminating pod on the nominated node."


@dataclass(frozen=True, slots=True)
class EligibilityRules:
    """The differences between Kubernetes versions."""

    waits_for_evicted_only: bool = by_gates(
        lambda gates: gates.kube_version.minor >= 27 and gates.enabled("PodDisruptionConditions"),
        {
            "1.27": "A pod waits on its nominated node only for pods that preemption ended. Before, and while "
            "PodDisruptionConditions is off, it waited for any terminating pod."
        },
    )
    heeds_policy: bool = by_gates(
        lambda gates: gates.kube_version.minor >= 19 or gates.enabled("NonPreemptingPriority"),
        {"1.19": "preemptionPolicy Never works; in 1.18 only with NonPreemptingPriority."},
    )


def why_not_eligible(view: View, verdict: Verdict, nominated_node: str, rules: EligibilityRules) -> str:
    """Return why a pod without a node may not preempt others; "" if it may.

    Args:
        view: the current view of the pod's class.
        verdict: verdict on the pod, read for its nominated node.
        nominated_node: the nominated node; "" without one.
        rules: rules of the Kubernetes version.
    """
    pod_class, cluster = view.pod_class, view.cluster
    if pod_class.pod.spec.preemption_policy == "Never" and rules.heeds_policy:
        return NEVER
    row = cluster.nodes.row_of.get(nominated_node)
    if row is None:
        return ""
    rejection = verdict.rejected.get(nominated_node)
    if rejection is not None and rejection.code == UNRESOLVABLE:
        return ""
    for each in cluster.on_node[row].values():
        gone = each.evicted if rules.waits_for_evicted_only else not each.counted
        if gone and each.priority < pod_class.priority:
            return STILL_TERMINATING
    return ""
