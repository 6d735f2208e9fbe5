"""Stable codes for causes, with a paragraph that explains each. Answers, `status` and alerts share them."""

from __future__ import annotations

from collections.abc import Sequence

CODES: dict[str, str] = {
    "spread-domain-full": (
        "A DoNotSchedule constraint rejects domains because one more pod there would exceed maxSkew: pods in the "
        "domain + 1 − the global minimum > maxSkew. Only the domains with the fewest pods remain, and their nodes "
        "reject the pod for other reasons. Make room in these domains, or relax the constraint."
    ),
    "zone-gone-counts": (
        "A DoNotSchedule constraint still counts a domain whose nodes are all tainted, because nodeTaintsPolicy is "
        "Ignore. The domain holds no pod, so the global minimum stays 0 and the other domains exceed maxSkew. "
        "Set nodeTaintsPolicy: Honor on the constraint."
    ),
    "min-domains": (
        "Fewer domains exist than minDomains, so kube-scheduler takes 0 for the global minimum, and every domain soon "
        "exceeds maxSkew. Lower minDomains, or add nodes in further domains."
    ),
    "old-pods-count": (
        "A DoNotSchedule constraint without matchLabelKeys: [pod-template-hash] counts the pods of all revisions. "
        "During a rolling update, new pods are placed in domains with few old pods. After the old pods' deletion the "
        "domains differ by more than maxSkew. Add pod-template-hash to the constraint's matchLabelKeys."
    ),
    "topology-key-missing": (
        "No eligible node has the topologyKey of a DoNotSchedule constraint as a label. Such nodes are always "
        "rejected. Add the label to the nodes, or correct the key."
    ),
    "cordoned": "A node is cordoned (spec.unschedulable) and takes no new pods. Uncordon it: kubectl uncordon NODE.",
    "taint": (
        "A node has a taint that the pod does not tolerate. Remove the taint, or add a toleration to the pod's "
        "template."
    ),
    "cpu-short": "A node has less free CPU than the pod requests. Free CPU on the node, request less, or add a node.",
    "memory-short": (
        "A node has less free memory than the pod requests. Free memory on the node, request less, or add a node."
    ),
    "pods-full": "A node already runs as many pods as its allocatable pods allow.",
    "resource-short": (
        "A node has too little free ephemeral storage, huge pages or extended resources for the pod's requests."
    ),
    "label-missing": (
        "A node lacks the labels that the pod's nodeSelector or required node affinity asks for. Correct the "
        "selector, or label nodes."
    ),
    "node-name": "The pod's spec.nodeName or a PreFilter plugin leaves only certain nodes, which reject it.",
    "port-taken": "Another pod on the node already uses the host port that the pod requests.",
    "pod-affinity": "No pod that the required pod affinity asks for runs in the node's domain.",
    "pod-anti-affinity": (
        "A pod in the node's domain excludes the new pod by required anti-affinity, or the new pod excludes it."
    ),
    "volume": (
        "A volume of the pod cannot be used on the node: its PersistentVolume is elsewhere, no volume can be bound, a "
        "claim is missing, or the node's volume limit is reached."
    ),
    "scheduling-gate": "The pod has scheduling gates; kube-scheduler does not try it until they are removed.",
    "pod-group": (
        "Fewer pods of the PodGroup find nodes at once than its minCount asks for, so none of them takes a node. Make "
        "room for all of them, or lower minCount."
    ),
    "not-created": "The pod does not exist yet; its controller creates it once the pod before it is ready.",
    "refused": (
        "The API server refuses to create the pod, for example because its namespace would exceed a ResourceQuota. "
        "kube-scheduler is never asked. Free what the quota limits, raise it, or request less."
    ),
    "not-placed-yet": "A node is feasible for the pod, but kube-scheduler has not placed it yet. Check that it runs.",
    "skew-remains": (
        "A hard constraint's skew exceeds maxSkew. kube-scheduler checks it when it places a pod, and nothing moves "
        "pods afterwards. Evict pods from the fullest domains: topospread rebalance."
    ),
    "others-counted": (
        "A hard constraint also counts pods of other workloads, which do not obey it. Narrow the constraint's selector."
    ),
    "no-nodes": "The cluster has no node.",
    "nominated": "The node's free room is reserved for a pod that preempted other pods there.",
    "filter": "Another filter plugin rejects the node.",
    "one-domain": "A DoNotSchedule constraint admits the pod to certain domains only.",
    "uneven": (
        "A domain has at least two pods more than another. Either the constraint permits it and scores chose the "
        "nodes, or filters close the emptier domains. Only DoNotSchedule with a smaller maxSkew forces an even spread."
    ),
    "best-score": "Of the feasible nodes this node has the highest score.",
    "tie": "Several feasible nodes have the highest score; kube-scheduler takes one of them.",
    "only-node": "A single node is feasible, so kube-scheduler does not score it.",
    "lower-score": "Another feasible node now has a higher score than the pod's node.",
    "node-rejects": "The pod's own node rejects it now. Pods that run stay where they are.",
    "node-changed": "A change of a node caused the rejection. Without the change, the pod would have found a node.",
    "promise-broken": (
        "A state or an order of pods is known in which a promise of a workload fails. topospread promise check -o wide "
        "shows the order; topospread promise design searches for constraints that keep the promise."
    ),
    "not-kept-apart": (
        "Filters allow so many pods of a workload in one zone or on one node that its loss takes all of them, or the "
        "quorum. Scores may spread the pods, but they force nothing. Add a DoNotSchedule constraint: topospread "
        "promise design."
    ),
    "pods-pending": (
        "Pods of a workload find no node already, so a loss leaves fewer than the constraints alone would. First make "
        "room for all of them: topospread why deploy/NAME."
    ),
    "pods-together": (
        "So many pods of a workload are in one zone or on one node now that its loss takes all of them, or the quorum. "
        "Nothing moves pods afterwards: restart the workload, or evict pods with topospread rebalance."
    ),
    "no-design": (
        "No design that was tried keeps what is wanted of a workload. Often there are too few zones, or too little "
        "room for pods to be created elsewhere."
    ),
}
"""Code → one paragraph: meaning and remedy."""

_OF_PLUGIN = {
    "NodeUnschedulable": "cordoned",
    "TaintToleration": "taint",
    "NodeAffinity": "label-missing",
    "NodeName": "node-name",
    "PreFilterResult": "node-name",
    "NodePorts": "port-taken",
    "NodeResourcesFit": "resource-short",
    "PodTopologySpread": "spread-domain-full",
    "VolumeBinding": "volume",
    "VolumeZone": "volume",
    "VolumeRestrictions": "volume",
    "NodeVolumeLimits": "volume",
    "EBSLimits": "volume",
    "GCEPDLimits": "volume",
    "AzureDiskLimits": "volume",
    "SchedulingGates": "scheduling-gate",
    "nominated pods": "nominated",
    "GangScheduling": "pod-group",
}
_OF_RESOURCE = {
    "Insufficient cpu": "cpu-short",
    "Insufficient memory": "memory-short",
    "Too many pods": "pods-full",
}


def code_of(plugin: str, reasons: Sequence[str]) -> str:
    """Return the cause code for a plugin's rejection."""
    if plugin == "InterPodAffinity":
        return "pod-anti-affinity" if any("anti-affinity" in each for each in reasons) else "pod-affinity"
    resource = next((_OF_RESOURCE[each] for each in reasons if each in _OF_RESOURCE), "")
    return resource or _OF_PLUGIN.get(plugin, "filter")
