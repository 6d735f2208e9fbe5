"""A status as a table for people: workloads worst first, then what the failure of a domain would take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from .further import FurtherCommands, of_pending
from .layout import Layout
from .paragraphs import counted, hanging, in_order, listed, together
from .rows import Row, notes_once, row_lines
from .status_domains import HOSTNAME, constraint_lines

if TYPE_CHECKING:
    from topospread.spread_status import DomainRisk, Loss, RefusedPod, SpreadStatus, WorkloadStatus

_ZONE = "topology.kubernetes.io/zone"
_INDENT = "  "
_ROW = " " * 4
_PODS = ("DaemonSet", "Job", "Pod")
"""Kinds that have no replicas to speak of."""


def status_text(status: SpreadStatus, layout: Layout, further: FurtherCommands | None = None) -> str:
    """The whole report. ``further``: other commands for the same input."""
    blocks = list(_workloads(status, layout))
    notes = [*status.notes, *(_adding(status, further) if further is not None else ())]
    blocks += [
        text for lines in (_risks(status, layout), layout.remarks(status.warnings, notes)) if (text := "\n".join(lines))
    ]
    blocks.append(_summary(status, layout))
    return "\n\n".join(blocks) + "\n"


def _adding(status: SpreadStatus, further: FurtherCommands) -> Iterator[str]:
    """What other commands would add: how what is skewed is mended, what a loss takes, what lets missing pods in."""
    if status.exceeded:
        yield further.mending("what is beyond maxSkew")
    elif any(each.soft_excess for each in status.workloads):
        soft = with_fields(further, evictions=None)
        yield soft.mending("the soft constraints that are unsatisfied", " --max-skew 1")
    if any(each.topology_key == _ZONE for each in status.domains):
        yield further.losses()
    troubled = next((each for each in status.workloads if each.missing), None)
    if troubled is not None:
        yield from of_pending(further, troubled.kind, f"{troubled.namespace}/{troubled.kind.lower()}/{troubled.name}")


def status_summary(status: SpreadStatus, layout: Layout) -> str:
    """A line for each workload in trouble, the warnings, and the numbers."""
    troubled = [each for each in _together(status.workloads, layout) if _in_trouble(each)]
    rows = [Row(f"{each.namespace}/{each.name}", (each.kind,), (_trouble_of(each),)) for each in troubled]
    lines = list(row_lines(rows, layout))
    lines += layout.remarks(status.warnings)
    return "\n".join([*lines, _summary(status, layout)]) + "\n"


def _in_trouble(workload: WorkloadStatus) -> bool:
    return bool(workload.missing) or _is_badly_spread(workload)


def _is_badly_spread(workload: WorkloadStatus) -> bool:
    return bool(workload.hard_excess or workload.soft_excess or workload.refused or _lost_whole(workload))


def _lost_whole(workload: WorkloadStatus) -> list[str]:
    """Domains that hold all of several pods of it."""
    return [each.domain for each in workload.worst_losses if each.lost == each.of]


def _trouble_of(workload: WorkloadStatus) -> str:
    """``topology.kubernetes.io/zone skew 2 > maxSkew 1; 3 of 6 refused where they are``."""
    parts = [
        f"{each.topology_key} skew {each.skew} > maxSkew {each.max_skew}"
        for each in workload.constraints
        if each.excess
    ]
    if workload.refused:
        parts.append(f"{len(workload.refused)} of {workload.existing} refused where they are")
    if workload.missing:
        parts.append(_missing(workload))
    return "; ".join([*parts, *(f"all in {domain}" for domain in _lost_whole(workload))])


def _together(workloads: Sequence[WorkloadStatus], layout: Layout) -> list[WorkloadStatus]:
    """Bare pods that are spread alike as one, named after the first of them."""
    alike: dict[object, list[WorkloadStatus]] = {}
    for each in workloads:
        key = (each.namespace, each.constraints) if each.kind == "Pod" else id(each)
        alike.setdefault(key, []).append(each)
    return [members[0] if len(members) == 1 else _one(members, layout) for members in alike.values()]


def _one(pods: Sequence[WorkloadStatus], layout: Layout) -> WorkloadStatus:
    return with_fields(
        pods[0],
        name=layout.names(in_order(each.name for each in pods)),
        replicas=len(pods),
        existing=len(pods),
        refused=tuple(refused for each in pods for refused in each.refused),
        losses=(),
    )


def _workloads(status: SpreadStatus, layout: Layout) -> Iterator[str]:
    """A block for each; of many, for the worst, with what is wrong alone, and a line for each of the others."""
    every = _together(status.workloads, layout)
    if layout.few(len(every)):
        yield from _blocks(every, layout)
        return
    worst = [each for each in every if _is_badly_spread(each)]
    shown, rest = worst[: layout.most], worst[layout.most :]
    others = [each for each in every if not _is_badly_spread(each)]
    rest += [each for each in others if each.missing] + [each for each in others if not each.missing]
    yield from _blocks([_in_brief(each) for each in shown], layout)
    for lines in (row_lines(list(map(_row, rest)), layout), notes_once(rest, layout)):
        if text := "\n".join(lines):
            yield text


def _blocks(workloads: Sequence[WorkloadStatus], layout: Layout) -> Iterator[str]:
    yield from ("\n".join(_block(each, layout)) for each in workloads)


def _row(workload: WorkloadStatus) -> Row:
    """``3 on nodes``, and what is wrong with it, or else the domains that hold most of it."""
    held = [f"{each.domain} {each.lost} of {each.of}" for each in workload.worst_losses]
    ways: tuple[str, ...] = (f"most in one domain: {', '.join(held)}", f"most: {held[0]}", "") if held else ()
    if _in_trouble(workload):
        first = _trouble_of(workload).partition(";")[0]
        ways = (_trouble_of(workload), first, first[first.find("skew ") :] if "skew " in first else first)
    amount = f"{workload.existing} on {'a node' if workload.existing == 1 else 'nodes'}"
    name = f"{workload.namespace}/{workload.name}"
    return Row(name, (workload.kind, amount if workload.existing or workload.replicas else "no pods"), ways)


def _missing(workload: WorkloadStatus) -> str:
    return f"{workload.missing} of {workload.replicas} without a node"


def _in_brief(workload: WorkloadStatus) -> WorkloadStatus:
    """Only what is wrong with it: constraints that are exceeded, domains that hold more than half of it."""
    return with_fields(
        workload,
        constraints=tuple(each for each in workload.constraints if each.excess),
        losses=tuple(each for each in workload.losses if each.lost * 2 > each.of),
    )


def _block(workload: WorkloadStatus, layout: Layout) -> Iterator[str]:
    name = layout.style(f"{workload.namespace}/{workload.name}", "bold")
    yield from hanging(f"{name}  ", _amount(workload), layout.width, 4)
    for each in workload.constraints:
        if each.eligible or each.origin != "system":
            yield from constraint_lines(each, layout)
    yield from _refused(workload, layout)
    if workload.worst_losses:
        held = ", ".join(together(f"{each.domain} {_lost(each)}") for each in workload.worst_losses)
        yield from hanging(f"{_INDENT}most in one domain: ", held, layout.width, 4)
    for note in workload.notes:
        yield from hanging("  note: ", note, layout.width, 4)


def _amount(workload: WorkloadStatus) -> str:
    if workload.kind == "Pod":
        return "Pod" if workload.replicas == 1 else f"{workload.replicas} Pods"
    noun = "pod" if workload.kind in _PODS else "replica"
    text = f"{workload.kind} · {counted(workload.replicas, noun)} · {workload.existing} on nodes"
    return text + (f", {workload.missing} without a node" if workload.missing else "")


def _refused(workload: WorkloadStatus, layout: Layout) -> Iterator[str]:
    """The pods that would not be placed where they are, together by what refuses them."""
    if not workload.refused:
        return
    together_by: dict[tuple[str, tuple[str, ...]], list[RefusedPod]] = {}
    for each in workload.refused:
        together_by.setdefault((each.plugin, each.reasons), []).append(each)
    amount = f"{len(workload.refused)} of {counted(workload.existing, 'pod')}"
    yield f"{_INDENT}{layout.style(amount, 'bold')} would be refused where they are"
    for (plugin, reasons), pods in together_by.items():
        why = f"{plugin}: {', '.join(reasons)}" if plugin else ", ".join(reasons)
        names = layout.names([f"{each.name} on {each.node}" for each in pods], 2)
        yield from hanging(_ROW, f"{why}: {names}", layout.width, len(_ROW) + 2)


def _lost(loss: Loss) -> str:
    """``5 of 8 (63 %)``; a share is rounded, and neither to all nor to nothing what is not."""
    percent = min(max(round(loss.share * 100), 1), 100 if loss.lost == loss.of else 99)
    return f"{loss.lost} of {loss.of} ({percent} %)"


def _risks(status: SpreadStatus, layout: Layout) -> Iterator[str]:
    if not status.domains:
        return
    yield layout.style("If a domain fails", "bold")
    by_key: dict[str, list[DomainRisk]] = {}
    for each in status.domains:
        by_key.setdefault(each.topology_key, []).append(each)
    for key, domains in by_key.items():
        yield f"{_INDENT}{layout.style(key, 'bold')}"
        yield from _risks_of(domains, layout)


def _risks_of(domains: Sequence[DomainRisk], layout: Layout) -> Iterator[str]:
    """A row a domain; of many, those that take most of a workload."""
    shown = list(domains)
    if not layout.few(len(domains)):
        shown = [each for each in domains if each.loses_all or each.loses_most][: layout.most]
    name = max((len(each.name) for each in shown), default=0)
    pods = max((len(counted(each.pods, "pod")) for each in shown), default=0)
    for each in shown:
        row = f"{_ROW}{each.name:<{name}}  {counted(each.pods, 'pod'):>{pods}}  "
        yield from hanging(row, _what_it_takes(each, layout), layout.width, len(_ROW) + 2)
    left = domains[len(shown) :]
    if left:
        most = max(each.pods for each in left)
        worse = any(each.loses_all or each.loses_most for each in left)
        text = "-o wide lists them" if worse else "none takes more than half of a workload"
        noun = "node" if left[0].topology_key == HOSTNAME else "domain"
        more = f"{len(left)} more" if shown else counted(len(left), noun)
        text = f"{more} with at most {counted(most, 'pod')} each; {text}"
        yield from hanging(_ROW, text, layout.width, len(_ROW) + 2)


def _what_it_takes(risk: DomainRisk, layout: Layout) -> str:
    parts = [f"of {counted(risk.workloads, 'workload')}"]
    if risk.loses_all:
        parts.append(f"all of {layout.names(list(risk.loses_all))}")
    most = [f"{name} {_lost(loss)}" for name, loss in risk.loses_most]
    parts += most if layout.wide else [listed(most, 3)] if most else []
    if risk.single:
        parts.append(f"the only pod of {risk.single}")
    return "; ".join(parts)


def _summary(status: SpreadStatus, layout: Layout) -> str:
    """``12 workloads on 9 nodes: 2 exceed a hard constraint, 3 pods would be refused where they are``."""
    if not status.workloads:
        return f"no workload to show on {counted(status.nodes, 'node')}"
    hard = len(status.exceeded)
    soft = sum(bool(each.soft_excess) for each in status.workloads)
    refused = sum(len(each.refused) for each in status.workloads)
    parts = []
    if hard:
        verb = "exceeds" if hard == 1 else "exceed"
        parts.append(layout.style(together(f"{hard} {verb} a hard constraint"), "bold", "red"))
    if soft:
        parts.append(together(f"{soft} {'leaves' if soft == 1 else 'leave'} a soft one unsatisfied"))
    if refused:
        parts.append(f"{counted(refused, 'pod')} would be refused where {'it is' if refused == 1 else 'they are'}")
    words = ", ".join(parts) or "no constraint is exceeded"
    begin = f"{counted(len(status.workloads), 'workload')} on {counted(status.nodes, 'node')}: "
    return "\n".join(hanging("", begin + words, layout.width, 2))
