"""What there is to say of how pods are spread now, as data; how it is found out is in the modules beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from topospread.plain_data import PlainData
from topospread.plugins.pod_topology_spread import lacks_domains
from topospread.plugins.spread_constraints import Origin

MOST_NAMED = 100
"""Of more nodes or empty domains than this, the first so many are named and all are counted."""


class DomainPods(msgspec.Struct, frozen=True):
    """An eligible domain of a constraint that holds matching pods.

    Attributes:
        matching: pods that the constraint's selector matches on nodes that take part.
        nodes: how many nodes of the domain take part.
    """

    name: str
    matching: int
    nodes: int


class LeftOutNodes(msgspec.Struct, frozen=True):
    """Nodes that take no part in a constraint's counts.

    Attributes:
        names: of the first `MOST_NAMED` of them.
    """

    reason: str
    count: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConstraintStatus:
    """What one constraint of a workload counts now.

    Attributes:
        position: place in the list it comes from, from 0.
        origin: ``pod``, ``profile`` or ``system``: where the constraint comes from.
        revision: "" for the workload's newest pods; the label's hash where older pods have it otherwise.
        counts_itself: 1 when the pods match their own selector.
        minimum: the global minimum in force, 0 while there are fewer eligible domains than ``min_domains``.
        skew: the largest count of an eligible domain minus ``minimum``, as kube-scheduler takes it.
        domains: eligible domains that hold matching pods, by name.
        empty: how many eligible domains hold none.
        empty_names: of the first `MOST_NAMED` of them, by name.
        left_out: nodes that take no part.
        counted: whose pods are counted, ``Deployment/web`` → pods; empty where all are the workload's own.
    """

    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    min_domains: int
    position: int
    origin: Origin
    selector: str
    counts_itself: int
    minimum: int
    skew: int
    domains: tuple[DomainPods, ...]
    empty: int
    empty_names: tuple[str, ...]
    left_out: tuple[LeftOutNodes, ...] = ()
    revision: str = ""
    counted: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def hard(self) -> bool:
        """DoNotSchedule."""
        return self.when_unsatisfiable == "DoNotSchedule"

    @property
    def excess(self) -> int:
        """By how much the skew is more than maxSkew, 0 when it is not."""
        return max(self.skew - self.max_skew, 0)

    @property
    def eligible(self) -> int:
        """How many domains there are to spread over."""
        return len(self.domains) + self.empty

    @property
    def lacks_domains(self) -> bool:
        """Whether there are fewer domains than ``min_domains``, so that the minimum counts as 0."""
        return lacks_domains(self.eligible, self.min_domains)


class RefusedPod(msgspec.Struct, frozen=True):
    """A pod that kube-scheduler would not place on the node that it is on.

    Attributes:
        plugin: the first filter that refuses it, "" where the pod cannot be judged.
        reasons: in kube-scheduler's words.
    """

    name: str
    node: str
    plugin: str
    reasons: tuple[str, ...]


class Loss(msgspec.Struct, frozen=True):
    """What a workload loses when a domain fails.

    Attributes:
        lost: its pods on nodes of the domain.
        of: its pods on nodes altogether.
    """

    topology_key: str
    domain: str
    lost: int
    of: int

    @property
    def share(self) -> float:
        """``lost`` of ``of``, from 0 to 1."""
        return self.lost / self.of


class WorkloadStatus(msgspec.Struct, frozen=True):
    """One workload as it is now.

    Attributes:
        kind: of its controller; ``Pod`` for a bare pod.
        replicas: how many pods it is to have.
        existing: its pods that are on nodes, neither finished nor terminating.
        constraints: those in force, hard ones first.
        refused: its pods that would be refused where they are, by name.
        losses: what each domain's failure would take, of every topology key that is looked at; nothing for pods that
            belong to their node (DaemonSets).
        notes: what a person should know besides.
    """

    kind: str
    namespace: str
    name: str
    replicas: int
    existing: int
    constraints: tuple[ConstraintStatus, ...] = ()
    refused: tuple[RefusedPod, ...] = ()
    losses: tuple[Loss, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """How many of its pods have no node, created or not."""
        return max(self.replicas - self.existing, 0)

    @property
    def hard_excess(self) -> int:
        """The most by which a hard constraint is exceeded."""
        return max((each.excess for each in self.constraints if each.hard), default=0)

    @property
    def soft_excess(self) -> int:
        """The most by which a soft constraint is unsatisfied."""
        return max((each.excess for each in self.constraints if not each.hard), default=0)

    @property
    def worst_losses(self) -> tuple[Loss, ...]:
        """For each topology key the domain whose failure takes most, where the workload has more than one pod."""
        worst: dict[str, Loss] = {}
        for each in self.losses:
            known = worst.get(each.topology_key)
            if each.of > 1 and (known is None or each.lost > known.lost):
                worst[each.topology_key] = each
        return tuple(worst.values())


class DomainRisk(msgspec.Struct, frozen=True):
    """What is lost when a domain fails.

    Attributes:
        nodes: how many nodes it has.
        pods: pods of the workloads at hand that are on them.
        workloads: how many workloads have pods there.
        loses_all: ``NAMESPACE/NAME`` of workloads that have several pods, all of them there.
        loses_most: of workloads that lose more than half of their pods, but not all, with what they lose.
        single: how many workloads have their only pod there.
    """

    topology_key: str
    name: str
    nodes: int
    pods: int
    workloads: int
    loses_all: tuple[str, ...] = ()
    loses_most: tuple[tuple[str, Loss], ...] = ()
    single: int = 0


@dataclass(frozen=True)
class SpreadStatus(PlainData):
    """The whole answer.

    Attributes:
        nodes: how many nodes the cluster has.
        workloads: worst first: hard constraints exceeded, pods refused, soft constraints unsatisfied, what a domain's
            failure takes.
        domains: domains that hold pods, for each topology key the worst first.
        warnings, notes: sentences for a person; warnings must be seen.
    """

    nodes: int
    workloads: tuple[WorkloadStatus, ...]
    domains: tuple[DomainRisk, ...]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def exceeded(self) -> tuple[WorkloadStatus, ...]:
        """Workloads of which a hard constraint is exceeded."""
        return tuple(each for each in self.workloads if each.hard_excess)
