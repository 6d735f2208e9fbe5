"""The page of `Status`: pending pods by cause, or workloads by domain, and details for ``-o wide``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from topospread.answers.words import counted, in_order, listed, noun_of
from topospread.api.well_known_labels import ZONE
from topospread.text import shell_line

from ..blocks import Bar, Cell, Fact, Page, Part, Section, Span, Table, Verdict
from .pending import fix_facts, fix_sections, short, unjudged_facts
from .traffic import traffic_section

if TYPE_CHECKING:
    from topospread.answers.pending_pods import Pending
    from topospread.answers.status import Status
    from topospread.status.result import ConstraintStatus, DomainRisk, RefusedPod, WorkloadStatus

_MOST_COLUMNS = 8
"""Maximum number of domains with their own columns."""
_NAMES = 3


def page(answer: Status) -> Page:
    """Return the page: the pending pods if there are any, else the workloads."""
    matrix = _matrix(answer)
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    causes = answer.causes
    if answer.pending:  # their causes are in the table
        told = {cause for each in answer.pending for cause in each.causes}
        causes = tuple(each for each in causes if each.code == "zone-gone-counts" and each not in told)
    parts += [Fact("why", each.says) for each in causes[:2]]
    whose = {each.remedies[0].says: short(each.workloads[0]) for each in answer.pending if each.remedies}
    parts += fix_facts(answer.remedies, whose=whose)
    parts += [Fact("next", "evictions may restore the spread", shell_line(answer.next))] if answer.next else []
    parts += unjudged_facts(answer.unjudged[:2])
    parts += [*_not_ready(answer), *_soft(answer)]
    parts += [Fact("warning", each) for each in answer.warnings]
    if answer.pending:
        parts.append(Section("", (_pending(answer.pending),)))
        if not (answer.exceeded or answer.waiting):
            parts.append(Section("", (Fact("spread", "every hard constraint holds"),)))
        parts.append(_section("Workloads", matrix))
    elif matrix.rows:
        parts.append(Section("", (matrix,)))
    parts += [
        *(
            section
            for each in answer.pending
            for section in fix_sections(
                each.remedies, f"All fixes for {listed([short(one) for one in each.workloads], _NAMES)}"
            )
        ),
        _all_not_ready(answer),
        _section("Constraints", _constraints(answer.workloads)),
        _section("Pods that kube-scheduler would reject on their node now", _refused(answer.workloads)),
        *_losses(answer.domains),
    ]
    if answer.traffic is not None:
        parts.append(traffic_section(answer.traffic))
    notes = [Fact("note", each) for each in answer.notes]
    notes += [Fact("note", f"{each.namespace}/{each.name}: {note}") for each in answer.workloads for note in each.notes]
    parts.append(Section("", tuple(notes), wide=True))
    return Page("Status", tuple(part for part in parts if not isinstance(part, Section) or _has_lines(part)))


def _not_ready(answer: Status) -> Iterator[Fact]:
    """Yield the nodes that are not Ready, with their pods."""
    nodes = sorted(answer.not_ready.items(), key=lambda each: (-len(each[1]), each[0]))
    for name, pods in nodes[:_NAMES]:
        yield Fact("not ready", f"node {name}{_pods_there(pods, _NAMES)}")
    if len(nodes) > _NAMES:
        yield Fact("not ready", f"{counted(len(nodes) - _NAMES, 'more node')}")


def _all_not_ready(answer: Status) -> Section:
    """Return the nodes with pods that the default output leaves out."""
    nodes = sorted(answer.not_ready.items(), key=lambda each: (-len(each[1]), each[0]))
    left = [each for at, each in enumerate(nodes) if at >= _NAMES or len(each[1]) > _NAMES]
    facts = tuple(Fact("node", f"{name}{_pods_there(pods, len(pods))}") for name, pods in left)
    return Section("Pods of nodes that are not Ready", facts, wide=True)


def _pods_there(pods: Sequence[str], most: int) -> str:
    return f" has {counted(len(pods), 'pod')}" + (f": {listed(in_order(pods), most)}" if pods else "")


def _soft(answer: Status) -> Iterator[Fact]:
    """Yield the number of soft constraints over maxSkew if the table of workloads is shown only with ``-o wide``."""
    number = sum(bool(one.excess) for each in answer.workloads for one in each.constraints if not one.hard)
    if number and answer.pending:
        are, them = ("is", "it") if number == 1 else ("are", "them")
        yield Fact("soft", f"{counted(number, 'soft constraint')} {are} over maxSkew (-o wide lists {them})")


def _section(title: str, table: Table) -> Section:
    return Section(title, (table,), wide=True)


def _has_lines(section: Section) -> bool:
    return any(not isinstance(each, Table) or each.rows for each in section.parts)


def _untried(group: Pending) -> str:
    """Return ``none tried``; empty if no change of the cluster or the spec is needed, or if that is not known."""
    waits = any(each.code in ("not-placed-yet", "scheduling-gate", "not-created") for each in group.causes)
    return "" if waits or group.verdict == "unknown" else "none tried"


def _pending(groups: Sequence[Pending]) -> Table:
    return Table(
        ("PODS", "WORKLOAD", "WHY", "FIRST FIX, TRIED"),
        tuple(
            (
                Span(f"? {len(each.pods)}", "unsure") if each.verdict == "unknown" else len(each.pods),
                listed([short(one) for one in each.workloads], _NAMES),
                each.says,
                each.remedies[0].says if each.remedies else "none found" if each.searched else _untried(each),
            )
            for each in groups
        ),
        more="causes",
    )


def _matrix(answer: Status) -> Table:
    """Return the workloads with their pods by zone; with many zones, only the fullest zone."""
    keys = [each.topology_key for each in answer.domains]
    key = ZONE if ZONE in keys or not keys else keys[0]
    counts = {id(each): _counts(each, key) for each in answer.workloads}
    domains = in_order(
        {each.name for each in answer.domains if each.topology_key == key}.union(*(each for each in counts.values()))
    )
    columns = domains if len(domains) <= _MOST_COLUMNS else []
    rows = []
    for each in answer.workloads:
        if not (each.existing or each.replicas):
            continue
        found = counts[id(each)]
        constraint = next((one for one in each.constraints if one.topology_key == key), None)
        by_domain: list[Cell] = [found.get(name, 0) if found else "" for name in columns]
        if not columns:
            by_domain = [_fullest(found)]
        skew: tuple[Cell, ...] = ("", "") if constraint is None else (constraint.skew, constraint.max_skew)
        counted = _other_counts(constraint, found, columns)
        if constraint is not None and constraint.origin != "pod":
            counted = f"default maxSkew{counted and '; '}{counted}"
        remark = _remark(each, key, counted)
        rows.append((f"{each.namespace}/{each.name}", _pods(each, answer), *by_domain, *skew, remark))
    heads = ("WORKLOAD", "READY" if answer.on.pods else "PODS", *(columns or ("FULLEST",)), "SKEW", "MAX", "")
    return Table(heads, tuple(rows), more="workloads")


def _pods(workload: WorkloadStatus, answer: Status) -> str:
    """Return ``ready/wanted`` pods of a workload; only the wanted pods if the input has no pods."""
    return f"{workload.ready}/{workload.replicas}" if answer.on.pods else str(workload.replicas)


def _counts(workload: WorkloadStatus, key: str) -> dict[str, int]:
    """Return domain → the workload's pods there; of a DaemonSet the pods that a constraint with this key counts."""
    found = {each.domain: each.lost for each in workload.losses if each.topology_key == key}
    return found or next((_counted(each) for each in workload.constraints if each.topology_key == key), {})


def _counted(constraint: ConstraintStatus) -> dict[str, int]:
    return {one.name: one.matching for one in constraint.domains} | dict.fromkeys(constraint.empty_names, 0)


def _other_counts(constraint: ConstraintStatus | None, pods: dict[str, int], columns: Sequence[str]) -> str:
    """Return the counts of a constraint in words if they are not the workload's pods; empty if they are."""
    if constraint is None:
        return ""
    matching = _counted(constraint)
    if all(matching.get(name, 0) == pods.get(name, 0) for name in {*matching, *pods}):
        return ""
    if not constraint.eligible:
        return "counts no node"
    return f"counts {', '.join(str(matching.get(name, '–')) for name in columns)}" if columns else "counts other pods"


def _fullest(counts: dict[str, int]) -> str:
    name = max(counts, key=lambda each: counts[each], default="")
    return f"{name} {counts[name]} of {sum(counts.values())}" if name else ""


def _remark(workload: WorkloadStatus, key: str, counts: str) -> Cell:
    """Return the problem of a workload's spread, or of its pods, in few words, and its constraint's ``counts``."""
    exceeded = [each for each in workload.constraints if each.hard and each.excess]
    if exceeded:
        others = [each for each in exceeded if each.topology_key != key]
        words = [f"{noun_of(each.topology_key)} skew {each.skew} > {each.max_skew}" for each in others]
        words = ["exceeded", *words] if len(words) < len(exceeded) else words
        return Span("; ".join([*words, *filter(None, [counts])]), "bad")
    words = [counts] if counts else []
    if any(not each.hard and each.excess for each in workload.constraints):
        words.append("soft")
    words += [f"{each.domain} holds all" for each in workload.worst_losses if each.lost == each.of]
    if workload.ready < workload.existing:
        words.append(f"{workload.existing - workload.ready} not ready")
    return "; ".join(words)


def _constraints(workloads: Iterable[WorkloadStatus]) -> Table:
    """Return a row for each constraint, with its fullest domains."""
    rows = tuple(
        (
            f"{each.namespace}/{each.name}",
            one.topology_key,
            "hard" if one.hard else "soft",
            one.skew,
            one.max_skew,
            Bar(max(one.skew, 0), one.max_skew),
            "; ".join(_facts(one)),
        )
        for each in workloads
        for one in each.constraints
        if one.eligible or one.origin != "system"
    )
    return Table(("WORKLOAD", "TOPOLOGY KEY", "", "SKEW", "MAX", "", "PODS"), rows)


def _facts(constraint: ConstraintStatus) -> Iterator[str]:
    most = sorted(constraint.domains, key=lambda each: -each.matching)
    if most:
        yield listed([f"{each.name} {each.matching}" for each in most], _NAMES)
    if constraint.empty:
        yield f"{counted(constraint.empty, noun_of(constraint.topology_key))} with 0"
    if constraint.lacks_domains:
        yield f"fewer domains than minDomains {constraint.min_domains}: the minimum counts as 0"
    if constraint.counted:
        yield f"counts {listed([f'{number} of {name}' for name, number in constraint.counted.items()], _NAMES)}"
    if not constraint.counts_itself:
        yield f"the pods do not match the selector {constraint.selector}"
    if constraint.revision:
        yield f"older pods, {constraint.revision}"
    if constraint.origin != "pod":
        yield f"{'built-in' if constraint.origin == 'system' else 'profile'} default"
    for left in constraint.left_out:
        names = listed(left.names, _NAMES) if left.count == len(left.names) else str(left.count)
        yield f"not counted: {names} ({left.reason})"


def _refused(workloads: Iterable[WorkloadStatus]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for workload in workloads:
        by_reason: dict[tuple[str, tuple[str, ...]], list[RefusedPod]] = {}
        for each in workload.refused:
            by_reason.setdefault((each.plugin, each.reasons), []).append(each)
        rows += [
            (
                f"{workload.namespace}/{workload.name}",
                f"{len(pods)} of {workload.existing}",
                plugin,
                f"{', '.join(reasons)}: {listed([f'{each.name} on {each.node}' for each in pods], _NAMES)}",
            )
            for (plugin, reasons), pods in by_reason.items()
        ]
    return Table(("WORKLOAD", "PODS", "PLUGIN", "WHY"), tuple(rows))


def _losses(domains: Iterable[DomainRisk]) -> Iterator[Section]:
    """Yield the effects of each domain's failure, for each topology key."""
    by_key: dict[str, list[DomainRisk]] = {}
    for each in domains:
        by_key.setdefault(each.topology_key, []).append(each)
    for key, risks in by_key.items():
        rows = tuple(
            (
                each.name,
                each.pods,
                each.workloads,
                listed(each.loses_all, _NAMES),
                listed([f"{one.workload} {one.lost} of {one.of}" for one in each.loses_most], _NAMES),
                each.single or "",
            )
            for each in risks
        )
        heads = (noun_of(key).upper(), "PODS", "WORKLOADS", "LOSES ALL OF", "LOSES MOST OF", "ONLY POD OF")
        yield _section(f"If a {noun_of(key)} fails", Table(heads, rows))
