"""Regular expressions: the automaton finds what Python's own finds, where RE2 and Python mean the same."""

from __future__ import annotations

import re
from random import Random

import pytest

from topospread.cel import regular
from topospread.cel.regular import _program, find, find_all, is_match
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
        "a{,5}",
        "a{,}",
        "a{02}",
        "x{1001}",
        "x{1001,}",
        "(x{1001}){0}",
        "(a{40}){30}",
        "((a{10}b){10,}){11}",
        r"\é",
        r"[\b]",
        r"[]\1]",
        "[_[:alpha:]]",
        "(?#a)",
        "(?i)é",
        "(?i)[a-ÿ]",
    ],
)
def test_other_dialects_are_not_evaluated(pattern: str) -> None:
    with pytest.raises(CannotEvaluateError):
        is_match("a", pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^a{1000}$", "a" * 1000, True),
        ("^((a{10}){10}){10}$", "a" * 1000, True),
        ("^(a{30,}){33}$", "a" * 990, True),
        ("^a{}{a}$", "a{}{a}", True),
        ("(?i)^k$", "\N{KELVIN SIGN}", True),
        ("(?i)^[^s]$", "\N{LATIN SMALL LETTER LONG S}", False),
        ("(?i)^\\w\\W$", "\N{LATIN SMALL LETTER LONG S}\N{KELVIN SIGN}", False),
        ("(?i)i", "\N{LATIN SMALL LETTER DOTLESS I}", False),
        ("(?i)i", "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}", False),
    ],
)
def test_as_go_matches_it(pattern: str, text: str, expected: bool) -> None:
    assert is_match(text, pattern) == expected


def test_found_where_go_finds_it() -> None:
    draw = Random(8)
    judged = 0
    for _ in range(3000):
        pattern = draw.choice(("", "^", "(?i)")) + _pattern(draw)
        text = "".join(draw.choice("abAB-.1 _é") for _ in range(draw.randrange(8)))
        try:
            found = find(text, pattern)
        except CannotEvaluateError:
            continue
        judged += 1
        python = re.search(pattern, text, re.ASCII)
        assert found == (python[0] if python else ""), (pattern, text)
        assert find_all(text, pattern) == _all_of_go(text, pattern), (pattern, text)
    assert judged > 2000


def _all_of_go(text: str, pattern: str) -> list[str]:
    """``Regexp.FindAllString``."""
    compiled = re.compile(pattern, re.ASCII)
    found, position, last = [], 0, -1
    while position <= len(text) and (match := compiled.search(text, position)):
        if match.end() > position or match.start() != last:
            found.append(match[0])
        position, last = max(match.end(), position + 1), match.end()
    return found


def test_a_character_is_compared_with_few_members_of_a_class() -> None:
    compared = 0

    class Letter(int):
        def __lt__(self, other: int) -> bool:
            nonlocal compared
            compared += 1
            return int(self) < other

    _, accepts, _ = _program(f"[{''.join(chr(0x4E00 + 2 * each) for each in range(900))}]").steps[1]
    regular.ord = lambda letter: Letter(ord(letter))  # type: ignore[attr-defined]
    try:
        assert accepts(chr(0x4E00 + 800))
        assert not accepts(chr(0x4E00 + 801))
    finally:
        del regular.ord  # type: ignore[attr-defined]
    assert compared < 30
