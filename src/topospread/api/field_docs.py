"""The meaning of every field of a topology spread constraint, as data. ``fields.py`` prints it.

Sources: k8s.io/api/core/v1/types.go (types, rules), pkg/features/kube_features.go and the feature gates' history
(versions), pkg/scheduler/framework/plugins/podtopologyspread (effects on scheduling).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldDoc:
    """One field, as in ``kubectl explain``.

    Attributes:
        name: name in a manifest.
        type: type as in kubectl, without the angle brackets.
        text: paragraphs. A paragraph that begins with a space is printed without wrapping.
        required: whether the API server denies an object without the field.
        enum: the allowed values, if they are limited.
        default: value if the field is unset.
        since: Kubernetes versions, each with the field's stage since then.
        notes: notes on surprising behaviour, each one or two sentences.
        fields: fields of this object.
    """

    name: str
    type: str
    text: tuple[str, ...]
    required: bool = False
    enum: tuple[str, ...] = ()
    default: str = ""
    since: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    fields: tuple[FieldDoc, ...] = ()

    def field(self, name: str) -> FieldDoc | None:
        """Return the subfield with this name."""
        return next((each for each in self.fields if each.name == name), None)


_CONSTRAINTS_SINCE = (("1.16", "alpha, off by default"), ("1.18", "beta, on by default"), ("1.19", "stable"))
_INCLUSION_SINCE = (
    ("1.25", "alpha, off by default (NodeInclusionPolicyInPodTopologySpread)"),
    ("1.26", "beta, on by default"),
    ("1.33", "stable"),
)
_NO_DEFAULT = "none (the API server refuses a constraint without it)"

MAX_SKEW = FieldDoc(
    "maxSkew",
    "integer",
    (
        "The maximum skew, at least 1. The skew of a candidate node is",
        "    skew = matching pods in the node's domain\n"
        "           + 1 if the pod matches its own selector\n"
        "           - the global minimum",
        "The global minimum is the lowest number of matching pods in any eligible domain, or 0 if there are fewer "
        "eligible domains than minDomains.",
        "With whenUnsatisfiable: DoNotSchedule, a node whose skew exceeds maxSkew is rejected. For example, three "
        "zones have 2, 2 and 1 matching pods:",
        "    zone-a   zone-b   zone-c\n      2        2        1        global minimum 1",
        "For a pod that matches the selector, the skew is 2 + 1 - 1 = 2 in zone-a and zone-b, and 1 + 1 - 1 = 1 in "
        "zone-c. With maxSkew 1, only zone-c is possible. With maxSkew 2, every zone is possible.",
        "With whenUnsatisfiable: ScheduleAnyway, no node is rejected. A node scores lower the more matching pods its "
        "domain has. Each constraint adds count * ln(domains + 2) + (maxSkew - 1) to a sum; a lower sum is a higher "
        "score. A larger maxSkew makes the differences between domains smaller.",
    ),
    required=True,
    default=_NO_DEFAULT,
    since=_CONSTRAINTS_SINCE,
    notes=(
        "Kubernetes' API reference names a default of 1, but there is no default: the API server reads a missing "
        "maxSkew as 0 and refuses it (must be greater than zero).",
        "Only the domain of the candidate node must satisfy maxSkew. Other domains may differ by more: with 3/1/1 pods "
        "and maxSkew 1, either of the two smaller domains accepts a pod.",
        "The constraint applies only when a pod is scheduled. Scaling down, evictions and lost nodes can make the "
        "spread uneven afterwards.",
    ),
)

TOPOLOGY_KEY = FieldDoc(
    "topologyKey",
    "string",
    (
        "The key of a node label. Nodes with the same value are one domain: topology.kubernetes.io/zone makes each "
        "zone a domain, kubernetes.io/hostname each node.",
        "A domain is eligible if at least one of its nodes passes nodeAffinityPolicy and nodeTaintsPolicy and has the "
        "topologyKeys of all the pod's DoNotSchedule constraints.",
    ),
    required=True,
    default=_NO_DEFAULT,
    since=_CONSTRAINTS_SINCE,
    notes=(
        "A DoNotSchedule constraint rejects a node without the label (missing required label) and does not count its "
        "pods. A ScheduleAnyway constraint allows the node, but its score from the pod's constraints is 0.",
        "Only existing nodes make domains. A zone whose node pool is scaled to zero is not a domain, so it does not "
        "keep the global minimum at 0. Set minDomains to require more domains.",
        "If no node has the label, for example because the key is misspelled, pods with a DoNotSchedule constraint "
        "stay pending.",
    ),
)

WHEN_UNSATISFIABLE = FieldDoc(
    "whenUnsatisfiable",
    "string",
    (
        "The effect on a node where the pod would violate the constraint:",
        "    DoNotSchedule    the node is rejected (a hard constraint); if all\n"
        "                     nodes are rejected, the pod stays pending\n"
        "    ScheduleAnyway   the node scores lower than nodes in emptier\n"
        "                     domains (a soft constraint)",
        "For example, three zones have 3, 1 and 1 matching pods, and a DoNotSchedule constraint has maxSkew 1. The pod "
        "goes to one of the last two zones: 3/2/1 or 3/1/2. The spread is still uneven, but not worse than before.",
    ),
    required=True,
    enum=("DoNotSchedule", "ScheduleAnyway"),
    default=_NO_DEFAULT,
    since=_CONSTRAINTS_SINCE,
    notes=(
        "Kubernetes' API reference calls DoNotSchedule the default, but there is no default: the API server refuses a "
        "constraint without whenUnsatisfiable.",
        "A soft constraint is one of several scores (weight 2 in the default profile). Free resources, image locality "
        "or affinity can outweigh it.",
        "Server-side apply identifies a constraint by topologyKey and whenUnsatisfiable. Client-side apply and kubectl "
        "patch identify it by topologyKey alone.",
    ),
)

_REQUIREMENT_FIELDS = (
    FieldDoc("key", "string", ("The label key that the requirement is about.",), required=True),
    FieldDoc(
        "operator",
        "string",
        (
            "In: the pod has the label, and its value is in values. NotIn: the pod lacks the label, or its value is "
            "not in values. Exists: the pod has the label. DoesNotExist: the pod lacks the label.",
        ),
        required=True,
    ),
    FieldDoc(
        "values",
        "[]string",
        ("The values for In and NotIn, at least one. Exists and DoesNotExist take no values.",),
        notes=("A strategic merge patch replaces the list.",),
    ),
)

LABEL_SELECTOR = FieldDoc(
    "labelSelector",
    "LabelSelector",
    (
        "Selects the counted pods: the pods in the pod's own namespace whose labels fulfil every requirement. "
        "Terminating and finished pods are not counted.",
    ),
    default="none (no pod is counted)",
    since=_CONSTRAINTS_SINCE,
    notes=(
        "Without a labelSelector no pod is counted: the skew is always 0, and the constraint only rejects nodes "
        "without the topologyKey. An empty selector {} does not help: kube-scheduler counts 0 pods for it, although "
        "the pod matches itself.",
        "If a pod does not match its own selector, the counts of other pods decide its node, and the pod itself is not "
        "counted. Replicas with such a selector are not spread.",
        "During a rolling update, pods of the old and the new revision have the same labels and are counted together. "
        "matchLabelKeys: [pod-template-hash] counts each revision separately.",
        "Server-side apply replaces the whole selector. A strategic merge patch merges matchLabels key by key and "
        "replaces matchExpressions.",
    ),
    fields=(
        FieldDoc(
            "matchExpressions",
            "[]LabelSelectorRequirement",
            ("Requirements of a key, an operator and values. All of them and matchLabels must hold.",),
            fields=_REQUIREMENT_FIELDS,
        ),
        FieldDoc(
            "matchLabels",
            "map[string]string",
            ("Labels that the pod must have with exactly these values. Each equals a requirement In with one value.",),
        ),
    ),
)

MIN_DOMAINS = FieldDoc(
    "minDomains",
    "integer",
    (
        "The required number of eligible domains, at least 1. If there are fewer, the global minimum counts as 0, so "
        "no domain gets more than maxSkew matching pods. If there are enough, minDomains has no effect.",
        "For example, three zones have 2 matching pods each, with maxSkew 2 and minDomains 5. For every zone:",
        "    skew = 2 + 1 - 0 = 3 > maxSkew 2",
        "The pod stays pending until there is another zone. A cluster autoscaler that supports minDomains can add one.",
    ),
    default="1",
    since=(
        ("1.24", "alpha, off by default (MinDomainsInPodTopologySpread)"),
        ("1.25", "beta, off by default"),
        ("1.27", "beta, on by default"),
        ("1.30", "stable"),
    ),
    notes=(
        "The API server refuses minDomains with whenUnsatisfiable: ScheduleAnyway.",
        "minDomains does not create domains. It keeps pods pending, and a cluster autoscaler adds nodes for pending "
        "pods.",
        "Domains that nodeAffinityPolicy or nodeTaintsPolicy excludes do not count.",
    ),
)

NODE_AFFINITY_POLICY = FieldDoc(
    "nodeAffinityPolicy",
    "string",
    (
        "Whether the pod's nodeSelector and required node affinity exclude nodes from the count:",
        "    Honor    only matching nodes count, with their domains and pods\n    Ignore   all nodes count",
    ),
    enum=("Honor", "Ignore"),
    default="Honor",
    since=_INCLUSION_SINCE,
    notes=(
        "Ignore affects only the count, not the nodes that the pod can use. An empty zone that the pod's node affinity "
        "excludes then keeps the global minimum at 0, so the pod may stay pending.",
        "Preferred node affinity and a profile's addedAffinity have no effect.",
        "With ScheduleAnyway and kubernetes.io/hostname, the pods on each node count, regardless of the policy.",
    ),
)

NODE_TAINTS_POLICY = FieldDoc(
    "nodeTaintsPolicy",
    "string",
    (
        "Whether taints exclude nodes from the count:",
        "    Honor    nodes with a NoSchedule or NoExecute taint that the pod\n"
        "             does not tolerate are excluded, with their domains and pods\n"
        "    Ignore   all nodes count",
    ),
    enum=("Honor", "Ignore"),
    default="Ignore",
    since=_INCLUSION_SINCE,
    notes=(
        "With the default (Ignore), an empty zone whose nodes are all tainted or cordoned keeps the global minimum at "
        "0, although no pod can go there. During maintenance, this is the usual reason for pending pods.",
        "Honor reads only taints: a node with spec.unschedulable but without the unschedulable taint counts. "
        "PreferNoSchedule taints have no effect.",
    ),
)

MATCH_LABEL_KEYS = FieldDoc(
    "matchLabelKeys",
    "[]string",
    (
        "Pod label keys. The incoming pod's values of these keys are added to labelSelector, so only pods with the "
        "same values are counted. Keys that the pod lacks are ignored.",
        "With pod-template-hash, which a Deployment sets, each revision is spread separately, so the pods are spread "
        "evenly after a rolling update:",
        "    labelSelector: {matchLabels: {app: web}}\n    matchLabelKeys: [pod-template-hash]",
    ),
    default="none (labelSelector alone decides)",
    since=(
        ("1.25", "alpha, off by default (MatchLabelKeysInPodTopologySpread)"),
        ("1.27", "beta, on by default"),
        ("1.34", "beta; the API server writes the keys and values into labelSelector when a pod is created"),
    ),
    notes=(
        "The API server refuses matchLabelKeys without labelSelector, and a key that labelSelector also contains.",
        "Since 1.34, the pod's labels are read once, when the pod is created. Before, they were read at each "
        "scheduling attempt.",
        "Default constraints do not need matchLabelKeys, because the selector of a ReplicaSet has pod-template-hash.",
    ),
)

TOPOLOGY_SPREAD_CONSTRAINTS = FieldDoc(
    "topologySpreadConstraints",
    "[]TopologySpreadConstraint",
    (
        "How the pods of a group are spread over zones, nodes or other domains of the cluster. A node must satisfy "
        "every DoNotSchedule constraint. All ScheduleAnyway constraints together make one score.",
    ),
    default="the scheduler's default constraints, if it finds a selector for the pod",
    since=_CONSTRAINTS_SINCE,
    notes=(
        "The API server refuses two constraints with the same topologyKey and whenUnsatisfiable. It accepts a hard and "
        "a soft constraint with the same topologyKey.",
        "A pod with its own constraints gets no default constraints.",
        "Constraints apply only when a pod is scheduled. kube-scheduler does not move running pods, and scaling down "
        "ignores constraints.",
    ),
    fields=(
        LABEL_SELECTOR,
        MATCH_LABEL_KEYS,
        MAX_SKEW,
        MIN_DOMAINS,
        NODE_AFFINITY_POLICY,
        NODE_TAINTS_POLICY,
        TOPOLOGY_KEY,
        WHEN_UNSATISFIABLE,
    ),
)
