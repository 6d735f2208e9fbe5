"""``# topospread: ignore RULE reason`` and the annotation ``topospread.dev/ignore``: what is not reported, and why.

A comment covers what begins on its line, with everything in it; a comment that stands alone covers what begins on the
next line. Above an object's first line that is the whole object, above a constraint the constraint. The annotation
covers its object. Several rules are separated by commas; in the annotation, entries by semicolons or lines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from topospread.errors import Place
from topospread.sources.text import Text, printable
from topospread.sources.text_value import TextValue

from .layout import Layouts
from .lint_input import LintSubject

ANNOTATION: Final = "topospread.dev/ignore"
_COMMENT: Final = re.compile(r"#\s*topospread:\s*ignore\b(.*)")
_ENTRY: Final = re.compile(r"\s*([\w-]+(?:\s*,\s*[\w-]+)*)(?:\s*:|\s|$)\s*(.*)")
_BETWEEN: Final = re.compile(r"\s*(#.*|---\s*(#.*)?)?")


@dataclass(eq=False, slots=True)
class Ignore:
    """What one comment, or one entry of an annotation, says.

    Attributes:
        rules: ids of the rules that are not to be reported.
        reason: why, "" when nothing is said.
        place: where it stands.
        lines: the lines it covers.
        subject: the object it covers in place of lines.
        used: the rules it has kept from being reported.
    """

    rules: tuple[str, ...]
    reason: str
    place: Place
    lines: range = field(default=range(0))
    subject: LintSubject | None = None
    used: set[str] = field(default_factory=set)

    def covers(self, subject: LintSubject, place: Place) -> bool:
        """Whether a finding of one of its rules in its text is not to be reported."""
        return subject is self.subject if self.subject is not None else place.line in self.lines


class Ignores:
    """Every ignore of what is linted."""

    def __init__(self, texts: list[Text], subjects: list[LintSubject], layouts: Layouts) -> None:
        self.all: list[Ignore] = []
        for text in texts:
            self.all += _comments(text, layouts)
        for subject in subjects:
            self.all += _annotated(subject, layouts)
        self._by_rule: dict[tuple[str, str], list[Ignore]] = {}
        for each in self.all:
            for rule in each.rules:
                self._by_rule.setdefault((rule, each.place.source), []).append(each)

    def take(self, rule: str, subject: LintSubject, place: Place) -> bool:
        """Whether a finding is not to be reported; every ignore that says so counts as used."""
        found = [each for each in self._by_rule.get((rule, place.source), ()) if each.covers(subject, place)]
        for each in found:
            each.used.add(rule)
        return bool(found)


def unused(ignores: Ignores, asked: frozenset[str], known: frozenset[str]) -> Iterator[tuple[Ignore, bool, str]]:
    """Ignores that have ignored nothing: whether the rule is one, and what to say.

    Args:
        ignores: all of them, after the findings were taken through.
        asked: the rules that were asked: of others nobody knows whether they would have found something.
        known: every rule there is.
    """
    for each in ignores.all:
        if not each.rules:
            yield each, False, "no rule is named; write it as # topospread: ignore RULE reason"
        for rule in each.rules:
            if rule not in known:
                close = get_close_matches(rule, known, 1)
                yield each, False, f"there is no rule '{rule}'" + (f"; did you mean '{close[0]}'?" if close else "")
            elif rule in asked and rule not in each.used:
                yield each, True, f"{rule} finds nothing here: the ignore can go"


def _comments(text: Text, layouts: Layouts) -> Iterator[Ignore]:
    """The ignores among a text's comments."""
    if b"topospread:" not in text.data:
        return
    whole = text.data.decode()
    lines = whole.split("\n")
    offset = 0
    for number, line in enumerate(lines, 1):
        found = _COMMENT.search(line) if "topospread:" in line else None
        if found and (found.start() == 0 or line[found.start() - 1].isspace()):
            documents = layouts.documents(text)
            if not _in_scalar(documents, offset + found.start()):
                rules, reason = _parsed(found[1])
                alone = not line[: found.start()].strip()
                target = _next_line(lines, number) if alone else number
                place = Place(text.name, line=number, column=found.start() + 1)
                yield Ignore(rules, reason, place, _covered(documents, target))
        offset += len(line) + 1


def _parsed(words: str) -> tuple[tuple[str, ...], str]:
    """The rules and the reason behind ``ignore``."""
    found = _ENTRY.fullmatch(words.strip())
    if found is None:
        return (), words.strip()
    return tuple(each.strip() for each in found[1].split(",")), found[2].strip()


def _in_scalar(documents: list[TextValue], offset: int) -> bool:
    """Whether what stands at an offset is part of a text rather than a comment."""
    at = bisect_right(documents, offset, key=lambda document: document.start) - 1
    return at >= 0 and any(node.form == "scalar" and node.start <= offset < node.end for node in documents[at].walk())


def _next_line(lines: list[str], number: int) -> int:
    """The next line that holds something, from 1; of what ends the text, the line itself."""
    for at in range(number, len(lines)):
        if not _BETWEEN.fullmatch(lines[at].rstrip("\r")):
            return at + 1
    return number


def _covered(documents: list[TextValue], line: int) -> range:
    """The lines of the outermost value that begins on a line; the line alone when none does."""
    at = bisect_right(documents, line, key=lambda document: document.line) - 1
    for node in documents[at].walk() if at >= 0 else ():
        if node.line == line:
            return range(line, max(node.last_line, line) + 1)
    return range(line, line + 1)


def _annotated(subject: LintSubject, layouts: Layouts) -> Iterator[Ignore]:
    """The ignores in an object's annotation."""
    metadata = subject.value.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = annotations.get(ANNOTATION) if isinstance(annotations, dict) else None
    if not isinstance(text, str):
        return
    place = layouts.place(subject.location, subject.label, f"metadata.annotations[{ANNOTATION}]")
    for entry in filter(str.strip, re.split(r"[;\n]", text)):
        rules, reason = _parsed(entry)
        yield Ignore(rules, printable(reason), place, subject=subject)
