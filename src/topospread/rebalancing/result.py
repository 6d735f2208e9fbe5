"""What there is to say of a rebalancing, as data; how it is found is in the modules beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from topospread.plain_data import PlainData

BoundBy = Literal["counts", "solver", "search"]
"""How the fewest evictions are known: by counts of constraints, by an integer program, or as all others were tried."""


class PodMove(msgspec.Struct, frozen=True):
    """One eviction, and where kube-scheduler puts the pod that comes instead.

    Attributes:
        workload: ``KIND/NAME``.
        created: the name that the new pod gets here; in a cluster it is another, but for a StatefulSet's.
        target: the node of the new pod.
        domains: topology key → domain before and after, of the keys of constraints that are to be mended.
        uid: of the pod, "" where it is not known.
    """

    namespace: str
    name: str
    workload: str
    node: str
    created: str
    target: str
    domains: Mapping[str, tuple[str, str]]
    uid: str = ""


class ConstraintChange(msgspec.Struct, frozen=True):
    """A constraint that was to be mended: its counts before and after all moves.

    Attributes:
        kind, namespace, name: of the workload whose constraint it is.
        highest: the skew that is aimed at: maxSkew, or ``--max-skew`` of a soft constraint.
        before, after: eligible domain → matching pods.
        skew_before, skew_after: as kube-scheduler takes it.
        fewest: how many evictions this constraint needs at least, by its counts.
    """

    kind: str
    namespace: str
    name: str
    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    highest: int
    before: Mapping[str, int]
    after: Mapping[str, int]
    skew_before: int
    skew_after: int
    fewest: int

    @property
    def is_met(self) -> bool:
        """Whether the skew is what is aimed at."""
        return self.skew_after <= self.highest


class MoveHelp(msgspec.Struct, frozen=True):
    """Something that would help where kube-scheduler undoes what an eviction is for.

    Attributes:
        what: ``hard``, ``cordon`` or ``matchLabelKeys``.
        says: a sentence.
        tried: it was tried, and a pod went where it helps.
    """

    what: Literal["hard", "cordon", "matchLabelKeys"]
    says: str
    tried: bool


class UnmetConstraint(msgspec.Struct, frozen=True):
    """A constraint that evictions do not mend, and why.

    Attributes:
        workload: ``KIND NAMESPACE/NAME``.
        why: what becomes of a pod that is evicted, or why none may be.
        returns: kube-scheduler puts the new pod where it helps nothing: evicting again would go on for ever.
    """

    workload: str
    topology_key: str
    skew: int
    highest: int
    why: str
    returns: bool
    helps: tuple[MoveHelp, ...] = ()


@dataclass(frozen=True)
class Rebalance(PlainData):
    """The whole answer.

    Attributes:
        nodes: how many nodes the cluster has.
        moves: evictions in their order, each when the one before it has its new pod on a node.
        constraints: those that were to be mended.
        unmet: those that are not, with why.
        bound: no plan that mends all has fewer evictions; ``None`` where the whole search found none that does.
        bound_by: how that is known.
        impossible: it is proved that no evictions mend all constraints.
        soft: soft constraints beyond their maxSkew that were not to be mended, as no ``max_skew`` was given.
        pending: pods that had no node before, and have none after.
        warnings, notes: sentences for a person.
        partial: where it was ended before its end, in words; then the moves are those that were found and carried out
            in a drill. "" where it is whole.
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

    @property
    def is_met(self) -> bool:
        """Whether everything that was to be mended is, at the end."""
        return not self.unmet and all(each.is_met for each in self.constraints)

    @property
    def is_proved(self) -> bool:
        """Whether no plan has fewer evictions."""
        return self.is_met and self.bound is not None and len(self.moves) <= self.bound


class AppliedMove(msgspec.Struct, frozen=True):
    """An eviction that came out as foretold.

    Attributes:
        created: the new pod's name.
        node: where it is: the node that was foretold, or another of the same domains.
    """

    move: PodMove
    created: str
    node: str


class Applied(msgspec.Struct):
    """What was carried out.

    Attributes:
        surprise: why it ended before its end, "" where it did not.
        begun: ``NAMESPACE/NAME`` of a pod whose eviction was asked for and not seen through.
        partial: where somebody ended it before its end, in words; "" where nobody did.
    """

    done: list[AppliedMove] = []
    surprise: str = ""
    begun: str = ""
    partial: str = ""
