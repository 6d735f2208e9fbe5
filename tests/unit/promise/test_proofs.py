"""What is counted instead of looked at: when it is enough, and when one pod more makes it too little."""

from __future__ import annotations

from typing import Any

import pytest

from tests.order_questions import loss_of
from tests.unit.drill.builders import inventory, nodes, spread, workload
from topospread.promise.proofs import Proof
from topospread.promise.questions import SkewWithin
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run, prepare

Json = dict[str, Any]
HOST = "kubernetes.io/hostname"


def of(name: str, replicas: int, cpu: str = "1", *constraints: Json, **more: Any) -> Json:
    container: Json = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    container |= more.pop("container", {})
    own = [each | {"labelSelector": {"matchLabels": {"app": name}}} for each in constraints]
    return workload("Deployment", name, replicas, {"containers": [container], "topologySpreadConstraints": own} | more)


def apart(name: str, key: str = HOST) -> Json:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": name}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def run_of(*objects: Json) -> Run:
    return prepare(inventory(*objects), SimulationOptions(preemption=False), with_spreads=False)


@pytest.mark.parametrize(
    ("objects", "greatest"),
    [
        ([*nodes(*"ab"), of("web", 9, "1", spread(2))], 2),
        ([*nodes(*"ab"), of("web", 3, "1", spread(1, whenUnsatisfiable="ScheduleAnyway"))], 3),
        ([*nodes(*"ab"), of("web", 3)], 0),
        ([*nodes(*"abc"), of("web", 3, "1", spread(9, topologyKey=HOST), affinity=apart("web"))], 1),
    ],
)
def test_the_greatest_skew(objects: list[Json], greatest: int) -> None:
    run = run_of(*objects)
    proof = Proof(run, run.queue)
    assert proof.of(SkewWithin(greatest)) == f"by counting: no skew can exceed {greatest}"
    assert greatest == 0 or proof.of(SkewWithin(greatest - 1)) == ""


def test_others_that_are_counted_and_obey_nothing_skew_a_hard_constraint() -> None:
    web = of("web", 4, "1")
    counted = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
    web["spec"]["template"]["spec"]["topologySpreadConstraints"] = [spread(labelSelector=counted)]
    run = run_of(*nodes(*"ab"), web, of("api", 3))
    assert Proof(run, run.queue).of(SkewWithin(6)) == ""
    assert Proof(run, run.queue).of(SkewWithin(7))


@pytest.mark.parametrize(
    ("objects", "loss", "left"),
    [
        ([*nodes(*"abc"), of("web", 3, "1", spread())], "zone", 2),
        ([*nodes(*"abc"), of("web", 6, "1", spread())], "zone", 4),
        ([*nodes(*"abc"), of("web", 3, affinity=apart("web"))], "node", 2),
        ([*nodes(*"abc"), of("web", 3)], "node", 0),
        ([*nodes(*"abc"), of("web", 7, "1", spread(2))], "zone", 4),
    ],
)
def test_what_a_loss_leaves(objects: list[Json], loss: str, left: int) -> None:
    run = run_of(*objects)
    proof = Proof(run, run.queue)
    assert bool(proof.of(loss_of(run, f"deploy/web={left}", loss)))
    assert proof.of(loss_of(run, f"deploy/web={left + 1}", loss)) == ""


@pytest.mark.parametrize(("cpu", "proved"), [("4", True), ("2", False)])
def test_a_pending_pod_would_take_another_zone_although_others_may_fill_some_nodes(cpu: str, *, proved: bool) -> None:
    """Others fill one node of cpu 4, or all nodes of cpu 2: only then all pods of web may be in one zone."""
    made = [each | {"status": {"allocatable": {"cpu": cpu, "pods": "110"}}} for each in nodes(*"aabbcc")]
    run = run_of(*made, of("web", 14, "250m", spread(), spread(topologyKey=HOST)), of("api", 4), of("db", 4))
    for loss in ("zone", "node"):
        said = Proof(run, run.queue).of(loss_of(run, "deploy/web=1", loss))
        assert said.endswith("for a pending pod, so at least 1 is left") == proved, said
