"""Rules about ignore comments. `run` finds their problems after all other rules."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.lint.examples import GOOD_CONSTRAINT, deployment
from topospread.lint.lint_input import LintInput, LintSubject
from topospread.lint.problem import Problem
from topospread.lint.rule import Example, Rule

from .selectors import SPREAD


def _after_the_others(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    """Yield nothing: unused ignores are known only after all rules ran."""
    yield from ()


_SKEWED = GOOD_CONSTRAINT.replace("maxSkew: 1", "maxSkew: 6")
_GOOD = Example(deployment("# topospread: ignore max-skew-never-binds grows to 20 at noon\n" + _SKEWED))

UNUSED_IGNORE = Rule(
    id="unused-ignore",
    sentence="An ignore comment suppresses no finding.",
    why="It would hide the next finding of this rule.",
    link=f"{SPREAD}#spread-constraint-definition",
    severity="hint",
    check=_after_the_others,
    wrong=Example(deployment("# topospread: ignore max-skew-never-binds, hard-and-soft grows to 20\n" + _SKEWED)),
    right=_GOOD,
)

UNKNOWN_IGNORE = Rule(
    id="unknown-ignore",
    sentence="An ignore comment names an unknown rule.",
    why="A misspelled rule name suppresses nothing, so the finding is still reported.",
    link=f"{SPREAD}#spread-constraint-definition",
    severity="warning",
    check=_after_the_others,
    wrong=Example(deployment("# topospread: ignore max-skew-never-bind grows to 20 at noon\n" + _SKEWED)),
    right=_GOOD,
)

RULES = (UNUSED_IGNORE, UNKNOWN_IGNORE)
