"""Guarantees as a text for people: an answer a question, and the order in which it does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .layout import Layout
from .paragraphs import counted, hanging

if TYPE_CHECKING:
    from topospread.guarantees import Guarantee, GuaranteeAnswer, OrderStep

_STEPS = 24


def guarantee_text(found: Guarantee, layout: Layout) -> str:
    """The whole report."""
    blocks = ["\n".join(_answer(each, layout)) for each in found.answers]
    blocks.append("\n".join(layout.remarks(found.warnings, found.notes)))
    held = sum(each.answer == "always" for each in found.answers)
    pods = f"{counted(found.pods, 'pod')} in any order on {counted(found.nodes, 'node')}"
    total = f"{held} of {counted(len(found.answers), 'question')} always; {pods}"
    total += f"; partial: {found.partial}" if found.partial else ""
    blocks.append(layout.style(total, "bold"))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _answer(each: GuaranteeAnswer, layout: Layout) -> Iterator[str]:
    bad = [] if each.answer == "always" else ["red"]
    head = layout.style(f"{each.answer}: ", "bold", *bad)
    looked = [f"{counted(each.states, 'state')} looked at", counted(each.ends, "end")] if each.states else []
    looked += [f"{counted(each.drawn, 'order')} drawn"] if each.drawn else []
    yield from hanging(head, f"{each.question}  ({', '.join(looked)})" if looked else each.question, layout.width, 2)
    if each.why:
        yield from hanging("  ", each.why, layout.width, 4)
    shown = each.order if layout.wide else each.order[:_STEPS]
    if shown:
        yield "  in this order:"
    digits = len(str(len(each.order)))
    for number, step in enumerate(shown, 1):
        text = _happens(step, f"{step.namespace}/{step.workload.partition('/')[2]}", layout)
        yield from hanging(f"    {number:>{digits}}  ", text, layout.width, digits + 6)
    if len(shown) < len(each.order):
        yield f"    and {len(each.order) - len(shown)} more; -o wide lists them"
    if each.drill:
        yield from hanging("  ", "--drill FILE writes this order as a drill that plays it again", layout.width, 4)


def _happens(step: OrderStep, name: str, layout: Layout) -> str:
    match step.does:
        case "ready":
            return f"a new pod of {name} is ready"
        case "deleted":
            return f"an old pod of {name} on {step.node} is deleted"
        case "gone":
            return f"the deleted pod of {name} on {step.node} is gone"
    others = f", as good: {layout.names(list(step.equal))}" if step.equal else ""
    if step.does == "stands":
        return f"an old pod of {name} on {step.node}{others}"
    return f"{name} on {step.node}{others}" if step.node else f"{name} stays pending"
