"""What is wrong with an object as such, whatever it says about spreading: found while reading and comparing."""

from __future__ import annotations

from collections.abc import Iterator

from .examples import GOOD_CONSTRAINT, deployment
from .given import Given, Subject
from .problem import Problem
from .rule import Example, Rule
from .selector_rules import SPREAD


def _refused(given: Given) -> Iterator[tuple[Subject, Problem]]:
    yield from given.refused


VALIDATION = Rule(
    id="validation",
    sentence="The API server takes the object.",
    why="It is refused when it is applied, and so is every object that comes after it in many pipelines.",
    link=f"{SPREAD}#spread-constraint-definition",
    severity="error",
    check=_refused,
    wrong=Example(deployment(GOOD_CONSTRAINT.replace("maxSkew: 1", "maxSkew: 0"))),
    right=Example(deployment(GOOD_CONSTRAINT)),
)

RULES = (VALIDATION,)
