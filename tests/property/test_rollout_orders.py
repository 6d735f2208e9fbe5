"""No drill of a rollout comes to what is said never to be, and the way that is shown comes to what is said."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as with_fields

from tests.drawn import drawn
from tests.order_questions import guarantee
from tests.unit.drill.builders import ZONE, inventory, node, spread, workload
from topospread.api.well_known_labels import HOSTNAME
from topospread.cluster.cluster import pod_key
from topospread.drill.checking import check_drills, read_drill
from topospread.drill.drill import drill
from topospread.drill.drill_file import find_drills
from topospread.drill.drill_run import DrillRun
from topospread.drill.steps import read_rollout
from topospread.promise.asking import Asking
from topospread.promise.order_answer import OrderStep
from topospread.promise.orders import SearchBudget
from topospread.promise.questions import LeftAfterLoss, SkewWithin
from topospread.promise.rollout_orders import RolloutBegin, RolloutSearch, begin_rollout
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import spreads

Json = dict[str, Any]
OPTIONS = SimulationOptions(preemption=False)
MOST = 4
SEEDS = 12
"""Eight drills with each: about a hundred a case, and a thousand in all."""


@st.composite
def rolled(draw: st.DrawFn) -> list[Json]:
    """Two to four nodes in two or three zones, and a Deployment that fits."""
    number = draw(st.integers(2, 4))
    made = [node(f"n{i}", draw(st.sampled_from("abc")), cpu=str(draw(st.integers(2, 5)))) for i in range(number)]
    keys = draw(st.sampled_from([{}, {"matchLabelKeys": ["pod-template-hash"]}]))
    constraint = spread(draw(st.integers(1, 2)), **keys)
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
    web = workload("Deployment", "web", draw(st.integers(1, 4)), spec | {"topologySpreadConstraints": [constraint]})
    surge = draw(st.integers(0, 2))
    numbers = {"maxSurge": surge, "maxUnavailable": draw(st.integers(0 if surge else 1, 2))}
    web["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": numbers}
    return [*made, web]


def skew_of(begun: RolloutBegin) -> int:
    return max(each.skew for each in spreads(begun.run)[id(begun.workload)])


@drawn(6)
@given(objects=rolled())
def test_always_survives_drills_of_the_same_rollout(objects: list[Json]) -> None:
    asked = [guarantee(inventory(*objects), rollout="deploy/web", never_pending=True, skew=k) for k in range(MOST)]
    pending, *skews = (asked[0][0], *(each[1] for each in asked))
    if pending.answer == "not decided":
        return
    for seed in range(SEEDS):
        found = drill(
            inventory(*objects),
            [read_rollout("deploy/web", "")],
            options=SimulationOptions(seed=seed * 8, preemption=False),
            runs=8,
        )
        for each in (found, *found.others):
            (state,) = each.workloads
            assert not (each.pending and pending.answer == "always")
            assert each.pending or pending.answer != "never"
            for most, answer in enumerate(skews):
                assert state.spread[0].skew <= most or answer.answer != "always"
                assert state.spread[0].skew > most or answer.answer != "never"


def _replayed(begun: RolloutBegin, order: tuple[OrderStep, ...]) -> None:
    """Carry out what is shown, each step held to what kube-scheduler and the cluster say of it."""
    run, names = begun.run, iter(begun.new)
    old = {pod_key(each.namespace, each.name): each for each in begun.old}
    for each in begun.drawn:
        run.cluster.unbind(pod_key(each.namespace, each.name))
    for step in order:
        key = f"shop/{step.name}"
        if step.does == "stands":
            pod = with_fields(old[key], spec=with_fields(old[key].spec, node_name=""))
            assert sorted(run.scheduler.verdict(pod, pod.name).best) == sorted([step.node, *step.equal])
            run.scheduler.bind(key, run.cluster.shared_class(pod), run.cluster.nodes.row_of[step.node])
            old[key] = with_fields(pod, spec=with_fields(pod.spec, node_name=step.node))
        if step.does == "placed":
            queued = next(names)
            assert queued.name == step.name
            best = run.scheduler.verdict(queued.pod, queued.name).best
            assert sorted(best) == sorted([step.node, *step.equal] if step.node else [])
            if step.node:
                run.scheduler.bind(key, run.cluster.shared_class(queued.pod), run.cluster.nodes.row_of[step.node])
        elif step.does == "deleted":
            pod = old.pop(key)
            assert pod.spec.node_name == step.node
            metadata = with_fields(pod.metadata, deletion_timestamp="1970-01-01T00:00:00Z")
            run.cluster.put_pod(with_fields(pod, metadata=metadata))
        elif step.does == "gone":
            assert run.cluster.nodes.names[run.cluster.placed[key]] == step.node
            run.cluster.unbind(key)


@drawn(10)
@given(objects=rolled(), most=st.integers(0, 3))
def test_the_way_that_is_shown_comes_to_what_is_said(objects: list[Json], most: int) -> None:
    begun = begin_rollout(inventory(*objects), OPTIONS, "deploy/web")
    if begun.undecidable:
        return
    found = RolloutSearch(begun, SkewWithin(most), SearchBudget()).search()
    if not found.why:
        return
    again = begin_rollout(inventory(*objects), OPTIONS, "deploy/web")
    _replayed(again, found.order)
    assert skew_of(again) > most
    assert f"skew {skew_of(again)}" in found.why


@drawn(10)
@given(objects=rolled(), most=st.integers(0, 2))
def test_a_way_that_is_shown_plays_again_from_its_file(objects: list[Json], most: int) -> None:
    """Every turn is one that the drill's own controllers and kube-scheduler take, and it ends where it was said to."""
    for asked in ({"never_pending": True}, {"skew": most}):
        with TemporaryDirectory() as folder:
            (Path(folder) / "all.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
            file = Path(folder) / "way.yaml"
            sources = {"manifests": ["all.yaml"]}
            (answer,) = guarantee(inventory(*objects), rollout="deploy/web", sources=sources, **asked)
            assert bool(answer.drill) == bool(answer.order)
            if not answer.order:
                continue
            file.write_text(answer.drill)
            (read,) = find_drills([str(file)])
            begun = read_drill(read).begun
            assert check_drills([read]).drills[0].shortfalls
        play = DrillRun(begun.inventory, begun.options, {})
        play.play(begun.steps)
        comes = {"stands": 1, "placed": 1, "deleted": -1, "ready": 0, "gone": 0}
        ends = Counter[str]()
        for each in answer.order:
            ends[each.node] += comes[each.does]
        assert Counter(each.node for each in play.state.pods.by_key.values()) == +ends


@st.composite
def tight(draw: st.DrawFn) -> list[Json]:
    """Three or four small nodes and a Deployment with hard constraints over zones and nodes: a rollout may stop."""
    zones = draw(st.sampled_from(["abc", "abca"]))
    made = [node(f"n{at}", zone, cpu=str(draw(st.integers(1, 3)))) for at, zone in enumerate(zones)]
    pods = draw(st.sampled_from([{}, {"matchLabelKeys": ["pod-template-hash"]}]))
    keys = draw(st.sampled_from([(ZONE,), (HOSTNAME,), (ZONE, HOSTNAME)]))
    own = [spread(topologyKey=key, **pods) for key in keys]
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
    web = workload("Deployment", "web", draw(st.integers(3, 5)), spec | {"topologySpreadConstraints": own})
    numbers = {"maxSurge": draw(st.integers(0, 1)), "maxUnavailable": 1}
    web["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": numbers}
    return [*made, web]


@drawn(15)
@given(objects=tight(), loss=st.sampled_from(["zone", "node"]))
def test_no_course_of_a_rollout_leaves_fewer_pods_than_is_proved(objects: list[Json], loss: str) -> None:
    asking = Asking.begin(inventory(*objects), OPTIONS, SearchBudget(20_000, 10), rollout="deploy/web")
    (web,) = asking.run.plan.workloads
    least = asking.surely_left(loss, web)
    assert asking.begun is not None
    if least:
        found = RolloutSearch(asking.begun, LeftAfterLoss(loss, web, least), SearchBudget(20_000, 10)).search()
        assert not found.why, (least, found.why)
