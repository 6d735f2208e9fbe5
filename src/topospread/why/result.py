"""An explanation as data: the event, each constraint's domains, each plugin's rejections, and fixes.

Nothing is printed or decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from topospread.answer import ExceededSkew, Unjudged
from topospread.base import Base, Word
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.scheduling.verdict import Verdict
from topospread.simulation.result import PendingGroup

from .attempts import Attempts

PodState = Literal["pending", "placed", "bound", "waiting"]
"""Pending: no node accepts the pod. Placed: the simulation found a node. Bound: it was on a node before. Waiting: it
does not reach kube-scheduler (scheduling gates, or an earlier pod of the StatefulSet is missing)."""

Means = Literal["create", "rollout", "new pods", "recreate", "in place", "template", "cluster"]
"""How a change takes effect. create: a new object; rollout: every replica is replaced; new pods: only new pods use the
template; recreate: the object is deleted and created; in place: the object is edited; template: the template of an
owner of an unknown kind is edited; cluster: nodes change, or a pod is deleted."""

Json = dict[str, Any]


class DomainRow(msgspec.Struct, frozen=True):
    """One domain of a constraint, as one pod sees it.

    Attributes:
        matching: pods on counted nodes that match the constraint's selector.
        nodes: counted nodes.
        after: ``matching`` with the pod placed here.
        skew: ``after`` minus the global minimum in force.
        allowed: whether the constraint lets the pod in.
        holds_minimum: whether no other domain has fewer matching pods.
        rejected: reason → counted nodes that another plugin rejects for it; a cordon's own taint is not listed.
        open: counted nodes that every other plugin accepts.
    """

    name: str
    matching: int
    nodes: int
    after: int
    skew: int
    allowed: bool
    holds_minimum: bool
    rejected: Mapping[str, int]
    open: int


class ConstraintTable(msgspec.Struct, frozen=True):
    """A constraint in force and its domains; the numbers are ``arithmetic``'s.

    Attributes:
        domains: eligible domains, by name.
        counted: owners of the counted pods, ``Deployment/web`` → pods; empty if the workload owns all of them.
        own: domain of the pod's node; "" for a pod without a node.
    """

    arithmetic: ConstraintArithmetic
    domains: tuple[DomainRow, ...]
    counted: Mapping[str, int] = {}
    own: str = ""


class NodeObstacle(Base, frozen=True):
    """A plugin's rejection of one node."""

    plugin: Annotated[str, Meta(description="Name of the filter plugin.")]
    code: Annotated[str, Meta(description="kube-scheduler's status code.")]
    reasons: Annotated[tuple[str, ...], Meta(description="kube-scheduler's reasons.")]
    details: Annotated[tuple[str, ...], Meta(description="Numbers or names that explain the reasons.")]


class PluginVerdict(Base, frozen=True):
    """The nodes that one plugin rejects, including nodes that an earlier plugin rejects."""

    plugin: Annotated[str, Meta(description="Name of the filter plugin.")]
    nodes: Annotated[int, Meta(description="Number of nodes that it rejects.")]
    alone: Annotated[int, Meta(description="Number of nodes that no other plugin rejects.")]
    reasons: Annotated[dict[str, int], Meta(description="Reason → number of nodes.")]
    details: Annotated[
        tuple[str, ...], Meta(description="Taints, labels that the pod requires, or requests larger than any node.")
    ]


class CoreObstacle(msgspec.Struct, frozen=True):
    """One obstacle of the pod: a reason of one plugin, or a hard constraint.

    Attributes:
        nodes: number of nodes that it rejects.
        topology_key, max_skew: of the constraint; "" and 0 otherwise.
    """

    plugin: str
    reason: str
    nodes: int
    topology_key: str = ""
    max_skew: int = 0


class NearestNode(Base, frozen=True):
    """A node with few obstacles, or with a small shortage."""

    node: Annotated[str, Meta(description="Name of the node.")]
    domains: Annotated[dict[str, str], Meta(description="Topology key of a constraint → domain of the node.")]
    alike: Annotated[int, Meta(description="Number of further nodes with the same obstacles.")]
    obstacles: Annotated[tuple[NodeObstacle, ...], Meta(description="All rejections of the node.")]


class Further(msgspec.Struct, frozen=True):
    """The part of a suggestion that changes another object."""

    kind: str
    title: str
    object: Mapping[str, str]
    patch: tuple[Json, ...]


class Suggestion(msgspec.Struct, frozen=True):
    """A simulated change and its result.

    Attributes:
        kind: ``maxSkew``, ``whenUnsatisfiable``, ``nodeTaintsPolicy``, ``nodeAffinityPolicy``, ``minDomains``,
            ``toleration``, ``requests``, ``rollout`` (of a template that changed already), ``restart``, ``deletePod``,
            ``uncordon``, ``strategy``, ``free``, ``newNode``, ``storageClassName``, ``newClaim``, ``newStorageClass``,
            ``quota``, ``budget``; several with ``+`` between.
        title: the change in words.
        object: target of the patch: apiVersion, kind, namespace and name; for a new node the list of nodes. For an
            owner of an unknown kind (``template``), paths are those of its pods.
        patch: the change as RFC 6902 operations. Removing the path "" deletes the object.
        means: how the change takes effect.
        placed, wanted: the workload's pods with a node after the change, and its desired pods.
        lets_in: number of pods of the workload that are pending without the change and placed with it.
        newly_pending: pods of other workloads that are placed without the change and pending with it.
        evicted: pods that preemption evicts with the change.
        replaces: pods with a node that the change deletes or evicts.
        exceeds: hard constraints that exceed their unchanged maxSkew after the change, the workload's first.
        may_exceed: hard constraints of the workload that exceed their maxSkew after the change's rollout if old pods
            are deleted in an unfavourable order, beyond those of ``exceeds``.
        uncounted: domains that the workload's hard constraints count only without the change.
        file: file of the object; "" if unknown.
        further: changes of other objects, all of which are needed.
    """

    kind: str
    title: str
    object: Mapping[str, str]
    patch: tuple[Json, ...]
    means: Means
    placed: int
    wanted: int
    lets_in: int
    newly_pending: tuple[str, ...] = ()
    evicted: int = 0
    replaces: int = 0
    exceeds: tuple[ExceededSkew, ...] = ()
    may_exceed: tuple[ExceededSkew, ...] = ()
    uncounted: tuple[str, ...] = ()
    file: str = ""
    further: tuple[Further, ...] = ()

    @property
    def complete(self) -> bool:
        """True if every pod of the workload has a node after the change."""
        return self.placed >= self.wanted

    @property
    def worse(self) -> tuple[int, int]:
        """Sort key: pods without a node after the change, then the largest excess over an unchanged maxSkew."""
        excess = max((each.skew - each.max_skew for each in self.exceeds), default=0)
        return self.wanted - self.placed + len(self.newly_pending), excess


class ScoredNode(Base, frozen=True):
    """A feasible node and its weighted scores."""

    node: Annotated[str, Meta(description="Name of the node.")]
    total: Annotated[int, Meta(description="Sum of the weighted scores.")]
    points: Annotated[dict[str, int], Meta(description="Plugin → weighted points.")]
    alike: Annotated[int, Meta(description="Number of further nodes with the same scores.")]


class SpreadPoints(Base, frozen=True):
    """A soft constraint in the score of a node."""

    topology_key: Annotated[str, Meta(description="Topology key of the constraint.")]
    domain: Annotated[str | None, Meta(description="Domain of the node; null if it lacks the key.")]
    matching: Annotated[int, Meta(description="Counted pods in the domain; for the hostname, on the node.")]
    domains: Annotated[int, Meta(description="Distinct domains among the scored nodes.")]
    weight: Annotated[float, Meta(description="ln(domains + 2)")]
    max_skew: Annotated[int, Meta(description="maxSkew of the constraint.")]
    points: Annotated[float, Meta(description="matching × weight + maxSkew − 1")]


class SpreadNodeScore(Base, frozen=True):
    """PodTopologySpread's score of a node."""

    node: Annotated[str, Meta(description="Name of the node.")]
    parts: Annotated[tuple[SpreadPoints, ...], Meta(description="Points from each soft constraint.")]
    raw: Annotated[
        int | None, Meta(description="Rounded sum of the points; null for a node that lacks a topology key.")
    ]
    lowest: Annotated[int, Meta(description="Lowest raw score of a feasible node.")]
    highest: Annotated[int, Meta(description="Highest raw score of a feasible node.")]
    normalized: Annotated[int, Meta(description="100 × (highest + lowest − raw) ÷ highest")]
    weight: Annotated[int, Meta(description="Weight of the plugin.")]


class ChoiceWithout(Base, frozen=True):
    """The chosen node if a constraint did not exist."""

    topology_key: Annotated[str, Meta(description="Topology key of the constraint.")]
    when_unsatisfiable: Annotated[str, Meta(description="`DoNotSchedule` or `ScheduleAnyway`.")]
    position: Annotated[int, Meta(description="Index of the constraint in its list, from 0.")]
    origin: Annotated[str, Meta(description="`pod`, `profile` or `system`: source of the constraint.")]
    instead: Annotated[
        str | None,
        Meta(description="Origin of the default constraints that apply instead: `system` or `profile`; else null."),
    ]
    node: Annotated[str | None, Meta(description="First of the best nodes; null if no node is feasible.")]
    total: Annotated[int, Meta(description="Total score of that node.")]
    equals: Annotated[int, Meta(description="Number of nodes with that total.")]


class NodeScores(Base, frozen=True):
    """The scores of the chosen node and of the best other nodes."""

    chosen: Annotated[str, Meta(description="Node of the pod.")]
    feasible: Annotated[int, Meta(description="Number of feasible nodes. A single node is not scored.")]
    best: Annotated[tuple[str, ...], Meta(description="Nodes with the highest total.")]
    draws: Annotated[bool, Meta(description="Whether kube-scheduler chooses one of `best` at random.")]
    weights: Annotated[dict[str, int], Meta(description="Score plugin → its weight.")]
    nodes: Annotated[
        tuple[ScoredNode, ...], Meta(description="The chosen node, if it is feasible, then the best other nodes.")
    ]
    spread: Annotated[tuple[SpreadNodeScore, ...], Meta(description="PodTopologySpread's arithmetic of these nodes.")]


class PodSituation(msgspec.Struct, frozen=True):
    """Pods of a workload that have nodes, or that are pending for the same reasons.

    Attributes:
        verdict: whether they have nodes, or find some.
        pods: their names.
        group: pending pods with the verdict on the first of them; ``None`` for pods with nodes.
    """

    verdict: Word
    pods: tuple[str, ...]
    group: PendingGroup | None = None


@dataclass(frozen=True)
class Explanation:
    """The explanation of one pod.

    Attributes:
        workload: ``Deployment/web``, or ``Pod/NAME`` for a bare pod; "" if unknown.
        exists: whether the pod exists in the API server.
        created: creationTimestamp of a pending pod; "" for a pod that does not exist.
        age: seconds from ``created`` to the latest timestamp in the input; ``None`` if unknown.
        node: the pod's node; ``None`` if it has none.
        message: kube-scheduler's message for a pending pod, or why it waits; ``preemption`` has preemption's message.
        pending: pods of the workload without a node, out of ``wanted`` replicas.
        nodes: number of nodes of the cluster.
        constraints: constraints in force, hard constraints first.
        plugins: rejections of nodes by each plugin, also for a pod that has a node.
        nearest: nodes with the fewest obstacles; for a bound pod, its own node if it would now reject the pod.
        core: a smallest set of obstacles that together reject every node; empty if more than four are needed.
        admitted: for a pod that fits nowhere, kinds of nodes that hard constraints admit; kinds of all nodes if other
            plugins reject every node that constraints reject.
        suggestions: simulated changes that place the pod, those that replace the fewest pods first.
        searched: whether changes were searched.
        untried: number of changes that exceeded the simulation budget.
        scores: scores of the chosen node and the best other nodes; ``None`` for a pod without a node.
        without: the chosen node without each of the first 32 constraints.
        verdict: kube-scheduler's verdict; ``None`` if the pod does not reach kube-scheduler.
        evictions: pods that were evicted for this pod.
        from_batch: whether kube-scheduler reused the scores of an equal pod before it (OpportunisticBatching).
        tries: attempts of kube-scheduler for a pending pod of a live cluster; else ``None``.
        unjudged: parts of the pod and of other pending pods that topospread does not model.
        situations: all pods of the workload by situation, if the target is a workload.
        assumed: the explanation if unmodelled filters admit every node; ``None`` if every pod is judged.
    """

    namespace: str
    name: str
    workload: str
    state: PodState
    exists: bool
    node: str | None
    created: str = ""
    age: float | None = None
    message: str = ""
    preemption: str = ""
    pending: int = 0
    wanted: int = 0
    nodes: int = 0
    constraints: tuple[ConstraintTable, ...] = ()
    plugins: tuple[PluginVerdict, ...] = ()
    nearest: tuple[NearestNode, ...] = ()
    admitted: tuple[NearestNode, ...] = ()
    core: tuple[CoreObstacle, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    searched: bool = False
    untried: int = 0
    scores: NodeScores | None = None
    without: tuple[ChoiceWithout, ...] = ()
    verdict: Verdict | None = None
    evictions: tuple[str, ...] = ()
    from_batch: bool = False
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    tries: Attempts | None = None
    unjudged: tuple[Unjudged, ...] = ()
    situations: tuple[PodSituation, ...] = ()
    assumed: Explanation | None = None

    @property
    def placed(self) -> bool:
        """True if the pod has a node."""
        return self.node is not None
