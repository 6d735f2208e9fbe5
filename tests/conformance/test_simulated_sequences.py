"""What a simulation does, attempt by attempt, is what a sequence of these attempts comes to, as kube-scheduler judged.

The sequence's judge is held against kube-scheduler itself (`sequences`); here the virtual queue decides who is tried.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance.generate import Recipe, cases
from conformance.judging.cases import read, scheduler_of
from conformance.judging.sequences import judge_sequence
from topospread.api.inventory import Inventory
from topospread.api.pod import Pod
from topospread.controllers.planned import Plan, QueuedPod, Workload
from topospread.simulation import placing
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run
from topospread.simulation.virtual_queue import VirtualQueue

Json = dict[str, Any]
RECIPES = [Recipe("preemption", nodes=(2, 6), incoming=10), Recipe("preemption", nodes=(2, 6), sequential=12)]


class Attempts:
    """What was tried, as a sequence's steps, and what came of each.

    Attributes:
        steps: a first attempt or another one, with the choice among equals that was made.
        told: where the pod is then, who was evicted for it, and which node is promised to it.
    """

    def __init__(self, incoming: list[Json]) -> None:
        self.steps: list[Json] = []
        self.told: list[Json] = []
        self._incoming = {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": pod for pod in incoming}
        self._try = placing._try

    def __call__(self, run: Run, queue: VirtualQueue, queued: QueuedPod) -> None:
        before = len(run.evictions)
        self._try(run, queue, queued)
        outcome, key = run.outcomes[id(queued)], f"{queued.namespace}/{queued.name}"
        evicted = [f"{each.namespace}/{each.name}" for each in run.evictions[before:]]
        pod = self._incoming.pop(key, None)
        chosen = outcome.placement.node or ""
        asked = {"choose": chosen or (outcome.nominated if evicted else "")}
        self.steps.append(asked | ({"again": key} if pod is None else {"schedule": pod}))
        self.told.append({"chosen": chosen, "evicted": evicted, "nominated": run.cluster.nominated_node(key)})


def _case(drawn: Json) -> Json:
    """Without what a simulation reckons itself: budgets' statuses, and pods that were promised a node before it."""
    for key in ("podDisruptionBudgets", "nominated", "sequential", "config", "featureGates"):
        drawn.pop(key, None)
    for second, pod in enumerate(drawn["pods"]):
        pod["status"] = pod.get("status", {}) | {"startTime": f"2026-01-01T04:{second // 60:02d}:{second % 60:02d}Z"}
    return drawn | {"preempt": True}


def _answer(step: Json, verdict: Json) -> Json:
    key = step.get("again") or "/".join(step["schedule"]["metadata"][name] for name in ("namespace", "name"))
    promised = (verdict.get("nominated") or {}).get(key, "")
    return {"chosen": verdict.get("chosen", ""), "evicted": verdict.get("evicted") or [], "nominated": promised}


@pytest.mark.parametrize("recipe", RECIPES, ids=["pods", "replicas"])
def test_attempts_come_to_what_the_sequence_of_them_does(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    evictions = 0
    for case in map(_case, cases(recipe, seed=10, count=12)):
        scheduler, attempts = scheduler_of(case), Attempts(case["incoming"])
        workloads = [(pod, Workload("Pod", pod.namespace, pod.name, 1)) for pod in read(case["incoming"], Pod)]
        queue = [QueuedPod(pod, pod.name, each, priority=pod.spec.priority or 0) for pod, each in workloads]
        run = Run(Plan(Inventory()), scheduler, SimulationOptions(), queue=queue)
        with monkeypatch.context() as patched:
            patched.setattr(placing, "_try", attempts)
            placing.place_waiting(run, VirtualQueue(run))
        answers = judge_sequence(case | {"incoming": [], "sequence": attempts.steps})["verdicts"]
        assert [_answer(*each) for each in zip(attempts.steps, answers, strict=True)] == attempts.told, case["name"]
        evictions += len(run.evictions)
    assert evictions > 5
