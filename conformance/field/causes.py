"""Why a peer answers otherwise: for every smallest case the place in the peer's source; asks nobody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conformance.field.situations import HOST

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


_SPREADING = (
    Cause(
        "min-domains-unread",
        "descheduler",
        "`minDomains` is not read",
        "While there are fewer domains than `minDomains`, kube-scheduler takes the least count to be 0. descheduler's"
        " own form of a constraint has no such field, so it balances what is there; what it evicts finds no place.",
        f"{DESCHEDULER}`, `newTopologySpreadConstraint",
        ("into-pending", "overlooked", "needless", "sent-back"),
        lambda case: bool(_constraints(case, "minDomains")),
    ),
    Cause(
        "evictable-pods-only",
        "descheduler",
        "Only pods that it may evict are counted",
        "kube-scheduler counts every pod that the selector selects. descheduler lists the pods that its evictor would"
        " let go, and counts those: here a pod without an owner is left out, and in clusters those with local storage,"
        " of a DaemonSet or of a system priority, unless made evictable. The evictor's filter is meant so; that"
        " it decides what is counted, too, follows from where it is asked.",
        f"{DESCHEDULER}`, `New` and `Balance",
        ("needless", "overlooked", "sent-back", "into-pending"),
        lambda case: _some(case, "bare"),
    ),
    Cause(
        "empty-selector",
        "descheduler",
        "An empty selector selects everything",
        "`labelSelector: {}` selects every pod by the rules of the API. kube-scheduler's count returns 0 for it at once"
        " (`countPodsMatchSelector`), so that nothing is ever skewed; descheduler counts every pod of the namespace.",
        f"{DESCHEDULER}`, `Balance",
        ("needless", "sent-back", "into-pending"),
        _selector_selects_nothing,
    ),
    Cause(
        "node-without-the-key",
        "descheduler",
        "A pod on a node without the key is passed over",
        "kube-scheduler lets no pod on a node that lacks the topology key of one of its hard constraints, and does not"
        " count the pods there. descheduler goes on to the next pod; where a pod has two keys, it counts"
        " what kube-scheduler leaves out. That a pod on such a node is no matter of balance is a way to see it.",
        f"{DESCHEDULER}`, `Balance",
        ("overlooked", "needless", "into-pending", "sent-back"),
        _lacks_a_key,
    ),
    Cause(
        "not-asked-whether-let-in",
        "descheduler",
        "Whether the constraint lets the pod in elsewhere is not asked",
        "Before it evicts, descheduler asks whether some node of a domain below the average takes the pod by its"
        " resources, taints and node affinity (`PodFitsAnyOtherNode`), not whether kube-scheduler would then let it in"
        " there. An empty domain that takes no pod holds the least count at 0 and closes all others.",
        f"{DESCHEDULER}`, `balanceDomains",
        ("into-pending", "sent-back", "overlooked"),
        lambda case: True,
    ),
)

CAUSES: tuple[Cause, ...] = _SPREADING
"""All reasons; the first that a case shows is its own."""


def cause_of(case: Json) -> Cause | None:
    """The first cause that explains a smallest case; none: nobody has looked into it yet."""
    for each in CAUSES:
        if each.peer == case["peer"] and case["kind"] in each.kinds and each.shown(case["situation"]):
            return each
    return None
