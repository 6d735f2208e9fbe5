"""The answer of ``topospread why --audit`` and ``--events``: did every pod in the log find a node?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from topospread.answer import Answer, Cause, Unjudged
from topospread.api.timestamps import seconds
from topospread.base import Base, Word
from topospread.replay.result import NodeChange, SkewedBinding

from .causes import causes_of
from .spread import sum_in_words
from .words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topospread.replay.result import Incident, PodRefusal


class ReplayedSum(Base, frozen=True, kw_only=True):
    """The skew arithmetic of a hard constraint in one domain at the time of the rejection."""

    topology_key: Annotated[str, Meta(description="Topology key of the constraint.")]
    domain: Annotated[str, Meta(description="Value of the topology key.")]
    sum: Annotated[str, Meta(description="The sum in words.")]
    exceeds: Annotated[bool, Meta(description="Whether the constraint refuses the domain.")]


class WaitingPod(Base, frozen=True, kw_only=True):
    """A pod that was rejected, from its first rejection until it got a node."""

    pod: Annotated[str, Meta(description="NAMESPACE/NAME of the pod.")]
    first: Annotated[str, Meta(description="Time of the first report of the rejection, RFC 3339.")]
    last: Annotated[str, Meta(description="Time of the last report of the rejection, RFC 3339.")]
    said: Annotated[str, Meta(description="kube-scheduler's message in the log.")]
    computed: Annotated[str, Meta(description="The message for the replayed cluster; empty if it has no such pod.")]
    agrees: Annotated[bool, Meta(description="Whether `computed` equals `said`, apart from the part about preemption.")]
    causes: Annotated[tuple[Cause, ...], Meta(description="Why the replayed cluster has no node for the pod.")]
    sums: Annotated[tuple[ReplayedSum, ...], Meta(description="The arithmetic of each hard constraint.")]
    cause: Annotated[
        NodeChange | None,
        Meta(description="Last node change without which the pod would find a node; null if there is none."),
    ]
    ended: Annotated[NodeChange | None, Meta(description="Last change of a node before the pod got its node.")]
    placed_at: Annotated[
        str | None, Meta(description="Time at which it got a node, RFC 3339; null if the log does not show it.")
    ]
    placed_on: Annotated[str | None, Meta(description="Node that it got; null if the log does not show it.")]
    seconds: Annotated[float | None, Meta(description="Seconds until it had a node; null if it had none.")]


class PlacedPod(Base, frozen=True, kw_only=True):
    """A pod that got a node."""

    at: Annotated[str, Meta(description="When, RFC 3339.")]
    pod: Annotated[str, Meta(description="NAMESPACE/NAME of the pod.")]
    node: Annotated[str, Meta(description="Name of the node.")]


class WhyHistory(Answer, frozen=True, kw_only=True):
    """Did every pod in the log find a node?"""

    PAGE: ClassVar[str] = "topospread.render.pages.why_history:page"

    begins: Annotated[str, Meta(description="Time of the first record; empty for an empty log.")]
    ends: Annotated[str, Meta(description="Time of the last record; empty for an empty log.")]
    records: Annotated[int, Meta(description="Number of records.")]
    alterations: Annotated[tuple[NodeChange, ...], Meta(description="Changes of nodes.")]
    refusals: Annotated[tuple[WaitingPod, ...], Meta(description="Pods that kube-scheduler rejected.")]
    placed: Annotated[tuple[PlacedPod, ...], Meta(description="Pods that got a node.")]
    over_skew: Annotated[
        tuple[SkewedBinding, ...], Meta(description="Bindings of an audit log that exceeded maxSkew when they arrived.")
    ] = ()
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings for the user.")] = ()


def history_answer(found: Incident) -> WhyHistory:
    """Return the answer for a replayed log."""
    refusals = tuple(_waiting(each, found) for each in found.refusals)
    unjudged = tuple(_unjudged(found))
    verdict: Word = "no" if refusals else "unknown" if found.unreplayed else "yes"
    return WhyHistory.like(
        found,
        kind="WhyHistory",
        verdict=verdict,
        says=_says(refusals, verdict),
        causes=tuple(_causes(refusals)),
        unjudged=unjudged,
        refusals=refusals,
        placed=tuple(PlacedPod(at=at, pod=pod, node=node) for at, pod, node in found.placed),
    )


def _says(refusals: tuple[WaitingPod, ...], verdict: Word) -> str:
    if not refusals:
        return (
            "no pod was rejected"
            if verdict == "yes"
            else "the log has no rejected pod, but not every change could be replayed"
        )
    pods = list(dict.fromkeys(each.pod for each in refusals))
    still = len({each.pod for each in refusals if each.placed_on is None})
    end = "" if not still else f"; {still if len(pods) > 1 else 'it'} had no node at the end of the log"
    if len(pods) > 1:
        return f"{len(pods)} pods were pending{end}"
    first, placed_at = refusals[0].first, refusals[-1].placed_at
    if not first:  # an event without a time
        return f"1 pod was pending: {pods[0]}{end}"
    waited = f", for {_duration(_seconds(first, placed_at))}" if placed_at else ""
    return f"1 pod was pending: {pods[0]}{waited} from {first}{end}"


def _causes(refusals: tuple[WaitingPod, ...]) -> Iterator[Cause]:
    """Yield the node changes that made pods pending, most pods first, then the causes for the other pods."""
    began: dict[tuple[str, str], list[WaitingPod]] = {}
    for each in refusals:
        if each.cause is not None:
            began.setdefault((each.cause.at, each.cause.node), []).append(each)
    for members in sorted(began.values(), key=lambda each: -len(each))[:3]:
        change = members[0].cause
        assert change is not None
        whom = (
            "the pod"
            if len({each.pod for each in refusals}) == 1
            else counted(len({each.pod for each in members}), "pod")
        )
        says = f"{change.words} at {change.at}; otherwise {whom} would have found a node"
        yield Cause(code="node-changed", says=says, objects=(change.node,))
    if not began:
        yield from next((each.causes for each in refusals if each.causes), ())


def _unjudged(found: Incident) -> Iterator[Unjudged]:
    if found.unreplayed:
        yield Unjudged(what="log", because=f"{counted(found.unreplayed, 'record')} could not be replayed")
    pods = tuple(dict.fromkeys(each.pod for each in found.refusals if each.group is None))
    if pods:
        because = "the replayed cluster does not have the pod, or has a node for it"
        yield Unjudged(what="refusal", because=because, pods=pods)


def _waiting(each: PodRefusal, found: Incident) -> WaitingPod:
    ended = [one for one in found.alterations if each.placed_at and each.first <= one.at <= each.placed_at]
    return WaitingPod.like(
        each,
        causes=causes_of(each.group) if each.group is not None else (),
        sums=tuple(
            ReplayedSum(
                topology_key=arithmetic.topology_key,
                domain=outcome.domain.name,
                sum=sum_in_words(arithmetic, outcome.domain),
                exceeds=outcome.domain.skew > arithmetic.max_skew,
            )
            for arithmetic, outcomes in (each.group.outcomes if each.group is not None else ())
            for outcome in outcomes
        ),
        ended=ended[-1] if ended else None,
        placed_at=each.placed_at or None,
        placed_on=each.placed_on or None,
        seconds=_seconds(each.first, each.placed_at) if each.first and each.placed_at else None,
    )


def _seconds(begin: str, end: str) -> float:
    """Return the seconds between two API timestamps."""
    return round((seconds(end) or 0.0) - (seconds(begin) or 0.0), 3)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"
