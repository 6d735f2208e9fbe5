"""Promises that a workload declares in annotations: ``zone-loss>=66% node-loss>=4 quorum skew<=1 never-waits``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from topospread.errors import UsageError
from topospread.text import did_you_mean

PROMISE = "topospread.dev/promise"
"""Annotation of a workload that declares promises."""
QUORUM = "topospread.dev/quorum"
"""Annotation of a workload that declares the number of pods that must remain after any loss."""
About = Literal["zone-loss", "node-loss", "drain", "rollout", "skew", "quorum", "never-waits"]
GRAMMAR = "zone-loss>=4 node-loss>=66% drain>=4 rollout>=80% skew<=1 quorum never-waits"
_FORM = re.compile(r"(?P<about>[a-z-]+)(?:(?P<sign>>=|<=)(?P<number>\d{1,9})(?P<percent>%?))?")
_LOSSES = ("zone-loss", "node-loss", "quorum")
"""Promises that a zone-loss or quorum promise includes if their numbers are not higher."""
_QUORUM = re.compile(r"\d{1,9}%?")
_SIGNS: dict[str, str] = {"zone-loss": ">=", "node-loss": ">=", "drain": ">=", "rollout": ">=", "skew": "<="}


@dataclass(frozen=True, slots=True)
class Want:
    """One declared promise.

    Attributes:
        about: name of the promise, such as ``zone-loss`` or ``skew``.
        number: number of pods that must remain, or the maximum skew; 0 for a promise without a number.
        percent: whether the number is a percentage of the replicas.
    """

    about: About
    number: int = 0
    percent: bool = False

    def __str__(self) -> str:
        sign = _SIGNS.get(self.about, "")
        return f"{self.about}{sign}{self.number}{'%' * self.percent}" if sign else self.about

    def least(self, replicas: int) -> int:
        """Return the number of `replicas` that must remain, rounded up; for a quorum, more than half of them."""
        if self.about == "quorum":
            return replicas // 2 + 1
        return -(-self.number * replicas // 100) if self.percent else self.number

    def includes(self, other: Want, replicas: int) -> bool:
        """Return whether a workload that keeps this promise also keeps the other promise."""
        if self.about == "skew":
            return other.about == "skew" and self.number <= other.number
        included = _LOSSES if self.about in ("zone-loss", "quorum") else (self.about,)
        return other.about in included and self.least(replicas) >= other.least(replicas)


def declaration(wants: Iterable[str]) -> str:
    """Return the annotation that declares promises, as a line of YAML."""
    return f'{PROMISE}: "{" ".join(wants)}"'


def read_wants(text: str) -> tuple[Want, ...]:
    """Return the declared promises without duplicates.

    Raises:
        UsageError: if a word is unknown.
    """
    return tuple(dict.fromkeys(map(_want, text.replace(",", " ").split())))


def _want(word: str) -> Want:
    found = _FORM.fullmatch(word)
    about = "" if found is None else found["about"]
    known = next((each for each in get_args(About) if each == about), None)
    if found is None or known is None:
        name = about or re.split("[<>=]", word)[0]
        forms = {re.split("[<>=]", each)[0]: each for each in GRAMMAR.split()}
        if own := re.search("[0-9]{1,9}%?$", word[-10:]):  # keep the user's own number
            forms |= {each: f"{each}{sign}{own[0]}" for each, sign in _SIGNS.items()}
        raise UsageError(f'promise "{word}" is unknown{did_you_mean(name, forms, f"write {GRAMMAR}")}')
    sign = _SIGNS.get(known, "")
    if (found["sign"] or "") != sign or (found["percent"] and known == "skew"):
        quoted = '; in a shell, quote it, because ">" writes a file' if sign and not found["sign"] else ""
        raise UsageError(f'promise "{word}": write {known}{f"{sign}N" if sign else ""}{quoted}')
    number = int(found["number"] or 0)
    if found["percent"] and number > 100:
        raise UsageError(f'promise "{word}": more than 100 % of the replicas')
    return Want(known, number, bool(found["percent"]))


def has_quorum(kind: str, replicas: int) -> bool:
    """Return whether a quorum is assumed to be needed: for StatefulSets with 3, 5, 7 … replicas."""
    return kind == "StatefulSet" and replicas >= 3 and replicas % 2 == 1


def read_declared(promise: str | None, quorum: str | None) -> tuple[Want, ...]:
    """Return the promises that a workload's two annotations declare, without duplicates.

    Raises:
        UsageError: if a word is unknown, or the quorum is not a number of pods.
    """
    if quorum and not _QUORUM.fullmatch(quorum):
        raise UsageError(f'quorum "{quorum}" is no number of pods; write "2" or "66%"')
    losses = f" zone-loss>={quorum} node-loss>={quorum}" if quorum else ""
    return read_wants((promise or "") + losses)
