"""An order written as a drill's file, so that anybody can play it again: workloads scaled up pod by pod.

Where kube-scheduler had to take another node than the first of equals by name, the others are cordoned for a moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from topospread.api.yaml_text import yaml_text
from topospread.drills.drill_file import API_VERSION
from topospread.simulation.run import Run

from .result import OrderStep

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
    steps = [{"scale": f"{namespace}/{workload}=0"} for namespace, workload in used]
    document = {
        "apiVersion": API_VERSION,
        "kind": "Drill",
        "metadata": {"name": "an-order"},
        "spec": {**sources, "steps": [*steps, *_steps(order)], "expect": dict(expect)},
    }
    return yaml_text(document)


def _steps(order: Sequence[OrderStep]) -> Iterator[dict[str, str]]:
    scaled: Counter[tuple[str, str]] = Counter()
    for each in order:
        key = each.namespace, each.workload
        scaled[key] += 1
        before = [node for node in each.equal if node < each.node] if each.node else []
        yield from ({"cordon": f"node={node}"} for node in before)
        yield {"scale": f"{each.namespace}/{each.workload}={scaled[key]}"}
        yield from ({"uncordon": f"node={node}"} for node in before)
