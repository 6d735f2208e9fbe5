"""Apply declared rules to nodes: rejections and scores.

* A cap rejects a domain with its maximum number of pods.
* Shares reject a domain with ``ceil(n · share)`` of ``n`` pods, including this one. Some domain always has fewer, so
  shares never reject all nodes unless resources are missing.
* A hierarchy rejects a domain whose count would exceed its emptiest sibling's by more than the skew, at each level. A
  rack is compared with the racks of its own zone, while a second spread constraint would compare all racks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from topospread.api.node import Node

from .declared import (
    EVERY_OTHER,
    HIERARCHY,
    MAX_PER_DOMAIN,
    SHARES,
    WHOLE,
    DeclaredSpread,
    DomainCaps,
    DomainHierarchy,
    DomainRule,
    DomainShares,
)
from .surroundings import PodSurroundings

MOST: Final = 10
"""Maximum score of an extender (k8s.io/kube-scheduler/extender/v1, ``MaxExtenderPriority``)."""


class RuleVerdict(NamedTuple):
    """A rule's rejection or score for a node.

    Attributes:
        against: reason of a rejection; "" without a rejection.
        wish: preference; higher is better. Only values of the same rule are comparable.
    """

    against: str
    wish: tuple[float, ...]


NodeJudge = Callable[[Node], RuleVerdict | None]
"""Function that evaluates a node; None for a node without the rule's keys."""


def refused(asked: DeclaredSpread, around: PodSurroundings, names: Iterable[str]) -> dict[str, str]:
    """Return node → reason, for nodes that required rules reject."""
    judges = [(rule, _judge(rule, around)) for rule in asked.rules if not rule.preferred]
    found: dict[str, str] = {}
    for name in names:
        for rule, judge in judges:
            opinion = judge(around.nodes[name])
            against = f"node(s) lack {_missing(rule, around.nodes[name])}" if opinion is None else opinion.against
            if against:
                found.setdefault(name, f"{against} ({_annotation(rule)})")
    return found


def scores(asked: DeclaredSpread, around: PodSurroundings, names: Iterable[str]) -> dict[str, int]:
    """Return node → score from 0 to `MOST`: the mean of its ranks by each rule."""
    every = list(names)
    total = dict.fromkeys(every, 0.0)
    for rule in asked.rules:
        judge = _judge(rule, around)
        opinions = {name: judge(around.nodes[name]) for name in every}
        ranks = {wish: at for at, wish in enumerate(sorted({each.wish for each in opinions.values() if each}), 1)}
        for name, opinion in opinions.items():
            total[name] += ranks[opinion.wish] * MOST / len(ranks) if opinion else 0
    return {name: int(points / max(len(asked.rules), 1)) for name, points in total.items()}


def _judge(rule: DomainRule, around: PodSurroundings) -> NodeJudge:
    if isinstance(rule, DomainCaps):
        return _by_caps(rule, around)
    return _by_shares(rule, around) if isinstance(rule, DomainShares) else _by_hierarchy(rule, around)


def _annotation(rule: DomainRule) -> str:
    if isinstance(rule, DomainCaps):
        return MAX_PER_DOMAIN
    return SHARES if isinstance(rule, DomainShares) else HIERARCHY


def _missing(rule: DomainRule, node: Node) -> str:
    keys = [key for key, _ in rule.levels] if isinstance(rule, DomainHierarchy) else [rule.key]
    return next(key for key in keys if key not in node.labels)


def _by_caps(rule: DomainCaps, around: PodSurroundings) -> NodeJudge:
    held = around.by_domain(rule.key)

    def judge(node: Node) -> RuleVerdict | None:
        domain = node.labels.get(rule.key)
        if domain is None:
            return None
        most, there = rule.caps.get(domain, rule.caps.get(EVERY_OTHER)), held[domain]
        if most is None:
            return RuleVerdict("", (1.0,))
        over = there + around.counts_itself > most
        against = f"{rule.key}={domain} holds {there} pod(s), of at most {most}" if over else ""
        return RuleVerdict(against, ((most - there) / (most + 1),))

    return judge


def _by_shares(rule: DomainShares, around: PodSurroundings) -> NodeJudge:
    held = around.by_domain(rule.key)
    wanted = sum(held[domain] for domain in rule.percent) + around.counts_itself

    def judge(node: Node) -> RuleVerdict | None:
        domain = node.labels.get(rule.key)
        if domain is None:
            return None
        share, there = rule.percent.get(domain, 0), held[domain]
        if not share:
            return RuleVerdict(f"{rule.key}={domain} has no share", (float("-inf"),))
        over = (there + around.counts_itself - 1) * WHOLE >= wanted * share
        against = f"{rule.key}={domain} holds {there} pod(s), its {share} % of {wanted}" if over else ""
        return RuleVerdict(against, (wanted * share / WHOLE - there,))

    return judge


def _by_hierarchy(rule: DomainHierarchy, around: PodSurroundings) -> NodeJudge:
    keys = [key for key, _ in rule.levels]
    held: Counter[tuple[str, ...]] = Counter()
    for name, node in around.nodes.items():
        for path in _paths(node, keys):
            held[path] += around.matching.get(name, 0)
    least: dict[tuple[str, ...], int] = {}
    for node in around.open:
        paths = _paths(node, keys)
        for path in paths if len(paths) == len(keys) else ():
            least[path[:-1]] = min(held[path], least.get(path[:-1], held[path]))

    def judge(node: Node) -> RuleVerdict | None:
        paths = _paths(node, keys)
        if len(paths) < len(keys):
            return None
        against = ""
        for path, (key, skew) in zip(paths, rule.levels, strict=True):
            there = held[path]
            fewest = least.get(path[:-1], there)
            if not against and there + around.counts_itself - fewest > skew:
                within = f" of {keys[len(path) - 2]}={path[-2]}" if len(path) > 1 else ""
                against = f"{key}={path[-1]}{within} holds {there} pod(s), another {fewest}"
        return RuleVerdict(against, tuple(-float(held[path]) for path in paths))

    return judge


def _paths(node: Node, keys: list[str]) -> list[tuple[str, ...]]:
    """Return a node's domain for each key, up to the first key that it lacks, as (widest parent, …, domain)."""
    found: list[tuple[str, ...]] = []
    labels: Mapping[str, str] = node.labels
    for key in keys:
        if key not in labels:
            break
        found.append((*(found[-1] if found else ()), labels[key]))
    return found
