"""The result of a replay as data: rejected pods, their skew arithmetic, and the node changes that caused it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from topospread.base import Base
from topospread.simulation.result import PendingGroup

Alteration = Literal["added", "deleted", "cordoned", "uncordoned", "taints", "labels", "allocatable"]


class NodeChange(Base, frozen=True):
    """A change of a node in fields that kube-scheduler reads."""

    at: Annotated[str, Meta(description="When, RFC 3339.")]
    node: Annotated[str, Meta(description="Name of the node.")]
    what: Annotated[
        Alteration,
        Meta(description="Kind of the change."),
    ]
    detail: Annotated[str, Meta(description="Before → after; empty if `what` says it all.")]

    @property
    def words(self) -> str:
        """The change as words: ``node c1 was cordoned``."""
        if self.what in ("taints", "labels", "allocatable"):
            return f"{self.what} of node {self.node} changed{f': {self.detail}' if self.detail else ''}"
        return f"node {self.node} was {self.what}{f': {self.detail}' if self.detail else ''}"


class SkewedBinding(Base, frozen=True, kw_only=True):
    """A binding that exceeded maxSkew when it arrived."""

    at: Annotated[str, Meta(description="When, RFC 3339.")]
    pod: Annotated[str, Meta(description="NAMESPACE/NAME of the pod.")]
    node: Annotated[str, Meta(description="Name of the node.")]
    topology_key: Annotated[str, Meta(description="Topology key of the hard constraint.")]
    domain: Annotated[str, Meta(description="Value of the topology key.")]
    skew: Annotated[int, Meta(description="Skew of the domain with the pod.")]
    max_skew: Annotated[int, Meta(description="maxSkew.")]
    explained: Annotated[
        bool, Meta(description="Whether later bindings explain it, because their pods may have been placed earlier.")
    ]


@dataclass(frozen=True, slots=True)
class PodRefusal:
    """A rejected pod, from its first rejection until it got a node.

    Attributes:
        pod: ``namespace/name``.
        first, last: times of the first and last report.
        said: kube-scheduler's first message in the log.
        computed: topospread's message for the cluster at that time; "" if the pod is unknown.
        group: the pod's skew arithmetic; None if the pod is unknown or finds a node in the replayed cluster.
        cause: the last node change without which (and without later changes of the same node) the pod would have found
            a node; None if unknown.
        placed_at, placed_on: time and node of its placement; "" if it is not in the log.
    """

    pod: str
    first: str
    last: str
    said: str
    computed: str
    group: PendingGroup | None
    cause: NodeChange | None
    placed_at: str = ""
    placed_on: str = ""

    @property
    def agrees(self) -> bool:
        """True if the computed message equals the logged one, ignoring its part on preemption."""
        return bool(self.computed) and self.said.startswith(self.computed)


@dataclass(frozen=True)
class Incident:
    """The result of a replay.

    Attributes:
        begins, ends: times of the first and last record; "" for an empty log.
        records: number of all records.
        placed: (time, pod, node) of each placement.
        unreplayed: number of changes that could not be replayed.
        over_skew: bindings of an audit log that exceeded maxSkew when they arrived.
    """

    begins: str
    ends: str
    records: int
    alterations: tuple[NodeChange, ...]
    refusals: tuple[PodRefusal, ...]
    placed: tuple[tuple[str, str, str], ...]
    warnings: tuple[str, ...] = ()
    unreplayed: int = 0
    over_skew: tuple[SkewedBinding, ...] = ()
