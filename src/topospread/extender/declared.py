"""Parse the extender's annotations. `domain_rules` applies them.

Semicolons or line breaks separate entries. An entry that starts with ``prefer`` is preferred; other entries are
required::

    topospread.dev/max-per-domain: "kubernetes.io/hostname: 2; topology.kubernetes.io/zone: zone-a=4, *=3"
    topospread.dev/shares: "topology.kubernetes.io/zone: zone-a=60, zone-b=30, zone-c=10"
    topospread.dev/hierarchy: "topology.kubernetes.io/zone > example.com/rack=2"
    topospread.dev/counted: "app=web,track!=canary"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from topospread.api.labels import Selector
from topospread.api.meta import ObjectMeta
from topospread.api.selector_text import parse_selector
from topospread.errors import UsageError

MAX_PER_DOMAIN: Final = "topospread.dev/max-per-domain"
SHARES: Final = "topospread.dev/shares"
HIERARCHY: Final = "topospread.dev/hierarchy"
COUNTED: Final = "topospread.dev/counted"
ANNOTATIONS: Final = (MAX_PER_DOMAIN, SHARES, HIERARCHY, COUNTED)
EVERY_OTHER: Final = "*"
"""Stands for all domains that are not named."""

WHOLE: Final = 100
MOST: Final = 16
"""Maximum number of rules per annotation, and of levels per hierarchy, because each node is evaluated by each rule."""
MOST_VALUES: Final = 64
"""Maximum number of selector values, which are compared with the labels of every pod in the namespace."""
_DIGITS: Final = 10
_KEY: Final = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_VALUE: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?|\*")
_PREFER: Final = re.compile(r"prefer\s+(.*)", re.DOTALL)


class AnnotationProblem(NamedTuple):
    """A problem in an annotation."""

    annotation: str
    message: str


class DomainCaps(msgspec.Struct, frozen=True):
    """A maximum number of pods in each domain.

    Attributes:
        caps: domain → maximum pods. `EVERY_OTHER` applies to unnamed domains, which are otherwise unlimited.
        preferred: whether it only affects scores.
    """

    key: str
    caps: Mapping[str, int]
    preferred: bool


class DomainShares(msgspec.Struct, frozen=True):
    """Each domain's percentage of the pods. They add up to 100, and unnamed domains get no pods."""

    key: str
    percent: Mapping[str, int]
    preferred: bool


class DomainHierarchy(msgspec.Struct, frozen=True):
    """An even spread over the first key's domains, within each over the second key's, and so on.

    Attributes:
        levels: (topology key, allowed skew within a parent domain), widest key first.
    """

    levels: tuple[tuple[str, int], ...]
    preferred: bool


DomainRule = DomainCaps | DomainShares | DomainHierarchy


class DeclaredSpread(msgspec.Struct, frozen=True):
    """The spread that the annotations declare.

    Attributes:
        rules: rules in the order of the annotations above.
        counted: selector of the counted pods; None for pods with the pod's own labels.
    """

    rules: tuple[DomainRule, ...]
    counted: Selector | None = None


def texts_of(metadata: ObjectMeta) -> dict[str, str]:
    """Return the texts of the extender's annotations."""
    given = metadata.annotations
    if given is None:
        return {}
    found = {
        MAX_PER_DOMAIN: given.max_per_domain,
        SHARES: given.shares,
        HIERARCHY: given.domain_hierarchy,
        COUNTED: given.counted,
    }
    return {name: text for name, text in found.items() if text is not None}


def declared(texts: Mapping[str, str]) -> tuple[DeclaredSpread, list[AnnotationProblem]]:
    """Return the declared spread and its problems. With any problem the extender rejects every node."""
    rules: list[DomainRule] = []
    problems: list[AnnotationProblem] = []
    for annotation, parse in _PARSERS.items():
        try:
            rules += _entries(texts.get(annotation), parse)
        except UsageError as error:
            problems.append(AnnotationProblem(annotation, str(error)))
    counted = None
    if COUNTED in texts:
        try:
            counted = parse_selector(texts[COUNTED])
            _check_count(sum(len(each.values) or 1 for each in counted.requirements), "values", MOST_VALUES)
        except UsageError as error:
            problems.append(AnnotationProblem(COUNTED, str(error)))
        if not any(name in texts for name in _PARSERS):
            problems.append(AnnotationProblem(COUNTED, f"nothing is asked: {', '.join(_PARSERS)} are not there"))
    return DeclaredSpread(tuple(rules), counted), problems


def _entries(text: str | None, parse: Callable[[str, bool], DomainRule]) -> Iterator[DomainRule]:
    if text is None:
        return
    entries = [entry.strip() for entry in re.split(r"[;\n]", text) if entry.strip()]
    if not entries:
        raise UsageError("it is empty")
    _check_count(len(entries), "rules")
    keys = set()
    for entry in entries:
        preferred = _PREFER.fullmatch(entry)
        rule = parse(preferred[1] if preferred else entry, bool(preferred))
        first = rule.levels[0][0] if isinstance(rule, DomainHierarchy) else rule.key
        if first in keys:
            raise UsageError(f"{first} stands there twice")
        keys.add(first)
        yield rule


def _check_count(count: int, what: str, most: int = MOST) -> None:
    if count > most:
        raise UsageError(f"it has {count:,} {what}; at most {most} are allowed")


def _caps(entry: str, preferred: bool) -> DomainCaps:
    key, words = _split(entry, "KEY: N, or KEY: DOMAIN=N, *=N")
    caps = {EVERY_OTHER: _number(words, key)} if "=" not in words else _numbers(words, key)
    return DomainCaps(key, caps, preferred)


def _shares(entry: str, preferred: bool) -> DomainShares:
    key, words = _split(entry, "KEY: DOMAIN=PERCENT, DOMAIN=PERCENT")
    percent = _numbers(words, key)
    if EVERY_OTHER in percent:
        raise UsageError(f"{key}: shares name each domain; * is not allowed")
    if sum(percent.values()) != WHOLE:
        raise UsageError(f"{key}: the shares are {sum(percent.values())} % in all, not {WHOLE} %")
    return DomainShares(key, percent, preferred)


def _hierarchy(entry: str, preferred: bool) -> DomainHierarchy:
    levels = []
    words = entry.split(">")
    _check_count(len(words), "levels")
    for word in words:
        key, equals, skew = (part.strip() for part in word.partition("="))
        levels.append((_key(key), _number(skew, key, least=1) if equals else 1))
    if len(levels) < 2 or len({key for key, _ in levels}) < len(levels):
        raise UsageError(f"'{entry}' is not written as KEY > KEY, different keys, the wider domains first")
    return DomainHierarchy(tuple(levels), preferred)


def _split(entry: str, form: str) -> tuple[str, str]:
    key, colon, words = entry.partition(":")
    if not colon or not words.strip():
        raise UsageError(f"'{entry}' is not written as {form}")
    return _key(key.strip()), words.strip()


def _key(text: str) -> str:
    if not _KEY.fullmatch(text):
        raise UsageError(f"'{text}' is no label key")
    return text


def _numbers(words: str, key: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in words.split(","):
        domain, _, number = (part.strip() for part in word.partition("="))
        if not _VALUE.fullmatch(domain):
            raise UsageError(f"{key}: '{domain}' is no domain")
        if domain in found:
            raise UsageError(f"{key}: {domain} stands there twice")
        found[domain] = _number(number, f"{key}: {domain}")
    return found


def _number(text: str, what: str, least: int = 0) -> int:
    is_number = text.isascii() and text.isdecimal() and len(text) <= _DIGITS
    if not is_number or not least <= int(text) < 2**31:
        raise UsageError(f"{what}: '{text}' is no number of {least} or more")
    return int(text)


_PARSERS: Final[Mapping[str, Callable[[str, bool], DomainRule]]] = {
    MAX_PER_DOMAIN: _caps,
    SHARES: _shares,
    HIERARCHY: _hierarchy,
}
