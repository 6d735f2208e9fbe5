"""The result of a rebalancing: evictions, fixed constraints and remaining constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from topospread.answer import Unjudged
from topospread.base import Base

BoundBy = Literal["counts", "solver", "search"]
"""Source of the bound: constraint counts, an integer program, or an exhaustive search."""


class PodMove(Base, frozen=True):
    """An eviction, and kube-scheduler's node for the new pod."""

    namespace: Annotated[str, Meta(description="Namespace of the pod.")]
    name: Annotated[str, Meta(description="Name of the pod to evict.")]
    workload: Annotated[str, Meta(description="`KIND/NAME` of the pod's workload.")]
    node: Annotated[str, Meta(description="Node of the pod.")]
    created: Annotated[
        str, Meta(description="Simulated name of the new pod. In a cluster, only a StatefulSet pod has the same name.")
    ]
    target: Annotated[str, Meta(description="Node of the new pod.")]
    domains: Annotated[
        dict[str, tuple[str, str]],
        Meta(description="Topology key → domain before and after, for keys of constraints to fix."),
    ]
    uid: Annotated[str, Meta(description="UID of the pod; empty if it is not known.")] = ""
    incomplete: Annotated[
        bool, Meta(description="Whether its workload has a pod on a node that is not ready, so it is not complete.")
    ] = False


class ConstraintChange(Base, frozen=True):
    """A violated constraint with its counts before and after all evictions."""

    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    topology_key: Annotated[str, Meta(description="Topology key of the constraint.")]
    when_unsatisfiable: Annotated[str, Meta(description="`DoNotSchedule` or `ScheduleAnyway`.")]
    max_skew: Annotated[int, Meta(description="maxSkew of the constraint.")]
    highest: Annotated[int, Meta(description="Target skew: maxSkew, or `--max-skew` for a soft constraint.")]
    before: Annotated[dict[str, int], Meta(description="Eligible domain → matching pods before.")]
    after: Annotated[dict[str, int], Meta(description="Eligible domain → matching pods afterwards.")]
    skew_before: Annotated[int, Meta(description="Skew before, as kube-scheduler counts it.")]
    skew_after: Annotated[int, Meta(description="Skew afterwards.")] = field(name="skew")
    fewest: Annotated[int, Meta(description="Lower bound on the evictions for this constraint, from its counts.")]
    left_out: Annotated[
        dict[str, str], Meta(description="Domain with pods of the workload that does not count → its pods, and why.")
    ] = field(default_factory=dict)

    @property
    def is_met(self) -> bool:
        """True if the skew is at most the target skew."""
        return self.skew_after <= self.highest


class MoveHelp(Base, frozen=True):
    """A change that would help if kube-scheduler undoes an eviction."""

    what: Annotated[Literal["hard", "cordon", "matchLabelKeys"], Meta(description="Kind of change.")]
    says: Annotated[str, Meta(description="The change in words.")]
    tried: Annotated[bool, Meta(description="Whether it was simulated, and the new pod got a node that helps.")]


class UnmetConstraint(Base, frozen=True):
    """A constraint that evictions do not fix."""

    workload: Annotated[str, Meta(description="`KIND NAMESPACE/NAME` of the workload.")]
    topology_key: Annotated[str, Meta(description="Topology key of the constraint.")]
    skew: Annotated[int, Meta(description="Remaining skew.")]
    highest: Annotated[int, Meta(description="Target skew.")]
    why: Annotated[str, Meta(description="What happens to an evicted pod, or why no pod may be evicted.")]
    returns: Annotated[
        bool, Meta(description="Whether kube-scheduler always chooses a node for the new pod that does not help.")
    ]
    helps: Annotated[tuple[MoveHelp, ...], Meta(description="Changes that would help.")] = ()
    unjudged: Annotated[
        tuple[Unjudged, ...], Meta(description="Parts of the pods to move that topospread cannot judge.")
    ] = ()


@dataclass(frozen=True, slots=True)
class Rebalance:
    """The result of a rebalancing.

    Attributes:
        nodes: number of nodes.
        moves: evictions in order; each waits until the previous replacement has a node.
        constraints: the constraints to fix.
        unmet: the constraints that stay exceeded, with reasons.
        bound: lower bound on the evictions that fix everything; None if an exhaustive search found no such plan.
        bound_by: source of the bound.
        impossible: whether it is proved that no evictions fix all constraints.
        soft: number of ignored soft constraints above their maxSkew; 0 with ``max_skew``.
        pending: pods that are pending before and after, without unjudged pods.
        warnings, notes: sentences for the user.
        partial: where the search was interrupted; "" if it is complete. The moves so far were simulated.
        unjudged: unmodelled parts of pending or moved pods.
        is_met_if_admitted: whether all constraints are fixed if these parts admit every node; None if all pods are
            judged.
    """

    nodes: int
    moves: tuple[PodMove, ...]
    constraints: tuple[ConstraintChange, ...]
    unmet: tuple[UnmetConstraint, ...]
    bound: int | None
    bound_by: BoundBy
    impossible: bool = False
    soft: int = 0
    pending: int = 0
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    partial: str = ""
    unjudged: tuple[Unjudged, ...] = ()
    is_met_if_admitted: bool | None = None

    @property
    def is_met(self) -> bool:
        """True if every constraint to fix holds at the end."""
        return not self.unmet and all(each.is_met for each in self.constraints)

    @property
    def mends_all(self) -> bool:
        """True if there are evictions, and all constraints hold after them."""
        return bool(self.moves) and not self.unmet and not self.impossible

    @property
    def is_proved(self) -> bool:
        """True if no plan has fewer evictions."""
        return self.is_met and self.bound is not None and len(self.moves) <= self.bound


class AppliedMove(Base, frozen=True):
    """An eviction with the predicted result."""

    move: Annotated[PodMove, Meta(description="The eviction.")]
    created: Annotated[str, Meta(description="Name of the new pod.")]
    node: Annotated[
        str, Meta(description="Node of the new pod: the planned node, or another node in the same domains.")
    ]


class Applied(msgspec.Struct, rename="camel"):
    """The evictions in a live cluster."""

    done: Annotated[list[AppliedMove], Meta(description="Completed evictions with the planned result.")] = field(
        default_factory=list, name="evictions"
    )
    surprise: Annotated[str, Meta(description="Why it stopped early; empty if it did not.")] = ""
    begun: Annotated[
        str, Meta(description="NAMESPACE/NAME of a pod whose eviction was requested but not completed; empty if none.")
    ] = ""
    partial: Annotated[str, Meta(description="Where it was interrupted; empty if it was not.")] = ""
