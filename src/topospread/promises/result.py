"""What there is to say of what a workload is promised, as data; how it is found out is in the modules beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from topospread.plain_data import PlainData

About = Literal["now", "loss", "return", "drain", "rollout", "scale", "room", "orders"]
"""How things are, the loss of a domain and its return, a node's drain, a rollout, fewer
and more replicas, orders of pods."""
Held = Literal["yes", "no", "not decided"]


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence that was checked.

    Attributes:
        held: whether it is a promise; ``no`` for a sentence that says what is not promised.
        checked: by what, in words.
        command: that repeats it.
        key: the topology key that it is about, "" for none.
        figures: the numbers of the sentence by name.
    """

    about: About
    held: Held
    text: str
    checked: str
    command: str
    key: str = ""
    figures: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Description(PlainData):
    """The whole answer.

    Attributes:
        constraints: those in force, a phrase each.
    """

    kind: str
    namespace: str
    name: str
    replicas: int
    nodes: int
    constraints: tuple[str, ...]
    statements: tuple[Statement, ...]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def promised(self) -> tuple[Statement, ...]:
        """What holds."""
        return tuple(each for each in self.statements if each.held == "yes")
