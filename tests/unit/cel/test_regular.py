"""Regular expressions: the automaton finds what Python's own finds, where RE2 and Python mean the same."""

from __future__ import annotations

import re
from random import Random

import pytest

from topospread.cel.regular import is_match
from topospread.cel.values import CannotEvaluateError


def _pattern(draw: Random, depth: int = 3) -> str:
    roll = draw.random()
    if not depth or roll < 0.4:
        return draw.choice(("a", "b", "-", ".", r"\.", r"\d", r"\w", r"\s", "[ab]", "[^a]", "[a-c0-9-]", r"\b"))
    one = _pattern(draw, depth - 1)
    if roll < 0.6:
        return one + _pattern(draw, depth - 1)
    if roll < 0.7:
        return f"(?:{one}|{_pattern(draw, depth - 1)})"
    return f"({one}){draw.choice(('*', '+', '?', '{2}', '{1,2}', '{2,}', '*?'))}"


def test_as_python_finds_it() -> None:
    draw = Random(7)
    matched = 0
    for _ in range(3000):
        pattern = draw.choice(("", "^", "(?i)")) + _pattern(draw) + draw.choice(("", r"\Z"))
        text = "".join(draw.choice("abAB-.1 _é") for _ in range(draw.randrange(8)))
        if r"\Z" in pattern:
            pattern, python = pattern.replace(r"\Z", "$"), pattern
        else:
            python = pattern
        expected = re.search(python, text, re.ASCII) is not None
        matched += expected
        assert is_match(text, pattern) == expected, (pattern, text)
    assert 800 < matched < 2900


@pytest.mark.parametrize(
    "pattern",
    [
        "(a",
        "[[:alpha:]]",
        r"\pL",
        r"(?=a)",
        r"(a)\1",
        r"a\Z",
        "a*+",
        "(?>a)",
        "x" * 2000,
        "(?x)a",
        "[a--b]",
        "a{9999}",
    ],
)
def test_other_dialects_are_not_evaluated(pattern: str) -> None:
    with pytest.raises(CannotEvaluateError):
        is_match("a", pattern)
