"""Changes to a design that failed a check, loosest first. `design_checks` checks the changed designs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from topospread.api.well_known_labels import HOSTNAME

from .design_checks import DesignFailure
from .design_rules import DesignRules, SpreadRule
from .wants import Intent


def amendments(
    rules: DesignRules, failure: DesignFailure, intent: Intent, kind: str, own: Sequence[SpreadRule] = ()
) -> Iterator[DesignRules]:
    """Yield designs that change one part and may repair the failure.

    Args:
        kind: kind of the workload; changes for Deployments only are omitted for other kinds.
        own: the workload's own hard constraints.
    """
    key = failure.key
    if kind == "Deployment" and own and failure.check in ("rollout", "after rollout"):
        kept = (replace(each, min_domains=0) for each in own)
        every = {each.key: replace(each, by_revision=True) for each in (*kept, *rules.spreads)}
        yield replace(rules, spreads=tuple(every.values()))
    if failure.check in ("placed", "drained", "returned", "never-waits"):
        yield from _fewer_domains(rules, own)
    match failure.check:
        case "lost":
            yield from _tighter(rules, key, intent, own)
        case "after rollout":
            yield from _by_revision(rules, key, kind)
            yield from _tighter(rules, key, intent, own)
        case "rollout":
            yield from _rolling(rules, kind)
            yield from (
                rules.with_spread(replace(each, by_revision=True)) for each in rules.spreads if kind == "Deployment"
            )
        case "drained" | "returned":
            yield from (rules.with_spread(replace(each, without_tainted=True)) for each in rules.spreads)
        case "skew":
            yield from _within(rules, key, intent, kind, own)
        case "never-waits" if kind == "Deployment":
            yield from (rules.with_spread(replace(each, by_revision=True)) for each in rules.spreads)
            yield from _rolling(rules, kind)
        case "drains" | "blocked":
            if not rules.available:
                yield replace(rules, available=intent.least("drain"))


def _tighter(rules: DesignRules, key: str, intent: Intent, own: Sequence[SpreadRule]) -> Iterator[DesignRules]:
    """Yield designs with a tighter constraint over the key; for nodes, also with anti-affinity."""
    left = next(each.left for each in intent.of_domains if each.key == key)
    most = intent.replicas - left
    now = rules.over(key)
    if now is None:
        yield rules.with_spread(SpreadRule(key, _least_skew(key, most, own)))
    elif now.max_skew > 1:
        yield rules.with_spread(replace(now, max_skew=now.max_skew - 1))
    elif not now.min_domains:
        needed = -(-intent.replicas // most)
        yield rules.with_spread(replace(now, min_domains=needed))
    if key == HOSTNAME and most == 1 and not rules.apart:
        others = tuple(each for each in rules.spreads if each.key != HOSTNAME)
        yield replace(rules, spreads=others, apart=True)


def _fewer_domains(rules: DesignRules, own: Sequence[SpreadRule]) -> Iterator[DesignRules]:
    """Yield a design with a smaller minDomains for each of the workload's own constraints."""
    for each in own:
        now = rules.over(each.key) or each
        most = now.min_domains or each.min_domains  # a rule without minDomains keeps the constraint's own value
        if most > 1:
            yield rules.with_spread(replace(now, min_domains=most - 1))


def _least_skew(key: str, most: int, own: Sequence[SpreadRule]) -> int:
    """Return a maxSkew of at most ``most`` that does not loosen the workload's own constraint."""
    return min([most, *(each.max_skew for each in own if each.key == key)])


def _within(
    rules: DesignRules, key: str, intent: Intent, kind: str, own: Sequence[SpreadRule]
) -> Iterator[DesignRules]:
    """Yield designs that limit the skew over the key to the wanted skew, and one that counts each revision alone."""
    most = max(next(each.number for each in intent.others if each.about == "skew"), 1)
    now = rules.over(key)
    if now is None or now.max_skew > most:
        yield rules.with_spread(
            SpreadRule(key, _least_skew(key, most, own)) if now is None else replace(now, max_skew=most)
        )
    yield from _by_revision(rules, key, kind)


def _by_revision(rules: DesignRules, key: str, kind: str) -> Iterator[DesignRules]:
    now = rules.over(key)
    if now is not None and kind == "Deployment":
        yield rules.with_spread(replace(now, by_revision=True))


def _rolling(rules: DesignRules, kind: str) -> Iterator[DesignRules]:
    if kind == "Deployment":
        yield from (replace(rules, rolling=each) for each in ((1, 0), (0, 1)) if each != rules.rolling)
