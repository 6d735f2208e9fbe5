"""Pods of a DaemonSet: as many as nodes and alike in all but the node they are for. They are one class, each tied.

Source: pkg/controller/daemon/util/daemonset_util.go (``ReplaceDaemonSetPodNodeNameNodeAffinity``).
"""

from __future__ import annotations

from msgspec.structs import replace

from topospread.api.node_selection import NodeSelectorTerm
from topospread.api.pod import Pod

_NODE_NAME_FIELD = "metadata.name"


def own_node(pod: Pod) -> str:
    """The node that a DaemonSet's pod is tied to, in the way its controller writes it; "" for every other pod."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return ""
    required = affinity.node_affinity.required_during_scheduling_ignored_during_execution
    terms = required.node_selector_terms if required is not None else None
    if not terms or len(terms) != 1 or pod.spec.node_name not in (None, "", node := _named(terms[0])):
        return ""
    owner = pod.metadata.controller
    return node if owner is not None and owner.kind == "DaemonSet" else ""


def untied(pod: Pod) -> Pod:
    """The pod without the node that it is for, which is all that its affinity requires of nodes."""
    affinity = pod.spec.affinity
    assert affinity is not None, "a tied pod has an affinity"
    assert affinity.node_affinity is not None, "a tied pod has a node affinity"
    node_affinity = replace(affinity.node_affinity, required_during_scheduling_ignored_during_execution=None)
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, node_affinity=node_affinity)))


def _named(term: NodeSelectorTerm) -> str:
    fields = term.match_fields
    if term.match_expressions or not fields or len(fields) != 1:
        return ""
    (field,) = fields
    one = field.key == _NODE_NAME_FIELD and field.operator == "In" and field.values and len(field.values) == 1
    return field.values[0] if one and field.values else ""
