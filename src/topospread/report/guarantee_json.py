"""Guarantees as plain data: documented in ``docs/reference/guarantee.md``, versioned by ``apiVersion``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topospread.base import API_VERSION

if TYPE_CHECKING:
    from topospread.guarantees import Guarantee, GuaranteeAnswer

Json = dict[str, Any]


def guarantee_json(found: Guarantee) -> Json:
    """All answers, their keys always in the same order."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Guarantee",
        "holds": found.holds,
        "nodes": found.nodes,
        "pods": found.pods,
        "answers": [_answer(each) for each in found.answers],
        "warnings": list(found.warnings),
        "notes": list(found.notes),
        "partial": found.partial,
    }


def _answer(each: GuaranteeAnswer) -> Json:
    return {
        "question": each.question,
        "answer": each.answer,
        "states": each.states,
        "ends": each.ends,
        "why": each.why,
        "order": [
            {
                "namespace": step.namespace,
                "workload": step.workload,
                "name": step.name,
                "node": step.node or None,
                "equal": list(step.equal),
                "does": step.does,
            }
            for step in each.order
        ],
        "drill": each.drill or None,
        "drawn": each.drawn,
    }
