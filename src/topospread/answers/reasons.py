"""Shorten kube-scheduler's rejection reasons, such as `its 3 nodes lack cpu`."""

from __future__ import annotations

from collections.abc import Mapping

from .words import agreeing, counted, joined

SPREAD = "node(s) didn't match pod topology spread constraints"

_SHORT = {
    "Too many pods": "have no room for another pod",
    "node(s) were unschedulable": "are cordoned",
    "node(s) had untolerated taint(s)": "are tainted",
    "node(s) didn't match Pod's node affinity/selector": "are excluded by node affinity",
    "node(s) didn't match scheduler-enforced node affinity": "are excluded by the scheduler's added affinity",
    "node(s) didn't match the requested node name": "are not the requested node",
    "node(s) didn't have free ports for the requested pod ports": "have the host port in use",
    "node(s) didn't match pod anti-affinity rules": "are ruled out by pod anti-affinity",
    "node(s) didn't satisfy existing pods anti-affinity rules": "are ruled out by other pods' anti-affinity",
    "node(s) didn't match pod affinity rules": "have no pod that the pod affinity requires",
    SPREAD: "are ruled out by another constraint",
    f"{SPREAD} (missing required label)": "lack a topology key",
}
_CLOSED = ("node(s) were unschedulable", "node(s) had untolerated taint")
_FULL = ("Insufficient ", "Too many pods")

Reasons = Mapping[str, int]
"""Reason → number of a domain's nodes that are rejected for it."""


def closed(reasons: Reasons) -> dict[str, int]:
    """Return the reasons of cordoned or tainted nodes."""
    return {reason: nodes for reason, nodes in reasons.items() if reason.startswith(_CLOSED)}


def full(reasons: Reasons) -> dict[str, int]:
    """Return the reasons of nodes without room."""
    return {reason: nodes for reason, nodes in reasons.items() if reason.startswith(_FULL)}


def others(reasons: Reasons) -> dict[str, int]:
    """Return the reasons that are not about spread constraints."""
    return {reason: nodes for reason, nodes in reasons.items() if not reason.startswith(SPREAD)}


def nodes_and(reasons: Reasons, nodes: int) -> str:
    """Return a number of nodes with reasons: ``3 nodes, all lack cpu``; ``4 nodes: 2 lack cpu, 1 is cordoned``."""
    count = counted(nodes, "node")
    facts = _facts(reasons)
    if not facts:
        return count
    if len(facts) == 1 and facts[0][1] >= nodes > 1:
        return f"{count}, all {facts[0][0]}"
    if nodes == 1:
        return f"{count}, which {on_it(reasons)}"
    return f"{count}: {_each(facts)}"


def on_it(reasons: Reasons) -> str:
    """Return the reasons for one node: ``lacks cpu``, ``is cordoned``; empty without reasons."""
    return " and ".join(agreeing(words, 1) for words, _ in _facts(reasons))


def of_them(reasons: Reasons) -> str:
    """Return the reasons for nodes of several domains: ``2 lack cpu, 1 is cordoned``; empty without reasons."""
    return _each(_facts(reasons))


def its_nodes(reasons: Reasons, nodes: int) -> str:
    """Return why no node of an admitted domain is feasible; empty if unknown.

    For example ``its 3 nodes lack cpu``.
    """
    facts = _facts(reasons)
    if not facts:
        return ""
    if nodes == 1:
        return f"its node {on_it(reasons)}"
    if len(facts) == 1 and facts[0][1] >= nodes:
        return f"its {nodes} nodes {facts[0][0]}"
    return f"of its {nodes} nodes {_each(facts, nodes)}"


def _each(facts: list[tuple[str, int]], nodes: int = 0) -> str:
    """Return ``all are cordoned, 1 lacks cpu``.

    Args:
        nodes: number of nodes that counts as "all"; 0 if unknown.
    """
    return ", ".join(f"{'all' if number == nodes else number} {agreeing(words, number)}" for words, number in facts)


def _facts(reasons: Reasons) -> list[tuple[str, int]]:
    """Return reasons with node counts, most nodes first. Resources with equal counts are combined."""
    lacking: dict[int, list[str]] = {}
    said: dict[str, int] = {}
    for reason, number in sorted(reasons.items()):
        if reason.startswith("Insufficient "):
            lacking.setdefault(number, []).append(reason.removeprefix("Insufficient "))
        else:
            words = _short(reason)
            said[words] = said.get(words, 0) + number
    said |= {f"lack {joined(names)}": number for number, names in lacking.items()}
    return sorted(said.items(), key=lambda fact: (-fact[1], fact[0]))


def _short(reason: str) -> str:
    if reason.startswith("node(s) had untolerated taint {"):
        return "are tainted"
    return _SHORT.get(reason) or f"are out: {reason.removeprefix('node(s) ')}"
