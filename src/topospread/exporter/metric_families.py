"""The exporter's metrics as data: names, labels and help texts.

The reference page is generated from this table.
"""

from __future__ import annotations

from topospread.live.metric_table import Metric

CONSTRAINT = ("namespace", "workload", "topology_key", "when_unsatisfiable")
WORKLOAD = ("namespace", "workload")

FAMILIES: tuple[Metric, ...] = (
    Metric("gauge", "topospread_info", "Version of topospread and of the kube-scheduler that it follows; always 1.",
           ("version", "kube_version")),
    Metric("gauge", "topospread_constraint_skew", "Pods in the fullest eligible domain of a constraint minus the "
           "global minimum.", CONSTRAINT),
    Metric("gauge", "topospread_constraint_max_skew", "maxSkew of a constraint.", CONSTRAINT),
    Metric("gauge", "topospread_constraint_minimum_pods", "Pods in the emptiest eligible domain of a constraint; 0 "
           "while there are fewer domains than minDomains.", CONSTRAINT),
    Metric("gauge", "topospread_constraint_domains", "Eligible domains of a constraint, empty ones included.",
           CONSTRAINT),
    Metric("gauge", "topospread_domain_pods", "Pods that a constraint counts in an eligible domain; left out for "
           "constraints over more domains than --max-domains.", (*CONSTRAINT, "domain")),
    Metric("gauge", "topospread_constraint_blocked_pods", "Pending pods that no node takes, by the constraint "
           "that first rejects a node. A pod may count for several.", CONSTRAINT),
    Metric("gauge", "topospread_workload_pods", "Pods of a workload that are on nodes, neither finished nor "
           "terminating.", WORKLOAD),
    Metric("gauge", "topospread_workload_refused_pods", "Pods of a workload that kube-scheduler would now reject on "
           "their node.", WORKLOAD),
    Metric("gauge", "topospread_workload_lost_pods", "Largest number of a workload's pods in one domain, for zone, "
           "hostname and the keys of its constraints.", (*WORKLOAD, "topology_key")),
    Metric("gauge", "topospread_pending_pods", "Pending pods of the profiles, without gated pods."),
    Metric("gauge", "topospread_pending_pods_not_asked", "Pending pods whose constraints were not evaluated, because "
           "too many different pods are pending."),
    Metric("gauge", "topospread_unjudged_pods", "Pods that may be pending only because of a part that topospread does "
           "not model, by the part: resourceClaims, extendedResources, podGroups, extenders.", ("what",)),
    Metric("gauge", "topospread_workloads", "Number of workloads."),
    Metric("gauge", "topospread_workloads_not_shown", "Workloads without series because of --max-workloads."),
    Metric("gauge", "topospread_workloads_not_judged", "Controllers whose objects cannot be evaluated; they keep their "
           "last figures."),
    Metric("gauge", "topospread_topology_domains", "Number of values of a topology key.",
           ("topology_key",)),
    Metric("gauge", "topospread_nodes", "Number of nodes."),
    Metric("counter", "topospread_changes_total", "Objects added, changed or deleted.", ("resource", "change")),
    Metric("counter", "topospread_workloads_looked_at_total", "Evaluations of workloads."),
    Metric("gauge", "topospread_figures_age_seconds", "Age of the oldest change that is not in the figures yet; 0 if "
           "there is none."),
    Metric("gauge", "topospread_last_sync_age_seconds", "Seconds since the last data of a resource: a list, a "
           "change, or a bookmark, which arrives each minute.", ("resource",)),
    Metric("gauge", "topospread_watch_up", "1 while a resource is followed; 0 while its last known state is shown.",
           ("resource",)),
    Metric("counter", "topospread_watch_errors_total", "Lists and watches that failed.", ("resource",)),
    Metric("counter", "topospread_watch_relists_total", "Lists after the first, when a watch could not continue.",
           ("resource",)),
    Metric("counter", "topospread_unreadable_objects_total", "Objects that could not be read and keep their last "
           "state."),
    Metric("counter", "topospread_api_requests_total", "Finished requests to the API server without watches; code "
           "<error> without an answer.", ("method", "code")),
)  # fmt: skip
BY_NAME = {each.name: each for each in FAMILIES}
