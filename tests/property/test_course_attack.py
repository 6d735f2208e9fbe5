"""What drains and rollouts leave is attacked: no random course leaves fewer, and the worst course leaves as few.

The long form has 1,000 courses of each world: ``ATTACKED_COURSES=1000``, in ``make nightly``.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.property.test_promises import HOST
from tests.unit.drill.builders import ZONE, budget, inventory, node, spread, workload
from topospread.api.inventory import Inventory
from topospread.api.promises import read_wants
from topospread.base import Bounds
from topospread.drill.drill import drill
from topospread.drill.result import Drill
from topospread.drill.steps import Drain, Fail, NodeChoice, Rollout, Step
from topospread.promise.kept import WorkloadPromises
from topospread.promise.orders import SearchBudget
from topospread.promise.questions import OrderEnd
from topospread.promise.rollout_orders import RolloutSearch, begin_rollout
from topospread.simulation.options import SimulationOptions
from topospread.simulation.unscored import unscored

Json = dict[str, Any]
KEY = ("Deployment", "shop", "web")
OPTIONS = SimulationOptions(preemption=False)
COURSES = int(os.environ.get("ATTACKED_COURSES", "10"))
EXHAUSTED = drawn(10, suppress_health_check=list(HealthCheck))
ATTACKED = drawn(5, suppress_health_check=list(HealthCheck))


@st.composite
def rolled(draw: st.DrawFn) -> list[Json]:
    """Two to four nodes, and a Deployment of up to three pods that is spread, kept apart or neither.

    A node may lack its zone, or have another node's hostname.
    """
    zones = draw(st.lists(st.sampled_from("abc"), min_size=2, max_size=4))
    made = [node(f"n{at}", zone, cpu=str(draw(st.integers(1, 3)))) for at, zone in enumerate(zones)]
    labels = made[-1]["metadata"]["labels"]
    match draw(st.sampled_from(["", "", "", "zone", "hostname"])):
        case "zone":
            del labels[ZONE]
        case "hostname":
            labels[HOST] = made[0]["metadata"]["labels"][HOST]
    by_revision = draw(st.sampled_from([{}, {"matchLabelKeys": ["pod-template-hash"]}]))
    keys = draw(st.lists(st.sampled_from([ZONE, HOST]), unique=True, max_size=2))
    spec = {
        "topologySpreadConstraints": [spread(draw(st.integers(1, 2)), topologyKey=key, **by_revision) for key in keys]
    }
    web = workload("Deployment", "web", draw(st.integers(1, 3)), spec)
    surge = draw(st.sampled_from([0, 1, 2, "50%"]))
    numbers = {"maxSurge": surge, "maxUnavailable": draw(st.sampled_from([0, 1, 2, "34%"] if surge else [1, 2]))}
    web["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": numbers}
    return [*made, web]


class Watched(RolloutSearch):
    """Every course of a rollout, with the fewest ready pods, and the fewest that losses leave at the end."""

    def __init__(self, objects: Inventory, budget: SearchBudget) -> None:
        self.begun = begin_rollout(objects, unscored(OPTIONS), "shop/deploy/web")
        self.ready = len(self.begun.old)
        self.left = {ZONE: self.ready, HOST: self.ready}
        super().__init__(self.begun, self, budget)

    def __str__(self) -> str:
        return "every course"

    def _look(self) -> None:
        self.ready = min(self.ready, len(self._old) + self._ready)
        super()._look()

    def wrong(self, end: OrderEnd) -> str:
        rows = end.placed[id(self.begun.workload)]
        for key, least in self.left.items():
            codes = end.run.cluster.nodes.labels(key).codes[rows]
            held = Counter(codes[codes >= 0].tolist())
            self.left[key] = min(least, len(rows) - max(held.values(), default=0))
        return ""


def judge(objects: list[Json], states: int = 20_000) -> WorkloadPromises:
    return WorkloadPromises(inventory(*objects), OPTIONS, KEY, SearchBudget(states, 1e4), {})


def after_rollouts(objects: list[Json], states: int) -> dict[str, Bounds | None]:
    found = judge(objects, states)
    return {key: found.fewest(loss).rolled for key, loss in ((ZONE, "zone"), (HOST, "node"))}


def is_claimed(objects: list[Json], states: int, loss: str, least: int) -> bool:
    """Return whether a loss is said to leave at least this number, in every order and after every rollout."""
    found = judge(objects, states)
    (kept,) = found.kept(read_wants(f"{loss}-loss>={least}"))
    return kept.verdict == "yes" or found.fewest(loss).bounds.least >= least


@EXHAUSTED
@given(objects=rolled())
def test_the_figures_of_a_rollout_are_the_worst_of_all_courses(objects: list[Json]) -> None:
    search = Watched(inventory(*objects), SearchBudget(20_000, 1e4))
    if search.begun.undecidable or search.search().gave_up:
        return
    assert judge(objects).rolling_least() == search.ready
    for key, bounds in after_rollouts(objects, 20_000).items():
        assert bounds is None or bounds == Bounds.exactly(search.left[key])
    for key, bounds in after_rollouts(objects, 1).items():
        assert bounds is None or bounds.least <= search.left[key] <= bounds.most
    assert not judge(objects).is_in_zones or search.left[HOST] >= search.left[ZONE]
    for loss, key in (("zone", ZONE), ("node", HOST)):
        for states in (1, 20_000):
            assert not is_claimed(objects, states, loss, search.left[key] + 1)


def fewest_of(course: Drill, step: int) -> int:
    """Return the fewest ready pods of web in a step."""
    (end,) = (each for each in course.workloads if each.name == "web")
    return min((each.fewest for each in course.steps[step].changed if each.name == "web"), default=end.ready)


@ATTACKED
@given(objects=rolled(), seed=st.integers(0, 1000), data=st.data())
def test_no_random_course_of_a_rollout_leaves_fewer(objects: list[Json], seed: int, data: st.DataObject) -> None:
    """Scores are left out, so that any feasible node may be drawn."""
    least, after = judge(objects, 1).rolling_least(), after_rollouts(objects, 1)
    options = unscored(SimulationOptions(preemption=False, seed=seed))
    for key, bounds in after.items():
        name = data.draw(
            st.sampled_from(sorted({each["metadata"]["labels"].get(key, "") for each in objects[:-1]} - {""}))
        )
        steps: list[Step] = [Rollout("shop/deploy/web"), Fail(NodeChoice(key, name))]
        first = drill(inventory(*objects), steps, options, runs=COURSES)
        if first.steps[0].ready < objects[-1]["spec"]["replicas"]:
            return  # no rollout begins from there
        for course in (first, *first.others):
            assert fewest_of(course, 1) >= least
            assert bounds is None or fewest_of(course, 2) >= bounds.least


@st.composite
def drained(draw: st.DrawFn) -> list[Json]:
    """Up to six pods of web and api, and up to two budgets: over web, and over both."""
    number = draw(st.integers(1, 4))
    web, api = workload("Deployment", "web", number), workload("Deployment", "api", draw(st.integers(1, 6 - number)))
    for each in (web, api):
        each["spec"]["template"]["metadata"]["labels"] = {"app": each["metadata"]["name"], "tier": "shop"}
    limits = st.sampled_from(
        [{kind: of} for kind in ("minAvailable", "maxUnavailable") for of in (0, 1, 2, 3, "34%", "50%")]
    )
    of_web, of_both = budget("web", **draw(limits)), budget("both", **draw(limits))
    of_both["spec"]["selector"] = {"matchLabels": {"tier": "shop"}}
    made = [
        node(f"n{at}", zone) for at, zone in enumerate(draw(st.lists(st.sampled_from("abc"), min_size=2, max_size=5)))
    ]
    return [*made, web, api, *draw(st.sampled_from([[], [of_web], [of_both], [of_web, of_both]]))]


def needed(given: Json, expected: int) -> int:
    """Return the healthy pods that a budget requires."""

    def pods(number: int | str) -> int:
        return -(-int(number[:-1]) * expected // 100) if isinstance(number, str) else number

    spec = given["spec"]
    return pods(spec["minAvailable"]) if "minAvailable" in spec else expected - pods(spec["maxUnavailable"])


def worst_of_drains(objects: list[Json]) -> int:
    """Return the fewest ready pods of web, with all nodes drained and no new pod ready: every order of evictions."""
    of = {each["metadata"]["name"]: each["spec"]["replicas"] for each in objects if each["kind"] == "Deployment"}
    budgets = [each for each in objects if each["kind"] == "PodDisruptionBudget"]
    over = {each["metadata"]["name"]: ["web"] if each["metadata"]["name"] == "web" else [*of] for each in budgets}
    seen, left = set[tuple[int, ...]](), [tuple(of.values())]
    while left:
        state = left.pop()
        if state in seen:
            continue
        seen.add(state)
        ready = dict(zip(of, state, strict=True))
        for name in (each for each in of if ready[each]):
            own = [each for each in budgets if name in over[each["metadata"]["name"]]]
            names = [over[each["metadata"]["name"]] for each in own]
            spare = [
                sum(map(ready.__getitem__, some)) - needed(each, sum(map(of.__getitem__, some)))
                for each, some in zip(own, names, strict=True)
            ]
            if len(own) < 2 and all(each > 0 for each in spare):  # the API server evicts no pod of two budgets
                left.append(tuple((ready | {name: ready[name] - 1}).values()))
    return min(state[[*of].index("web")] for state in seen)


@EXHAUSTED
@given(objects=drained())
def test_the_figure_of_drains_is_the_worst_of_all_orders_of_evictions(objects: list[Json]) -> None:
    assert judge(objects).budget_least == worst_of_drains(objects)


@ATTACKED
@given(objects=drained(), seed=st.integers(0, 1000), data=st.data())
def test_no_random_order_of_drains_leaves_fewer(objects: list[Json], seed: int, data: st.DataObject) -> None:
    least = judge(objects).budget_least
    names = [each["metadata"]["name"] for each in objects if each["kind"] == "Node"]
    options = unscored(SimulationOptions(preemption=False, seed=seed))
    for _ in range(COURSES // 10):
        steps: list[Step] = [Drain(NodeChoice("node", name)) for name in data.draw(st.permutations(names))]
        first = drill(inventory(*objects), steps, options, runs=10)
        for course in (first, *first.others):
            assert min(fewest_of(course, at + 1) for at in range(len(steps))) >= least
