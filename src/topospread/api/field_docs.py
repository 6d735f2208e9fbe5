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
        text: paragraphs; one that begins with a space is printed unchanged.
        required: whether the API server refuses an object without it.
        enum: the allowed values, if they are limited.
        default: default if the field is unset.
        since: Kubernetes versions, each with the field's stage from then on.
        notes: surprises for users, a sentence or two each.
        fields: the fields below it.
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
_NO_DEFAULT = "none (leaving it out is refused)"

MAX_SKEW = FieldDoc(
    "maxSkew",
    "integer",
    (
        "How unevenly the pods may be spread, from 1. Of a node that the pod could go to, the skew is",
        "    skew = matching pods in the node's domain\n"
        "           + 1 if the pod matches its own selector\n"
        "           - the global minimum",
        "where the global minimum is the number of matching pods in the eligible domain that has the fewest (0 while "
        "there are fewer eligible domains than minDomains).",
        "With whenUnsatisfiable: DoNotSchedule, a node whose skew would exceed maxSkew is out. Three zones that hold "
        "2, 2 and 1 matching pods:",
        "    zone-a   zone-b   zone-c\n      2        2        1        global minimum 1",
        "A pod that matches the selector gives 2 + 1 - 1 = 2 in zone-a and zone-b, 1 + 1 - 1 = 1 in zone-c: with "
        "maxSkew 1 only zone-c is left, with maxSkew 2 any zone will do.",
        "With whenUnsatisfiable: ScheduleAnyway nothing is ruled out. Nodes score worse the more matching pods their "
        "domain holds; the constraint adds count * ln(domains + 2) + (maxSkew - 1) to the sum that is turned into the "
        "score, so a larger maxSkew waters the differences down.",
    ),
    required=True,
    default=_NO_DEFAULT,
    since=_CONSTRAINTS_SINCE,
    notes=(
        "Kubernetes' own API reference speaks of a default of 1. There is none: a constraint without maxSkew reads as "
        "0 and is refused (must be greater than zero).",
        "Only the domain that the pod would join is looked at. Domains may already differ by more: 3/1/1 with maxSkew "
        "1 still takes a pod in either of the smaller two.",
        "The rule holds when a pod is placed and never after: scaling down, evictions and lost nodes may leave the "
        "pods as uneven as they like.",
    ),
)

TOPOLOGY_KEY = FieldDoc(
    "topologyKey",
    "string",
    (
        "The key of a node label. Nodes with the same value are one domain: topology.kubernetes.io/zone makes each "
        "zone a domain, kubernetes.io/hostname each node.",
        "A domain is eligible when at least one of its nodes passes nodeAffinityPolicy and nodeTaintsPolicy and has "
        "the keys of all the pod's DoNotSchedule constraints.",
    ),
    required=True,
    default=_NO_DEFAULT,
    since=_CONSTRAINTS_SINCE,
    notes=(
        "A node without the label is out for a DoNotSchedule constraint (missing required label), and the pods on it "
        "are not counted. For ScheduleAnyway it stays possible, with no points from the pod's "
        "constraints.",
        "Domains are made of the nodes there are. A zone whose node pool is scaled to zero does not exist, and does "
        "not hold the minimum at 0; minDomains is the remedy.",
        "A mistyped key is the same as a label that no node has: pods with a DoNotSchedule constraint stay pending.",
    ),
)

WHEN_UNSATISFIABLE = FieldDoc(
    "whenUnsatisfiable",
    "string",
    (
        "What to do with a node that would break the constraint:",
        "    DoNotSchedule    the node is out (a hard constraint); when all are,\n"
        "                     the pod stays pending\n"
        "    ScheduleAnyway   the node scores lower than those in emptier\n"
        "                     domains (a soft constraint)",
        "Three zones that hold 3, 1 and 1 matching pods, DoNotSchedule with maxSkew 1: the pod goes to one of the last "
        "two, 3/2/1 or 3/1/2. The spread is still uneven; it has not been made worse.",
    ),
    required=True,
    enum=("DoNotSchedule", "ScheduleAnyway"),
    default=_NO_DEFAULT,
    since=_CONSTRAINTS_SINCE,
    notes=(
        "Kubernetes' own API reference calls DoNotSchedule the default. There is none: a constraint without "
        "whenUnsatisfiable is refused.",
        "A soft constraint is one voice of several (weight 2 in the default profile): free resources, image "
        "locality or affinity can outvote it.",
        "Server-side apply tells constraints apart by topologyKey and this field, client-side apply and kubectl patch "
        "by topologyKey alone.",
    ),
)

_REQUIREMENT_FIELDS = (
    FieldDoc("key", "string", ("The label key that the requirement is about.",), required=True),
    FieldDoc(
        "operator",
        "string",
        (
            "In: the label is there and its value is one of values. NotIn: it is not one of them, or the label is "
            "missing. Exists: the label is there. DoesNotExist: it is missing.",
        ),
        required=True,
    ),
    FieldDoc(
        "values",
        "[]string",
        ("The values that In and NotIn compare with, at least one. Exists and DoesNotExist take none.",),
        notes=("A strategic merge patch replaces the list.",),
    ),
)

LABEL_SELECTOR = FieldDoc(
    "labelSelector",
    "LabelSelector",
    (
        "Which pods are counted: those whose labels fulfil every requirement, among the pods of the pod's own "
        "namespace. Pods that are being deleted and pods that have finished are not counted.",
    ),
    default="none (no pod is counted)",
    since=_CONSTRAINTS_SINCE,
    notes=(
        "Left out, it matches no pod at all: the skew is always 0 and the constraint only keeps pods off nodes that "
        "lack the key. The empty selector {} is no better: the scheduler counts 0 pods for it, though the pod matches "
        "itself.",
        "If the pod does not match its own selector, it is placed by the count of other pods and changes nothing by "
        "being there: replicas are not spread among themselves.",
        "During a rolling update the pods of the old and the new revision carry the same labels and are counted "
        "together, unless matchLabelKeys: [pod-template-hash] tells them apart.",
        "Server-side apply replaces the whole selector. A strategic merge patch merges matchLabels key by key and "
        "replaces matchExpressions.",
    ),
    fields=(
        FieldDoc(
            "matchExpressions",
            "[]LabelSelectorRequirement",
            ("Requirements of a key, an operator and values. All must hold, besides matchLabels.",),
            fields=_REQUIREMENT_FIELDS,
        ),
        FieldDoc(
            "matchLabels",
            "map[string]string",
            ("Labels that must be there with exactly these values: each is a requirement In with one value.",),
        ),
    ),
)

MIN_DOMAINS = FieldDoc(
    "minDomains",
    "integer",
    (
        "How many eligible domains there should be, from 1. While there are fewer, the global minimum is taken as 0, "
        "so that no domain gets more than maxSkew matching pods. From that number on it changes nothing.",
        "Three zones that hold 2 matching pods each, maxSkew 2, minDomains 5:",
        "    skew = 2 + 1 - 0 = 3 > maxSkew 2",
        "in every zone: the pod waits until there are more zones, which an autoscaler that knows the constraint can "
        "bring about.",
    ),
    default="1",
    since=(
        ("1.24", "alpha, off by default (MinDomainsInPodTopologySpread)"),
        ("1.25", "beta, off by default"),
        ("1.27", "beta, on by default"),
        ("1.30", "stable"),
    ),
    notes=(
        "Only with whenUnsatisfiable: DoNotSchedule; with ScheduleAnyway it is refused.",
        "It creates no domains and reserves none. It keeps pods pending, which is what makes a cluster autoscaler act.",
        "Domains that nodeAffinityPolicy or nodeTaintsPolicy leave out do not count towards it.",
    ),
)

NODE_AFFINITY_POLICY = FieldDoc(
    "nodeAffinityPolicy",
    "string",
    (
        "Whether the pod's nodeSelector and its required node affinity decide which nodes take part:",
        "    Honor    only nodes that match them count, with their domains and pods\n    Ignore   all nodes count",
    ),
    enum=("Honor", "Ignore"),
    default="Honor",
    since=_INCLUSION_SINCE,
    notes=(
        "Ignore decides the count alone, not where the pod may go. An empty zone that the pod's node affinity excludes "
        "then holds the minimum at 0, and the pod can be left pending.",
        "Preferred node affinity and a profile's addedAffinity play no part.",
        "For ScheduleAnyway with kubernetes.io/hostname a node's own pods are counted, whatever the policy.",
    ),
)

NODE_TAINTS_POLICY = FieldDoc(
    "nodeTaintsPolicy",
    "string",
    (
        "Whether taints decide which nodes take part:",
        "    Honor    nodes with a NoSchedule or NoExecute taint that the pod\n"
        "             does not tolerate are left out, with their domains and pods\n"
        "    Ignore   all nodes count",
    ),
    enum=("Honor", "Ignore"),
    default="Ignore",
    since=_INCLUSION_SINCE,
    notes=(
        "With the default, an empty zone of which every node is tainted or cordoned still holds the minimum at 0, "
        "although no pod can go there: the usual reason of pods that stay pending during maintenance.",
        "Honor reads taints. A node with spec.unschedulable but without its taint counts; PreferNoSchedule never "
        "matters.",
    ),
)

MATCH_LABEL_KEYS = FieldDoc(
    "matchLabelKeys",
    "[]string",
    (
        "Label keys whose values are taken from the pod that is being placed and added to labelSelector: only pods "
        "with the same values are counted. Keys that the pod lacks are dropped.",
        "With pod-template-hash, which a Deployment sets, each revision is spread by itself and a rolling update does "
        "not end uneven:",
        "    labelSelector: {matchLabels: {app: web}}\n    matchLabelKeys: [pod-template-hash]",
    ),
    default="none (labelSelector alone decides)",
    since=(
        ("1.25", "alpha, off by default (MatchLabelKeysInPodTopologySpread)"),
        ("1.27", "beta, on by default"),
        ("1.34", "beta; the API server writes the keys and values into labelSelector when a pod is created"),
    ),
    notes=(
        "Refused without labelSelector, and for a key that labelSelector names itself.",
        "The pod's labels are read once, as it is created (from 1.34) or each time it is tried (before).",
        "Default constraints need none: the selector of a ReplicaSet has pod-template-hash in it.",
    ),
)

TOPOLOGY_SPREAD_CONSTRAINTS = FieldDoc(
    "topologySpreadConstraints",
    "[]TopologySpreadConstraint",
    (
        "How the pods of a group are spread over zones, nodes or other domains of the cluster. A node must satisfy "
        "every DoNotSchedule constraint; the ScheduleAnyway ones together make one of the scores.",
    ),
    default="the scheduler's default constraints, if it finds a selector for the pod",
    since=_CONSTRAINTS_SINCE,
    notes=(
        "Two constraints with the same topologyKey and whenUnsatisfiable are refused; a hard and a soft one of the "
        "same key are not.",
        "A pod with any constraint of its own gets none of the default ones.",
        "Constraints act when a pod is placed. Nothing moves pods afterwards, and scaling down pays no attention.",
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
