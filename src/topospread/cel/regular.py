"""Match regular expressions of RE2 in time that is linear in the text, whatever the expression is."""

from __future__ import annotations

import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import accumulate
from typing import Any, Final

from .values import CannotEvaluateError, found_once

MOST_READINGS: Final = 8
"""Maximum number of times that `find_all` reads a text."""
_MOST_STATES: Final = 2_000
_NOT_OF_RE2: Final = re.compile(
    r"\\[zZQECpPuUN]|\\[^\x00-\x7f]|\[\^?\]?[^]]*\\[b1-9]|\[:|\(\?#|\(\?[a-zA-Z]*[aLuxU]"
    r"|\{(?!\}|(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\})[0-9]*,?[0-9]*\}"
)
"""Syntax that Python and RE2 treat differently; such patterns cannot be evaluated."""
_MOST_REPEATS: Final = 1000
"""Maximum number of repetitions in RE2; nested repetitions are multiplied."""
_FOLDED: Final = {"\u017f": "s", "\u212a": "k"}
"""Non-ASCII letter → ASCII letter that it equals if case is ignored."""
_Place = tuple[int, int]
_SPACE: Final = frozenset("\t\n\f\r ")


def is_match(text: str, pattern: str) -> bool:
    """Return whether a pattern matches anywhere in a text.

    Raises:
        CannotEvaluateError: if the pattern has unsupported syntax or is too large.
    """
    return _program(pattern).found(text, any_end=True)[0] is not None


def find(text: str, pattern: str) -> str:
    """Return the leftmost match in a text; "" without a match. If several begin there, take the match Perl prefers.

    Raises:
        CannotEvaluateError: if the pattern has unsupported syntax or is too large.
    """
    place, _ = _preferring(pattern).found(text)
    return "" if place is None else text[slice(*place)]


def find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    """Return the matches in a text that do not overlap, at most ``most`` unless it is negative.

    Raises:
        CannotEvaluateError: if the pattern has unsupported syntax or is too large, or reads the text too often.
    """
    program = _preferring(pattern)
    found: list[str] = []
    begin, last, left = 0, -1, MOST_READINGS * (len(text) + 1)
    while begin <= len(text) and (most < 0 or len(found) < most):
        place, end = program.found(text, begin)
        left -= end - begin
        if left < 0:
            raise CannotEvaluateError("findAll() takes too long")
        if place is None:
            break
        # Like Go, skip an empty match at the end of the previous match.
        if place[1] > begin or place[0] != last:
            found.append(text[slice(*place)])
        begin, last = max(place[1], begin + 1), place[1]
    return found


def work_of(text: str, pattern: str) -> int:
    """Return an upper bound on the steps of a match."""
    return (len(text) + 1) * len(_program(pattern).steps)


class _Program:
    """States of an automaton: each a test of one character, a split, a position, or the end.

    Attributes:
        steps: (kind, argument, next states in order of preference) of each state.
        repeats_empty: whether a repeated part may be empty. RE2 and Perl prefer different matches then.
    """

    def __init__(self, tree: Any) -> None:
        self.steps: list[tuple[str, Any, tuple[int, ...]]] = []
        self.repeats_empty = False
        self._seen = 0
        self._most_repeats = _MOST_REPEATS
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
                return self._add("one", _tester(operator, argument, flags), after)
            case "BRANCH":
                return self._add("split", None, *(self._sequence(each, after, flags) for each in argument[1]))
            case "SUBPATTERN":
                _, added, removed, inner = argument
                return self._sequence(inner, after, (flags | added) & ~removed)
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._repeat(argument, after, flags, lazy=operator == "MIN_REPEAT")
            case "AT":
                return self._add("at", (str(argument), flags), after)
        raise CannotEvaluateError("a regular expression has unsupported syntax")

    def _repeat(self, argument: Any, after: int, flags: int, *, lazy: bool) -> int:
        least, most, inner = argument
        order = -1 if lazy else 1
        self.repeats_empty |= inner.getwidth()[0] == 0
        endless = str(most) == "MAXREPEAT"
        count, most_repeats = least if endless else most, self._most_repeats
        if count > most_repeats:
            raise CannotEvaluateError("a regular expression repeats more often than RE2 does")
        self._most_repeats //= max(count, 1)
        if not most:
            self._sequence(inner, after, flags)  # a part with {0} adds no state, but must be valid, as in RE2
        if endless:
            split = self._add("split", None)
            begin = self._sequence(inner, split, flags)
            self.steps[split] = ("split", None, (begin, after)[::order])
            after = split
        else:
            beyond = after
            for _ in range(most - least):
                after = self._add("split", None, *(self._sequence(inner, after, flags), beyond)[::order])
        for _ in range(least):
            before = len(self.steps)
            after = self._sequence(inner, after, flags)
            if len(self.steps) == before:
                raise CannotEvaluateError("a regular expression repeats nothing")
        self._most_repeats = most_repeats
        return after

    def found(self, text: str, begin: int = 0, *, any_end: bool = False) -> tuple[_Place | None, int]:
        """Return ((begin, end) of the leftmost match or None, position up to which the text was read).

        ``any_end``: whether to stop at the first end found.
        """
        match: _Place | None = None
        position = begin
        threads: dict[int, int] = {}
        for position in range(begin, len(text) + 1):
            waiting = list(threads.items())
            threads = {}
            if match is None:
                waiting.append((self._start, position))
            letter = text[position : position + 1]
            # In order of preference: a match ends all threads after it.
            for state, start in self._closed(waiting, text, position):
                kind, accepts, after = self.steps[state]
                if kind == "end":
                    match = (start, position)
                    if any_end:
                        return match, position
                    break
                if kind == "one" and letter and accepts(letter):
                    threads.setdefault(after[0], start)
            if not threads and match is not None:
                break
        return match, position

    def _closed(self, threads: list[tuple[int, int]], text: str, position: int) -> Iterator[tuple[int, int]]:
        """Yield (state, begin of the match) for all states that the threads reach without reading a character."""
        known: set[int] = set()
        waiting = threads[::-1]
        while waiting:
            state, start = waiting.pop()
            if state in known:
                continue
            known.add(state)
            kind, argument, after = self.steps[state]
            if kind == "split" or (kind == "at" and _is_at(argument[0], argument[1], text, position)):
                waiting += [(each, start) for each in reversed(after)]
            else:
                yield state, start


def _tester(operator: str, argument: Any, flags: int) -> Callable[[str], bool]:
    """Return a test of one character. Its cost hardly depends on the size of the character class."""
    if operator == "ANY":
        return lambda letter: letter != "\n" or bool(flags & re.DOTALL)
    members = [(str(kind), what) for kind, what in argument] if operator == "IN" else [("LITERAL", argument)]
    spans = sorted(what if kind == "RANGE" else (what, what) for kind, what in members if kind in ("RANGE", "LITERAL"))
    begins = [begin for begin, _ in spans]
    ends = list(accumulate((end for _, end in spans), max))
    categories = {str(what).removeprefix("CATEGORY_") for kind, what in members if kind == "CATEGORY"}
    expected = operator != "NOT_LITERAL" and not any(kind == "NEGATE" for kind, _ in members)
    folds = bool(flags & re.IGNORECASE)
    if folds and ends and ends[-1] > 127:
        raise CannotEvaluateError("a regular expression ignores the case of letters beyond ASCII")

    def accepts(letter: str) -> bool:
        one = _FOLDED.get(letter, letter) if folds else letter
        letters = {one.lower(), one.upper()} if folds and one.isascii() else {one}
        for each in letters:
            before = bisect_right(begins, ord(each))
            if before and ord(each) <= ends[before - 1]:
                return expected
        return expected if any(_in_category(letters, name) for name in categories) else not expected

    return accepts


def _in_category(letters: set[str], name: str) -> bool:
    inside = {
        "DIGIT": any(each.isascii() and each.isdigit() for each in letters),
        "WORD": any(map(_is_word, letters)),
        "SPACE": not letters.isdisjoint(_SPACE),
    }[name.removeprefix("NOT_")]
    return inside != name.startswith("NOT_")


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
        raise CannotEvaluateError("a regular expression has unsupported syntax")
    parser: Any = import_module("re._parser")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = parser.parse(pattern, re.ASCII)
    except (re.error, RecursionError, OverflowError, Warning):
        raise CannotEvaluateError("a regular expression of the selector is not valid") from None
    return _Program(tree)


def _preferring(pattern: str) -> _Program:
    program = _program(pattern)
    if program.repeats_empty:
        raise CannotEvaluateError("a regular expression repeats a part that may be empty")
    return program
