"""DaemonSets → one pod for each eligible node. Existing pods are not updated to a new template.

Sources: pkg/controller/daemon/daemon_controller.go (``podsShouldBeOnNode``, ``nodeShouldRunDaemonPod``),
pkg/controller/daemon/util/daemonset_util.go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from msgspec.structs import replace

from topospread.admission.names import pod_prefix
from topospread.admission.tolerations import daemon_tolerations
from topospread.api.node import Node
from topospread.api.node_selection import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Taint,
    Toleration,
)
from topospread.api.pod import Pod, PodSpec
from topospread.api.taints import untolerated
from topospread.api.workload import DaemonSet
from topospread.cluster import NodeTable
from topospread.plugins.node_matching import required_mask

from .controllers import Controller
from .draft import Draft
from .removal import is_active, is_leaving
from .revisions import REVISION_HASH_LABEL, note_other_revisions, revision_hash, shown_revision

GENERATION_LABEL = "pod-template-generation"
_NODE_NAME_FIELD = "metadata.name"


class DaemonNodes:
    """Finds the nodes that run the pods of a DaemonSet, like the DaemonSet controller."""

    def __init__(self, nodes: Sequence[Node], *, comparison_operators: bool) -> None:
        self._nodes = nodes
        self._names = frozenset(node.name for node in nodes)
        self._comparison_operators = comparison_operators

    def for_pods_of(self, spec: PodSpec) -> tuple[list[str], set[str]]:
        """Return nodes that should run a pod with this spec, in input order, and nodes that may keep an existing pod.

        They differ in nodes with an untolerated NoSchedule taint. Source: ``nodeShouldRunDaemonPod``.
        """
        should_run: list[str] = []
        may_stay: set[str] = set()
        for node, selected, effects in zip(
            self._nodes, self._selected(spec), self._keeping_off(spec.tolerations or ()), strict=True
        ):
            if selected and not effects:
                should_run.append(node.name)
            if selected and "NoExecute" not in effects:
                may_stay.add(node.name)
        return should_run, may_stay

    def loses(self, pod: Pod, may_stay: Collection[str]) -> bool:
        """Return whether the controller deletes a pod.

        It does if the pod's node is not in ``may_stay``, or if a pending pod requires a missing node.
        """
        name = target_node(pod)
        if name is None:
            return False
        return name not in may_stay if name in self._names else not pod.spec.node_name

    @cached_property
    def _table(self) -> NodeTable:
        table = NodeTable(max(len(self._nodes), 1))
        for node in self._nodes:
            table.add(Node(metadata=node.metadata))
        return table

    def _selected(self, spec: PodSpec) -> list[bool]:
        """Return whether node name, node selector and required node affinity select each node."""
        wanted = [spec.node_name in (None, "", node.name) for node in self._nodes]
        mask = required_mask(spec, self._table)
        matching: list[bool] = wanted if mask is None else mask(slice(0, len(self._nodes))).tolist()
        return [left and right for left, right in zip(wanted, matching, strict=True)]

    def _keeping_off(self, tolerations: Iterable[Toleration]) -> list[frozenset[str]]:
        """Return the effects (NoSchedule, NoExecute) of each node's untolerated taints."""
        allowed = list(tolerations)
        known: dict[tuple[Taint, ...], frozenset[str]] = {}
        found = []
        for node in self._nodes:
            taints = tuple(node.spec.taints or ())
            if taints not in known:
                left = untolerated(taints, allowed, comparison_operators=self._comparison_operators)
                known[taints] = frozenset(taint.effect for taint in left)
            found.append(known[taints])
        return found


def plan_daemon_set(draft: Draft, owner: Controller, nodes: DaemonNodes) -> None:
    """Plan a DaemonSet: one pod for each eligible node without one. Pods on other nodes are removed."""
    item = owner.object
    if not isinstance(item, DaemonSet):
        raise TypeError(f"{owner.kind} is no DaemonSet")
    spec = replace(owner.template.spec, tolerations=daemon_tolerations(owner.template.spec))
    should_run, may_stay = nodes.for_pods_of(spec)
    row = draft.row(owner.kind, owner.namespace, owner.name, len(should_run))
    there = [pod for pod in owner.pods if is_active(pod) or is_leaving(pod)]
    missing: list[str] = []
    if item.metadata.deletion_timestamp is None:
        removed = [pod for pod in there if not pod.terminating and nodes.loses(pod, may_stay)]
        draft.remove(removed)
        gone = {id(pod) for pod in removed}
        there = [pod for pod in there if id(pod) not in gone]
        occupied = {target_node(pod) for pod in there}
        missing = [name for name in should_run if name not in occupied]
    row.template = _template(draft, owner, item, spec, needed=bool(missing))
    draft.keep(row, there)
    note_other_revisions(row, row.existing)
    template = row.template
    if template is None:
        raise ValueError(f"{row} has no template")
    names = draft.names.generate(row.namespace, pod_prefix(row.name))
    for node_name, name in zip(missing, names, strict=False):
        draft.add(row, for_node(template, node_name), name)


def for_node(template: Pod, node_name: str) -> Pod:
    """Return a pod of the template that targets one node."""
    return replace(template, spec=replace(template.spec, affinity=affinity_to_node(template.spec.affinity, node_name)))


def affinity_to_node(affinity: Affinity | None, node_name: str) -> Affinity:
    """Return the affinity with required node affinity to one node (``ReplaceDaemonSetPodNodeNameNodeAffinity``)."""
    field = NodeSelectorRequirement(key=_NODE_NAME_FIELD, operator="In", values=[node_name])
    selector = NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[field])])
    affinity = affinity or Affinity()
    node_affinity = affinity.node_affinity or NodeAffinity()
    return replace(
        affinity, node_affinity=replace(node_affinity, required_during_scheduling_ignored_during_execution=selector)
    )


def target_node(pod: Pod) -> str | None:
    """Return the current or target node of a DaemonSet's pod (``GetTargetNodeName``)."""
    if pod.spec.node_name:
        return pod.spec.node_name
    node_affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = node_affinity.required_during_scheduling_ignored_during_execution if node_affinity else None
    for term in (required.node_selector_terms or ()) if required else ():
        for field in term.match_fields or ():
            if field.key == _NODE_NAME_FIELD and field.operator == "In":
                return field.values[0] if field.values and len(field.values) == 1 else None
    return None


def _template(draft: Draft, owner: Controller, item: DaemonSet, spec: PodSpec, *, needed: bool) -> Pod:
    """Return the template with the tolerations and labels of daemon pods (``CreatePodTemplate``), after admission."""
    annotations = item.metadata.annotations
    labels = {GENERATION_LABEL: (annotations.template_generation if annotations else None) or "1"}
    pod = draft.admitted(owner, replace(owner.new_pod(), spec=spec), needed=needed)
    labels[REVISION_HASH_LABEL] = shown_revision(pod, owner.pods) or revision_hash(item.spec.template)
    return draft.admitted(owner, replace(owner.new_pod(labels), spec=spec), needed=needed)
