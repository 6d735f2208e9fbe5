"""An order as a Drill file that can be replayed: workloads are scaled up pod by pod, or a rollout has turns.

Before a pod is created, its other feasible nodes are cordoned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from topospread.api.yaml_text import yaml_text
from topospread.cluster.cluster import pod_key
from topospread.controllers.planned import QueuedPod, Workload
from topospread.drill.drill_file import API_VERSION
from topospread.simulation.run import Run

from .order_answer import OrderStep
from .questions import LOSSES, EndQuestion, LeftAfterLoss, SkewWithin

_SCALED = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})


def drill_file(
    run: Run, queue: Sequence[QueuedPod], order: Sequence[OrderStep], sources: Mapping[str, object],
    question: EndQuestion,
) -> str:  # fmt: skip
    """The file, "" where the order has pods that no scaling creates, or of workloads that had some before.

    After the order, the domain is lost that the question is about. Pods outside the order are not created.

    Args:
        queue: the incoming pods.
        sources: ``cluster`` and ``manifests`` of the drill, as paths from where the file will be.
        question: the question that fails at the end of the order.
    """
    by_name = {(each.namespace, f"{each.kind}/{each.name}"): each for each in run.plan.workloads}
    used = dict.fromkeys((each.namespace, each.workload) for each in order)
    others = dict.fromkeys((each.namespace, f"{each.workload.kind}/{each.workload.name}") for each in queue)
    if any(_is_fixed(by_name[each]) for each in used):
        return ""
    scaled = [each for each in {**used, **others} if not _is_fixed(by_name[each])]
    steps = [{"scale": f"{namespace}/{workload}=0"} for namespace, workload in scaled]
    steps += (placing := list(_steps(run, queue, order)))
    if any("cordon" in each for each in placing) and any(_honours_taints(by_name[each]) for each in used):
        return ""
    return _file("an-order", sources, [*steps, *_lost(run, order, question)], question)


def rollout_file(
    run: Run, order: Sequence[OrderStep], workload: Workload, sources: Mapping[str, object], question: EndQuestion
) -> str:
    """Return one course of a rollout as a ``kind: Drill`` file; "" if its pods have volumes, which tie them to nodes.

    Args:
        workload: the Deployment.
        sources, question: as of `drill_file`.
    """
    if workload.template is not None and workload.template.spec.volumes:
        return ""
    rollout = {
        "target": f"{workload.namespace}/deploy/{workload.name}",
        "turns": [_turn(each) for each in order if each.node or each.does == "ready"],
    }
    # One run, as others draw where everything else is; nothing is evicted, as in the search.
    fields = {**sources, "runs": 1, "preemption": False}
    return _file("a-rollout", fields, [{"rollout": rollout}, *_lost(run, order, question)], question)


def _file(name: str, fields: Mapping[str, object], steps: Sequence[object], question: EndQuestion) -> str:
    document = {
        "apiVersion": API_VERSION,
        "kind": "Drill",
        "metadata": {"name": name},
        "spec": {**fields, "steps": steps, "expect": _expected(question)},
    }
    return yaml_text(document)


def _expected(question: EndQuestion) -> Mapping[str, object]:
    match question:
        case SkewWithin(highest, None):
            return {"skew": highest}
        case SkewWithin(highest, Workload() as workload):
            return {"skew": {_name(workload): highest}}
        case LeftAfterLoss():
            return {"left": {_name(question.workload): question.least}}
    return {"pending": 0}


def _name(workload: Workload) -> str:
    return f"{workload.namespace}/{workload.kind}/{workload.name}"


def _lost(run: Run, order: Sequence[OrderStep], question: EndQuestion) -> list[dict[str, str]]:
    """Return the step that fails the domain with the most pods at the end of an order; an empty list without a loss."""
    if not isinstance(question, LeftAfterLoss) or not question.loss:
        return []
    on: Counter[str] = Counter()
    for each in order:
        if each.node and each.workload == f"{question.workload.kind}/{question.workload.name}":
            on[each.node] += -1 if each.does == "deleted" else each.does in ("stands", "placed")
    nodes, held = run.cluster.nodes, Counter[str]()
    key = LOSSES[question.loss]
    for name, number in on.items():
        node = nodes.nodes[nodes.row_of[name]]
        if node is not None and key in node.labels:
            held[node.labels[key]] += number
    most = max(held.values(), default=0)
    domain = min((each for each, number in held.items() if number == most), default="")
    return [{"fail": f"{key}={domain}"}] if domain else []


def _turn(step: OrderStep) -> dict[str, str]:
    match step.does:
        case "stands":
            return {"stands": f"{step.name}={step.node}"}
        case "ready":
            return {"ready": "any"}
    return {step.does: step.node}


def _honours_taints(workload: Workload) -> bool:
    """Return whether the taint of a cordoned node takes it out of the domains of a constraint."""
    constraints = workload.template.spec.topology_spread_constraints if workload.template is not None else None
    return any(each.node_taints_policy == "Honor" for each in constraints or ())


def _is_fixed(workload: Workload) -> bool:
    """Return whether scaling does not create all pods of a workload."""
    return workload.kind not in _SCALED or bool(workload.existing)


def _steps(run: Run, queue: Sequence[QueuedPod], order: Sequence[OrderStep]) -> Iterator[dict[str, str]]:
    """Yield steps that place the pods on their nodes; other nodes that take a pod are cordoned until the end."""
    scaled: Counter[tuple[str, str]] = Counter()
    by_name = {(each.namespace, each.name): each for each in queue}
    cluster, cordoned = run.cluster, dict[str, None]()
    with cluster.savepoint():
        for each in order:
            queued = by_name[each.namespace, each.name]
            if each.node:
                feasible = run.scheduler.verdict(queued.pod, queued.name).feasible
                new = [name for name in feasible if name != each.node and name not in cordoned]
                cordoned |= dict.fromkeys(new)
                yield from ({"cordon": f"node={name}"} for name in new)
                if each.node in cordoned:
                    del cordoned[each.node]
                    yield {"uncordon": f"node={each.node}"}
                pod_class, row = cluster.shared_class(queued.pod), cluster.nodes.row_of[each.node]
                run.scheduler.bind(pod_key(each.namespace, each.name), pod_class, row)
                if pod_class.volumes:
                    run.scheduler.reserve(pod_class, row)
            key = each.namespace, each.workload
            scaled[key] += 1
            yield {"scale": f"{each.namespace}/{each.workload}={scaled[key]}"}
    yield from ({"uncordon": f"node={name}"} for name in cordoned)
