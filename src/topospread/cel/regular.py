"""Match regular expressions of RE2 in time that is linear in the text, whatever the expression is."""

from __future__ import annotations

import re
import warnings
from importlib import import_module
from typing import Any, Final

from .values import CannotEvaluateError, found_once

_MOST_STATES: Final = 2_000
_NOT_OF_RE2: Final = re.compile(r"\\[zZQECpPuUN]|\(\?[a-zA-Z]*[aLuxU]")
"""Syntax that Python and RE2 treat differently; such patterns are not evaluated."""
_SPACE: Final = frozenset("\t\n\f\r ")


def is_match(text: str, pattern: str) -> bool:
    """Return whether a pattern matches anywhere in a text.

    Raises:
        CannotEvaluateError: if the pattern has unsupported syntax or is too large.
    """
    return _program(pattern).found(text)


def work_of(text: str, pattern: str) -> int:
    """Return the steps that a match takes at most."""
    return (len(text) + 1) * len(_program(pattern).steps)


class _Program:
    """States of an automaton: each a test of one character, a split, a position, or the end.

    Attributes:
        steps: per state its kind, its argument and the states that follow.
    """

    def __init__(self, tree: Any) -> None:
        self.steps: list[tuple[str, Any, tuple[int, ...]]] = []
        self._seen = 0
        end = self._add("end", None)
        self._start = self._sequence(tree, end, tree.state.flags)

    def _add(self, kind: str, argument: Any, *after: int) -> int:
        if len(self.steps) >= _MOST_STATES:
            raise CannotEvaluateError("a regular expression is too large")
        self.steps.append((kind, argument, after))
        return len(self.steps) - 1

    def _sequence(self, tree: Any, after: int, flags: int) -> int:
        for operator, argument in reversed(list(tree)):
            after = self._one(str(operator), argument, after, flags)
        return after

    def _one(self, operator: str, argument: Any, after: int, flags: int) -> int:
        self._seen += 1
        if self._seen > 2 * _MOST_STATES:
            raise CannotEvaluateError("a regular expression is too large")
        match operator:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                return self._add("one", (operator, argument, flags), after)
            case "BRANCH":
                return self._add("split", None, *(self._sequence(each, after, flags) for each in argument[1]))
            case "SUBPATTERN":
                _, added, removed, inner = argument
                return self._sequence(inner, after, (flags | added) & ~removed)
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._repeat(argument, after, flags)
            case "AT":
                return self._add("at", (str(argument), flags), after)
        raise CannotEvaluateError("a regular expression has what is not evaluated here")

    def _repeat(self, argument: Any, after: int, flags: int) -> int:
        least, most, inner = argument
        if most > 1000:
            split = self._add("split", None)
            begin = self._sequence(inner, split, flags)
            self.steps[split] = ("split", None, (begin, after))
            after = split
        else:
            beyond = after
            for _ in range(most - least):
                after = self._add("split", None, self._sequence(inner, after, flags), beyond)
        for _ in range(least):
            before = len(self.steps)
            after = self._sequence(inner, after, flags)
            if len(self.steps) == before:
                raise CannotEvaluateError("a regular expression repeats nothing")
        return after

    def found(self, text: str) -> bool:
        states: set[int] = set()
        for position in range(len(text) + 1):
            states.add(self._start)
            states = self._closed(states, text, position)
            if any(self.steps[each][0] == "end" for each in states):
                return True
            if position < len(text):
                letter = text[position]
                states = {
                    self.steps[each][2][0]
                    for each in states
                    if self.steps[each][0] == "one" and _accepts(letter, *self.steps[each][1])
                }
        return False

    def _closed(self, states: set[int], text: str, position: int) -> set[int]:
        """Return the states with all that are reached without a character."""
        known: set[int] = set()
        waiting = list(states)
        while waiting:
            state = waiting.pop()
            if state in known:
                continue
            known.add(state)
            kind, argument, after = self.steps[state]
            if kind == "split" or (kind == "at" and _is_at(argument[0], argument[1], text, position)):
                waiting += after
        return known


def _accepts(letter: str, operator: str, argument: Any, flags: int) -> bool:
    letters = {letter, letter.lower(), letter.upper()} if flags & re.IGNORECASE else {letter}
    if operator == "ANY":
        return letter != "\n" or bool(flags & re.DOTALL)
    if operator == "IN":
        negated = any(str(kind) == "NEGATE" for kind, _ in argument)
        return negated != any(_in_class(each, str(kind), what) for kind, what in argument for each in letters)
    found = any(ord(each) == argument for each in letters if len(each) == 1)
    return found == (operator == "LITERAL")


def _in_class(letter: str, kind: str, what: Any) -> bool:
    if len(letter) != 1 or kind == "NEGATE":
        return False
    if kind == "LITERAL":
        return bool(ord(letter) == what)
    if kind == "RANGE":
        return bool(what[0] <= ord(letter) <= what[1])
    name = str(what).removeprefix("CATEGORY_").removeprefix("NOT_")
    inside = {
        "DIGIT": letter.isascii() and letter.isdigit(),
        "WORD": _is_word(letter),
        "SPACE": letter in _SPACE,
    }[name]
    return inside != ("NOT_" in str(what))


def _is_word(letter: str) -> bool:
    return letter.isascii() and (letter.isalnum() or letter == "_")


def _is_at(where: str, flags: int, text: str, position: int) -> bool:
    lines = bool(flags & re.MULTILINE)
    before = position == 0 or (lines and text[position - 1] == "\n")
    after = position == len(text) or (lines and text[position] == "\n")
    boundary = (position > 0 and _is_word(text[position - 1])) != (position < len(text) and _is_word(text[position]))
    return {
        "AT_BEGINNING": before,
        "AT_BEGINNING_STRING": position == 0,
        "AT_END": after,
        "AT_BOUNDARY": boundary,
        "AT_NON_BOUNDARY": not boundary,
    }.get(where, False)


@found_once(256)
def _program(pattern: str) -> _Program:
    if len(pattern) > 1000 or _NOT_OF_RE2.search(pattern):
        raise CannotEvaluateError("a regular expression has what is not evaluated here")
    parser: Any = import_module("re._parser")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = parser.parse(pattern, re.ASCII)
    except (re.error, RecursionError, OverflowError, Warning):
        raise CannotEvaluateError("a regular expression is not understood") from None
    return _Program(tree)
