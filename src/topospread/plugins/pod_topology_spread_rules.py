"""The differences between Kubernetes versions in PodTopologySpread.

Versions differ in the pods that a hard constraint counts, but not in the computation of the skew from the counts.
Source: pkg/scheduler/framework/plugins/podtopologyspread of every minor version from 1.18 to 1.37.
"""

from __future__ import annotations

from dataclasses import dataclass

from topospread.config.gates import KEP_5980
from topospread.config.version_rules import by_gates, by_version, gated, since, until


@dataclass(frozen=True, slots=True)
class PodTopologySpreadRules:
    """The rules, each with the version that introduced it."""

    inclusion_policies: bool = gated("NodeInclusionPolicyInPodTopologySpread")
    match_label_keys: bool = gated("MatchLabelKeysInPodTopologySpread")
    min_domains: bool = gated("MinDomainsInPodTopologySpread")
    tainted_domains: bool = by_gates(lambda gates: gates.preview == KEP_5980, {})
    comparison_operators: bool = gated("TaintTolerationComparisonOperators")
    reports_missing_label: bool = since(
        "1.19",
        "A node without a hard constraint's topology key is unresolvable, with `(missing required "
        "label)`. Before, the reason was too much skew.",
    )
    counts_whole_domain: bool = by_version(
        {"1.18": False, "1.19": True, "1.24": False},
        {
            "1.19": "Hard constraints count pods on every node of an eligible domain, also on nodes that node "
            "affinity excludes or that lack another constraint's key.",
            "1.24": "Hard constraints count pods on eligible nodes only, as in 1.18.",
        },
    )
    empty_selector_counts: bool = until(
        "1.26", "An empty labelSelector (`{}`) counts no pods. Before, it counted every pod of the namespace."
    )
    keys_need_selector: bool = since(
        "1.27",
        "matchLabelKeys without a labelSelector selects nothing. Before, it selected by the keys.",
    )
    selector_by_owner: bool = since(
        "1.22",
        "Default constraints take the selector of the pod's owner. Before, they took the selector of every "
        "ReplicationController, ReplicaSet and StatefulSet that matches the pod.",
    )
    weighs_domains: bool = since(
        "1.19",
        "The score weighs each constraint by its number of domains, includes maxSkew, and is "
        "normalised between the lowest and highest node. In 1.18 it is the number of matching pods "
        "relative to all nodes.",
    )
    names_getting: bool = since(
        "1.30", "An invalid labelSelector of a hard constraint fails with `get constraints from pod: ...`."
    )
    counts_nominated: bool = by_version({"1.18": False, "1.36": True}, {})
    rounds_score: bool = since("1.24", "The score is rounded. Before, it was truncated.")
    scores_without_constraints: bool = by_version(
        {"1.18": False, "1.19": True, "1.28": False},
        {
            "1.19": "Every node gets 100 points for a pod without soft constraints; placements stay the same.",
            "1.28": "Pods without soft constraints are not scored, as in 1.18.",
        },
    )
