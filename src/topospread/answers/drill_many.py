"""The answers of ``topospread drill --each`` and ``--check``: does every drill end without harm, or as expected?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from topospread.answer import Answer
from topospread.base import Base, Word, worst

from .finding import Finding, Level
from .words import counted

if TYPE_CHECKING:
    from topospread.drills.checking import DrillCheck as Checked
    from topospread.drills.each import EachDrill
    from topospread.drills.shards import ShardMark


class DrillPart(Base, frozen=True, kw_only=True):
    """The part of all drills that this is (``--shard``)."""

    index: Annotated[int, Meta(description="Number of the part, from 0.")]
    of: Annotated[int, Meta(description="Number of parts.")]
    targets: Annotated[int, Meta(description="Drills of all parts.")]
    digest: Annotated[str, Meta(description="Digest of the names of all drills.")]


class DrillOutcome(Base, frozen=True, kw_only=True):
    """The result of one drill of ``--each``."""

    target: Annotated[str, Meta(description="The zone, the node, or NAMESPACE/NAME of the Deployment.")]
    step: Annotated[str, Meta(description="The step of the drill.")]
    verdict: Annotated[Word, Meta(description="Whether it ends without harm.")]
    holds: Annotated[bool, Meta(description="Whether the verdict is yes.")]
    pending: Annotated[int, Meta(description="Pods that are pending afterwards and were not before.")]
    lost: Annotated[int, Meta(description="Ready pods that are missing at the worst moment, without DaemonSets.")]
    gone: Annotated[tuple[str, ...], Meta(description="Workloads without a ready pod at the worst moment.")]
    broken: Annotated[tuple[str, ...], Meta(description="Budgets that were broken.")]
    stuck: Annotated[bool, Meta(description="Whether a rollout is not complete at the end.")]
    settled: Annotated[float, Meta(description="Seconds until the last event.")]
    not_replaced: Annotated[
        tuple[str, ...], Meta(description="Pods of StatefulSets that terminate on NotReady nodes, NAMESPACE/NAME.")
    ]
    unjudged: Annotated[int, Meta(description="Pending pods that are not judged.")]


class DrillEach(Answer, frozen=True, kw_only=True):
    """Does the drill of every zone, node or Deployment end without harm?"""

    PAGE: ClassVar[str] = "topospread.render.pages.drill_many:page_of_each"

    each: Annotated[str, Meta(description="`zone`, `node` or `deploy`.")]
    holds: Annotated[bool, Meta(description="Whether the verdict is yes.")]
    outcomes: Annotated[tuple[DrillOutcome, ...], Meta(description="The drills, worst first.")]
    warnings: Annotated[tuple[str, ...], Meta(description="Sentences that a person must see.")]
    partial: Annotated[str, Meta(description="Why drills are missing; empty if none is.")]
    part: Annotated[DrillPart | None, Meta(description="The part of `--shard`; null for all drills.")]


class DrillShortfall(Base, frozen=True, kw_only=True):
    """An expectation that a drill does not meet."""

    path: Annotated[str, Meta(description="Field of the expectation.")]
    line: Annotated[int | None, Meta(description="Line of the expectation; null if it is not known.")]
    message: Annotated[str, Meta(description="What is the case.")]
    column: Annotated[int | None, Meta(description="Column of the expectation; null if it is not known.")]


class DrillOfFile(Base, frozen=True, kw_only=True):
    """A drill of a file, and its result."""

    name: Annotated[str, Meta(description="Name of the drill.")]
    file: Annotated[str, Meta(description="File of the drill.")]
    document: Annotated[int, Meta(description="Number of the drill in its file.")]
    verdict: Annotated[Word, Meta(description="Whether it meets its expectations.")]
    shortfalls: Annotated[tuple[DrillShortfall, ...], Meta(description="Expectations that it does not meet.")]
    result: Annotated[dict[str, Any], Meta(description="The drill itself, as in `kind: DrillResult`.")]


class DrillCheck(Answer, frozen=True, kw_only=True):
    """Does every drill of the files meet its expectations?"""

    PAGE: ClassVar[str] = "topospread.render.pages.drill_many:page_of_check"

    passed: Annotated[bool, Meta(description="Whether the verdict is yes.")]
    drills: Annotated[tuple[DrillOfFile, ...], Meta(description="The drills in the order of their files.")]
    partial: Annotated[str, Meta(description="Why drills are missing; empty if none is.")]
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
    """Return the drills of every zone, node or Deployment as an answer."""
    bad = [each for each in found.outcomes if each.verdict == "no"]
    unknown = [each for each in found.outcomes if each.verdict == "unknown"]
    number = len(found.outcomes)
    noun = {"zone": "zone failure", "node": "node failure", "deploy": "rollout"}[found.kind]
    says = f"all {counted(number, noun)} end without harm"
    if bad:
        says = f"{len(bad)} of {counted(number, noun)} {'ends' if len(bad) == 1 else 'end'} with harm"
        least, most = min(each.pending for each in bad), max(each.pending for each in bad)
        range_ = counted(most, "pod") if least == most else f"{least} to {most} pods"
        says += f": {range_} pending" if most else ""
    elif unknown:
        says = f"{len(unknown)} of {counted(number, noun)} depend on pods that are not judged"
    return DrillEach(
        kind="DrillEach",
        verdict=found.verdict,
        says=says + _rest(found.partial, found.part),
        unjudged=found.unjudged,
        each=found.kind,
        holds=found.holds,
        outcomes=tuple(
            DrillOutcome(
                target=each.target,
                step=each.step,
                verdict=each.verdict,
                holds=each.holds,
                pending=each.pending,
                lost=each.lost,
                gone=each.gone,
                broken=each.broken,
                stuck=each.stuck,
                settled=each.settled,
                not_replaced=each.not_replaced,
                unjudged=each.unjudged,
            )
            for each in found.outcomes
        ),
        warnings=tuple(found.warnings),
        partial=found.partial,
        part=_part(found.part),
    )


def check_answer(found: Checked) -> DrillCheck:
    """Return the drills of files as an answer."""
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
    return DrillCheck(
        kind="DrillCheck",
        verdict=verdict,
        says=says + _rest(found.partial, found.part),
        passed=verdict == "yes",
        drills=tuple(
            DrillOfFile(
                name=each.name,
                file=each.file,
                document=each.document,
                verdict=each.verdict,
                shortfalls=tuple(
                    DrillShortfall(path=one.path, line=one.line, message=one.message, column=one.column)
                    for one in each.shortfalls
                ),
                result=each.result,
            )
            for each in found.drills
        ),
        partial=found.partial,
        part=_part(found.part),
    )


def _rest(partial: str, part: ShardMark | None) -> str:
    words = f"; part {part.shard} of {counted(part.targets, 'drill')}" if part is not None else ""
    return words + (f"; partial: {partial}" if partial else "")


def _part(part: ShardMark | None) -> DrillPart | None:
    if part is None:
        return None
    return DrillPart(index=part.shard.index, of=part.shard.of, targets=part.targets, digest=part.digest)
