"""How a workload's constraints stand when all pods are placed that can be, as statements; it plays no drill."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.spread_status.result import ConstraintStatus

from .described import DescribedWorkload
from .result import Statement

_FEW = 6


def constraint_words(each: ConstraintStatus) -> str:
    """``DoNotSchedule over topology.kubernetes.io/zone, maxSkew 1``."""
    domains = f", minDomains {each.min_domains}" if each.min_domains > 1 else ""
    origin = "" if each.origin == "pod" else f" ({each.origin} default)"
    return f"{each.when_unsatisfiable} over {each.topology_key}, maxSkew {each.max_skew}{domains}{origin}"


def standing(subject: DescribedWorkload) -> Iterator[Statement]:
    """What is true now, constraint by constraint, and how many pods have no node."""
    told = subject.status
    when = "now" if subject.is_there else "once its pods are placed"
    command = subject.command("status" if subject.is_there else "simulate")
    checked = "what is there counted" if subject.is_there else "its pods placed, and counted"
    for each in told.constraints:
        inside = not each.excess
        verb = "keeps" if inside else "exceeds"
        wish = "" if each.hard else ", which is a wish: no pod is refused for it"
        text = (
            f"{when} {_domains(each)}: skew {each.skew} {verb} maxSkew {each.max_skew} over {each.topology_key}{wish}"
        )
        figures = {"skew": each.skew, "maxSkew": each.max_skew}
        held = inside and each.hard
        yield Statement("now", "yes" if held else "no", text, checked, command, each.topology_key, figures)
    if all(each.origin == "system" for each in told.constraints):
        text = "no constraint of its own says how its pods are spread: where they go is chosen by scores"
        yield Statement("now", "no", text, checked, command)
    if told.missing:
        text = f"{when} {told.missing} of {told.replicas} pods have no node"
        yield Statement("now", "no", text, checked, command, figures={"missing": told.missing})


def _domains(each: ConstraintStatus) -> str:
    counts = [f"{domain.name} {domain.matching}" for domain in each.domains]
    if len(counts) > _FEW:
        most = max(domain.matching for domain in each.domains)
        return f"{len(counts)} of {each.eligible} domains hold at most {most} each"
    empty = [f"{name} 0" for name in each.empty_names]
    if len(counts) + each.empty <= _FEW:
        return ", ".join(counts + empty) or "no domain is eligible"
    return ", ".join(counts) + f" and {each.empty} others 0"
