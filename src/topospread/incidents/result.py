"""The result as data: nodes that changed, pods that were refused with their sums, and what began it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from topospread.simulation.result import PendingGroup

Alteration = Literal["added", "deleted", "cordoned", "uncordoned", "taints", "labels", "allocatable"]


@dataclass(frozen=True, slots=True)
class NodeAlteration:
    """A node changed in what kube-scheduler looks at.

    Attributes:
        at: when, as the log has it (RFC 3339).
        detail: before → after, "" where the word says it all.
    """

    at: str
    node: str
    what: Alteration
    detail: str = ""


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
    cause: NodeAlteration | None
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
    """

    begins: str
    ends: str
    records: int
    alterations: tuple[NodeAlteration, ...]
    refusals: tuple[PodRefusal, ...]
    placed: tuple[tuple[str, str, str], ...]
    warnings: tuple[str, ...] = ()
    unreplayed: int = 0
