"""What a design promises survives drills that the search did not play: its manifest merged, and other draws."""

from __future__ import annotations

import copy
from typing import Any

import yaml
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.unit.drill.builders import inventory, node, workload
from topospread.answers.promise_check import promise_check
from topospread.answers.promise_design import promise_design
from topospread.drill.drill import drill
from topospread.drill.steps import Fail, NodeChoice, Rollout
from topospread.promise.design import design
from topospread.simulation.options import SimulationOptions

Json = dict[str, Any]


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Json], list[str]]:
    """Nodes of different sizes in two to four zones, with pods of another workload on them."""
    zones = draw(st.lists(st.sampled_from("abcd"), min_size=2, max_size=7).filter(lambda each: len(set(each)) > 1))
    made = [node(f"n{i}", zone, cpu=str(draw(st.integers(2, 9)))) for i, zone in enumerate(zones)]
    return [*made, workload("Deployment", "busy", draw(st.integers(0, 4)))], sorted(set(zones))


def merged(web: Json, manifest: str) -> list[Json]:
    """The workload with the manifest's fields, as server-side apply has it, and the other objects."""
    web, others = copy.deepcopy(web), []
    for each in yaml.safe_load_all(manifest):
        if each and each["kind"] == "Deployment":
            spec = dict(each.get("spec", {}))  # of a manifest that only declares there is none
            web["spec"]["template"]["spec"] |= spec.pop("template", {}).get("spec", {})
            web["spec"] |= spec
        elif each:
            others.append(each)
    return [web, *others]


@drawn(3, suppress_health_check=list(HealthCheck))
@given(clusters(), st.integers(2, 5), st.data())
def test_what_is_promised_survives(cluster: tuple[list[Json], list[str]], replicas: int, data: st.DataObject) -> None:
    objects, zones = cluster
    left = data.draw(st.integers(1, replicas - 1))
    web = workload("Deployment", "web", replicas)
    found = design(inventory(*objects, web), "deploy/web", survive=["zone"], left=[left], tries=15, states=300)
    if not found.promises:
        return
    ruled = inventory(*objects, *merged(web, found.manifest))
    seed, zone = data.draw(st.integers(0, 1000)), data.draw(st.sampled_from(zones))
    for steps in ([], [Rollout("shop/deploy/web")]):
        played = drill(ruled, [*steps, Fail(NodeChoice("zone", zone))], options=SimulationOptions(seed=seed), runs=2)
        for each in (played, *played.others):
            fewest = [s.fewest for step in each.steps[1:] for s in step.changed if s.name == "web"]
            assert min(fewest, default=replicas) >= left, (found.manifest, zone, steps)


WANTS = [
    *("zone-loss>=1", "node-loss>=2", "zone-loss>=50%", "quorum"),
    *("drain>=1", "drain>=60%", "rollout>=2", "rollout>=100%", "skew<=1", "skew<=2", "never-waits"),
]


@drawn(3, suppress_health_check=list(HealthCheck))
@given(clusters(), st.integers(2, 5), st.lists(st.sampled_from(WANTS), min_size=1, max_size=3, unique=True))
def test_a_check_of_what_was_designed_says_yes(
    cluster: tuple[list[Json], list[str]], replicas: int, wants: list[str]
) -> None:
    objects, want = cluster[0], " ".join(wants)
    web = workload("Deployment", "web", replicas)
    found = promise_design(inventory(*objects, web), ["deploy/web"], want=want, tries=12, states=300)
    assert found.verdict == "yes" or found.causes or found.unjudged
    if found.verdict == "yes":
        ruled = inventory(*objects, *merged(web, found.workloads[0].manifest))
        checked = promise_check(ruled, ["deploy/web"], want=want, states=300)
        assert checked.verdict == "yes", (want, found.workloads[0].manifest)
