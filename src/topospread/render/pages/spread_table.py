"""The table of workloads and domains, and the table of one constraint, for simulate and drill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from topospread.answers.causes import all_tainted
from topospread.answers.reasons import nodes_and, of_them, on_it, others
from topospread.answers.spread import Reasons, SpreadOutcome
from topospread.answers.words import counted, in_order, listed, natural, noun_of
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.base import Bounds
from topospread.render.blocks import Bar, Cell, Fact, Part, Section, Span, Table
from topospread.simulation.orders import SpreadBounds

_MOST_DOMAINS = 8
_ROOM = 72
"""Columns for the names of workloads and domains, next to one count."""
_SKEW_AND_MAX = 14
_MOST_ROWS = 20
_NOT_COUNTED = "–"
"""Cell of a domain that a constraint does not count, or whose pods its selector misses."""
_ORIGINS = {"profile": "profile default", "system": "built-in default"}
_EXCEEDED = {
    "before": "earlier pods exceed it, and no controller moves them",
    "others": "pods of other workloads count, too, but have their own constraints",
    "full": "soft, and filters left no node in the domains with the fewest pods",
    "scores": "soft, and other scores weighed more",
    "sampled": "soft: other scores weighed more, or the nodes were not sampled",
}


Constraint = SpreadOutcome | SpreadBounds
"""A constraint with its pods by domain."""
Row = tuple[str, Sequence[Constraint], tuple[Cell, ...], str]
"""A row of the table: workload name, constraints, count cells, and a remark."""


def keys_of(spreads: Iterable[Sequence[Constraint]]) -> Counter[str]:
    """Return topology key → number of constraints with this key that have domains."""
    return Counter(each.topology_key for spread in spreads for each in spread if each.domains)


def matrix_key(spreads: Iterable[Sequence[Constraint]]) -> str:
    """Return the topology key of the table: the zone if a constraint uses it, else the most frequent key."""
    keys = keys_of(spreads)
    return ZONE if ZONE in keys else max(keys, key=lambda key: keys[key], default="")


def matrix(rows: Sequence[Row], heads: tuple[str, ...], key: str) -> Table:
    """Return the table of workloads: their counts, pods by domain of a topology key, skew and maxSkew."""
    found = [
        next((each for each in spread if each.topology_key == key and each.domains), None) for _, spread, *_ in rows
    ]
    names = in_order({name for each in found if each is not None for name in each.domains})
    others = sum(len(head) + 2 for head in heads[1:] if head) or _SKEW_AND_MAX
    room = _ROOM - max((len(name) for name, *_ in rows), default=0) - others
    few = len(names) <= _MOST_DOMAINS and sum(len(name) + 2 for name in names) <= room
    table = []
    for (name, _, counts, says), each in zip(rows, found, strict=True):
        cells: tuple[Cell, ...] = (Span(name, "name"), *counts)
        if each is None:
            table.append((*cells, *[""] * (len(names) if few else 1), "", says))
            continue
        hard = each.when_unsatisfiable == "DoNotSchedule"
        over = hard and most_of(each.skew) > each.max_skew
        misses = not getattr(each, "counts_itself", 1) and not any(map(most_of, each.domains.values()))
        cells += (
            tuple(_NOT_COUNTED if misses else each.domains.get(domain, _NOT_COUNTED) for domain in names)
            if few
            else (_range(each),)
        )
        cells += (Span(str(each.skew), "bad") if over else each.skew,)
        word = "" if hard or each.origin == "system" else " soft"
        word += "" if each.origin == "pod" else " default"
        limit = f"{each.max_skew}{word}"
        table.append((*cells, f"{limit}  {says}" if says else limit))
    found_heads = ("WORKLOAD", *heads, *(names if few else ["PODS BY DOMAIN"]), "SKEW", "MAX")
    # With several counts, drop the skew first to keep the domains.
    last = len(found_heads)
    return Table(found_heads, tuple(table), may_drop=(last - 2, last - 1) if len(heads) > 1 else ())


def legend(table: Table, *, fewer: bool = False) -> tuple[Fact, ...]:
    """Return the meaning of the domain columns if a constraint skips a domain or counts ``fewer`` pods than run."""
    if fewer or any(_NOT_COUNTED in row for row in table.rows):
        return (Fact("domains", "pods that the constraint counts; more may run there; –: it counts none"),)
    return ()


def most_of(number: int | Bounds) -> int:
    """Return the number, or the upper bound."""
    return number if isinstance(number, int) else number.most


def _range(each: Constraint) -> str:
    """Return the range of pods over many domains: ``0–2 in 200``."""
    least = min(number if isinstance(number, int) else number.least for number in each.domains.values())
    most = max(map(most_of, each.domains.values()))
    return f"{Bounds(least=least, most=most)} in {len(each.domains)}"


def _tainted_words(spread: SpreadOutcome) -> str:
    """Return the tainted domains without pods that a constraint counts all the same, so its skew is larger."""
    least = min(spread.domains.values(), default=0)
    reasons = ((name, spread.rejected.get(name, {})) for name, pods in spread.domains.items() if pods == least)
    names = [name for name, of in reasons if all_tainted(of, spread.nodes.get(name, 0))]
    return f"counts tainted {listed(in_order(names), 2)} (nodeTaintsPolicy: Ignore)" if names else ""


def said_of(kind: str, spread: Sequence[SpreadOutcome], key: str) -> str:
    """Return the remark of a row: exceeded constraints, or a single domain with all pods."""
    parts = []
    for each in spread:
        if each.skew > each.max_skew and each.topology_key == key:
            parts.append("exceeded" if each.hard else _tainted_words(each))
        elif each.skew > each.max_skew and each.hard:
            parts.append(f"skew {each.skew} over {noun_of(each.topology_key)}s, max {each.max_skew}")
    if any(not each.counts_itself and not any(each.domains.values()) for each in spread if each.domains):
        parts.append("counts no pod")
    held = {each.topology_key: each.only_domain for each in spread if each.only_domain}
    if held:
        parts.append(f"all in {held.get(key) or next(iter(held.values()))}")
    if kind == "DaemonSet":
        parts.append("DaemonSet")
    return "; ".join(filter(None, parts))


def constraint_sections(
    spread: Sequence[SpreadOutcome], name: str, heads: tuple[str, str] = ("before", "after")
) -> Iterator[Section]:
    """Yield a section for each constraint of a workload, with its domains; ``heads`` name the two moments."""
    for each in spread:
        if each.domains or each.origin != "system":
            yield Section(f"{name}  {' · '.join(_terms(each))}", _parts(each, heads), wide=True)


def _terms(each: SpreadOutcome) -> Iterator[str]:
    yield each.topology_key
    yield each.when_unsatisfiable
    yield f"maxSkew {each.max_skew}"
    if each.min_domains > 1:
        yield f"minDomains {each.min_domains}"
    yield f"selects {each.selector or 'nothing'}"
    yield f"skew {each.skew}"
    if each.origin in _ORIGINS:
        yield _ORIGINS[each.origin]


def _parts(each: SpreadOutcome, heads: tuple[str, str]) -> tuple[Part, ...]:
    if not each.domains:
        why = ", ".join(left.reason for left in each.left_out)
        return (Fact("no node takes part", why),)
    rows = list(_rows(each)) if len(each.domains) <= _MOST_ROWS else list(_groups(each))
    return (Table((noun_of(each.topology_key), *heads, "", ""), tuple(rows)), *_remarks(each))


def _remarks(each: SpreadOutcome) -> Iterator[Fact]:
    if each.exceeded:
        yield Fact("above maxSkew", _EXCEEDED[each.exceeded])
    if len(each.domains) < each.min_domains:
        yield Fact("minimum", f"counts as 0: {counted(len(each.domains), 'domain')} < minDomains {each.min_domains}")
    if not each.counts_itself:
        yield Fact(
            "self",
            f"the pods do not match their own labelSelector ({each.selector}): each adds 0"
            if each.selector
            else "without a labelSelector the constraint counts no pod: each adds 0",
        )
    if each.counted:
        yield Fact("counted", ", ".join(f"{pods} {of}" for of, pods in each.counted.items()))
    for left in each.left_out:
        yield Fact("not counted", f"{listed(in_order(left.nodes), 3)} ({left.reason})")


def _rows(each: SpreadOutcome) -> Iterator[tuple[Cell, ...]]:
    for name in sorted(each.domains, key=natural):
        reasons = others(each.rejected.get(name, {}))
        words = on_it(reasons) if each.topology_key == HOSTNAME else nodes_and(reasons, each.nodes[name])
        yield name, each.before.get(name, 0), each.domains[name], Bar(each.domains[name]), words


def _groups(each: SpreadOutcome) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each group of domains with equal counts, fullest first."""
    alike: dict[tuple[int, int], list[str]] = {}
    for name, pods in each.domains.items():
        alike.setdefault((pods, each.before.get(name, 0)), []).append(name)
    for (after, before), names in sorted(alike.items(), reverse=True):
        rejected: Reasons = {}
        for name in names if each.rejected else ():
            for reason, nodes in others(each.rejected.get(name, {})).items():
                rejected[reason] = rejected.get(reason, 0) + nodes
        words = f"{listed(in_order(names), 2)}" if len(names) > 1 else ""
        trouble = of_them(rejected)
        noun = names[0] if len(names) == 1 else counted(len(names), "domain")
        yield noun, before, after, Bar(after), "; ".join(filter(None, (words, trouble)))
