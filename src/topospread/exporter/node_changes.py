"""What of a node that changed others may rest on than those with pods there: its labels, its taints. It asks nobody.

Whether a node is open, has room or has images matters to pods on it alone: no pod is placed here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from topospread.api.node import Node
from topospread.api.node_selection import NodeSelector
from topospread.api.pod import Pod
from topospread.cluster import PodClass
from topospread.plugins.affinity_terms import Term
from topospread.plugins.spread_constraints import Constraint
from topospread.spread_status.risk import WELL_KNOWN


@dataclass(slots=True)
class NodeChanges:
    """What changed of nodes that were there before and are there still.

    Attributes:
        labels: keys of labels that came, went or changed.
        taints: whether taints did.
    """

    labels: set[str] = field(default_factory=set)
    taints: bool = False

    def note(self, before: Node, after: Node) -> None:
        """A node changed."""
        was, now = before.labels, after.labels
        self.labels |= {key for key in was.keys() | now.keys() if was.get(key) != now.get(key)}
        self.taints |= (before.spec.taints or []) != (after.spec.taints or [])


@dataclass(frozen=True, slots=True)
class ReadOfNodes:
    """What the figures of a workload rest on of nodes on which it has no pods.

    Attributes:
        labels: keys that decide which nodes take part in its constraints, and in which domain.
        domains: keys by whose domains its pods want to be near others or away from them, which others feel as well.
        honors_taints: a constraint counts no tainted nodes.
        volumes: volumes may ask for any label.
    """

    labels: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    honors_taints: bool = False
    volumes: bool = False

    def concerns_all(self, changes: NodeChanges) -> bool:
        """Whether a change may be felt by workloads that read nothing of it."""
        return not self.domains.isdisjoint(changes.labels)

    def concerns(self, changes: NodeChanges) -> bool:
        """Whether a change may be felt by the workload itself."""
        reads_labels = bool(changes.labels) and (self.volumes or not self.labels.isdisjoint(changes.labels))
        return reads_labels or (changes.taints and self.honors_taints)


def concern_everybody(changes: NodeChanges) -> bool:
    """Whether changes are of labels by which the losses of all workloads are told."""
    return not changes.labels.isdisjoint(WELL_KNOWN)


def reads_of(classes: Iterable[PodClass], terms: Iterable[Term], constraints: Collection[Constraint]) -> ReadOfNodes:
    """What pods of some classes rest on, with required terms towards other pods, and constraints in force."""
    classes = tuple(classes)
    return ReadOfNodes(
        frozenset(key for each in classes for key in _keys_asked(each.pod))
        | {each.topology_key for each in constraints},
        frozenset(term.topology_key for term in terms),
        any(each.honors_taints for each in constraints),
        any(each.volumes for each in classes),
    )


def _keys_asked(pod: Pod) -> Iterable[str]:
    """The labels by which a pod chooses its nodes."""
    yield from pod.spec.node_selector or ()
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    for term in (required or NodeSelector()).node_selector_terms or ():
        yield from (each.key for each in term.match_expressions or ())
