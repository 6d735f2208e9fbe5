"""The exporter's metrics as data: names, labels and what they say; it counts nothing.

The reference page is written from this table, so that what is served and what is documented are one.
"""

from __future__ import annotations

from topospread.live.metric_table import Metric

CONSTRAINT = ("namespace", "workload", "topology_key", "when_unsatisfiable")
WORKLOAD = ("namespace", "workload")

FAMILIES: tuple[Metric, ...] = (
    Metric("gauge", "topospread_info", "Version of topospread, and the kube-scheduler it decides as; always 1.",
           ("version", "kube_version")),
    Metric("gauge", "topospread_constraint_skew", "Pods in the fullest eligible domain of a constraint less the "
           "minimum in force, as kube-scheduler takes it.", CONSTRAINT),
    Metric("gauge", "topospread_constraint_max_skew", "maxSkew of a constraint.", CONSTRAINT),
    Metric("gauge", "topospread_constraint_minimum_pods", "Pods in the emptiest eligible domain of a constraint; 0 "
           "while there are fewer domains than minDomains.", CONSTRAINT),
    Metric("gauge", "topospread_constraint_domains", "Eligible domains of a constraint, empty ones included.",
           CONSTRAINT),
    Metric("gauge", "topospread_domain_pods", "Pods that a constraint counts in an eligible domain; left out for "
           "constraints over more domains than --max-domains.", (*CONSTRAINT, "domain")),
    Metric("gauge", "topospread_constraint_blocked_pods", "Waiting pods that no node would take, by the constraint "
           "that is the first to reject a node; a pod may be counted under several.", CONSTRAINT),
    Metric("gauge", "topospread_workload_pods", "Pods of a workload that are on nodes, neither finished nor "
           "terminating.", WORKLOAD),
    Metric("gauge", "topospread_workload_refused_pods", "Pods of a workload that kube-scheduler would refuse on the "
           "node that they are on.", WORKLOAD),
    Metric("gauge", "topospread_workload_lost_pods", "Pods of a workload that the failure of one domain takes at "
           "worst: zone, hostname, and the keys of its constraints.", (*WORKLOAD, "topology_key")),
    Metric("gauge", "topospread_pending_pods", "Pods of the profiles that wait for a node; those held by scheduling "
           "gates are left out."),
    Metric("gauge", "topospread_pending_pods_not_asked", "Waiting pods whose constraints were not looked for, as too "
           "many different ones wait."),
    Metric("gauge", "topospread_unjudged_pods", "Waiting pods that nodes would take but for a part that topospread "
           "does not judge, by the part: resourceClaims, extendedResources, podGroups, extenders.", ("what",)),
    Metric("gauge", "topospread_workloads", "Workloads that are followed."),
    Metric("gauge", "topospread_workloads_not_shown", "Workloads without series, as they are beyond --max-workloads; "
           "the worst are shown."),
    Metric("gauge", "topospread_workloads_not_judged", "Controllers whose objects cannot be judged; their figures are "
           "as they last were."),
    Metric("gauge", "topospread_topology_domains", "Values that a topology key has among the nodes.",
           ("topology_key",)),
    Metric("gauge", "topospread_nodes", "Nodes that are known."),
    Metric("counter", "topospread_changes_total", "Objects that came, changed or went.", ("resource", "change")),
    Metric("counter", "topospread_workloads_looked_at_total", "How often a workload's figures were made anew."),
    Metric("gauge", "topospread_figures_age_seconds", "For how long changes that have arrived have not been in the "
           "figures; 0 while all are."),
    Metric("gauge", "topospread_last_sync_age_seconds", "Seconds since the API server was last heard of about a "
           "resource: a list, a change, or that nothing happened, which it says each minute.", ("resource",)),
    Metric("gauge", "topospread_watch_up", "1 while a resource is followed; at 0 the last known state is shown.",
           ("resource",)),
    Metric("counter", "topospread_watch_errors_total", "Lists and watches that failed.", ("resource",)),
    Metric("counter", "topospread_watch_relists_total", "Lists after the first, as a watch could not go on.",
           ("resource",)),
    Metric("counter", "topospread_unreadable_objects_total", "Objects that arrived and could not be read; as they "
           "were known before they are kept."),
    Metric("counter", "topospread_api_requests_total", "Requests to the API server that ended, watches left out; code "
           "<error> where no answer came.", ("method", "code")),
)  # fmt: skip
BY_NAME = {each.name: each for each in FAMILIES}
