"""What happened as a timeline for people, and as plain data (``docs/reference/replay.md``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from topospread.base import API_VERSION

from .layout import Layout
from .paragraphs import counted, hanging
from .pending import pending_lines
from .sums import plain_sum

if TYPE_CHECKING:
    from topospread.incidents import Incident, NodeAlteration, PodRefusal

Json = dict[str, Any]
_INDENT = 4


def incident_text(found: Incident, layout: Layout) -> str:
    """The timeline, and every refusal with its sums and what began it."""
    lines = sorted([*_happened(found)], key=lambda each: each[0])
    head = (
        f"{found.begins} to {found.ends}, {counted(found.records, 'record')}" if found.begins else "nothing is logged"
    )
    blocks = [layout.style(head, "bold")]
    if lines:
        text = [line for at, words in lines for line in hanging(f"{at}  ", words, layout.width, _INDENT)]
        blocks.append("\n".join(text))
    blocks += ["\n".join(_refusal(each, layout)) for each in found.refusals]
    blocks.append("\n".join(layout.remarks(found.warnings)))
    return "\n\n".join(block for block in blocks if block) + "\n"


def altered(each: NodeAlteration) -> str:
    """``node c1 cordoned``."""
    return f"node {each.node} {each.what}" + (f": {each.detail}" if each.detail else "")


def _happened(found: Incident) -> Iterator[tuple[str, str]]:
    yield from ((each.at, altered(each)) for each in found.alterations)
    yield from ((each.first, f"pod {each.pod} refused: {each.said}") for each in found.refusals)
    yield from ((at, f"pod {pod} on node {node}") for at, pod, node in found.placed)


def _refusal(each: PodRefusal, layout: Layout) -> Iterator[str]:
    until = f"until {each.placed_at}, then on {each.placed_on}" if each.placed_on else "to the end of the log"
    yield from hanging(layout.style(f"{each.pod} ", "bold"), f"waited from {each.first} {until}", layout.width, _INDENT)
    if each.cause is not None:
        began = f"{altered(each.cause)} at {each.cause.at}: without that it would have found a node"
    elif each.group is not None:
        began = "no change of a node in the log: none undone lets it in"
    else:
        began = "not known: as rebuilt, the cluster has no such pod, or a node for it"
    yield from hanging("  began with: ", began, layout.width, _INDENT)
    if each.group is not None:
        if not each.agrees:
            yield from hanging("  differs: ", f"computed for that moment is: {each.computed}", layout.width, _INDENT)
        yield from pending_lines([each.group], layout)


def incident_json(found: Incident) -> Json:
    """All of it, keys always in the same order."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Incident",
        "begins": found.begins,
        "ends": found.ends,
        "records": found.records,
        "alterations": [_alteration(each) for each in found.alterations],
        "refusals": [_refusal_json(each) for each in found.refusals],
        "placed": [{"at": at, "pod": pod, "node": node} for at, pod, node in found.placed],
        "warnings": list(found.warnings),
    }


def _alteration(each: NodeAlteration) -> Json:
    return {"at": each.at, "node": each.node, "what": each.what, "detail": each.detail}


def _refusal_json(each: PodRefusal) -> Json:
    outcomes = each.group.outcomes if each.group is not None else ()
    return {
        "pod": each.pod,
        "first": each.first,
        "last": each.last,
        "said": each.said,
        "computed": each.computed,
        "agrees": each.agrees,
        "sums": [
            {
                "topologyKey": arithmetic.topology_key,
                "domain": outcome.domain.name,
                "sum": plain_sum(arithmetic, outcome.domain),
                "exceeds": outcome.domain.skew > arithmetic.max_skew,
            }
            for arithmetic, domains in outcomes
            for outcome in domains
        ],
        "cause": None if each.cause is None else _alteration(each.cause),
        "placedAt": each.placed_at or None,
        "placedOn": each.placed_on or None,
    }
