"""Why a peer answers otherwise: for every smallest case the place in the peer's source; asks nobody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conformance.field.situations import HOST, ZONE

Json = dict[str, Any]

DESCHEDULER = "pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go"
KARPENTER = "pkg/controllers/provisioning/scheduling/"


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason.

    Attributes:
        id: how it is called here.
        peer: whose.
        title: what the peer does.
        why: what both do, in two or three sentences; whether it is meant so.
        source: file and function in the peer's source.
        kinds: of the findings that it explains.
        shown: whether it is what a smallest situation shows.
    """

    id: str
    peer: str
    title: str
    why: str
    source: str
    kinds: tuple[str, ...]
    shown: Callable[[Json], bool]


def _constraints(situation: Json, field: str) -> list[Any]:
    return [each[field] for each in situation["pod"]["constraints"] if field in each]


def _keys(situation: Json) -> list[str]:
    return _constraints(situation, "topologyKey")


def _soft(situation: Json) -> bool:
    return "ScheduleAnyway" in _constraints(situation, "whenUnsatisfiable")


def _some(situation: Json, field: str) -> bool:
    return any(each.get(field) for each in situation["pods"])


def _honours(situation: Json) -> bool:
    return "Honor" in _constraints(situation, "nodeTaintsPolicy")


def _softly_tainted(situation: Json) -> bool:
    tainted = [taint for each in [*situation["nodes"], *situation["pools"]] for taint in each.get("taints", ())]
    return any(each["effect"] == "PreferNoSchedule" for each in tainted)


def _lacks_a_key(situation: Json) -> bool:
    lacking = [each for each in situation["nodes"] if set(_keys(situation)) - {*each["labels"], HOST}]
    return bool(lacking)


def _selector_selects_nothing(situation: Json) -> bool:
    return any(not each.get("labelSelector") for each in situation["pod"]["constraints"])


def _pool_could_add_a_domain(situation: Json) -> bool:
    key = _keys(situation)[0]
    here = {each["labels"].get(key) for each in situation["nodes"]}
    for pool in situation["pools"]:
        could = set(pool["zones"]) if key == ZONE else {pool.get("labels", {}).get(key)} - {None}
        if could - here:
            return True
    return False


_DESCHEDULER = (
    Cause(
        "min-domains-unread",
        "descheduler",
        "`minDomains` is not read",
        "While there are fewer domains than `minDomains`, kube-scheduler takes the least count to be 0. "
        "descheduler's own form of a constraint has no such field, so it balances what is there; what it evicts "
        "finds no place.",
        f"{DESCHEDULER}`, `newTopologySpreadConstraint",
        ("into-pending", "overlooked", "needless", "sent-back"),
        lambda case: bool(_constraints(case, "minDomains")),
    ),
    Cause(
        "evictable-pods-only",
        "descheduler",
        "Only pods that it may evict are counted",
        "kube-scheduler counts every pod that the selector selects. descheduler lists the pods that its evictor "
        "would let go, and counts those: here a pod without an owner is left out, and in clusters those with "
        "local storage, of a DaemonSet or of a system priority, unless made evictable. The evictor's filter is "
        "meant so; that it decides what is counted, too, follows from where it is asked.",
        f"{DESCHEDULER}`, `New` and `Balance",
        ("needless", "overlooked", "sent-back", "into-pending"),
        lambda case: _some(case, "bare"),
    ),
    Cause(
        "empty-selector",
        "descheduler",
        "An empty selector selects everything",
        "`labelSelector: {}` selects every pod by the rules of the API. kube-scheduler's count returns 0 for it "
        "at once (`countPodsMatchSelector`), so that nothing is ever skewed; descheduler counts every pod of the "
        "namespace.",
        f"{DESCHEDULER}`, `Balance",
        ("needless", "sent-back", "into-pending"),
        _selector_selects_nothing,
    ),
    Cause(
        "node-without-the-key",
        "descheduler",
        "A pod on a node without the key is passed over",
        "kube-scheduler lets no pod on a node that lacks the topology key of one of its hard constraints, and "
        "does not count the pods there. descheduler goes on to the next pod; where a pod has two keys, it counts "
        "what kube-scheduler leaves out. That a pod on such a node is no matter of balance is a way to see it.",
        f"{DESCHEDULER}`, `Balance",
        ("overlooked", "needless", "into-pending", "sent-back"),
        _lacks_a_key,
    ),
    Cause(
        "not-asked-whether-let-in",
        "descheduler",
        "Whether the constraint lets the pod in elsewhere is not asked",
        "Before it evicts, descheduler asks whether some node of a domain below the average takes the pod by its "
        "resources, taints and node affinity (`PodFitsAnyOtherNode`), not whether kube-scheduler would then let "
        "it in there. An empty domain that takes no pod holds the least count at 0 and closes all others.",
        f"{DESCHEDULER}`, `balanceDomains",
        ("into-pending", "sent-back", "overlooked"),
        lambda case: True,
    ),
)

_AUTOSCALER = (
    Cause(
        "cordon-tolerated",
        "cluster-autoscaler",
        "A cordoned node takes no pod, whatever it tolerates",
        "kube-scheduler lets a pod on a cordoned node that tolerates `node.kubernetes.io/unschedulable`. "
        "cluster-autoscaler passes over every node with `spec.unschedulable` before its predicates are run, to "
        "save time. It has nothing to do with spreading: its predicates are kube-scheduler's own plugins, of "
        "1.36.2.",
        "simulator/clustersnapshot/predicate/plugin_runner.go`, `RunFiltersUntilPassingNode",
        ("refuses",),
        lambda case: any(each.get("unschedulable") for each in case["nodes"]),
    ),
)
_KARPENTER = (
    Cause(
        "empty-value",
        "karpenter",
        "A domain without a name is no domain",
        "A label may have the empty value, and for kube-scheduler that is a domain like others. Karpenter keeps "
        'the domain that it found in a string and takes `""` for none found.',
        f"{KARPENTER}topologygroup.go`, `nextDomainTopologySpread",
        ("refuses", "not-made"),
        lambda case: any("" in each["labels"].values() for each in case["nodes"]),
    ),
    Cause(
        "min-domains-not-in-the-hash",
        "karpenter",
        "Constraints that differ in `minDomains` alone are one",
        "Karpenter keeps one count for all constraints with the same hash, and `minDomains` is not hashed: of a "
        "soft and a hard constraint over the same key, the one that comes first in the pod gives its `minDomains` "
        "to both.",
        f"{KARPENTER}topologygroup.go`, `Hash",
        ("in-vain", "takes"),
        lambda case: _soft(case) and bool(_constraints(case, "minDomains")),
    ),
    Cause(
        "prefer-no-schedule",
        "karpenter",
        "`PreferNoSchedule` is taken for a refusal",
        "To kube-scheduler that taint is a wish: it refuses nobody, and `nodeTaintsPolicy: Honor` leaves no such "
        "node out. Karpenter asks whether all taints are tolerated, of whatever effect, both when it counts and "
        "when it looks for a node that is there. For nodes that it makes it adds the toleration where it finds no "
        "place otherwise.",
        "pkg/scheduling/taints.go`, `Tolerates",
        ("in-vain", "takes", "refuses", "not-made", "made-beside"),
        _softly_tainted,
    ),
    Cause(
        "selector-missing-counts-all",
        "karpenter",
        "A missing selector counts every pod",
        "Without a labelSelector a constraint selects no pod, and kube-scheduler counts none. Karpenter lists "
        "pods for counting with `labels.Everything()` where there is no selector.",
        f"{KARPENTER}topology.go`, `TopologyListOptions",
        ("refuses", "not-made", "made-beside"),
        lambda case: any("labelSelector" not in each for each in case["pod"]["constraints"]),
    ),
    Cause(
        "selector-empty-counts-all",
        "karpenter",
        "An empty selector selects everything",
        "`labelSelector: {}` selects every pod by the rules of the API, and so Karpenter counts them. "
        "kube-scheduler's `countPodsMatchSelector` returns 0 for it at once.",
        f"{KARPENTER}topology.go`, `TopologyListOptions",
        ("refuses", "not-made", "made-beside"),
        _selector_selects_nothing,
    ),
    Cause(
        "contradiction",
        "karpenter",
        "Selectors that contradict each other ask for a node without the label",
        "A nodeSelector that wants a value and an affinity that forbids it leave no value. Karpenter then lets "
        "the pod on a node that lacks the label; kube-scheduler asks one after the other and refuses. It has "
        "nothing to do with spreading.",
        "pkg/scheduling/requirements.go`, `Compatible",
        ("takes", "in-vain", "made-beside"),
        lambda case: "nodeSelector" in case["pod"] and "affinity" in case["pod"],
    ),
    Cause(
        "preferences-first",
        "karpenter",
        "A soft constraint is hard at first",
        "To kube-scheduler a soft constraint refuses nobody. Karpenter takes all preferences for requirements and "
        "drops them one by one until it finds a place: it would rather make a node where the constraint holds "
        "than use one that is there. It is meant so (`--preference-policy=Ignore` leaves preferences out).",
        f"{KARPENTER}preferences.go`, `Relax",
        ("made-beside", "refuses"),
        _soft,
    ),
    Cause(
        "hostname-minimum-zero",
        "karpenter",
        "The least count of hosts is 0",
        "kube-scheduler's least count is that of the nodes that there are. As Karpenter can always make one more, "
        "it takes 0, and lets no node have more than `maxSkew` pods: it makes a node where kube-scheduler would "
        "use one that is there. It is meant so, says the source.",
        f"{KARPENTER}topologygroup.go`, `domainMinCount` and `nextDomainTopologySpread",
        ("made-beside", "refuses"),
        lambda case: HOST in _keys(case),
    ),
    Cause(
        "second-key",
        "karpenter",
        "A node that lacks another constraint's key is counted",
        "kube-scheduler counts no node that lacks the key of any of a pod's hard constraints. Karpenter counts "
        "for each constraint by itself.",
        f"{KARPENTER}topology.go`, `countDomains",
        ("refuses", "not-made", "made-beside", "in-vain", "takes"),
        lambda case: _lacks_a_key(case) and len(_keys(case)) > 1,
    ),
    Cause(
        "zones-that-could-be",
        "karpenter",
        "A domain that a pool could make is an empty domain",
        "kube-scheduler counts domains of nodes that there are. Karpenter also counts every value that some pool "
        "could give the key, at 0, so that it makes nodes in new zones instead of using one that is there. That "
        "is meant so. It does the same with the domains of a pool that the pod cannot use, for its taints or its "
        "labels; then 0 stays the least count for ever, and the pod stays pending where kube-scheduler would take "
        "it on a node of its own pool.",
        f"{KARPENTER}topology.go`, `buildDomainGroups",
        ("made-beside", "refuses", "not-made"),
        _pool_could_add_a_domain,
    ),
    Cause(
        "emptiest-only",
        "karpenter",
        "Only the emptiest domain is tried, even one that no pool can make",
        "Every domain within `maxSkew` would do for kube-scheduler. Karpenter takes one with the least count, any "
        "of equal ones, for a node that it would make; if no pool makes nodes there, it finds no place, in this "
        "round at least. The NodePools here do not name their zones; those come of the instance type alone.",
        f"{KARPENTER}topologygroup.go`, `nextDomainTopologySpread",
        ("not-made", "refuses", "by-chance"),
        lambda case: True,
    ),
)

CAUSES: tuple[Cause, ...] = (*_DESCHEDULER, *_KARPENTER, *_AUTOSCALER)
"""All reasons; the first that a case shows is its own."""


def cause_of(case: Json) -> Cause | None:
    """The first cause that explains a smallest case; none: nobody has looked into it yet."""
    for each in CAUSES:
        if each.peer == case["peer"] and case["kind"] in each.kinds and each.shown(case["situation"]):
            return each
    return None
