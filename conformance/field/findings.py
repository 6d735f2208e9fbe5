"""Where a peer answers otherwise than kube-scheduler: findings from stored answers alone; asks nobody.

Every kind of finding is one statement that both make about the same thing: a node, a node that could be made, a zone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Json = dict[str, Any]


class Finding(NamedTuple):
    """A difference.

    Attributes:
        peer: who answers otherwise.
        kind: what it says otherwise; a key of ``KINDS``.
        about: the nodes, or new nodes as ``pool/zone``, in question.
    """

    peer: str
    kind: str
    about: tuple[str, ...]


KINDS = {
    "takes": "uses a node that kube-scheduler rejects",
    "refuses": "rejects a node that kube-scheduler takes",
    "in-vain": "creates a node that kube-scheduler rejects",
    "not-made": "creates no node that kube-scheduler would take",
    "made-beside": "creates a node although an existing one fits",
    "by-chance": "sometimes finds no node",
    "needless": "evicts a pod that fits its node",
    "overlooked": "evicts no pod although one does not fit its node",
    "into-pending": "evicts a pod that then stays pending",
    "sent-back": "evicts a pod that returns to its node",
}
"""What a peer says otherwise than kube-scheduler."""


def compared(answers: Json) -> list[Finding]:
    """All differences in one situation, by peer."""
    truth = answers["kube-scheduler"]
    out: list[Finding] = []
    if "cluster-autoscaler" in answers:
        out += _autoscaler(truth, answers["cluster-autoscaler"])
    if "karpenter" in answers:
        out += _karpenter(truth, answers["karpenter"])
    if "descheduler" in answers:
        out += _descheduler(truth, answers["descheduler"])
    return out


def _autoscaler(truth: Json, said: Json) -> list[Finding]:
    here, new = set(truth["nodes"]), set(truth["new"])
    found = {
        "takes": set(said["nodes"]) - here,
        "refuses": here - set(said["nodes"]),
        "in-vain": set(said["groups"]) - new,
        "not-made": new - set(said["groups"]),
    }
    return [Finding("cluster-autoscaler", kind, tuple(sorted(about))) for kind, about in found.items() if about]


def _karpenter(truth: Json, said: list[str]) -> list[Finding]:
    here, new = set(truth["nodes"]), set(truth["new"])
    counted = {each.removeprefix("node ") for each in said if each.startswith("node ")}
    made = {each.removeprefix("new ") for each in said if each.startswith("new ")}
    found = {
        "takes": counted - here,
        "in-vain": made - new,
        "made-beside": here if made else set(),
        "refuses": here if said == ["none"] else set(),
        "not-made": new if said == ["none"] and not here else set(),
        "by-chance": here or new if "none" in said and len(said) > 1 else set(),
    }
    return [Finding("karpenter", kind, tuple(sorted(about))) for kind, about in found.items() if about]


def _descheduler(truth: Json, said: list[str]) -> list[Finding]:
    found = {
        "needless": set(said) & set(truth["again"]),
        "overlooked": set(truth["elsewhere"]) if not said else set(),
        "into-pending": set(said) & set(truth["stuck"]),
        "sent-back": set(said) & set(truth["back"]),
    }
    return [Finding("descheduler", kind, tuple(sorted(about))) for kind, about in found.items() if about]
