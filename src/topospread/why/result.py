"""An explanation as data: the event, each constraint's domains, each plugin's rejections, and fixes.

Nothing is printed or decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from topospread.answer import Unjudged
from topospread.base import Base, Word
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.scheduling.verdict import Verdict
from topospread.simulation.result import PendingGroup

from .attempts import Attempts

PodState = Literal["pending", "placed", "bound", "waiting"]
"""Pending: no node takes it. Placed: the simulation found it a node. Bound: it was on a node before. Waiting:
kube-scheduler is not asked (scheduling gates, another scheduler, a StatefulSet's pod before it)."""

Means = Literal["create", "rollout", "new pods", "recreate", "in place", "template", "cluster"]
"""How a change comes about: a manifest of an object that does not exist yet; a template that rolls every replica; a
template of which only new pods are made; an object deleted and created anew; an object changed as it is; the template
of an owner of an unknown kind, which makes its pods anew; something of the cluster: nodes, or a pod deleted."""

Json = dict[str, Any]


class DomainRow(msgspec.Struct, frozen=True):
    """One domain of a constraint, for the pod at hand.

    Attributes:
        matching: pods that the constraint's selector matches, on nodes that take part.
        nodes: nodes that take part in the counting.
        after: ``matching`` with the pod placed here.
        skew: ``after`` minus the global minimum in force.
        allowed: whether the constraint lets the pod in.
        holds_minimum: whether no domain holds fewer.
        rejected: reason → nodes that take part and that another plugin rejects for it; the taint that a cordon brings
            is not told beside the cordon.
        open: nodes that take part and that every other plugin lets pass.
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
        counted: whose pods are counted, ``Deployment/web`` → pods; empty where all are the workload's own.
        own: the domain of the node that the pod is on or was given, "" where it has none.
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
    """A change that was tried, and what came of it.

    Attributes:
        kind: ``maxSkew``, ``whenUnsatisfiable``, ``nodeTaintsPolicy``, ``nodeAffinityPolicy``, ``minDomains``,
            ``toleration``, ``requests``, ``rollout`` (of a template that changed already), ``restart``, ``deletePod``,
            ``uncordon``, ``free``, ``newNode``, ``storageClassName``, ``newClaim``, ``newStorageClass``; several with
            ``+`` between.
        title: the change in words.
        object: what the patch applies to: apiVersion, kind, namespace and name; for a new node the list of nodes; of
            an owner of an unknown kind (``template``) the paths are those of its pods.
        patch: the change as RFC 6902 operations; one that removes "" deletes the object.
        means: how it comes about.
        placed, wanted: pods of the workload that have a node after the change, and that there are to be.
        lets_in: pods of the workload that are pending without the change and not with it.
        newly_pending: pods of others that are placed without the change and not with it.
        evicted: pods that preemption evicts with the change.
        file: where the object was read, "" where that is not known.
        stuck_at: how many new pods have a node when the Deployment's rolling update, played through with its strategy,
            gets stuck; ``None`` where it comes to its end, or there is none.
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
    file: str = ""
    stuck_at: int | None = None
    further: tuple[Further, ...] = ()

    @property
    def complete(self) -> bool:
        """True if every pod of the workload has a node then."""
        return self.placed >= self.wanted


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
    """The whole answer on one pod.

    Attributes:
        workload: ``Deployment/web``, ``Pod/NAME`` for a bare pod, "" where nobody knows.
        exists: whether an API server has the pod, or it would yet have to be created.
        node: where it is, ``None`` while it has none.
        message: kube-scheduler's sentence on a pending pod, or why it waits; preemption's own is in ``preemption``.
        pending: how many pods of the workload have no node, of how many that it is to have (``wanted``).
        nodes: how many nodes the cluster has.
        constraints: those in force, hard ones first.
        plugins: what each rejects; for a pod that has a node, of the other nodes as well.
        nearest: nodes that lack least, for a pod that fits nowhere, and the node of a bound pod that would be refused.
        core: the fewest obstacles that reject every node together; empty if more than a few are needed.
        admitted: kinds of nodes that hard constraints admit, or of all nodes if other plugins close all that
            constraints reject; for a pod that fits nowhere.
        suggestions: what would let the pod in, smallest first; only what was tried.
        searched: whether changes were looked for at all.
        untried: changes that were not tried, as too many pods would have had to be placed for them.
        scores: for a pod that has a node.
        without: the choice without each constraint.
        verdict: kube-scheduler's answer that all of this explains, ``None`` where it is not asked.
        evictions: pods that were evicted so that this one has room.
        from_batch: whether it got the next best node of the equal pods before it, and no node was scored for it.
        tries: of a pod that waits in a live cluster, how often kube-scheduler tried it; else ``None``.
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
