"""The current spread of pods as data. The structs are parts of the answer of ``topospread status``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated

import msgspec
from msgspec import Meta

from topospread.base import Base
from topospread.plugins.pod_topology_spread import lacks_domains
from topospread.plugins.spread_constraints import Origin

MOST_NAMED = 100
"""Maximum number of nodes or empty domains listed by name. All are counted."""


class DomainPods(Base, frozen=True):
    """An eligible domain with matching pods."""

    name: Annotated[str, Meta(description="Value of the topology key.")]
    matching: Annotated[int, Meta(description="Pods on counted nodes that the constraint's selector matches.")]
    nodes: Annotated[int, Meta(description="Counted nodes of the domain.")]


class UncountedNodes(Base, frozen=True):
    """Nodes that a constraint does not count."""

    reason: Annotated[str, Meta(description="Why they are not counted.")]
    count: Annotated[int, Meta(description="Number of nodes.")]
    names: Annotated[tuple[str, ...], Meta(description="Names of the first 100 nodes.")]


class ConstraintStatus(Base, frozen=True):
    """The current counts of one constraint of a workload."""

    topology_key: Annotated[str, Meta(description="Label of nodes whose values are the domains.")]
    when_unsatisfiable: Annotated[str, Meta(description="`DoNotSchedule` (hard) or `ScheduleAnyway` (soft).")]
    max_skew: Annotated[int, Meta(description="Largest skew that the constraint allows.")]
    min_domains: Annotated[int, Meta(description="minDomains in force. With fewer domains, the minimum counts as 0.")]
    position: Annotated[int, Meta(description="Index in the list that the constraint comes from, from 0.")]
    origin: Annotated[Origin, Meta(description="Origin of the constraint: `pod`, `profile` or `system`.")]
    selector: Annotated[str, Meta(description="Label selector of the counted pods.")]
    counts_itself: Annotated[int, Meta(description="1 if the workload's pods match the selector, else 0.")]
    minimum: Annotated[int, Meta(description="Global minimum in force; 0 with fewer eligible domains than minDomains.")]
    skew: Annotated[int, Meta(description="Largest count of an eligible domain minus `minimum`, as in kube-scheduler.")]
    domains: Annotated[tuple[DomainPods, ...], Meta(description="Eligible domains that hold matching pods, by name.")]
    empty: Annotated[int, Meta(description="Number of eligible domains without matching pods.")]
    empty_names: Annotated[tuple[str, ...], Meta(description="Names of the first 100 of these domains.")]
    left_out: Annotated[tuple[UncountedNodes, ...], Meta(description="Nodes that are not counted.")] = ()
    revision: Annotated[
        str, Meta(description="Empty for the newest pods; hash of the revision if older pods have another constraint.")
    ] = ""
    counted: Annotated[
        Mapping[str, int],
        Meta(description="Workload, as `Deployment/web`, to its counted pods; empty if all belong to this workload."),
    ] = {}
    closed: Annotated[
        tuple[str, ...],
        Meta(
            description="If a hard constraint is exceeded: the domains that set its minimum, if all their nodes have "
            "taints that the workload's pods do not tolerate (nodeTaintsPolicy: Ignore)."
        ),
    ] = ()

    @property
    def hard(self) -> bool:
        """True if the constraint is DoNotSchedule."""
        return self.when_unsatisfiable == "DoNotSchedule"

    @property
    def excess(self) -> int:
        """Difference between skew and maxSkew, at least 0."""
        return max(self.skew - self.max_skew, 0)

    @property
    def eligible(self) -> int:
        """Number of eligible domains."""
        return len(self.domains) + self.empty

    @property
    def lacks_domains(self) -> bool:
        """True if there are fewer domains than ``min_domains``, so that the minimum counts as 0."""
        return lacks_domains(self.eligible, self.min_domains)


class RefusedPod(Base, frozen=True):
    """A pod whose current node kube-scheduler would reject now."""

    name: Annotated[str, Meta(description="Name of the pod.")]
    node: Annotated[str, Meta(description="Its node.")]
    plugin: Annotated[
        str, Meta(description="First filter plugin that rejects the pod; empty if a plugin fails with an error.")
    ]
    reasons: Annotated[tuple[str, ...], Meta(description="Reasons, in kube-scheduler's words.")]


class Loss(Base, frozen=True):
    """The pods of a workload that fail together with a domain."""

    topology_key: Annotated[str, Meta(description="Topology key of the domain.")]
    domain: Annotated[str, Meta(description="The domain.")]
    lost: Annotated[int, Meta(description="Pods of the workload on nodes of the domain.")]
    of: Annotated[int, Meta(description="All pods of the workload on nodes.")]

    @property
    def share(self) -> float:
        """``lost`` divided by ``of``, from 0 to 1."""
        return self.lost / self.of


class WorkloadStatus(Base, frozen=True):
    """The current state of one workload."""

    kind: Annotated[str, Meta(description="Kind of the controller; `Pod` for a bare pod.")]
    namespace: Annotated[str, Meta(description="Its namespace.")]
    name: Annotated[str, Meta(description="Its name.")]
    replicas: Annotated[int, Meta(description="Desired pods of the workload.")]
    existing: Annotated[int, Meta(description="Its pods on nodes, without finished and terminating pods.")]
    constraints: Annotated[
        tuple[ConstraintStatus, ...], Meta(description="Constraints in force, hard constraints first.")
    ] = ()
    refused: Annotated[
        tuple[RefusedPod, ...],
        Meta(description="Pods that kube-scheduler would reject on their node if it placed them again, by name."),
    ] = ()
    losses: Annotated[
        tuple[Loss, ...], Meta(description="Pods that fail with each domain, for each key; none for DaemonSets.")
    ] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Notes for the user.")] = ()
    problem: Annotated[str, Meta(description="Why its constraints cannot be evaluated; empty if they can.")] = ""
    ready: Annotated[int, Meta(description="Its ready pods on Ready nodes.")] = 0

    @property
    def missing(self) -> int:
        """Number of its pods without a node, created or not."""
        return max(self.replicas - self.existing, 0)

    @property
    def hard_excess(self) -> int:
        """The largest excess over a hard constraint's maxSkew."""
        return max((each.excess for each in self.constraints if each.hard), default=0)

    @property
    def soft_excess(self) -> int:
        """The largest excess over a soft constraint's maxSkew."""
        return max((each.excess for each in self.constraints if not each.hard), default=0)

    @property
    def worst_losses(self) -> tuple[Loss, ...]:
        """For each topology key, the domain with the largest loss; empty for a workload with one pod."""
        worst: dict[str, Loss] = {}
        for each in self.losses:
            known = worst.get(each.topology_key)
            if each.of > 1 and (known is None or each.lost > known.lost):
                worst[each.topology_key] = each
        return tuple(worst.values())


class LargeLoss(Base, frozen=True):
    """A workload that loses more than half of its pods with a domain, but not all."""

    workload: Annotated[str, Meta(description="The workload, NAMESPACE/NAME.")]
    lost: Annotated[int, Meta(description="Its pods on nodes of the domain.")]
    of: Annotated[int, Meta(description="Its pods on nodes.")]


class DomainRisk(Base, frozen=True):
    """The effect of a domain's failure on the chosen workloads."""

    topology_key: Annotated[str, Meta(description="Topology key of the domain.")]
    name: Annotated[str, Meta(description="The domain.")]
    nodes: Annotated[int, Meta(description="Number of its nodes.")]
    pods: Annotated[int, Meta(description="Pods of the chosen workloads on these nodes.")]
    workloads: Annotated[int, Meta(description="Number of workloads that have pods there.")]
    loses_all: Annotated[
        tuple[str, ...], Meta(description="Workloads, NAMESPACE/NAME, with several pods, all of them in this domain.")
    ] = ()
    loses_most: Annotated[
        tuple[LargeLoss, ...], Meta(description="Workloads that lose more than half of their pods, but not all.")
    ] = ()
    single: Annotated[int, Meta(description="Number of workloads that have their only pod there.")] = 0


class SpreadStatus(msgspec.Struct, frozen=True, dict=True):
    """The spread of all workloads.

    Attributes:
        nodes: number of nodes of the cluster.
        workloads: worst first: exceeded hard constraints, refused pods, unsatisfied soft constraints, losses.
        domains: domains with pods, for each topology key worst first.
        warnings, notes: sentences for the user; warnings must be shown.
    """

    nodes: int
    workloads: tuple[WorkloadStatus, ...]
    domains: tuple[DomainRisk, ...]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def exceeded(self) -> tuple[WorkloadStatus, ...]:
        """Workloads that exceed a hard constraint."""
        return tuple(each for each in self.workloads if each.hard_excess)
