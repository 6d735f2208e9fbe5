"""kube-scheduler's reasons in few words, for the places where a whole sentence does not fit."""

from __future__ import annotations

from collections.abc import Mapping

SPREAD = "node(s) didn't match pod topology spread constraints"

_SHORT = {
    SPREAD: "are ruled out by another constraint",
    f"{SPREAD} (missing required label)": "lack a topology key",
    "Too many pods": "have no room for another pod",
    "node(s) were unschedulable": "are cordoned",
    "node(s) had untolerated taint(s)": "are tainted",
    "node(s) didn't match Pod's node affinity/selector": "are excluded by node affinity",
    "node(s) didn't match scheduler-enforced node affinity": "are excluded by the scheduler's added affinity",
    "node(s) didn't have free ports for the requested pod ports": "have the host port in use",
    "node(s) didn't match pod anti-affinity rules": "are ruled out by pod anti-affinity",
    "node(s) didn't satisfy existing pods anti-affinity rules": "are ruled out by other pods' anti-affinity",
    "node(s) didn't match pod affinity rules": "have no pod to be near to",
}


def short(reason: str) -> str:
    """What a reason says of nodes: ``lack cpu``, ``are cordoned``; the reason itself where there is no short word."""
    if reason.startswith("Insufficient "):
        return f"lack {reason.removeprefix('Insufficient ')}"
    if reason.startswith("node(s) had untolerated taint {"):
        return "are tainted"
    return _SHORT.get(reason, reason.removeprefix("node(s) "))


def nodes_and(reasons: Mapping[str, int], nodes: int, *, by_spread: bool = False) -> str:
    """``3 nodes, all lack cpu``; ``3 nodes: 2 lack cpu, 1 is cordoned``.

    ``by_spread``: whether rejections by spread constraints are told; where the domain's own sum says it, they are not.
    """
    count = f"{nodes} node" + ("" if nodes == 1 else "s")
    told = {reason: number for reason, number in reasons.items() if by_spread or not reason.startswith(SPREAD)}
    if not told:
        return count
    if len(told) == 1 and next(iter(told.values())) == nodes:
        words = _agreeing(short(next(iter(told))), nodes)
        return f"{count}, which {words}" if nodes == 1 else f"{count}, all {words}"
    parts = (f"{number} {_agreeing(short(reason), number)}" for reason, number in sorted(told.items()))
    return f"{count}: {', '.join(parts)}"


def _agreeing(words: str, number: int) -> str:
    if number != 1:
        return words
    verb, space, rest = words.partition(" ")
    return {"are": "is", "have": "has", "lack": "lacks"}.get(verb, verb) + space + rest
