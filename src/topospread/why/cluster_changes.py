"""Changes of the cluster that may place a pod: free room, a new node, an uncordoned node, a deleted old pod, a claim.

`suggest` finds the changes that help. Only the few most promising changes of each kind are proposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace as replace_fields
from functools import partial
from itertools import islice

import msgspec
import numpy as np
from msgspec.structs import replace

from topospread.api.meta import Annotations
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.taints import UNSCHEDULABLE_TAINT
from topospread.api.well_known_labels import HOSTNAME
from topospread.cluster.arrays import Bools, Ints
from topospread.controllers.node_lifecycle import is_silent
from topospread.controllers.planned import Workload
from topospread.controllers.revisions import TEMPLATE_HASH_LABEL
from topospread.plugins.interface import UNRESOLVABLE
from topospread.scheduling.verdict import LEFT_OUT_BY_PRE_FILTER

from .changes import TAINTS_OF_HEALTH, Change, combined, pointer
from .claim_changes import claim_changes
from .rejections_per_node import (
    RESOURCES,
    TAINTS,
    UNSCHEDULABLE,
    RejectionsPerNode,
    Shortage,
    amount_words,
    shown_taint,
)
from .result import ConstraintTable, Json

_TRIED = 4
_OF_THE_NODE = frozenset(
    {TAINTS, UNSCHEDULABLE, LEFT_OUT_BY_PRE_FILTER, "NodeName", "NodeAffinity", "VolumeBinding", "VolumeZone"}
)
"""Plugins with the same result for a node and its copy."""


def cluster_changes(
    obstacles: RejectionsPerNode, tables: tuple[ConstraintTable, ...], surplus: list[Pod]
) -> Iterator[Change]:
    """Yield the cluster changes to simulate; ``surplus``: pods of an old revision that a rollout deletes anyway."""
    hard = [each for each in tables if each.arithmetic.hard]
    yield from _old_pods(obstacles, surplus)
    yield from claim_changes(obstacles)
    yield from _cordoned(obstacles, hard)
    resolvable = _resolvable(obstacles)
    short_of = {at: (short, alone) for at, short, alone in short_nodes(obstacles) if resolvable[at]}
    for position in _one_a_domain(obstacles, hard, short_of):
        short, alone = short_of[position]
        yield _free(obstacles, position, short, _named(obstacles, hard, position), alone=alone)
    yield from _reopened(obstacles, hard)
    yield from _new_nodes(obstacles, hard)


def surplus_pods(workload: Workload, queued: int) -> list[Pod]:
    """Return surplus pods of old ReplicaSets during a Deployment's rollout."""
    waiting = workload.template
    if workload.kind != "Deployment" or waiting is None or len(workload.existing) + queued <= workload.replicas:
        return []
    newest = waiting.labels.get(TEMPLATE_HASH_LABEL)
    old = [pod for pod in workload.existing if pod.labels.get(TEMPLATE_HASH_LABEL, newest) != newest]
    return sorted(old, key=lambda pod: pod.name)


def _old_pods(obstacles: RejectionsPerNode, surplus: list[Pod]) -> Iterator[Change]:
    """Yield pods that a rollout deletes anyway, one in each domain."""
    by_domain: dict[object, Pod] = {}
    nodes = obstacles.cluster.nodes
    keys = [each.topology_key for each in obstacles.verdict.arithmetic if each.hard]
    for pod in surplus:
        row = nodes.row_of.get(pod.spec.node_name or "")
        node = nodes.nodes[row] if row is not None else None
        if node is not None:
            by_domain.setdefault(tuple(node.labels.get(key) for key in keys) or node.name, pod)
    for pod in list(by_domain.values())[:_TRIED]:
        reference = {"apiVersion": "v1", "kind": "Pod", "namespace": pod.namespace, "name": pod.name}
        title = f"delete {pod.name}, a pod of the old ReplicaSet, on {pod.spec.node_name}"
        left = len(surplus) - 1
        if left:
            title += f"; {left} more of them remain to be replaced"
        removed: tuple[Json, ...] = ({"op": "remove", "path": ""},)
        yield Change("deletePod", title, reference, removed, "cluster", (1.5 if left else 0.0,), deleted=(pod,))


def _cordoned(obstacles: RejectionsPerNode, hard: list[ConstraintTable]) -> Iterator[Change]:
    """Yield the uncordoning of cordoned nodes, first of nodes that nothing else rejects."""
    others = obstacles.count - obstacles.rejected_by(UNSCHEDULABLE) - obstacles.tainted_by_cordon_alone()
    for position in _one_a_domain(obstacles, hard, _fewest_first(obstacles, UNSCHEDULABLE, others)):
        title = f"uncordon {_named(obstacles, hard, position)}"
        yield _uncordon(_node(obstacles, position), title, alone=not others[position])


def _uncordon(node: Node, title: str, *, alone: bool) -> Change:
    taints = list(node.spec.taints or ())
    left = [each for each in taints if each.key != UNSCHEDULABLE_TAINT.key]
    # A cordon's taint that the engine added is this object. No manifest has it, so the patch must not count it.
    written = [each for each in taints if each is not UNSCHEDULABLE_TAINT]
    lifted = [f"/spec/taints/{i}" for i, each in reversed(list(enumerate(written))) if each not in left]
    patch = tuple({"op": "remove", "path": path} for path in ("/spec/unschedulable", *lifted))
    return Change("uncordon", title, _reference(node), patch, "cluster", (1.0,), of_node=_uncordoned, alone=alone)


def _reopened(obstacles: RejectionsPerNode, hard: list[ConstraintTable]) -> Iterator[Change]:
    """Yield changes that open a node which two or three obstacles close, of: a cordon, taints, too little room."""
    cordoned, tainted = obstacles.rejected_by(UNSCHEDULABLE), obstacles.rejected_by(TAINTS)
    tainted &= ~obstacles.tainted_by_cordon_alone()
    short = obstacles.rejected_by(RESOURCES)
    number = cordoned.astype(np.int64) + tainted + short
    others = obstacles.count - number - (obstacles.rejected_by(TAINTS) & ~tainted)
    closed = np.flatnonzero((number > 1) & (others == 0) & (~short | _resolvable(obstacles)))
    for position in _one_a_domain(obstacles, hard, closed[np.argsort(number[closed], kind="stable")].tolist()):
        node, named = _node(obstacles, position), _named(obstacles, hard, position)
        parts = [_uncordon(node, f"uncordon {named}", alone=False)] if cordoned[position] else []
        if tainted[position]:
            untaint = _untaint(obstacles, position)
            if untaint is None:
                continue
            parts.append(untaint)
        if short[position]:
            parts.append(_free(obstacles, position, obstacles.shortages(position), named, alone=False))
        yield replace_fields(combined(parts), size=(7.5 if short[position] else 5.5, float(len(parts))))


def _untaint(obstacles: RejectionsPerNode, position: int) -> Change | None:
    """Return the removal of a node's untolerated taints.

    ``None`` if a taint marks an unhealthy node, or its key cannot be given on a command line.
    """
    node = _node(obstacles, position)
    untolerated = obstacles.untolerated(int(obstacles.cluster.nodes.taints[obstacles.rows[position]]))
    lifted = [each for each in untolerated if each.key != UNSCHEDULABLE_TAINT.key]
    if any(each.key.startswith((*TAINTS_OF_HEALTH, "-")) for each in lifted):
        return None

    def of_node(changed: Node) -> Node:
        left = [each for each in changed.spec.taints or () if each not in lifted]
        return replace(changed, spec=replace(changed.spec, taints=left or None))

    written = list(_uncordoned(node).spec.taints or ())
    paths = [f"/spec/taints/{i}" for i, each in reversed(list(enumerate(written))) if each in lifted]
    words = " and ".join(shown_taint(each.key, each.value, each.effect) for each in lifted)
    title = f"remove the taint {words} from {node.name}"
    patch = tuple({"op": "remove", "path": path} for path in paths)
    return Change("untaint", title, _reference(node), patch, "cluster", (3.0,), of_node=of_node, alone=False)


def _uncordoned(node: Node) -> Node:
    left = [each for each in node.spec.taints or () if each.key != UNSCHEDULABLE_TAINT.key]
    return replace(node, spec=replace(node.spec, unschedulable=None, taints=left or None))


def _fewest_first(obstacles: RejectionsPerNode, plugin: str, others: Ints) -> list[int]:
    """Return the positions of nodes that a plugin rejects, fewest other rejections first, without nodes that PreFilter
    excluded."""
    rejected = obstacles.rejected_by(plugin) & ~obstacles.rejected_by(LEFT_OUT_BY_PRE_FILTER)
    positions = np.flatnonzero(rejected)
    return list(positions[np.argsort(others[positions], kind="stable")].tolist())


def short_nodes(obstacles: RejectionsPerNode) -> Iterator[tuple[int, list[Shortage], bool]]:
    """Yield nodes without room for the pod: fewest other obstacles first, then by the smallest shortage.

    Yields:
        (position of the node, missing resources, whether nothing else rejects the pod there).
    """
    others = obstacles.count - obstacles.rejected_by(RESOURCES)
    shortages = {at: obstacles.shortages(at) for at in _fewest_first(obstacles, RESOURCES, others)}
    order = sorted(shortages, key=lambda at: (others[at], max((each.share for each in shortages[at]), default=0.0), at))
    yield from ((at, shortages[at], not others[at]) for at in order)


def _free(obstacles: RejectionsPerNode, position: int, short: list[Shortage], named: str, *, alone: bool) -> Change:
    more = {each.resource: _text(each, each.allocatable + each.missing) for each in short}
    patch = tuple(
        {"op": "add", "path": f"/status/allocatable/{pointer(name)}", "value": text} for name, text in more.items()
    )
    words = " and ".join(amount_words(each.resource, each.missing) for each in short)
    size = (7.0, max((each.share for each in short), default=0.0))
    reference, of_node = _reference(_node(obstacles, position)), partial(_with_room, more)
    return Change("free", f"free {words} on {named}", reference, patch, "cluster", size, of_node=of_node, alone=alone)


def _with_room(more: dict[str, str], node: Node) -> Node:
    return replace(node, status=replace(node.status, allocatable=dict(node.status.allocatable or {}) | more))


def _resolvable(obstacles: RejectionsPerNode) -> Bools:
    """Return the nodes that are large enough for the pod but too full, bool[nodes]."""
    result = np.zeros(len(obstacles.rows), dtype=np.bool_)
    for each in obstacles.says:
        if each.plugin == RESOURCES:
            for code, status in each.status.items():
                if status.code != UNRESOLVABLE:
                    result |= each.codes == code
    return result


def _new_nodes(obstacles: RejectionsPerNode, hard: list[ConstraintTable]) -> Iterator[Change]:
    """Yield a copy of a node in each domain that admits the pod, fewest pods first."""
    lives = np.fromiter((not is_silent(_node(obstacles, at)) for at in range(len(obstacles.rows))), np.bool_)
    fit = lives.copy()
    for each in obstacles.says:
        if each.plugin in _OF_THE_NODE - {TAINTS}:
            fit &= each.codes == 0
    fit &= ~(obstacles.rejected_by(RESOURCES) & ~_resolvable(obstacles))
    tainted = obstacles.rejected_by(TAINTS)
    alone = bool(np.any(fit & ~tainted))
    shapes = np.flatnonzero(fit & ~tainted if alone else fit).tolist()
    if not shapes:
        return
    spread = [each for each in hard if each.arithmetic.topology_key != HOSTNAME]
    for key, domain in islice(_wanted_domains(obstacles, lives, spread), _TRIED):
        shape = _shape_in(obstacles, shapes, key, domain)
        node = _copy_of(_node(obstacles, shape), obstacles, {key: domain} if key else {})
        where = f" in {domain}" if domain else ""
        title = f"a new node{where}, like {obstacles.verdict.nodes[shape]}"
        listed = {"apiVersion": "v1", "kind": "NodeList", "namespace": "", "name": ""}
        patch: tuple[Json, ...] = ({"op": "add", "path": "/items/-", "value": msgspec.to_builtins(node)},)
        added = replace(node.metadata.annotations or Annotations(), added="true")
        node = replace(node, metadata=replace(node.metadata, annotations=added))
        yield Change("newNode", title, listed, patch, "cluster", (8.0,), nodes=(node,), alone=alone)


def _wanted_domains(
    obstacles: RejectionsPerNode, lives: Bools, spread: list[ConstraintTable]
) -> Iterator[tuple[str, str]]:
    """Yield the (key, domain) pairs that the first constraint allows, fewest pods first; ("", "") without a constraint.

    Domains without a ready node are left out. If the constraint allows only such domains, yield all other domains.

    Args:
        lives: which nodes are ready and reachable, bool[nodes].
    """
    if not spread:
        yield "", ""
        return
    key = spread[0].arithmetic.topology_key
    column = obstacles.cluster.nodes.labels(key)
    living = {column.values[code] for code in column.codes[obstacles.rows[lives]].tolist() if code >= 0}
    allowed = [each for each in spread[0].domains if each.allowed]
    rows = [each for each in allowed if each.name in living]
    if allowed and not rows:
        rows = [each for each in spread[0].domains if each.name in living]
    for each in sorted(rows, key=lambda row: (row.matching, row.name)):
        yield key, each.name


def _shape_in(obstacles: RejectionsPerNode, shapes: list[int], key: str, domain: str) -> int:
    """Return a node whose shape fits the pod, from the domain itself if possible."""
    if not key:
        return shapes[0]
    column = obstacles.cluster.nodes.labels(key)
    inside = [at for at in shapes if column.codes[obstacles.rows[at]] in _code(column.values, domain)]
    return inside[0] if inside else shapes[0]


def _code(values: list[str], domain: str) -> tuple[int, ...]:
    return (values.index(domain),) if domain in values else ()


def _copy_of(node: Node, obstacles: RejectionsPerNode, labels: dict[str, str]) -> Node:
    """Return an empty copy of the node under a new name."""
    names = obstacles.cluster.nodes.row_of
    name = next(name for name in (f"{node.name}-new{i or ''}" for i in range(len(names) + 1)) if name not in names)
    own = {key: name if key == HOSTNAME or value == node.name else value for key, value in node.labels.items()} | labels
    metadata = replace(node.metadata, name=name, labels=own, uid=None, creation_timestamp=None)
    return replace(node, metadata=metadata, status=replace(node.status, images=None, conditions=None))


def _one_a_domain(obstacles: RejectionsPerNode, hard: list[ConstraintTable], positions: Iterable[int]) -> Iterator[int]:
    """Yield the first of these nodes in each domain of the constraints, at most `_TRIED` nodes."""
    nodes = obstacles.cluster.nodes
    keys = [each.arithmetic.topology_key for each in hard if each.arithmetic.topology_key != HOSTNAME]
    columns = [nodes.labels(key) for key in keys]
    seen: set[tuple[int, ...]] = set()
    for position in positions:
        domain = tuple(int(column.codes[obstacles.rows[position]]) for column in columns)
        if domain not in seen:
            seen.add(domain)
            yield position
            if len(seen) == _TRIED:
                return


def _node(obstacles: RejectionsPerNode, position: int) -> Node:
    node = obstacles.node(position)
    assert node is not None, "the verdict holds only nodes that are there"
    return node


def _named(obstacles: RejectionsPerNode, hard: list[ConstraintTable], position: int) -> str:
    """``node-3 in zone-c``."""
    labels = _node(obstacles, position).labels
    keys = [each.arithmetic.topology_key for each in hard if each.arithmetic.topology_key != HOSTNAME]
    domains = [labels[key] for key in keys if key in labels]
    return obstacles.verdict.nodes[position] + (f" in {', '.join(domains)}" if domains else "")


def _reference(node: Node) -> dict[str, str]:
    return {"apiVersion": "v1", "kind": "Node", "namespace": "", "name": node.name}


def _text(short: Shortage, amount: int) -> str:
    return f"{amount}m" if short.resource == "cpu" else str(amount)
