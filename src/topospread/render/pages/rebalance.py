"""The page of `rebalance`: the evictions in order, their effect, and the constraints that stay exceeded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from topospread.answers.rebalance import moved_domains
from topospread.answers.words import counted, natural, noun_of
from topospread.render.blocks import Fact, Hint, Page, Part, Section, Span, Table, Verdict

from .pending import unjudged_facts

if TYPE_CHECKING:
    from topospread.answers.rebalance import Rebalance
    from topospread.rebalance.result import ConstraintChange

_FACTS = 2
_CHANGES = 8
_DOMAINS = 8


def page(answer: Rebalance) -> Page:
    """Return the page of a rebalance answer."""
    parts: list[Part] = [Verdict(answer.verdict, answer.says), *_facts(answer)]
    if answer.evictions:
        rows = tuple(
            (at, f"{each.namespace}/{each.name}", each.node, each.target, _where(moved_domains(each)))
            for at, each in enumerate(answer.evictions, 1)
        )
        if answer.applied is None:
            number = len(answer.evictions)
            every = "the eviction" if number == 1 else f"all {number} evictions, one after the other"
            parts.append(Fact("budgets", f"allow {every}"))
        parts.append(Section("", (Table(("", "EVICT, IN THIS ORDER", "FROM", "TO", "DOMAIN"), rows, most=20),)))
    better = [each for each in answer.constraints if each.skew_after < each.skew_before]
    parts += [Fact("fixes" if each.is_met else "improves", change_words(each)) for each in better[:_CHANGES]]
    if len(better) > _CHANGES:
        parts.append(Hint(f"{counted(len(better) - _CHANGES, 'more constraint')}: -o wide"))
    if answer.evictions and answer.applied is None and not answer.partial:
        parts.append(Fact("next", "--apply evicts these pods one by one; -o commands prints the commands for kubectl"))
    if answer.constraints:
        parts.append(Section("", (_constraints(answer),), wide=True))
    if answer.unmet:
        left = tuple((each.workload, each.topology_key, each.skew, each.why) for each in answer.unmet)
        table = Table(("NOT FIXED", "TOPOLOGY KEY", "SKEW", "WHY"), left)
        parts.append(Section("", (table,), wide=len(left) <= _FACTS))
    parts.append(Section("", tuple(Fact("note", each) for each in answer.notes), wide=True))
    return Page(f"rebalance: {answer.says}", tuple(parts))


def _facts(answer: Rebalance) -> Iterator[Part]:
    if answer.applied is not None and answer.applied.surprise:
        yield Fact("why", answer.applied.surprise)
    if answer.applied is not None and answer.applied.begun:
        yield Fact("note", f"the eviction of {answer.applied.begun} was requested, but its end is unknown")
    for each in answer.causes[:_FACTS]:
        yield Fact("why", each.says)
    if any(each.returns for each in answer.unmet):
        yield Fact("note", "a descheduler that evicts these pods anyway repeats it endlessly")
    helps = [each for left in answer.unmet for each in left.helps]
    for help_ in sorted(helps, key=lambda each: not each.tried)[:_FACTS]:
        yield Fact("fix", f"{help_.says}{'; tried' if help_.tried else '; not tried'}")
    yield from unjudged_facts(answer.unjudged, rest="; pods that are not judged are not evicted")
    if answer.soft_left:
        text = "1 soft constraint is" if answer.soft_left == 1 else f"{answer.soft_left} soft constraints are"
        yield Fact("note", f"{text} above maxSkew and left alone; --max-skew N also brings soft constraints to skew N")
    if answer.pending:
        yield Fact("note", f"already pending: {counted(answer.pending, 'pod')}; evictions do not change this")
    yield from (Fact("warning", each) for each in answer.warnings)


def _where(domains: list[tuple[str, str]]) -> str:
    return ", ".join(f"{old} → {new}" for old, new in domains)


def change_words(each: ConstraintChange) -> str:
    """Return ``shop/web over zones: a 3 → 2, b 2, c 1 → 2; skew 2 → 0 (maxSkew 1)``."""
    soft = "" if each.when_unsatisfiable == "DoNotSchedule" else ", soft"
    skew = f"skew {each.skew_before} → {each.skew_after} (maxSkew {each.max_skew}{soft})"
    name = f"{each.namespace}/{each.name} over {noun_of(each.topology_key)}s"
    if len(each.before) > _DOMAINS:
        return f"{name}: {skew}"
    domains = sorted(each.before, key=natural)
    pairs = ((domain, each.before[domain], each.after.get(domain, 0)) for domain in domains)
    counts = (f"{domain} {was}" if was == now else f"{domain} {was} → {now}" for domain, was, now in pairs)
    left_out = (f"; {domain} does not count ({why})" for domain, why in each.left_out.items())
    return f"{name}: {', '.join(counts)}; {skew}{''.join(left_out)}"


def _constraints(answer: Rebalance) -> Table:
    rows = []
    for each in sorted(
        answer.constraints, key=lambda each: (each.is_met, -each.skew_before, each.namespace, each.name)
    ):
        name = f"{each.namespace}/{each.name}"
        hard = "hard" if each.when_unsatisfiable == "DoNotSchedule" else "soft"
        limit = f"{each.max_skew}" + (f", to {each.highest}" if each.highest != each.max_skew else "")
        skew = Span(f"{each.skew_before} → {each.skew_after}", "" if each.is_met else "bad")
        for domain in sorted(each.before, key=natural):
            counts = f"{each.before[domain]} → {each.after.get(domain, 0)}"
            rows.append((name, each.topology_key, hard, limit, skew, domain, counts))
            name, skew = "", Span("")
    return Table(("WORKLOAD", "TOPOLOGY KEY", "", "MAX", "SKEW", "DOMAIN", "PODS"), tuple(rows))
