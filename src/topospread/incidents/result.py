"""The result as data: nodes that changed, pods that were refused with their sums, and what began it."""

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
        """The change in words: ``node c1 was cordoned``."""
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
        bool, Meta(description="Whether pods that existed then and were bound later explain it, if decided before it.")
    ]


@dataclass(frozen=True, slots=True)
class PodRefusal:
    """A pod that found no node, from the first time until it had one.

    Attributes:
        pod: ``namespace/name``.
        first, last: when that was first and last said.
        said: kube-scheduler's sentence as the log first has it.
        computed: the sentence for the cluster as it was then, "" where the pod is not known.
        group: with the sums, ``None`` where the pod is not known, or found a node in the cluster as rebuilt.
        cause: the last alteration of a node without which, and without what came to that node after it, the pod would
            have found a node; ``None`` where there is none.
        placed_at, placed_on: when and where it went in the end, "" for not within the log.
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
        """True if what was computed is what was said, but for what is said of preemption."""
        return bool(self.computed) and self.said.startswith(self.computed)


@dataclass(frozen=True)
class Incident:
    """The whole answer.

    Attributes:
        begins, ends: of the log's records; "" for an empty one.
        records: how many there are, whatever they are about.
        placed: when which pod got which node: time, pod, node.
        unreplayed: records of changes that could not be replayed.
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
