"""Structs that several answers share: constraints and their counts, pending pods and node pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, field

from topospread.answer import Cause
from topospread.base import Base

from .causes import SPREAD, causes_of
from .reasons import on_it
from .words import counted, listed

if TYPE_CHECKING:
    from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domain
    from topospread.scheduling.verdict import Verdict
    from topospread.simulation.result import PendingGroup, PoolRefusal, PoolUse, WorkloadSpread

Reasons = dict[str, int]
"""Reason of kube-scheduler → number of nodes that it rejects."""


class LeftOutNodes(Base, frozen=True, kw_only=True):
    """Nodes that a constraint does not count."""

    reason: Annotated[str, Meta(description="Why the nodes do not count.")]
    nodes: Annotated[tuple[str, ...], Meta(description="Names of the nodes.")]


class ConstraintTerms(Base, frozen=True, kw_only=True):
    """A constraint in force."""

    topology_key: Annotated[str, Meta(description="Node label whose values are the domains.")]
    when_unsatisfiable: Annotated[str, Meta(description="`DoNotSchedule` (hard) or `ScheduleAnyway` (soft).")]
    max_skew: Annotated[int, Meta(description="Largest allowed skew.")]
    min_domains: Annotated[int, Meta(description="minDomains in force; 1 if the constraint does not set it.")]
    origin: Annotated[
        str,
        Meta(description="`pod`, `profile` (default constraints of the profile) or `system` (built-in defaults)."),
    ]
    selector: Annotated[str, Meta(description="Label selector, matchLabelKeys included.")]
    counts_itself: Annotated[int, Meta(description="1 if the pod matches its own selector.")] = field(name="self")

    @property
    def hard(self) -> bool:
        """True if the constraint is DoNotSchedule."""
        return self.when_unsatisfiable == "DoNotSchedule"


class SpreadOutcome(ConstraintTerms, frozen=True, kw_only=True):
    """One constraint of a workload, before and after."""

    skew: Annotated[int, Meta(description="Largest count of an eligible domain minus the global minimum, afterwards.")]
    minimum: Annotated[int, Meta(description="Global minimum in force: 0 if there are fewer domains than minDomains.")]
    domains: Annotated[dict[str, int], Meta(description="Eligible domain → matching pods afterwards.")]
    before: Annotated[dict[str, int], Meta(description="Eligible domain → matching pods before.")]
    nodes: Annotated[dict[str, int], Meta(description="Eligible domain → nodes that take part.")]
    rejected: Annotated[
        dict[str, Reasons],
        Meta(
            description="Domain → reason → nodes that reject one more pod. Only for workloads that had pods to place, "
            "if some are pending or domains differ by more than one pod."
        ),
    ]
    counted: Annotated[
        dict[str, int],
        Meta(description="`Deployment/web` → its pods that count; empty if only the workload's own pods count."),
    ]
    exceeded: Annotated[
        str | None,
        Meta(
            description="Why the skew is above maxSkew: `before` (earlier pods), `others` (pods of other workloads), "
            "or for a soft constraint `full`, `scores` or `sampled`; null if it is not."
        ),
    ]
    left_out: Annotated[tuple[LeftOutNodes, ...], Meta(description="Nodes that do not count, by reason.")]

    @property
    def only_domain(self) -> str:
        """The domain that holds all pods, if there are several pods and several eligible domains; else empty."""
        held = [name for name, pods in self.domains.items() if pods]
        return held[0] if len(held) == 1 and self.domains[held[0]] > 1 and len(self.domains) > 1 else ""


class RejectedNodes(Base, frozen=True, kw_only=True):
    """Nodes that one plugin rejects for the same reasons."""

    plugin: Annotated[str, Meta(description="Plugin that rejects the nodes.")]
    code: Annotated[str, Meta(description="kube-scheduler's status code.")]
    reasons: Annotated[tuple[str, ...], Meta(description="kube-scheduler's reasons.")]
    nodes: Annotated[int, Meta(description="Number of nodes.")]


class DomainSum(Base, frozen=True, kw_only=True):
    """The skew arithmetic of a hard constraint in one domain, for one more pod."""

    name: Annotated[str, Meta(description="Value of the topology key.")]
    matching: Annotated[int, Meta(description="Pods that the selector matches on nodes that take part.")]
    nodes: Annotated[int, Meta(description="Nodes that take part.")]
    skew: Annotated[int, Meta(description="Skew with the pod placed here: matching + self − minimum.")]
    allowed: Annotated[bool, Meta(description="Whether the constraint admits the pod.")]
    arithmetic: Annotated[str, Meta(description="The sum in words.")]
    rejected: Annotated[Reasons, Meta(description="Reason → nodes of the domain that reject the pod.")]


class SpreadSums(ConstraintTerms, frozen=True, kw_only=True):
    """A hard constraint, and its skew arithmetic in each domain."""

    minimum: Annotated[int, Meta(description="Global minimum in force.")]
    minimum_domains: Annotated[tuple[str, ...], Meta(description="Domains with the fewest pods.")]
    domains: Annotated[tuple[DomainSum, ...], Meta(description="Eligible domains.")]
    left_out: Annotated[tuple[LeftOutNodes, ...], Meta(description="Nodes that do not count, by reason.")]


class PendingPods(Base, frozen=True, kw_only=True):
    """Pending pods of one workload with the same scheduler message."""

    namespace: Annotated[str, Meta(description="Namespace of the pods.")]
    workload: Annotated[str, Meta(description="`Deployment/web`, or `Pod/NAME` for a bare pod.")]
    pods: Annotated[tuple[str, ...], Meta(description="Names of the pods, in queue order.")]
    message: Annotated[str, Meta(description="kube-scheduler's message, or why the pods were not tried.")]
    preemption: Annotated[str, Meta(description="kube-scheduler's addition about preemption; empty if not tried.")]
    causes: Annotated[tuple[Cause, ...], Meta(description="Why the first of the pods has no node; empty if unjudged.")]
    rejections: Annotated[
        tuple[RejectedNodes, ...],
        Meta(description="Rejections of the first pod, most nodes first."),
    ]
    constraints: Annotated[
        tuple[SpreadSums, ...], Meta(description="The arithmetic of each hard constraint for the first pod.")
    ]


class Pool(Base, frozen=True, kw_only=True):
    """A node pool and the nodes it added."""

    name: Annotated[str, Meta(description="Name of the pool.")]
    zone: Annotated[str | None, Meta(description="Zone of its nodes; null if it has none.")]
    nodes: Annotated[int, Meta(description="Number of nodes before.")]
    added: Annotated[tuple[str, ...], Meta(description="Nodes that were added for pending pods.")]
    most: Annotated[int | None, Meta(description="Largest number of nodes; null without a limit.")] = field(name="max")
    on_paper: Annotated[
        dict[str, str],
        Meta(description="Topology key → domain that a node of the pool would add and that no node has."),
    ]
    may_grow: Annotated[bool, Meta(description="Whether no limit is reached and its domain is not lost.")]
    why_not_more: Annotated[
        str,
        Meta(description="Why no node is added: a limit, a lost domain, or why a new node takes no pending pod."),
    ]


def terms_of(arithmetic: ConstraintArithmetic) -> dict[str, Any]:
    """Return the fields of `ConstraintTerms`."""
    return {name: getattr(arithmetic, name) for name in ConstraintTerms.__struct_fields__}


def spread_outcome(spread: WorkloadSpread) -> SpreadOutcome:
    """Return a constraint of a workload as data."""
    names, after, earlier = spread.domains.names, spread.domains.after.tolist(), spread.domains.before.tolist()
    domains = dict(zip(names, after, strict=True))
    return SpreadOutcome(
        **terms_of(spread.arithmetic),
        skew=spread.skew,
        minimum=spread.arithmetic.minimum,
        domains=domains,
        before=domains if earlier == after else dict(zip(names, earlier, strict=True)),
        nodes={domain.name: domain.nodes for domain in spread.arithmetic.domains},
        rejected={name: dict(reasons) for name, reasons in spread.domains.rejected.items()},
        counted=dict(spread.counted),
        exceeded=spread.exceeded or None,
        left_out=left_out_nodes(spread.arithmetic),
    )


def left_out_nodes(arithmetic: ConstraintArithmetic) -> tuple[LeftOutNodes, ...]:
    """Return the nodes that a constraint does not count, by reason."""
    return tuple(LeftOutNodes(reason=each.reason, nodes=tuple(each.nodes)) for each in arithmetic.left_out)


def pending_pods(group: PendingGroup, causes: tuple[Cause, ...] | None = None) -> PendingPods:
    """Return a group of pending pods as data. ``causes``: by default, the causes in the verdict."""
    return PendingPods.like(
        group,
        pods=tuple(group.pods),
        causes=causes_of(group) if causes is None else causes,
        rejections=rejections_of(group.verdict) if group.verdict is not None else (),
        constraints=tuple(
            SpreadSums(
                **terms_of(arithmetic),
                minimum=arithmetic.minimum,
                minimum_domains=tuple(arithmetic.minimum_domains),
                domains=tuple(
                    DomainSum.like(
                        each.domain, arithmetic=sum_in_words(arithmetic, each.domain), rejected=dict(each.rejected)
                    )
                    for each in outcomes
                ),
                left_out=left_out_nodes(arithmetic),
            )
            for arithmetic, outcomes in group.outcomes
        ),
    )


def rejections_of(verdict: Verdict) -> tuple[RejectedNodes, ...]:
    """Return the number of rejected nodes for each set of reasons, most nodes first."""
    return tuple(
        RejectedNodes(plugin=each.plugin, code=each.code, reasons=tuple(each.reasons), nodes=nodes)
        for each, nodes in verdict.counts.most_common()
    )


def sum_in_words(arithmetic: ConstraintArithmetic, domain: Domain) -> str:
    """Return the skew arithmetic of a domain: ``3 + 1 (self) − 2 (minimum: zone-c) = 2 > maxSkew 1``.

    The terms are: matching pods of the domain, the pod itself, the global minimum in force, the skew with the pod.
    """
    relation = "≤" if domain.skew <= arithmetic.max_skew else ">"
    return (
        f"{domain.matching} + {arithmetic.counts_itself} (self) − {arithmetic.minimum} ({_minimum(arithmetic)}) "
        f"= {domain.skew} {relation} maxSkew {arithmetic.max_skew}"
    )


def _minimum(arithmetic: ConstraintArithmetic) -> str:
    """Return the domains with the global minimum, or why the minimum is 0."""
    if arithmetic.lacks_domains:
        return f"{counted(len(arithmetic.domains), 'domain')} < minDomains {arithmetic.min_domains}"
    names = arithmetic.minimum_domains
    if not names:
        return "no domain"
    if len(names) == len(arithmetic.domains) > 2:
        return f"minimum: all {len(names)} domains"
    return f"minimum: {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def pool_of(use: PoolUse) -> Pool:
    """Return a pool as data."""
    return Pool.like(
        use,
        zone=use.zone or None,
        nodes=use.there,
        added=tuple(use.added),
        on_paper=dict(use.paper),
        why_not_more=_why_not_more(use),
    )


def _why_not_more(use: PoolUse) -> str:
    if not use.may_grow:
        return limit_words(use.lost, use.there + len(use.added), use.most)
    reasons: dict[str, list[str]] = {}
    for each in use.refused:
        reasons.setdefault(refusal_words(each, use.zone), []).append(each.pod)
    return "; ".join(f"{words} ({listed(pods, 1)})" for words, pods in reasons.items())


def limit_words(lost: str, nodes: int, most: int | None) -> str:
    """Return why a pool with this number of nodes may not grow: its domain is lost, or a limit is reached."""
    if lost:
        return f"{lost} is lost"
    return "it has all the nodes it may have" if most is not None and nodes >= most else "its limits are reached"


def refusal_words(each: PoolRefusal, zone: str) -> str:
    """Return why a new node of a pool rejects a kind of pod."""
    if each.lacks:
        return f"nodeSelector {', '.join(each.lacks)}"
    if each.plugin == SPREAD and zone:
        return f"maxSkew does not admit {zone}"
    return f"a new node {on_it(dict.fromkeys(each.reasons, 1))}" if each.plugin else ", ".join(each.reasons)
