"""The answer of `rebalance`: the fewest evictions that restore the spread, and the constraints that stay exceeded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from msgspec import Meta

from topospread.answer import Answer, Asked, Cause
from topospread.api.well_known_labels import HOSTNAME
from topospread.base import Base, Word
from topospread.rebalance import result
from topospread.rebalance.result import Applied, BoundBy, ConstraintChange, PodMove, UnmetConstraint

from .words import counted

_MOST_CAUSES = 3
_BY = {
    "counts": "proved by the counts of each constraint",
    "solver": "proved by an integer program",
    "search": "all shorter plans were tried",
}


class EvictionBound(Base, frozen=True, kw_only=True):
    """Bounds on the fewest possible evictions."""

    evictions: Annotated[
        int | None, Meta(description="Lower bound on the evictions; null if a constraint cannot be fixed.")
    ]
    by: Annotated[
        BoundBy, Meta(description="Source of the bound: `counts`, `solver` (an integer program) or `search`.")
    ]
    proved: Annotated[bool, Meta(description="Whether it is proved that no plan has fewer evictions.")]
    impossible: Annotated[bool, Meta(description="Whether it is proved that no evictions fix all constraints.")]


class Rebalance(Answer, frozen=True, kw_only=True):
    """The answer of `topospread rebalance`.

    The verdict is yes if evictions fix every exceeded constraint, or none is exceeded.
    """

    PAGE: ClassVar[str] = "topospread.render.pages.rebalance:page"

    nodes: Annotated[int, Meta(description="Number of nodes.")]
    evictions: Annotated[
        tuple[PodMove, ...],
        Meta(description="Evictions in order. Each waits until the previous replacement has a node."),
    ]
    bound: Annotated[EvictionBound, Meta(description="Bounds on the fewest evictions.")]
    constraints: Annotated[tuple[ConstraintChange, ...], Meta(description="Constraints that were exceeded before.")]
    unmet: Annotated[tuple[UnmetConstraint, ...], Meta(description="Constraints that stay exceeded, with the reason.")]
    soft_left: Annotated[int, Meta(description="Soft constraints above maxSkew, which only `--max-skew` fixes.")]
    pending: Annotated[int, Meta(description="Pods that are pending before and after, without unjudged pods.")]
    applied: Annotated[Applied | None, Meta(description="What `--apply` evicted; null without it.")] = None
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings about the input.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Notes about the input.")] = ()
    partial: Annotated[str, Meta(description="Where the search was interrupted; empty if it is complete.")] = ""


def rebalance_answer(found: result.Rebalance, applied: Applied | None = None) -> Rebalance:
    """Return the answer for an engine result and the evictions that were carried out."""
    verdict = _verdict(found, applied)
    return Rebalance.like(
        found,
        kind="Rebalance",
        verdict=verdict,
        says=_says(found, applied, verdict),
        causes=tuple(_causes(found))[:_MOST_CAUSES] if verdict == "no" else (),
        assumed=_assumed(found, verdict),
        on=Asked(nodes=found.nodes),
        evictions=found.moves,
        bound=EvictionBound(
            evictions=found.bound, by=found.bound_by, proved=found.is_proved, impossible=found.impossible
        ),
        soft_left=found.soft,
        applied=applied,
    )


def moved_domains(move: PodMove) -> list[tuple[str, str]]:
    """Return (from, to) pairs of the domains that change. Nodes are left out because the move names them."""
    pairs = [pair for key, pair in move.domains.items() if key != HOSTNAME]
    return [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]


def _verdict(found: result.Rebalance, applied: Applied | None) -> Word:
    """Return whether every constraint is fixed.

    Unknown if it depends on unmodelled parts or the search ran out of time.
    """
    if applied is not None and (applied.surprise or applied.partial):
        return "no"
    met: Word = "yes" if found.is_met else "no"
    if found.is_met_if_admitted not in (None, found.is_met) and not found.impossible:
        return "unknown"
    return "unknown" if found.partial and met == "no" and not found.impossible else met


def _says(found: result.Rebalance, applied: Applied | None, verdict: Word) -> str:
    if applied is not None:
        text = f"{len(applied.done)} of {counted(len(found.moves), 'eviction')} carried out"
        text += "; stopped: the result differs from the plan" if applied.surprise else ""
        return text + (f"; {applied.partial}" if applied.partial else "")
    if not found.constraints:
        looked = "every checked constraint holds"
        return (
            f"{looked}, so no pod has to move" if verdict == "yes" else f"{looked} as long as no further pod is placed"
        )
    mended = sum(each.is_met for each in found.constraints)
    left = len(found.constraints) - mended
    number = counted(len(found.moves), "eviction")
    if found.moves and not mended:
        bring = "brings" if len(found.moves) == 1 else "bring"
        text = f"{number} {bring} {counted(left, 'constraint')} nearer to maxSkew, but none is restored"
    elif found.moves:
        text = f"{number} {'restores' if len(found.moves) == 1 else 'restore'} {counted(mended, 'constraint')}"
        text += f", {left} {'is' if left == 1 else 'are'} not {'yet ' if found.partial else ''}restored" if left else ""
    else:
        text = "no evictions were found yet" if found.partial else "no evictions help"
        text = "no evictions of judged pods help" if found.unjudged and not found.partial else text
        still = "is" if left == 1 else "are"
        text += f": {counted(left, 'constraint')} {still} not {'yet ' if found.partial else ''}restored"
    return text + _bound(found) + (f"; {found.partial}" if found.partial else "")


def _bound(found: result.Rebalance) -> str:
    """Return the proved bound on the number of evictions."""
    if found.impossible:
        return "; evicting the movable pods cannot restore all constraints (proved by an integer program)"
    if found.is_proved:
        return f"; fewer are not enough ({_BY[found.bound_by]})"
    if found.bound is None:
        return ""
    needed = f"{found.bound} {'is' if found.bound == 1 else 'are'} needed"
    needed = f"fewer may be enough: at least {needed}" if found.is_met else f"at least {needed} to restore all"
    return f"; {needed} ({_BY[found.bound_by]})"


def _causes(found: result.Rebalance) -> Iterator[Cause]:
    for each in found.unmet:
        code = "placed-back" if each.returns else "not-movable"
        says = f"{each.workload}, {each.topology_key}, skew {each.skew} instead of {each.highest}: {each.why}"
        yield Cause(code=code, says=says, objects=(each.workload,))


def _assumed(found: result.Rebalance, verdict: Word) -> tuple[str, ...]:
    if found.is_met_if_admitted is None or verdict == "unknown":
        return ()
    parts = ", ".join(each.what for each in found.unjudged)
    return (f"the same whether pods with {parts} find no node or any node",)
