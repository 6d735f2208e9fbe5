"""An order written as a drill's file, so that anybody can play it again: workloads scaled up pod by pod, or a rollout
in turns.

Where kube-scheduler had to take another node than the first of equals by name, the others are cordoned for a moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from topospread.api.yaml_text import yaml_text
from topospread.controllers.planned import Workload
from topospread.drill.drill_file import API_VERSION
from topospread.simulation.run import Run

from .order_answer import OrderStep

_SCALED = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})


def drill_file(
    run: Run, order: Sequence[OrderStep], sources: Mapping[str, object], expect: Mapping[str, object]
) -> str:
    """The file, "" where the order has pods that no scaling creates, or of workloads that had some before.

    Args:
        sources: ``cluster`` and ``manifests`` of the drill, as paths from where the file will be.
        expect: what the drill is held to.
    """
    by_name = {(each.namespace, f"{each.kind}/{each.name}"): each for each in run.plan.workloads}
    used = dict.fromkeys((each.namespace, each.workload) for each in order)
    if any(by_name[each].kind not in _SCALED or by_name[each].existing for each in used):
        return ""
    is_scored = any(each.profile.enabled("score") for each in run.scheduler.frameworks.values())
    if not is_scored and any(_honours_taints(by_name[each]) for each in used):
        return ""
    steps = [{"scale": f"{namespace}/{workload}=0"} for namespace, workload in used]
    document = {
        "apiVersion": API_VERSION,
        "kind": "Drill",
        "metadata": {"name": "an-order"},
        "spec": {**sources, "steps": [*steps, *_steps(order, is_scored)], "expect": dict(expect)},
    }
    return yaml_text(document)


def rollout_file(
    order: Sequence[OrderStep], workload: Workload, sources: Mapping[str, object], expect: Mapping[str, object]
) -> str:
    """A way of a rollout as a file, "" where its pods ask for volumes, which are bound to nodes.

    Args:
        workload: the Deployment.
        sources, expect: as of `drill_file`.
    """
    if workload.template is not None and workload.template.spec.volumes:
        return ""
    rollout = {
        "target": f"{workload.namespace}/deploy/{workload.name}",
        "turns": [_turn(each) for each in order if each.node or each.does == "ready"],
    }
    # One run, as others draw where everything else is; nothing is evicted, as in the search.
    played = {"runs": 1, "preemption": False, "steps": [{"rollout": rollout}], "expect": dict(expect)}
    document = {
        "apiVersion": API_VERSION,
        "kind": "Drill",
        "metadata": {"name": "a-rollout"},
        "spec": {**sources, **played},
    }
    return yaml_text(document)


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


def _steps(order: Sequence[OrderStep], is_scored: bool) -> Iterator[dict[str, str]]:
    scaled: Counter[tuple[str, str]] = Counter()
    for each in order:
        key = each.namespace, each.workload
        scaled[key] += 1
        # Of equal nodes the first by name is taken; if scores were left out, any of the others may be better.
        before = [node for node in each.equal if node < each.node or not is_scored] if each.node else []
        yield from ({"cordon": f"node={node}"} for node in before)
        yield {"scale": f"{each.namespace}/{each.workload}={scaled[key]}"}
        yield from ({"uncordon": f"node={node}"} for node in before)
