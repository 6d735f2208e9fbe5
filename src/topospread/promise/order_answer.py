"""The answers to questions on every order, as the search gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from topospread.drill.steps import TurnKind

Answered = Literal["always", "never", "not always", "not decided"]
Lacks = Literal["", "budget", "pods", "sampling", "rollout"]
"""The reason why nothing is decided: the search ended early, pods are not judged, kube-scheduler samples nodes, or a
rollout cannot begin."""


@dataclass(frozen=True, slots=True)
class OrderStep:
    """One pod of an order.

    Attributes:
        workload: ``KIND/NAME``.
        node: where it goes or was, "" for a pod that stays pending, and for one of several new ones that is ready.
        equal: other nodes that are as good; kube-scheduler takes any of them.
        does: what happens to it; a rollout alone does more than place pods.
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
        question: in words, so that yes is good.
        states: how many states of the cluster were looked at; states that are alike are one; 0 where it was counted.
        ends: how many of them are ends, in which no pod can be placed any more.
        order: one in which it does not hold, to its end; empty where there is none, or none is known.
        why: what is wrong at its end, why nothing was decided, or what was counted.
        drawn: how many orders were drawn at random, and played to their end.
        write: writes the order as a ``kind: Drill`` file; ``None`` if it begins elsewhere.
        lacks: why nothing is decided, "" if it is.
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
        return self.write() if self.write is not None and self.order else ""

    @property
    def fails(self) -> bool:
        """True if an order of the pods is known in which the answer to the question is no."""
        return self.answer in ("never", "not always")
