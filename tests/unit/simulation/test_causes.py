"""Why a pod moved between two simulations: the filter or the score that differs, and of no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import topospread
from tests.parted import parted
from topospread.config.load import load_configuration
from topospread.simulation.causes import with_causes
from topospread.simulation.comparison import Cause, Comparison, compare
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate

NODES = """\
apiVersion: v1
kind: Node
metadata: {name: a, labels: {kubernetes.io/hostname: a, zone: east}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: b, labels: {kubernetes.io/hostname: b, zone: west}}
status: {allocatable: {cpu: "8", memory: 64Gi, pods: "110"}}
"""
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default, labels: {app: web}}
spec:
  %s
  containers: [{name: a, image: a, resources: {requests: {cpu: "2", memory: 4Gi}}}]
"""
MOST = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "scoringStrategy": {
                            "type": "MostAllocated",
                            "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
                        }
                    },
                }
            ]
        }
    ],
}


def inventory(folder: Path, spec: str, nodes: str = NODES) -> topospread.Inventory:
    (folder / "all.yaml").write_text(nodes + POD % spec)
    return topospread.load(str(folder / "all.yaml"))


def explained(first: dict[str, object], second: dict[str, object]) -> Comparison:
    given = [parted(each) for each in (first, second)]
    comparison = compare(*(simulate(**each) for each in given), names=("a", "b"))
    inventories, sides = [each["inventory"] for each in given], [each["options"] for each in given]
    return with_causes(comparison, inventories, sides)


def test_a_score_that_prefers_another_node(tmp_path: Path) -> None:
    given = inventory(tmp_path, "priority: 0")
    comparison = explained({"inventory": given}, {"inventory": given, "config": load_configuration(MOST)})
    (change,) = comparison.moved
    assert change.nodes == ("b", "a")
    cause = comparison.why["default/web"]
    assert (cause.kind, cause.plugin) == ("score", "NodeResourcesFit")
    assert cause.points is not None
    # LeastAllocated gives a (4−2)/4 and (8−4)/8, b (8−2)/8 and (64−4)/64; MostAllocated what is left to 100.
    assert cause.points == (50 - (75 + 93) // 2, 50 - (25 + 6) // 2)
    assert cause.sentence == "NodeResourcesFit gives a +35 points compared with b, before -34"


def test_a_filter_that_rejects_the_old_node(tmp_path: Path) -> None:
    before = inventory(tmp_path, "priority: 0")
    after = inventory(tmp_path, "nodeSelector: {zone: east}")
    cause = explained({"inventory": before}, {"inventory": after}).why["default/web"]
    words = "NodeAffinity rejects b: node(s) didn't match Pod's node affinity/selector"
    assert cause == Cause("filter", "NodeAffinity", words)


def test_a_filter_that_rejected_the_new_node(tmp_path: Path) -> None:
    before = inventory(tmp_path, "nodeSelector: {zone: east}")
    after = inventory(tmp_path, "priority: 0")
    cause = explained({"inventory": before}, {"inventory": after}).why["default/web"]
    assert cause.kind == "filter"
    assert cause.sentence.startswith("NodeAffinity rejected b before: ")


def test_a_pod_that_becomes_pending(tmp_path: Path) -> None:
    before = inventory(tmp_path, "priority: 0")
    after = inventory(tmp_path, "nodeSelector: {zone: north}")
    comparison = explained({"inventory": before}, {"inventory": after})
    assert comparison.why["default/web"].plugin == "NodeAffinity"


def test_a_node_that_is_gone(tmp_path: Path) -> None:
    before = inventory(tmp_path, "priority: 0")
    after = inventory(tmp_path, "priority: 0", NODES.partition("---\n")[0])
    assert explained({"inventory": before}, {"inventory": after}).why["default/web"].sentence == "b does not exist"


def test_a_pod_that_follows_another_names_it(tmp_path: Path) -> None:
    """`first` needs the node that `web` had before, so `web` goes to the other one."""
    first = (POD % "priority: 9\n  nodeSelector: {zone: east}").replace("name: web,", "name: first,")
    pinned = first.replace("east", "west").replace('cpu: "2"', 'cpu: "7"')
    before, after = (inventory(tmp_path, "priority: 0", NODES + each) for each in (first, pinned))
    comparison = explained({"inventory": before}, {"inventory": after})
    assert comparison.why["default/web"].sentence.endswith("; default/first came to b")
    back = explained({"inventory": after}, {"inventory": before})
    assert back.why["default/web"].sentence.endswith("; default/first left b")


def test_a_tie_that_is_drawn_otherwise(tmp_path: Path) -> None:
    nodes = NODES.replace('cpu: "8", memory: 64Gi', 'cpu: "4", memory: 8Gi')
    given = inventory(tmp_path, "priority: 0", nodes)
    seeds = {
        seed: simulate(given, options=SimulationOptions(seed=seed, kube_version="1.30")).placement("web").node
        for seed in range(9)
    }
    one, other = (next(seed for seed, node in seeds.items() if node == name) for name in "ab")
    sides = [{"inventory": given, "seed": seed, "kube_version": "1.30"} for seed in (one, other)]
    assert explained(sides[0], sides[1]).why["default/web"] == Cause("tie", "", "a and b have equal points")


def test_watching_changes_no_placement(tmp_path: Path) -> None:
    given = topospread.load("examples/demo/cluster.yaml", "examples/demo/shop.yaml")
    plain = simulate(given)
    watched = simulate(
        given, options=SimulationOptions(watch=[f"{each.namespace}/{each.name}" for each in plain.placements])
    )
    assert len(watched.verdicts) == len(plain.placements)
    assert replace(watched, verdicts={}).placements == plain.placements


@pytest.mark.parametrize("version", ["1.20", "1.27"])
def test_of_the_first_pod_that_moves_the_cause_is_the_difference_itself(version: str) -> None:
    """Everything before it is the same, so its node is the best of each side's own points."""
    given = topospread.load("examples/demo/cluster.yaml", "examples/demo/shop.yaml")
    comparison = explained({"inventory": given}, {"inventory": given, "kube_version": version})
    moved = {each.key for each in comparison.moved if each.before is not None}
    assert set(comparison.why) <= moved
    if moved:
        order = [f"{each.namespace}/{each.name}" for each in comparison.before.placements]
        assert next(iter(comparison.why)) == min(moved, key=order.index)
