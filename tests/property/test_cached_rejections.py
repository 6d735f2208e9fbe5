"""A refusal that is said to stand is what would come out if the pod were tried: drills go on as if all were tried."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.unit.drill.builders import at, budget, inventory, node, spread, workload
from topospread.drill.drill_run import DrillRun
from topospread.drill.steps import AddNodes, Cordon, Drain, Fail, Recover, Scale, Step, Uncordon, Wait
from topospread.simulation import active_queue_batch, batched_unschedulable_pods
from topospread.simulation.cached_rejections import CachedRejections
from topospread.simulation.options import SimulationOptions

ZONES = ("a", "b", "c")
NODES = st.sampled_from([at(text) for text in ("zone=a", "zone=b", "node=n0", "node=n1", "node=n2")])
STEPS: st.SearchStrategy[Step] = st.one_of(
    *(st.builds(kind, NODES) for kind in (Fail, Fail, Recover, Cordon, Uncordon, Drain)),
    st.builds(Scale, st.sampled_from(["deploy/web", "deploy/api", "sts/db"]), st.integers(0, 12)),
    st.builds(Wait, st.integers(0, 400)),
    st.just(AddNodes(1, "n0", "b")),
)


@st.composite
def clusters(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Three to nine nodes in three zones, and workloads that do not all fit."""
    number = draw(st.integers(3, 9))
    rooms = draw(st.lists(st.integers(1, 5), min_size=number, max_size=number))
    there = [node(f"n{i}", ZONES[i % 3], cpu=str(room)) for i, room in enumerate(rooms)]

    def constrained(app: str) -> dict[str, Any]:
        kind = draw(st.sampled_from(["none", "Ignore", "Honor", "affinity"]))
        if kind == "none":
            return {}
        if kind == "affinity":
            term = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"app": "web"}}}
            side = draw(st.sampled_from(["podAffinity", "podAntiAffinity"]))
            return {"affinity": {side: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
        return {
            "topologySpreadConstraints": [spread(nodeTaintsPolicy=kind, labelSelector={"matchLabels": {"app": app}})]
        }

    important = {"priorityClassName": "system-cluster-critical"} if draw(st.booleans()) else {}
    return [
        *there,
        workload("Deployment", "web", draw(st.integers(0, 9)), constrained("web")),
        workload("Deployment", "api", draw(st.integers(0, 9)), constrained("api")),
        workload("Deployment", "dns", draw(st.integers(0, 3)), important),
        workload("StatefulSet", "db", draw(st.integers(0, 5)), constrained("db"), podManagementPolicy="Parallel"),
        budget("web", maxUnavailable=1),
    ]


@st.composite
def losses(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[Step]]:
    """Zones of several nodes that are lost, so that ever more pods wait for the sake of a hard constraint."""
    number = draw(st.integers(6, 12))
    there = [node(f"n{i}", ZONES[i % 3], cpu=str(draw(st.integers(2, 9)))) for i in range(number)]
    urgent = {"priorityClassName": "system-cluster-critical"}
    of_zone = [
        spread(nodeTaintsPolicy="Ignore", labelSelector={"matchLabels": {"app": app}}) for app in ("web", "api", "dns")
    ]
    apps = [
        workload("Deployment", app, draw(st.integers(3, 15)), {"topologySpreadConstraints": [constraint]})
        for app, constraint in zip(("web", "api"), of_zone[:2], strict=True)
    ]
    first = draw(st.sampled_from(["zone=a", "zone=b", "zone=c"]))
    more = st.one_of(
        st.builds(Recover, NODES),
        *(st.builds(kind, NODES) for kind in (Fail, Cordon, Cordon, Uncordon)),
        st.builds(Scale, st.sampled_from(["deploy/web", "deploy/api", "deploy/dns"]), st.integers(0, 15)),
        st.builds(Wait, st.integers(0, 400)),
    )
    last = {"topologySpreadConstraints": of_zone[2:]} | (urgent if draw(st.booleans()) else {})
    apps.append(workload("Deployment", "dns", draw(st.integers(0, 6)), last))
    begin = [Wait(draw(st.integers(0, 60)))] if draw(st.booleans()) else []
    return [*there, *apps], [*begin, Fail(at(first)), *draw(st.lists(more, min_size=3, max_size=8))]


def _played(objects: list[dict[str, Any]], steps: list[Step]) -> list[object]:
    play = DrillRun(inventory(*objects), SimulationOptions(), {})
    told: list[object] = []
    for each in play.play(steps).steps:
        pending = [(one.workload, one.pods, one.message, one.preemption, repr(one.outcomes)) for one in each.pending]
        told.append((each.begins, each.ends, each.events, each.changed, pending, each.breaches))
    queue = play.state.queue.queue
    waits = [
        (each.unschedulable_count, each.turn, queue.backoff.expiration(each)) for each in queue.unschedulable.infos
    ]
    told += [queue.cycle, play.state.queue.now, waits]
    waiting = queue.unschedulable.infos
    told.append([(each.key, each.timestamp, each.attempts, each.rejectors) for each in waiting])
    return told


@drawn(25)
@given(objects=clusters(), steps=st.lists(STEPS, min_size=1, max_size=5))
def test_drills_go_on_as_if_every_pod_were_tried(objects: list[dict[str, Any]], steps: list[Step]) -> None:
    _assert_same(objects, steps)


IMPORTANT_PODS_WAIT = (
    [
        *(node(f"n{i}", ZONES[i % 3], cpu="3" if i == 5 else "2") for i in range(6)),
        *(
            workload(
                "Deployment",
                app,
                replicas,
                more | {"topologySpreadConstraints": [spread(labelSelector={"matchLabels": {"app": app}})]},
            )
            for app, replicas, more in (
                ("web", 3, {}),
                ("api", 3, {}),
                ("dns", 6, {"priorityClassName": "system-cluster-critical"}),
            )
        ),
    ],
    [Fail(at("zone=b")), Recover(at("zone=a")), Fail(at("zone=a")), Recover(at("zone=a"))],
)
"""Pods that could evict others are refused as long as nothing happens, and are told again when their nodes return."""


@drawn(25)
@example(loss=IMPORTANT_PODS_WAIT)
@given(loss=losses())
def test_pods_that_wait_in_a_crowd_are_refused_as_one_by_one(loss: tuple[list[dict[str, Any]], list[Step]]) -> None:
    _assert_same(*loss)


def _assert_same(objects: list[dict[str, Any]], steps: list[Step]) -> None:
    with patch.object(active_queue_batch, "_MANY", 2), patch.object(batched_unschedulable_pods, "MANY", 1):
        found = _played(objects, steps)
    with ExitStack() as stack:
        stack.enter_context(patch.object(active_queue_batch, "_MANY", 1 << 30))
        stack.enter_context(
            patch.object(batched_unschedulable_pods.BatchedUnschedulablePods, "moved", lambda _, found, __: list(found))
        )
        stack.enter_context(patch.object(CachedRejections, "_follow", lambda refusals, *_: refusals._fall_all()))
        expected = _played(objects, steps)
    assert found == expected
