"""Suppress findings by the comment ``# topospread: ignore RULE reason`` or the annotation ``topospread.dev/ignore``.

A comment covers the YAML value that starts on its line; a comment on its own line covers the value on the next line. A
comment can therefore cover a whole object or one constraint. The annotation covers its object. Commas separate rules.
In the annotation, semicolons or line ends separate entries.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import Final

import msgspec

from topospread.errors import Place
from topospread.sources.json_layout import TextValue
from topospread.sources.text import Text, printable
from topospread.text import did_you_mean, listed

from .layout import Layouts
from .lint_input import LintSubject

ANNOTATION: Final = "topospread.dev/ignore"
_LONGEST_ANNOTATION: Final = 1 << 18
"""Maximum length of annotations; the API server denies objects with longer ones."""
_MOST_SUGGESTED, _LONGEST_NAME = 20, 100
"""Maximum number of unknown rules for which a similar name is suggested, and maximum length of their names."""
_MOST_NAMED: Final = 3
MOST_IGNORES: Final = 20_000
"""Maximum number of ignores that are read. Later ones suppress nothing."""
_COMMENT: Final = re.compile(r"#\s*topospread:\s*ignore\b(.*)")
_ENTRY: Final = re.compile(r"\s*([\w-]+(?:\s*,\s*[\w-]+)*)(?:\s*:|\s|$)\s*(.*)")
_BETWEEN: Final = re.compile(r"\s*(#.*|---\s*(#.*)?)?")


class Scope(msgspec.Struct, eq=False):
    """The lines and rules that the ignores at one place cover.

    Attributes:
        lines: the covered lines; empty for an annotation, which covers its object.
        rules: suppressed rule → reason; "" without one.
        used: the rules that suppressed at least one finding.
        above: the innermost scope that contains the start of this scope.
    """

    lines: range = range(0)
    rules: dict[str, str] = msgspec.field(default_factory=dict)
    used: set[str] = msgspec.field(default_factory=set)
    above: Scope | None = None


class Ignore(msgspec.Struct, eq=False):
    """One ignore comment, or one entry of an annotation.

    Attributes:
        rules: ids of the suppressed rules.
        reason: the reason; "" without one.
        place: place of the comment or annotation.
        scope: the lines and rules it covers.
    """

    rules: tuple[str, ...]
    reason: str
    place: Place
    scope: Scope


class Ignores:
    """All ignores in the linted texts.

    Attributes:
        all: the first `MOST_IGNORES` ignores, comments first.
        beyond: the next ignore; None without one.
    """

    def __init__(self, texts: list[Text], subjects: list[LintSubject], layouts: Layouts) -> None:
        self._in_text: dict[str, list[Scope]] = {}
        self._of_subject: dict[LintSubject, Scope] = {}
        self.all = list(islice(self._found(texts, subjects, layouts), MOST_IGNORES + 1))
        self.beyond = self.all.pop() if len(self.all) > MOST_IGNORES else None
        for scopes in self._in_text.values():
            _nest(scopes)
        for each in self.all:
            for rule in each.rules:
                each.scope.rules[rule] = each.scope.rules.get(rule) or each.reason

    def _found(self, texts: list[Text], subjects: list[LintSubject], layouts: Layouts) -> Iterator[Ignore]:
        known: dict[tuple[str, range], Scope] = {}
        for text in texts:
            for rules, reason, place, lines in _comments(text, layouts):
                if (key := (text.name, lines)) not in known:
                    known[key] = Scope(lines)
                    self._in_text.setdefault(text.name, []).append(known[key])
                yield Ignore(rules, reason, place, known[key])
        for subject in subjects:
            for rules, reason, place in _annotated(subject, layouts):
                yield Ignore(rules, reason, place, self._of_subject.setdefault(subject, Scope()))

    def take(self, rule: str, subject: LintSubject, place: Place) -> str | None:
        """Return the reason why a finding is suppressed, "" without one, or None if it is not suppressed.

        Mark every matching ignore as used.
        """
        found = [each for each in self._covering(subject, place) if rule in each.rules]
        for each in found:
            each.used.add(rule)
        return next(filter(None, (each.rules[rule] for each in found)), "") if found else None

    def _covering(self, subject: LintSubject, place: Place) -> Iterator[Scope]:
        if subject in self._of_subject:
            yield self._of_subject[subject]
        scopes = self._in_text.get(place.source, [])
        at = bisect_right(scopes, place.line or 0, key=lambda scope: scope.lines.start) - 1
        scope = scopes[at] if at >= 0 else None
        while scope is not None:
            if place.line in scope.lines:
                yield scope
            scope = scope.above


def _nest(scopes: list[Scope]) -> None:
    """Sort the scopes of a text by first line, and set the enclosing scope of each."""
    scopes.sort(key=lambda scope: (scope.lines.start, -scope.lines.stop))
    current: Scope | None = None
    for scope in scopes:
        while current is not None and current.lines.stop <= scope.lines.start:
            current = current.above
        scope.above, current = current, scope


def unused(ignores: Ignores, asked: frozenset[str], known: frozenset[str]) -> Iterator[tuple[Ignore, bool, str]]:
    """Yield (ignore, False, message) for unknown rules, (ignore, True, message) for rules without a finding.

    Args:
        ignores: all ignores, after all findings were passed to `take`.
        asked: the rules that ran; ignores of other rules are not reported.
        known: all rules.
    """
    suggested = 0
    if ignores.beyond is not None:
        yield ignores.beyond, False, f"only the first {MOST_IGNORES} ignores are read; use per-file-ignores"
    for each in ignores.all:
        what, write = "comment", "# topospread: ignore RULE reason"
        if not each.scope.lines:
            what, write = "annotation", f'{ANNOTATION}: "RULE reason"'
        if not each.rules:
            yield each, False, f"the {what} names no rule; write it as {write}"
        unknown = [rule for rule in each.rules if rule not in known]
        if unknown:
            is_short = len(unknown) == 1 and len(unknown[0]) <= _LONGEST_NAME
            suggested += is_short
            hint = did_you_mean(unknown[0], known) if is_short and suggested <= _MOST_SUGGESTED else ""
            yield each, False, _no_rules(unknown) + (hint or f"; write the {what} as {write}")
        for rule in each.rules:
            if rule in asked and rule not in each.scope.used:
                remove = "this comment" if each.scope.lines else "it from the annotation"
                yield each, True, f"{rule} has no finding here; remove {remove}"


def _no_rules(unknown: Sequence[str]) -> str:
    if len(unknown) == 1:
        return f"unknown rule '{unknown[0]}'"
    return f"unknown rules {listed([repr(each) for each in unknown], _MOST_NAMED)}"


def _comments(text: Text, layouts: Layouts) -> Iterator[tuple[tuple[str, ...], str, Place, range]]:
    """Yield (rules, reason, place, covered lines) of each ignore comment in a text."""
    if b"topospread:" not in text.data:
        return
    lines = text.data.decode().split("\n")
    marked = [(number, found) for number, line in enumerate(lines, 1) if (found := _comment_in(line))]
    if not marked:
        return
    outline = _Outline(layouts.documents(text))
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    following = _next_lines(lines)
    for number, found in marked:
        if outline.is_in_scalar(starts[number - 1] + found.start()):
            continue
        rules, reason = _parsed(found[1])
        alone = not found.string[: found.start()].strip()
        target = following[number - 1] if alone else number
        yield rules, reason, Place(text.name, line=number, column=found.start() + 1), outline.covered(target)


def _comment_in(line: str) -> re.Match[str] | None:
    found = _COMMENT.search(line) if "topospread:" in line else None
    return found if found and (found.start() == 0 or line[found.start() - 1].isspace()) else None


def _parsed(words: str) -> tuple[tuple[str, ...], str]:
    """Return the rules and the reason after ``ignore``."""
    found = _ENTRY.fullmatch(words.strip())
    if found is None:
        return (), words.strip()
    return tuple(dict.fromkeys(each.strip() for each in found[1].split(","))), found[2].strip()


def _next_lines(lines: list[str]) -> list[int]:
    """Return for each line the number of the next non-empty line, from 1; at the end, its own number."""
    found = []
    following = 0
    for number in range(len(lines), 0, -1):
        found.append(following or number)
        if not _BETWEEN.fullmatch(lines[number - 1].rstrip("\r")):
            following = number
    return found[::-1]


class _Outline:
    """The positions of scalars in a text and the values that start on each line."""

    def __init__(self, documents: list[TextValue]) -> None:
        self._scalars: list[tuple[int, int]] = []
        self._last_lines: dict[int, int] = {}
        for document in documents:
            outermost: dict[int, int] = {}
            for node in document.walk():
                outermost.setdefault(node.line, node.last_line)
                if node.form == "scalar":
                    self._scalars.append((node.start, node.end))
            self._last_lines |= outermost
        self._scalars.sort()

    def is_in_scalar(self, offset: int) -> bool:
        """Return whether an offset is inside a scalar, where ``#`` does not start a comment."""
        at = bisect_right(self._scalars, offset, key=lambda span: span[0]) - 1
        return at >= 0 and offset < self._scalars[at][1]

    def covered(self, line: int) -> range:
        """Return the lines of the outermost value that starts on a line; only that line if no value does."""
        return range(line, max(self._last_lines.get(line, line), line) + 1)


def _annotated(subject: LintSubject, layouts: Layouts) -> Iterator[tuple[tuple[str, ...], str, Place]]:
    """Yield (rules, reason, place) of each entry of an object's annotation."""
    metadata = subject.value.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = annotations.get(ANNOTATION) if isinstance(annotations, dict) else None
    if not isinstance(text, str):
        return
    place = layouts.place(subject.location, subject.label, f"metadata.annotations[{ANNOTATION}]")
    for entry in filter(str.strip, re.split(r"[;\n]", text[:_LONGEST_ANNOTATION])):
        rules, reason = _parsed(entry)
        yield rules, printable(reason), place
