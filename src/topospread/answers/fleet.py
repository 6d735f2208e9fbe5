"""The answer of ``topospread status`` for several clusters: all their answers, and how the clusters differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, ClassVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from topospread.answer import Answer, Cause, Remedy, Unjudged
from topospread.base import Base, Word, worst
from topospread.status.result import ConstraintStatus, WorkloadStatus

from .status import Status
from .words import counted, listed, noun_of

_REVISION = re.compile(r"(?:^|,)(?:pod-template-hash|controller-revision-hash)=[^,]*")
"""Labels whose values differ between clusters by design, because controllers generate them."""
_MOST_CAUSES = 3
_NAMES = 3


class ClusterStatus(Base, frozen=True, kw_only=True):
    """The status of one of several clusters."""

    cluster: Annotated[
        str, Meta(description="The given name of the cluster: a file, a context or a synthetic cluster.")
    ]
    verdict: Annotated[Word, Meta(description="Verdict of its own status; `unknown` if it cannot be read.")]
    says: Annotated[str, Meta(description="The verdict in one sentence.")]
    problem: Annotated[str, Meta(description="Why the cluster cannot be read or judged; empty if it can.")] = ""
    nodes: Annotated[int, Meta(description="Number of nodes.")] = 0
    workloads: Annotated[int, Meta(description="Number of chosen workloads.")] = 0
    pending: Annotated[int, Meta(description="Pods that no node takes.")] = 0
    unknown: Annotated[int, Meta(description="Pods without a node that are not judged.")] = 0
    exceeded: Annotated[int, Meta(description="Number of chosen workloads that exceed a hard constraint.")] = 0
    causes: Annotated[tuple[Cause, ...], Meta(description="Reasons for its verdict.")] = ()
    remedies: Annotated[tuple[Remedy, ...], Meta(description="Changes of this cluster that were simulated.")] = ()
    unjudged: Annotated[tuple[Unjudged, ...], Meta(description="Parts of this cluster that were not judged.")] = ()
    taken: Annotated[str, Meta(description="Time of its snapshot, RFC 3339; empty if none is known.")] = ""


class DriftValue(Base, frozen=True, kw_only=True):
    """A value of a workload, and the clusters that have it."""

    value: Annotated[str, Meta(description="The value in words.")]
    clusters: Annotated[tuple[str, ...], Meta(description="Names of the clusters, in the order given.")]


class Drift(Base, frozen=True, kw_only=True):
    """A difference in one workload between the clusters that run it."""

    workload: Annotated[str, Meta(description="The workload, NAMESPACE/KIND/NAME.")]
    what: Annotated[str, Meta(description="`constraints`, `replicas`, or `skew` over the topology key.")]
    topology_key: Annotated[str, Meta(description="Topology key, if `what` is `skew`; else empty.")] = ""
    values: Annotated[tuple[DriftValue, ...], Meta(description="At least two values, most frequent first.")]


class Fleet(Answer, frozen=True, kw_only=True):
    """Does every pod of every cluster have a node, and does every hard constraint hold?"""

    PAGE: ClassVar[str] = "topospread.render.pages.fleet:page"

    kind: str = "Fleet"
    clusters: Annotated[tuple[ClusterStatus, ...], Meta(description="The clusters, worst first.")]
    drift: Annotated[
        tuple[Drift, ...], Meta(description="Differences of workloads: constraints, replicas, then skew.")
    ] = ()
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings for the user.")] = ()
    partial: Annotated[str, Meta(description="Why clusters are missing; empty if all were read.")] = ""


class Member(Struct, frozen=True):
    """The facts about one cluster that `fleet` compares.

    Attributes:
        row: its short status.
        facts: (workload, compared property, topology key) → value as text.
        warnings: warnings to print.
        waiting: whether only pending pods were examined.
    """

    row: ClusterStatus
    facts: Mapping[tuple[str, str, str], str] = {}
    warnings: tuple[str, ...] = ()
    waiting: bool = False


def member(cluster: str, status: Status) -> Member:
    """Return the facts of a cluster from its status."""
    row = ClusterStatus.like(
        status,
        cluster=cluster,
        workloads=len(status.workloads),
        pending=sum(len(each.pods) for each in status.pending if each.verdict == "no"),
        unknown=sum(len(each.pods) for each in status.pending if each.verdict == "unknown"),
        taken=status.on.taken,
    )
    facts = {key: value for each in status.workloads for key, value in _facts(each)}
    return Member(row, facts, status.warnings, status.waiting)


def unreadable(cluster: str, problem: str) -> Member:
    """Return an entry for an unreadable cluster. Its verdict is unknown."""
    return Member(ClusterStatus(cluster=cluster, verdict="unknown", says="it cannot be read", problem=problem))


def fleet(members: Iterable[Member], partial: str = "") -> Fleet:
    """Return the answer for several clusters.

    Args:
        members: at least one cluster, in the order given.
        partial: the reason why further clusters are missing; it makes a verdict of yes unknown.

    Returns:
        The answer. Its verdict is the worst of the clusters' verdicts: no, then unknown, then yes.
    """
    every = list(members)
    rows = sorted((each.row for each in every), key=_goodness)
    verdict = worst([*(each.verdict for each in rows), *(["unknown"] if partial else [])])  # type: ignore[list-item]
    warned: dict[str, list[str]] = {}
    for each in every:
        for sentence in each.warnings:
            warned.setdefault(sentence, []).append(each.row.cluster)
    named = [replace(cause, says=f"{each.cluster}: {cause.says}") for each in rows for cause in each.causes[:1]]
    return Fleet(
        verdict=verdict,
        says=_says(rows, waiting=any(each.waiting for each in every)) + (f"; partial: {partial}" if partial else ""),
        causes=tuple(named[:_MOST_CAUSES]),
        unjudged=tuple(_unjudged(rows)),
        clusters=tuple(rows),
        drift=tuple(_drift(every)),
        warnings=tuple(f"{listed(names, _NAMES)}: {sentence}" for sentence, names in warned.items()),
        partial=partial,
    )


def _goodness(row: ClusterStatus) -> tuple[object, ...]:
    """Return a sort key: worst status first, then by name."""
    place = ("no", "unknown", "yes").index(row.verdict)
    return place, not row.problem, -row.pending, -row.exceeded, -row.unknown, row.cluster


def _says(rows: list[ClusterStatus], *, waiting: bool) -> str:
    clusters = counted(len(rows), "cluster")
    harmed = [each for each in rows if each.verdict == "no"]
    lost = [each.cluster for each in rows if each.problem]
    unknown = [each.cluster for each in rows if each.verdict == "unknown" and not each.problem]
    parts = []
    if harmed:
        pods, exceeded = sum(each.pending for each in harmed), sum(each.exceeded for each in harmed)
        what = [counted(pods, "pending pod")] if pods else []
        what += [f"{counted(exceeded, 'workload')} beyond maxSkew"] if exceeded else []
        parts.append(f"{' and '.join(what) or 'a problem'} in {len(harmed)} of {clusters}")
    if lost:
        verb = "is" if len(lost) == 1 else "are"
        parts.append(f"{len(lost)} of {clusters} {verb} not judged: {listed(lost, _NAMES)}")
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        parts.append(f"{len(unknown)} of {clusters} {verb} judged only in part: {listed(unknown, _NAMES)}")
    if not parts:
        holds = "" if waiting else " and every hard constraint holds"
        parts.append(f"every pod has or finds a node{holds} in {'each of ' * (len(rows) > 1)}{clusters}")
    nodes, workloads = sum(each.nodes for each in rows), sum(each.workloads for each in rows)
    return f"{'; '.join(parts)} ({counted(nodes, 'node')}, {counted(workloads, 'workload')} in all)"


def _unjudged(rows: Iterable[ClusterStatus]) -> Iterator[Unjudged]:
    """Yield the unjudged parts of each cluster, and each unreadable cluster."""
    for row in rows:
        if row.problem:
            where = "" if row.cluster in row.problem else f"{row.cluster}: "
            yield Unjudged(what="clusters", because=where + row.problem)
        for each in row.unjudged:
            yield replace(each, because=f"{row.cluster}: {each.because}")


def _facts(workload: WorkloadStatus) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Yield the compared values of a workload. Only constraints of its newest pods are compared."""
    name = f"{workload.namespace}/{workload.kind}/{workload.name}"
    own = [each for each in workload.constraints if not each.revision and each.origin != "system"]
    yield (name, "constraints", ""), "; ".join(sorted(map(_constraint, own))) or "none"
    if workload.kind != "DaemonSet":  # its replicas follow from the number of nodes
        yield (name, "replicas", ""), str(workload.replicas)
    skews: dict[str, int] = {}
    for each in own:
        skews[each.topology_key] = max(each.skew, skews.get(each.topology_key, 0))
    for key, skew in skews.items():
        yield (name, "skew", key), str(skew)


def _constraint(each: ConstraintStatus) -> str:
    least = f" minDomains {each.min_domains}" if each.min_domains > 1 else ""
    how = "hard" if each.hard else "soft"
    return f"{each.topology_key} {how} maxSkew {each.max_skew}{least} of {_REVISION.sub('', each.selector).strip(',')}"


def _drift(members: Iterable[Member]) -> Iterator[Drift]:
    """Yield the differences between clusters that run the same workload."""
    found: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for each in members:
        for key, value in each.facts.items():
            found.setdefault(key, {}).setdefault(value, []).append(each.row.cluster)
    order = ("constraints", "replicas", "skew")
    for key in sorted(found, key=lambda each: (order.index(each[1]), each)):
        if len(found[key]) > 1:
            values = sorted(found[key].items(), key=lambda each: -len(each[1]))
            workload, what, topology_key = key
            yield Drift(
                workload=workload,
                what=what,
                topology_key=topology_key,
                values=tuple(DriftValue(value=value, clusters=tuple(names)) for value, names in values),
            )


def drift_words(drift: Iterable[Drift]) -> dict[str, list[str]]:
    """Return NAMESPACE/NAME of a workload → its differences in few words."""
    found: dict[str, list[str]] = {}
    for each in drift:
        namespace, _, name = each.workload.split("/", 2)
        words = f"{noun_of(each.topology_key)} skew" if each.topology_key else each.what
        found.setdefault(f"{namespace}/{name}", []).append(words)
    return found
