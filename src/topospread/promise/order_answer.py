"""The answer to a question about every order of pods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from topospread.drill.steps import TurnKind

Answered = Literal["always", "never", "not always", "not decided"]
Lacks = Literal["", "budget", "pods", "sampling", "rollout"]
"""Why a question is undecided: the search ended early, pods are not judged, kube-scheduler samples nodes, or a rollout
cannot begin. "" if the question is decided."""


@dataclass(frozen=True, slots=True)
class OrderStep:
    """One pod of an order.

    Attributes:
        workload: ``KIND/NAME``.
        node: the pod's node; "" for a pod that stays pending, or if any one of the new pods becomes ready.
        equal: other nodes with equal rank; kube-scheduler may choose any of them.
        does: the pod's change; changes other than a placement occur only in rollouts.
    """

    namespace: str
    workload: str
    name: str
    node: str
    equal: tuple[str, ...] = ()
    does: TurnKind = "placed"


@dataclass(frozen=True, slots=True)
class GuaranteeAnswer:
    """One question answered.

    Attributes:
        question: the question in words; "yes" is the good answer.
        states: number of cluster states that were searched, equivalent states once; 0 if the answer was counted.
        ends: number of final states among them, in which no pod can be placed any more.
        order: an order that breaks the promise; empty if none is known.
        why: the problem at the order's end, the reason for no decision, or the count.
        drawn: number of random orders that were completed.
        write: returns the order as a ``kind: Drill`` file; ``None`` if it cannot start from the input.
        lacks: why the question is undecided; "" if it is decided.
        left: the fewest pods that a loss leaves in the order; ``None`` for other questions.
    """

    question: str
    answer: Answered
    states: int
    ends: int
    order: tuple[OrderStep, ...] = ()
    why: str = ""
    write: Callable[[], str] | None = None
    drawn: int = 0
    lacks: Lacks = ""
    left: int | None = None

    @property
    def drill(self) -> str:
        """The order as a ``kind: Drill`` file; "" if it cannot be written as one."""
        return self.write() if self.write is not None and self.fails else ""

    @property
    def fails(self) -> bool:
        """True if an order of the pods is known in which the answer to the question is no."""
        return self.answer in ("never", "not always")
