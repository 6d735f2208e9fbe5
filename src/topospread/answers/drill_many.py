"""The answers of ``topospread drill --each`` and ``--check``: does every drill end without new harm, or as expected?"""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from topospread.answer import Answer
from topospread.base import worst
from topospread.drill.checking import DrillCheck as Checked
from topospread.drill.checking import DrillOfFile
from topospread.drill.each import DrillOutcome, EachDrill
from topospread.drill.shards import DrillPart

from .finding import Finding, Level
from .words import agreeing, counted, listed


class DrillEach(Answer, frozen=True, kw_only=True):
    """Does the drill of every zone, node or Deployment end without new harm?"""

    PAGE: ClassVar[str] = "topospread.render.pages.drill_many:page_of_each"

    each: Annotated[str, Meta(description="`zone`, `node` or `deploy`.")]
    holds: Annotated[bool, Meta(description="Whether the verdict is yes.")]
    outcomes: Annotated[tuple[DrillOutcome, ...], Meta(description="The drills, worst first.")]
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings for the user.")]
    partial: Annotated[str, Meta(description="Why drills are missing; empty if all ran.")]
    part: Annotated[DrillPart | None, Meta(description="The part of `--shard`; null for all drills.")]
    namespace: Annotated[str | None, Meta(description="Namespace of `-n` that is judged; null for all.")] = None


class DrillCheck(Answer, frozen=True, kw_only=True):
    """Does every Drill file meet its expectations?"""

    PAGE: ClassVar[str] = "topospread.render.pages.drill_many:page_of_check"

    passed: Annotated[bool, Meta(description="Whether the verdict is yes.")]
    drills: Annotated[tuple[DrillOfFile, ...], Meta(description="The drills in the order of their files.")]
    partial: Annotated[str, Meta(description="Why drills are missing; empty if all ran.")]
    part: Annotated[DrillPart | None, Meta(description="The part of `--shard`; null for all drills.")]

    def findings(self, drill: DrillOfFile) -> tuple[Finding, ...]:
        """Return the unmet expectations of a drill, for pipelines."""
        level: Level = "warning" if drill.verdict == "unknown" else "error"
        return tuple(
            Finding(
                level=level,
                rule=each.path,
                says=each.message,
                file=drill.file,
                line=each.line,
                column=each.column,
                object=f"Drill {drill.name}",
            )
            for each in drill.shortfalls
        )


def each_answer(found: EachDrill) -> DrillEach:
    """Return the answer for the drills of every zone, node or Deployment."""
    bad = [each for each in found.outcomes if each.verdict == "no"]
    unknown = [each for each in found.outcomes if each.verdict == "unknown"]
    number = len(found.outcomes)
    noun = {"zone": "zone failure", "node": "node failure", "deploy": "rollout"}[found.kind]
    where = f" in namespace {found.namespace}" if found.namespace is not None else ""
    says = f"none of {counted(number, noun)} does harm{where}"
    lost = max((len(each.not_replaced) for each in found.outcomes), default=0)
    if lost and not bad:
        says = f"no pod{where} is newly pending after {counted(number, noun)}, one at a time, but "
        says += f"up to {counted(lost, 'pod')} {agreeing('are', lost)} not replaced"
    if bad:
        says = f"{len(bad)} of {counted(number, noun)} {agreeing('do', len(bad))} harm{where}"
        least, most = min(each.pending for each in bad), max(each.pending for each in bad)
        range_ = counted(most, "pod") if least == most else f"{least} to {most} pods"
        lost = max(len(each.lost_quorum) for each in bad)
        what = [f"{range_} newly pending"] if most else []
        what += [f"most pods of up to {counted(lost, 'StatefulSet')} lost"] if lost else []
        broken, stuck = max(len(each.broken) for each in bad), sum(each.stuck for each in bad)
        what += [f"up to {counted(broken, 'broken PodDisruptionBudget')}"] if broken else []
        what += [counted(stuck, "stuck rollout")] if stuck else []
        says += f": {', '.join(what)}" if what else ""
    elif unknown:
        says = (
            f"{len(unknown)} of {counted(number, noun)} {agreeing('depend', len(unknown))} on pods that are not judged"
        )
    if skewed := [each.target for each in found.outcomes if each.exceeds]:
        leaves = "a rollout leaves" if len(skewed) == 1 else f"{len(skewed)} rollouts leave"
        says += f"; {leaves} skew over maxSkew: {listed(skewed, 2)}"
    return DrillEach.like(found, kind="DrillEach", says=says + _rest(found.partial, found.part), each=found.kind)


def check_answer(found: Checked) -> DrillCheck:
    """Return the answer of ``drill --check``."""
    verdict = worst(each.verdict for each in found.drills)
    short = sum(each.verdict == "no" for each in found.drills)
    unknown = sum(each.verdict == "unknown" for each in found.drills)
    number = counted(len(found.drills), "drill")
    says = f"{number} met" if len(found.drills) == 1 else f"all {number} meet"
    says = f"{says} {'its' if len(found.drills) == 1 else 'their'} expectations"
    if short:
        says = f"{short} of {number} {'misses' if short == 1 else 'miss'} expectations"
    elif unknown:
        says = f"{unknown} of {number} depend on pods that are not judged"
    return DrillCheck.like(
        found, kind="DrillCheck", verdict=verdict, says=says + _rest(found.partial, found.part), passed=verdict == "yes"
    )


def _rest(partial: str, part: DrillPart | None) -> str:
    words = f"; part {part.shard} of {counted(part.targets, 'drill')}" if part is not None else ""
    return words + (f"; partial: {partial}" if partial else "")
