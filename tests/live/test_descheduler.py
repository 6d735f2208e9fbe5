"""`topospread rebalance` beside descheduler's own RemovePodsViolatingTopologySpreadConstraint, on random clusters.

The plugin runs as its own tests run it, on a client without a server; what comes in place of the evicted pods is placed
by our engine for both. It is run again as long as it evicts, as a descheduler is that runs every few minutes.
"""

from __future__ import annotations

import json
import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.drawn import LONG
from tests.live.conftest import built
from tests.plain_inventory import inventory
from tests.unit.drill.builders import node, spread
from tests.unit.rebalance.builders import HOST, ZONE, standing
from topospread.answers.status import status
from topospread.rebalance.rebalance import rebalance
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "conformance" / "descheduler"
CLUSTERS = 50 * LONG
ROUNDS = 6
IN_A = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}
PREFERS_A = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 9, "preference": IN_A}]}
"""What sends pods back: descheduler evicts them for ever."""
NAMESPACES = [{"metadata": {"name": "shop"}}]


@dataclass
class Descheduled:
    """A cluster in descheduler's hands.

    Attributes:
        evicted: in each round.
    """

    objects: list[Json]
    soft: bool
    evicted: list[int] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return bool(self.evicted) and not self.evicted[-1]

    @property
    def loops(self) -> bool:
        return not self.is_over

    def take(self, names: list[str]) -> None:
        """Let pods be evicted, and others come in their place."""
        self.evicted.append(len(names))
        left = [each for each in self.objects if each["kind"] != "Pod" or each["metadata"]["name"] not in names]
        gone = [each for each in self.objects if each["kind"] == "Pod" and each["metadata"]["name"] in names]
        placements = simulate(inventory(*left), options=SimulationOptions(preemption=False)).placements
        by_owner = {each["metadata"]["ownerReferences"][0]["name"]: each for each in gone}
        for each in placements:
            if each.node is not None:
                like = by_owner[each.workload.rpartition("/")[2]]
                metadata = like["metadata"] | {"name": each.name}
                left.append(like | {"metadata": metadata, "spec": like["spec"] | {"nodeName": each.node}})
        self.objects = left


def cluster(draw: random.Random) -> tuple[list[Json], bool]:
    """Nodes in two or three zones, and one or two workloads whose pods stand anywhere; whether constraints are soft."""
    zones = "abc"[: draw.randint(2, 3)]
    number = draw.randint(len(zones), 8)
    made = [node(f"n{i}", zones[i % len(zones)], cpu=str(draw.randint(8, 16))) for i in range(number)]
    soft = draw.random() < 0.3
    for name in ("web", "api")[: draw.randint(1, 2)]:
        on: dict[str, int] = {}
        for _ in range(draw.randint(2, 9)):
            where = f"n{draw.randrange(number) if draw.random() < 0.5 else draw.randrange(len(zones))}"
            on[where] = on.get(where, 0) + 1
        key = {"topologyKey": HOST} if draw.random() < 0.25 else {}
        kind = {"whenUnsatisfiable": "ScheduleAnyway"} if soft else {}
        more = {"affinity": {"nodeAffinity": PREFERS_A}} if soft and draw.random() < 0.3 else {}
        made += standing(on, spread(draw.randint(1, 2) if not soft else 1, **key, **kind), name=name, **more)
    return made, soft


def with_uid(pod: Json) -> Json:
    """The pod as an API server has it: descheduler evicts none without a uid."""
    return pod | {"metadata": pod["metadata"] | {"uid": pod["metadata"]["name"]}}


def excess(objects: list[Json]) -> int:
    """By how much all skews together are more than maxSkew."""
    found = status(inventory(*objects)).workloads
    return sum(constraint.excess for each in found for constraint in each.constraints if constraint.origin == "pod")


@pytest.fixture(scope="module")
def program() -> Path:
    """Return the plugin's program."""
    return built("descheduler", ["descheduler"], SOURCE, "build.sh") / "descheduler"


def descheduled(program: Path, clusters: list[tuple[list[Json], bool]]) -> list[Descheduled]:
    """Every cluster after as many rounds as it takes, or as are tried."""
    every = [Descheduled(objects, soft) for objects, soft in clusters]
    for _ in range(ROUNDS):
        left = [each for each in every if not each.is_over]
        cases = [
            {
                "nodes": [item for item in each.objects if item["kind"] == "Node"],
                "pods": [with_uid(item) for item in each.objects if item["kind"] == "Pod"],
                "namespaces": NAMESPACES,
                "soft": each.soft,
            }
            for each in left
        ]
        given = "".join(json.dumps(case) + "\n" for case in cases)
        done = subprocess.run([program], input=given, capture_output=True, text=True, check=True)
        for each, line in zip(left, done.stdout.splitlines(), strict=True):
            each.take(json.loads(line))
    return every


def test_never_more_evictions_for_as_little_skew(program: Path) -> None:
    draw = random.Random(1337)
    clusters = [cluster(draw) for _ in range(CLUSTERS)]
    fewer = better = looped = undone = ours = theirs = 0
    for (objects, soft), other in zip(clusters, descheduled(program, clusters), strict=True):
        found = rebalance(inventory(*objects), max_skew=1 if soft else None)
        after = sum(max(each.skew_after - each.highest, 0) for each in found.constraints)
        their_excess, their_evictions = excess(other.objects), sum(other.evicted)
        looped += other.loops
        if any(each.returns for each in found.unmet):  # scores send pods back, and it says so
            undone += 1
            continue
        assert after <= their_excess, objects
        assert after < their_excess or len(found.moves) <= their_evictions, objects
        fewer += len(found.moves) < their_evictions
        better += after < their_excess
        ours += len(found.moves)
        theirs += their_evictions
    print(f"{CLUSTERS} clusters: {ours} evictions, descheduler {theirs}; less skew in {better}, fewer in {fewer}")
    print(f"descheduler is not over after {ROUNDS} rounds in {looped}; scores send pods back in {undone}")
    assert ours > CLUSTERS - undone
    assert better + fewer
    assert undone < CLUSTERS // 10
