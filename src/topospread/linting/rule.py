"""What a rule and a finding are; not the rules themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from topospread.errors import Place

from .manifest import PodSource

Severity = Literal["error", "warning", "hint"]


class Problem(NamedTuple):
    """What a rule has found: the field's path in the object, and what is wrong with it."""

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        id: its name, as it is written in reports.
        sentence: what it asks for.
        why: what goes wrong otherwise.
        link: the page of the Kubernetes documentation.
        severity: how bad a finding is.
        check: the problems of one pod or pod template.
    """

    id: str
    sentence: str
    why: str
    link: str
    severity: Severity
    check: Callable[[PodSource], Iterator[Problem]]


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem at its place, with the rule that found it."""

    rule: str
    severity: Severity
    message: str
    place: Place

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.message} [{self.rule}]"
