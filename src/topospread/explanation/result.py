"""An explanation as data: the event, each constraint's domains, each plugin's rejections, and fixes.

Nothing is printed or decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from topospread.answer import Unjudged
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.scheduling.verdict import Verdict

from .tries import Tries

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


class Obstacle(msgspec.Struct, frozen=True):
    """One plugin's obstacle on a node.

    Attributes:
        details: the numbers or names behind the reasons, a phrase each.
    """

    plugin: str
    code: str
    reasons: tuple[str, ...]
    details: tuple[str, ...] = ()


class PluginRejections(msgspec.Struct, frozen=True):
    """One plugin's rejections among all nodes, whatever the plugins before it said.

    Attributes:
        nodes: how many nodes it rejects.
        alone: how many of them no other plugin rejects.
        reasons: reason → nodes.
        details: what stands behind the reasons, commonest first (taints), "" where nothing does.
    """

    plugin: str
    nodes: int
    alone: int
    reasons: Mapping[str, int]
    details: tuple[str, ...] = ()


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


class NearNode(msgspec.Struct, frozen=True):
    """A node that lacks little, and how many others have the same obstacles.

    Attributes:
        domains: topology key of a constraint → the node's domain.
    """

    node: str
    obstacles: tuple[Obstacle, ...]
    domains: Mapping[str, str]
    alike: int = 0


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


class NodeScore(msgspec.Struct, frozen=True):
    """A feasible node with its weighted points by plugin; ``total`` is their sum.

    ``alike``: how many nodes that are not shown have the very same points.
    """

    node: str
    total: int
    points: Mapping[str, int]
    alike: int = 0


class SpreadPart(msgspec.Struct, frozen=True):
    """One soft constraint in the score of one node.

    Attributes:
        domain: the node's, "" where it lacks the key.
        matching: pods that count there; for the hostname the node's own.
        domains: distinct domains among the scored nodes; for the hostname how many nodes are scored.
        weight: ln(domains + 2).
        points: matching · weight + (maxSkew − 1).
    """

    topology_key: str
    domain: str
    matching: int
    domains: int
    weight: float
    max_skew: int
    points: float


class SpreadScore(msgspec.Struct, frozen=True):
    """PodTopologySpread's score of one node: the parts added up and rounded are ``raw``.

    Attributes:
        parts: empty where only counts are added up (until 1.18).
        raw: ``None`` for a node that lacks a key and is not scored.
        rounds: whether the sum is rounded; until 1.23 its fraction was cut off.
        lowest, highest: raw scores among the feasible nodes.
        normalized: 100 · (highest + lowest − raw) // highest; 100 when the highest is 0.
        weight: of the plugin.
    """

    node: str
    parts: tuple[SpreadPart, ...]
    raw: int | None
    rounds: bool
    lowest: int
    highest: int
    normalized: int
    weight: int


class Without(msgspec.Struct, frozen=True):
    """The choice that would be made without a constraint.

    Attributes:
        instead: ``system`` or ``profile`` where the default constraints would be in force then, else "".
        node: the best node by name, ``None`` when there is none.
        total: its total, or 0.
        equals: how many nodes have that total.
    """

    topology_key: str
    when_unsatisfiable: str
    position: int
    origin: str
    instead: str
    node: str | None
    total: int
    equals: int


class ScoreTable(msgspec.Struct, frozen=True):
    """The chosen node and its best rivals.

    Attributes:
        chosen: the node that the pod is on, or was given.
        nodes: the chosen node first where it is feasible, then the best others by total and name, one of those
            that have the same points.
        weights: plugin → weight, in the profile's order, of the plugins that score the pod.
        feasible: how many nodes are feasible; a single one is not scored by kube-scheduler at all.
        best: names of the nodes with the highest total; kube-scheduler takes one of them.
        draws: whether it draws that one; otherwise it depends on the order in which it looks at nodes.
        spread: of the same nodes, where the pod has soft constraints.
    """

    chosen: str
    nodes: tuple[NodeScore, ...]
    weights: Mapping[str, int]
    feasible: int
    best: tuple[str, ...]
    draws: bool
    spread: tuple[SpreadScore, ...] = ()


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
        tries: of a pod that waits in a live cluster, how often kube-scheduler tried it; else ``None``.
        unjudged: parts of the pod and of other pending pods that topospread does not model.
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
    plugins: tuple[PluginRejections, ...] = ()
    nearest: tuple[NearNode, ...] = ()
    admitted: tuple[NearNode, ...] = ()
    core: tuple[CoreObstacle, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    searched: bool = False
    untried: int = 0
    scores: ScoreTable | None = None
    without: tuple[Without, ...] = ()
    verdict: Verdict | None = None
    evictions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    tries: Tries | None = None
    unjudged: tuple[Unjudged, ...] = ()
    assumed: Explanation | None = None

    @property
    def placed(self) -> bool:
        """True if the pod has a node."""
        return self.node is not None
