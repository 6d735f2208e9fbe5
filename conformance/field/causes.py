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
        "With fewer domains than `minDomains`, kube-scheduler takes the minimum to be 0. descheduler's "
        "constraint has no such field, so it evicts pods for which kube-scheduler then has no node.",
        f"{DESCHEDULER}`, `newTopologySpreadConstraint",
        ("into-pending", "overlooked", "needless", "sent-back"),
        lambda case: bool(_constraints(case, "minDomains")),
    ),
    Cause(
        "evictable-pods-only",
        "descheduler",
        "Only pods that it may evict are counted",
        "kube-scheduler counts every pod that the selector selects. descheduler counts only pods that "
        "its evictor accepts: not pods without an owner, of a DaemonSet, with local storage or of a "
        "system priority.",
        f"{DESCHEDULER}`, `New` and `Balance",
        ("needless", "overlooked", "sent-back", "into-pending"),
        lambda case: _some(case, "bare"),
    ),
    Cause(
        "empty-selector",
        "descheduler",
        "An empty selector selects everything",
        "`labelSelector: {}` selects every pod in the API. kube-scheduler's `countPodsMatchSelector` "
        "returns 0 for it; descheduler counts every pod of the namespace.",
        f"{DESCHEDULER}`, `Balance",
        ("needless", "sent-back", "into-pending"),
        _selector_selects_nothing,
    ),
    Cause(
        "node-without-the-key",
        "descheduler",
        "A pod on a node without the key is not evicted",
        "kube-scheduler rejects a node that lacks the key of a hard constraint, and does not count its "
        "pods. descheduler skips the pod; with two keys it counts pods that kube-scheduler leaves out.",
        f"{DESCHEDULER}`, `Balance",
        ("overlooked", "needless", "into-pending", "sent-back"),
        _lacks_a_key,
    ),
    Cause(
        "not-asked-whether-let-in",
        "descheduler",
        "No check whether the constraint admits the pod to another node",
        "Before an eviction, descheduler checks resources, taints and node affinity of nodes below the "
        "average (`PodFitsAnyOtherNode`), but not the constraint. If an empty domain takes no pod, the "
        "minimum stays 0, and the constraint rejects all other domains.",
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
        "kube-scheduler accepts a cordoned node for a pod that tolerates "
        "`node.kubernetes.io/unschedulable`. cluster-autoscaler skips every node with "
        "`spec.unschedulable` before it runs predicates.",
        "simulator/clustersnapshot/predicate/plugin_runner.go`, `RunFiltersUntilPassingNode",
        ("refuses",),
        lambda case: any(each.get("unschedulable") for each in case["nodes"]),
    ),
)
_KARPENTER = (
    Cause(
        "empty-value",
        "karpenter",
        "An empty label value is no domain",
        "For kube-scheduler the empty value of a label is a domain like any other. For Karpenter, "
        'a domain `""` means that it found no domain.',
        f"{KARPENTER}topologygroup.go`, `nextDomainTopologySpread",
        ("refuses", "not-made"),
        lambda case: any("" in each["labels"].values() for each in case["nodes"]),
    ),
    Cause(
        "min-domains-not-in-the-hash",
        "karpenter",
        "Two constraints over one key share one `minDomains`",
        "Karpenter identifies a constraint by a hash without `minDomains`. If a pod has a soft and a hard "
        "constraint over one key, the `minDomains` of the first applies to both.",
        f"{KARPENTER}topologygroup.go`, `Hash",
        ("in-vain", "takes"),
        lambda case: _soft(case) and bool(_constraints(case, "minDomains")),
    ),
    Cause(
        "prefer-no-schedule",
        "karpenter",
        "A `PreferNoSchedule` taint rejects pods",
        "For kube-scheduler this taint is a preference, which `nodeTaintsPolicy: Honor` ignores too. "
        "Karpenter requires a toleration for every taint, when it counts and when it evaluates existing "
        "nodes.",
        "pkg/scheduling/taints.go`, `Tolerates",
        ("in-vain", "takes", "refuses", "not-made", "made-beside"),
        _softly_tainted,
    ),
    Cause(
        "selector-missing-counts-all",
        "karpenter",
        "A missing selector counts every pod",
        "kube-scheduler counts no pod without a labelSelector. Karpenter lists pods with `labels.Everything()`.",
        f"{KARPENTER}topology.go`, `TopologyListOptions",
        ("refuses", "not-made", "made-beside"),
        lambda case: any("labelSelector" not in each for each in case["pod"]["constraints"]),
    ),
    Cause(
        "selector-empty-counts-all",
        "karpenter",
        "An empty selector selects everything",
        "kube-scheduler's `countPodsMatchSelector` returns 0 for `labelSelector: {}`. Karpenter counts every pod.",
        f"{KARPENTER}topology.go`, `TopologyListOptions",
        ("refuses", "not-made", "made-beside"),
        _selector_selects_nothing,
    ),
    Cause(
        "contradiction",
        "karpenter",
        "Contradicting selectors accept a node without the label",
        "A nodeSelector that requires a value and an affinity that forbids it leave no value. Karpenter "
        "then accepts a node without the label; kube-scheduler rejects it.",
        "pkg/scheduling/requirements.go`, `Compatible",
        ("takes", "in-vain", "made-beside"),
        lambda case: "nodeSelector" in case["pod"] and "affinity" in case["pod"],
    ),
    Cause(
        "preferences-first",
        "karpenter",
        "A soft constraint is hard at first",
        "For kube-scheduler a soft constraint rejects no node. Karpenter first treats all preferences as "
        "requirements and drops them one by one, so it creates a node instead of using an existing one. "
        "This is intended; `--preference-policy=Ignore` leaves preferences out.",
        f"{KARPENTER}preferences.go`, `Relax",
        ("made-beside", "refuses"),
        _soft,
    ),
    Cause(
        "hostname-minimum-zero",
        "karpenter",
        "The minimum over hosts is 0",
        "kube-scheduler takes the minimum over existing nodes. Karpenter takes 0, because it can always "
        "create a node. So no node gets more than `maxSkew` pods. This is intended.",
        f"{KARPENTER}topologygroup.go`, `domainMinCount` and `nextDomainTopologySpread",
        ("made-beside", "refuses"),
        lambda case: HOST in _keys(case),
    ),
    Cause(
        "second-key",
        "karpenter",
        "A node that lacks another constraint's key is counted",
        "kube-scheduler excludes a node that lacks the key of any hard constraint from all counts. "
        "Karpenter excludes it only from the count of the constraint over that key.",
        f"{KARPENTER}topology.go`, `countDomains",
        ("refuses", "not-made", "made-beside", "in-vain", "takes"),
        lambda case: _lacks_a_key(case) and len(_keys(case)) > 1,
    ),
    Cause(
        "zones-that-could-be",
        "karpenter",
        "A domain that a pool can create is an empty domain",
        "kube-scheduler counts domains of existing nodes. Karpenter also counts every domain that a pool "
        "can create, with 0 pods. This is intended, and includes pools whose taints or labels exclude the pod. "
        "The minimum then stays 0, and the pod gets no existing node although kube-scheduler gives it one.",
        f"{KARPENTER}topology.go`, `buildDomainGroups",
        ("made-beside", "refuses", "not-made"),
        _pool_could_add_a_domain,
    ),
    Cause(
        "emptiest-only",
        "karpenter",
        "Only the emptiest domain is tried, even if no pool can create it",
        "kube-scheduler accepts every domain within `maxSkew`. Karpenter takes a domain with the lowest "
        "count. If no pool creates nodes there, the pod stays pending in this round.",
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
