"""Write a counterexample as a Drill file, so that anyone can replay it: an order of pods, or a rollout in turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from topospread.api.yaml_text import yaml_text
from topospread.controllers.planned import Workload
from topospread.drill.drill_file import API_VERSION
from topospread.simulation.run import Run

from .order_answer import OrderStep
from .questions import LOSSES, EndQuestion, LeftAfterLoss, SkewWithin

_AS_SEARCHED: Mapping[str, object] = {"runs": 1, "preemption": False, "anyNode": True}
"""Conditions of the search: nothing is evicted, and kube-scheduler may choose any feasible node."""


def drill_file(run: Run, order: Sequence[OrderStep], sources: Mapping[str, object], question: EndQuestion) -> str:
    """Return the Drill file of an order. Its last step fails or drains the domain of the question.

    Args:
        run: the cluster.
        order: the placements; pods without a node stay pending.
        sources: fields of the drill's ``spec`` about its input, with paths relative to the file.
        question: the question that fails at the end of the order.
    """
    placed = [f"{each.namespace}/{each.workload}={each.node}" for each in order if each.node and each.does == "placed"]
    fields = {**sources, **_AS_SEARCHED, **({"placed": placed} if placed else {})}
    return _file("an-order", fields, _lost(run, order, question) or [{"wait": "0s"}], _expected(question))


def rollout_file(
    run: Run, order: Sequence[OrderStep], workload: Workload, sources: Mapping[str, object], question: EndQuestion
) -> str:
    """Return one course of a rollout as a Drill file; "" if volumes tie its pods to nodes.

    Args:
        run: the cluster.
        order: the events of the rollout.
        workload: the Deployment.
        sources: see `drill_file`.
        question: see `drill_file`.
    """
    if workload.template is not None and run.cluster.shared_class(workload.template).volumes:
        return ""
    rollout = {
        "target": f"{workload.namespace}/deploy/{workload.name}",
        "turns": [_turn(each) for each in order if each.node or each.does == "ready"],
    }
    steps = [{"rollout": rollout}, *_lost(run, order, question)]
    return _file("a-rollout", {**sources, **_AS_SEARCHED}, steps, _expected(question))


def strategy_file(workload: Workload, least: int, sources: Mapping[str, object]) -> str:
    """Return the Drill file of a rollout whose strategy keeps fewer than `least` pods ready."""
    name = f"{workload.namespace}/{workload.kind}/{workload.name}"
    return _file("a-rollout", sources, [{"rollout": name}], {"ready": {name: least}})


def _file(name: str, fields: Mapping[str, object], steps: Sequence[object], expect: Mapping[str, object]) -> str:
    document = {
        "apiVersion": API_VERSION,
        "kind": "Drill",
        "metadata": {"name": name},
        "spec": {**fields, "steps": steps, "expect": expect},
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
    """Return the step that fails or drains the domain with the most pods at the end of an order; [] without a loss."""
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
    return [{question.step: f"{key}={domain}"}] if domain else []


def _turn(step: OrderStep) -> dict[str, str]:
    match step.does:
        case "stands":
            return {"stands": f"{step.name}={step.node}"}
        case "ready":
            return {"ready": "any"}
    return {step.does: step.node}
