"""The page of `Fleet`: a row for each cluster, worst first, and details for ``-o wide``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from topospread.answers.fleet import drift_words
from topospread.answers.words import counted, listed

from ..blocks import Fact, Page, Part, Role, Section, Span, Table, Verdict
from .pending import fix_facts, unjudged_facts

if TYPE_CHECKING:
    from topospread.answer import Remedy
    from topospread.answers.fleet import ClusterStatus, Fleet

_ROLES: dict[str, Role] = {"yes": "good", "no": "bad", "unknown": "unsure"}
_ROWS = 20
_NAMES = 3


def page(answer: Fleet) -> Page:
    """Return the page of a fleet answer."""
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    for each in [row for row in answer.clusters if row.remedies][:2]:
        parts += _fixes(each, each.remedies[:1])
    parts += unjudged_facts(answer.unjudged[:2])
    rest = tuple(unjudged_facts(answer.unjudged[2:]))
    if rest:
        parts.append(Fact("more", f"{counted(len(rest), 'other part')} not judged: -o wide"))
    parts += [Fact("warning", each) for each in answer.warnings[:2]]
    differing = drift_words(answer.drift)
    if differing:
        words = [f"{name} ({', '.join(dict.fromkeys(what))})" for name, what in differing.items()]
        verb = "differs" if len(differing) == 1 else "differ"
        says = f"{counted(len(differing), 'workload')} {verb} between clusters: {listed(words, _NAMES)}"
        parts.append(Fact("drift", says))
    heads = ("", "CLUSTER", "NODES", "PENDING", "SKEWED", "WHY")
    table = Table(heads, tuple(map(_row, answer.clusters)), may_drop=(2,), most=_ROWS, more="clusters")
    parts.append(Section("", (table,)))
    for each in answer.clusters:
        if len(each.remedies) > 1:
            parts.append(Section(f"Fixes in {each.cluster}", tuple(_fixes(each, each.remedies)), wide=True))
    if rest:
        parts.append(Section("Not judged, too", rest, wide=True))
    drift = tuple(
        (
            each.workload,
            each.what + (f" over {each.topology_key}" if each.topology_key else ""),
            f"{one.value}: {counted(len(one.clusters), 'cluster')}, {listed(one.clusters, _NAMES)}",
        )
        for each in answer.drift
        for one in each.values
    )
    if drift:
        parts.append(Section("Differences between clusters", (Table(("WORKLOAD", "WHAT", ""), drift),), wide=True))
    return Page("Clusters", tuple(parts))


def _fixes(row: ClusterStatus, remedies: Iterable[Remedy]) -> Iterator[Fact]:
    for each in remedies:
        yield from (replace(fact, says=f"{row.cluster}: {fact.says}") for fact in fix_facts([each]))


def _row(each: ClusterStatus) -> tuple[Span | str | int, ...]:
    verdict = Span(each.verdict, _ROLES[each.verdict])
    if each.problem:
        return verdict, each.cluster, "", "", "", each.says
    pending = f"{each.pending} + {each.unknown}?" if each.unknown else str(each.pending)
    why = "" if each.verdict == "yes" else each.says.rpartition(" (")[0]
    if each.causes and not each.exceeded:
        why = each.causes[0].says
    return verdict, each.cluster, each.nodes, pending, each.exceeded, why
