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
"""Pending: no node takes it. Placed: the simulation found it a node. Bound: it was on a node before. Waiting:
kube-scheduler is not asked (scheduling gates, a StatefulSet's pod before it)."""

Means = Literal["create", "rollout", "new pods", "recreate", "in place", "template", "cluster"]
"""How a change takes effect: create a new object; roll out every replica from the template; use the template for new
pods only; delete and recreate the object; edit the object in place; edit the template of an owner of an unknown kind;
change the cluster (nodes, or delete a pod)."""

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
        own: domain of the pod's node; "" without a node.
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
    details: Annotated[tuple[str, ...], Meta(description="Numbers or names behind the reasons.")]


class PluginVerdict(Base, frozen=True):
    """The nodes that one plugin rejects, whatever the plugins before it say."""

    plugin: Annotated[str, Meta(description="Name of the filter plugin.")]
    nodes: Annotated[int, Meta(description="Nodes that it rejects.")]
    alone: Annotated[int, Meta(description="Nodes that no other plugin rejects.")]
    reasons: Annotated[dict[str, int], Meta(description="Reason → nodes.")]
    details: Annotated[tuple[str, ...], Meta(description="Taints, or labels that the pod asks for; commonest first.")]


class CoreObstacle(msgspec.Struct, frozen=True):
    """A reason of one plugin, or a hard constraint.

    Attributes:
        nodes: how many nodes it rejects.
        topology_key, max_skew: of the constraint; "" and 0 otherwise.
    """

    plugin: str
    reason: str
    nodes: int
    topology_key: str = ""
    max_skew: int = 0


class NearestNode(Base, frozen=True):
    """A node that lacks little."""

    node: Annotated[str, Meta(description="Name of the node.")]
    domains: Annotated[dict[str, str], Meta(description="Topology key of a constraint → domain of the node.")]
    alike: Annotated[int, Meta(description="Further nodes with the same obstacles.")]
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
            ``quota``; several with ``+`` between.
        title: the change in words.
        object: target of the patch: apiVersion, kind, namespace and name; for a new node the list of nodes. For an
            owner of an unknown kind (``template``), paths are those of its pods.
        patch: the change as RFC 6902 operations; one that removes "" deletes the object.
        means: how the change takes effect.
        placed, wanted: the workload's pods with a node after the change, and its desired pods.
        lets_in: pods of the workload that are pending without the change and placed with it.
        newly_pending: pods of other workloads that are placed without the change and pending with it.
        evicted: pods that preemption evicts with the change.
        exceeds: hard constraints whose maxSkew without the change is exceeded with it.
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
    exceeds: tuple[ExceededSkew, ...] = ()
    file: str = ""
    further: tuple[Further, ...] = ()

    @property
    def complete(self) -> bool:
        """True if every pod of the workload has a node then."""
        return self.placed >= self.wanted

    @property
    def worse(self) -> tuple[int, int]:
        """Sort key: pods without a node then, and the largest excess of a skew over the maxSkew without the change."""
        excess = max((each.skew - each.max_skew for each in self.exceeds), default=0)
        return self.wanted - self.placed + len(self.newly_pending), excess


class ScoredNode(Base, frozen=True):
    """A feasible node and its weighted points."""

    node: Annotated[str, Meta(description="Name of the node.")]
    total: Annotated[int, Meta(description="Sum of the points.")]
    points: Annotated[dict[str, int], Meta(description="Plugin → weighted points.")]
    alike: Annotated[int, Meta(description="Further nodes with the same points.")]


class SpreadPoints(Base, frozen=True):
    """A soft constraint in the score of a node."""

    topology_key: Annotated[str, Meta(description="Topology key of the constraint.")]
    domain: Annotated[str | None, Meta(description="Domain of the node; null if it lacks the key.")]
    matching: Annotated[int, Meta(description="Pods that count there; for the hostname those on the node.")]
    domains: Annotated[int, Meta(description="Distinct domains among the scored nodes.")]
    weight: Annotated[float, Meta(description="ln(domains + 2)")]
    max_skew: Annotated[int, Meta(description="maxSkew of the constraint.")]
    points: Annotated[float, Meta(description="matching × weight + maxSkew − 1")]


class SpreadNodeScore(Base, frozen=True):
    """PodTopologySpread's score of a node."""

    node: Annotated[str, Meta(description="Name of the node.")]
    parts: Annotated[tuple[SpreadPoints, ...], Meta(description="Each soft constraint.")]
    raw: Annotated[int | None, Meta(description="The rounded sum; null for a node that lacks a key.")]
    lowest: Annotated[int, Meta(description="Lowest raw score of a feasible node.")]
    highest: Annotated[int, Meta(description="Highest raw score of a feasible node.")]
    normalized: Annotated[int, Meta(description="100 × (highest + lowest − raw) ÷ highest")]
    weight: Annotated[int, Meta(description="Weight of the plugin.")]


class ChoiceWithout(Base, frozen=True):
    """The choice if a constraint did not exist."""

    topology_key: Annotated[str, Meta(description="Topology key of the constraint.")]
    when_unsatisfiable: Annotated[str, Meta(description="`DoNotSchedule` or `ScheduleAnyway`.")]
    position: Annotated[int, Meta(description="Its place in its list, from 0.")]
    origin: Annotated[str, Meta(description="`pod`, `profile` or `system`: source of the constraint.")]
    instead: Annotated[str | None, Meta(description="Default constraints that apply then: `system` or `profile`.")]
    node: Annotated[str | None, Meta(description="Best node by name; null if there is none.")]
    total: Annotated[int, Meta(description="Its total.")]
    equals: Annotated[int, Meta(description="Number of nodes with that total.")]


class NodeScores(Base, frozen=True):
    """The chosen node and its best rivals."""

    chosen: Annotated[str, Meta(description="Node of the pod.")]
    feasible: Annotated[int, Meta(description="Number of feasible nodes. A single node is not scored.")]
    best: Annotated[tuple[str, ...], Meta(description="Nodes with the highest total.")]
    draws: Annotated[bool, Meta(description="Whether kube-scheduler draws one of them.")]
    weights: Annotated[dict[str, int], Meta(description="Score plugin → its weight.")]
    nodes: Annotated[tuple[ScoredNode, ...], Meta(description="The chosen node first if it is feasible, then rivals.")]
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
        node: the pod's node; ``None`` if it has none.
        message: kube-scheduler's message for a pending pod, or why it waits; ``preemption`` has preemption's message.
        pending: pods of the workload without a node, out of ``wanted`` replicas.
        nodes: how many nodes the cluster has.
        constraints: those in force, hard ones first.
        plugins: rejections by each plugin; for a pod with a node, of the other nodes as well.
        nearest: for a pod that fits nowhere, the nodes that lack least; the node of a bound pod that would be rejected.
        core: the fewest obstacles that reject every node together; empty if more than a few are needed.
        admitted: kinds of nodes that hard constraints admit, or of all nodes if other plugins close all that
            constraints reject; for a pod that fits nowhere.
        suggestions: simulated changes that place the pod, smallest first.
        searched: whether changes were searched.
        untried: number of changes that exceeded the simulation budget.
        scores: for a pod that has a node.
        without: the chosen node without each of the first 32 constraints.
        verdict: kube-scheduler's verdict; ``None`` if the pod does not reach kube-scheduler.
        evictions: pods that were evicted for this pod.
        from_batch: whether it got the next best node of the equal pods before it, without scoring.
        tries: attempts of kube-scheduler for a pending pod of a live cluster; else ``None``.
        unjudged: parts of the pod and of other pending pods that topospread does not model.
        situations: all pods of the workload by situation, if the question was about a workload.
        assumed: the explanation as if filters that topospread does not model let every node pass; ``None`` if every
            pod is judged.
    """

    namespace: str
    name: str
    workload: str
    state: PodState
    exists: bool
    node: str | None
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
