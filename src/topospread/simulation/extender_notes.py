"""Notes on nodes that `topospread run extender` would filter for annotated pods. Placements do not change.

Each annotated pod is checked in the order of placement, with only the pods before it on their nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.controllers.planned import QueuedPod
from topospread.extender.declared import declared, texts_of
from topospread.extender.domain_rules import refused
from topospread.extender.surroundings import surroundings
from topospread.text import counted

from .run import Run


def extender_notes(run: Run) -> list[str]:
    """Return a sentence for each workload with annotated pods on nodes that the extender would filter."""
    if not any(texts_of(each.pod.metadata) for each in run.queue):
        return []
    nodes, placed = _nodes(run), list(_there(run))
    kept: dict[int, list[str]] = {}
    asked = Counter[int]()
    for queued in run.queue:
        outcome = run.outcome(queued)
        if outcome is None or outcome.evicted or outcome.placement.node is None:
            continue
        node = outcome.placement.node
        if texts_of(queued.pod.metadata):
            asked[id(queued.workload)] += 1
            why = _refused(queued.pod, nodes, placed).get(node)
            if why is not None:
                kept.setdefault(id(queued.workload), []).append(f"{queued.name} to {node}: {why}")
        placed.append((queued.pod, node))
    named = {id(each.workload): each.workload for each in run.queue}
    return [
        f"{named[of].kind} {named[of].name}: topospread run extender would reject the nodes of {len(why)} of "
        f"{asked[of]} pods, such as {why[0]}"
        for of, why in kept.items()
    ]


def filtered_by_extender(run: Run, queued: QueuedPod) -> str:
    """Return how many nodes the extender would filter for a pod, and why; "" for a pod without annotations."""
    if not texts_of(queued.pod.metadata):
        return ""
    nodes = _nodes(run)
    own = queued.namespace, queued.name
    placed = [each for each in _there(run) if (each[0].namespace, each[0].name) != own] + list(_placed(run, queued))
    against = Counter(_refused(queued.pod, nodes, placed).values())
    if not against:
        return f"topospread run extender would filter none of {counted(len(nodes), 'node')}"
    reasons = "; ".join(f"{number} {why}" for why, number in against.items())
    return f"topospread run extender would filter {against.total()} of {counted(len(nodes), 'node')}: {reasons}"


def _refused(pod: Pod, nodes: dict[str, Node], placed: list[tuple[Pod, str]]) -> dict[str, str]:
    asked, problems = declared(texts_of(pod.metadata))
    if problems:
        return dict.fromkeys(nodes, f"{problems[0].annotation}: {problems[0].message}")
    return refused(asked, surroundings(pod, asked.counted, nodes, placed), nodes)


def _nodes(run: Run) -> dict[str, Node]:
    return {node.name: node for node in run.cluster.nodes.nodes if node is not None}


def _there(run: Run) -> Iterator[tuple[Pod, str]]:
    gone = {f"{each.namespace}/{each.name}" for each in run.evictions}
    for pod in run.plan.bound:
        if pod.spec.node_name and f"{pod.namespace}/{pod.name}" not in gone:
            yield pod, pod.spec.node_name


def _placed(run: Run, but: QueuedPod) -> Iterator[tuple[Pod, str]]:
    for each in run.queue:
        outcome = run.outcome(each)
        if each is not but and outcome is not None and not outcome.evicted and outcome.placement.node is not None:
            yield each.pod, outcome.placement.node
