"""The promises that a person declares of a workload: ``zone-loss>=66% node-loss>=4 quorum skew<=1 never-waits``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, get_args

from topospread.errors import UsageError

About = Literal["zone-loss", "node-loss", "drain", "rollout", "skew", "quorum", "never-waits"]
GRAMMAR = "zone-loss>=4 node-loss>=66% drain>=4 rollout>=80% skew<=1 quorum never-waits"
_FORM = re.compile(r"(?P<about>[a-z-]+)(?:(?P<sign>>=|<=)(?P<number>\d+)(?P<percent>%?))?")
_SIGNS: dict[str, str] = {"zone-loss": ">=", "node-loss": ">=", "drain": ">=", "rollout": ">=", "skew": "<="}


@dataclass(frozen=True, slots=True)
class Want:
    """One declared promise.

    Attributes:
        about: the event or state that it is about.
        number: pods that are left, or the greatest skew; 0 if the promise has no number.
        percent: whether the number is a percentage of the replicas.
    """

    about: About
    number: int = 0
    percent: bool = False

    def __str__(self) -> str:
        sign = _SIGNS.get(self.about, "")
        return f"{self.about}{sign}{self.number}{'%' * self.percent}" if sign else self.about

    def least(self, replicas: int) -> int:
        """Return the number of pods of `replicas` that it asks for, rounded up."""
        return -(-self.number * replicas // 100) if self.percent else self.number


def read_wants(text: str) -> tuple[Want, ...]:
    """Return the promises of a declaration, each once.

    Raises:
        UsageError: if a word is not a promise.
    """
    return tuple(dict.fromkeys(map(_want, text.replace(",", " ").split())))


def _want(word: str) -> Want:
    found = _FORM.fullmatch(word)
    about = "" if found is None else found["about"]
    known = next((each for each in get_args(About) if each == about), None)
    if found is None or known is None:
        near = get_close_matches(about or re.split("[<>=]", word)[0], get_args(About), n=1)
        forms = [each for each in GRAMMAR.split() if near and each.startswith(near[0])]
        raise UsageError(f'promise "{word}" is unknown; {f"did you mean {forms[0]}?" if forms else f"write {GRAMMAR}"}')
    sign = _SIGNS.get(known, "")
    if (found["sign"] or "") != sign or (found["percent"] and known == "skew"):
        raise UsageError(f'promise "{word}": write {known}{f"{sign}N" if sign else ""}')
    number = int(found["number"] or 0)
    if found["percent"] and number > 100:
        raise UsageError(f'promise "{word}": more than 100 % of the replicas')
    return Want(known, number, bool(found["percent"]))


def default_wants(kind: str, replicas: int) -> tuple[Want, ...]:
    """Return what is asked of a workload that declares nothing: no single loss takes everything, or the quorum."""
    if has_quorum(kind, replicas):
        return (Want("quorum"),)
    return (Want("zone-loss", 1), Want("node-loss", 1))


def has_quorum(kind: str, replicas: int) -> bool:
    """Return whether more than half of the pods are assumed to be needed: StatefulSets of odd size from 3."""
    return kind == "StatefulSet" and replicas >= 3 and replicas % 2 == 1
