"""Many orders of the same pods: which there are, and that answers hold all of them."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topospread
from topospread.api.pod import Pod
from topospread.base import Bounds
from topospread.controllers.planned import QueuedPod, Workload
from topospread.errors import UsageError
from topospread.simulation.options import SimulationOptions
from topospread.simulation.orders import SpreadBounds, WorkloadBounds, interleaved, simulate_orders
from topospread.simulation.simulate import simulate

NODES = "".join(
    f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{rack: {name}}}}}\n"
    'status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}\n---\n'
    for name in ("a1", "b1")
)
APP = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s}
spec:
  replicas: %d
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec:
      %s
      containers: [{name: a, image: a, resources: {requests: {cpu: "2"}}}]
---
"""


def app(name: str, replicas: int = 1, spec: str = "priority: 0") -> str:
    return APP % (name, replicas, name, name, spec)


def inventory(folder: Path, *texts: str) -> topospread.Inventory:
    (folder / "all.yaml").write_text(NODES + "".join(texts))
    return topospread.load(str(folder / "all.yaml"))


@pytest.fixture
def contested(tmp_path: Path) -> topospread.Inventory:
    """The first may take the node that the second needs."""
    return inventory(tmp_path, app("any"), app("picky", 1, "nodeSelector: {rack: a1}"))


def test_what_the_order_decides_is_a_range(contested: topospread.Inventory) -> None:
    assert simulate(contested).pending
    found = simulate_orders(contested, 20, SimulationOptions())
    assert (found.pending, found.orders) == (Bounds(least=0, most=1), 20)
    assert 0 < found.all_placed < 20
    assert {each.name: each.pending for each in found.workloads} == {
        "any": Bounds(least=0, most=0),
        "picky": Bounds(least=0, most=1),
    }


def test_what_no_order_changes_is_one_number(tmp_path: Path) -> None:
    found = simulate_orders(inventory(tmp_path, app("web", 3)), 10, SimulationOptions())
    assert found.pending == Bounds(least=1, most=1)
    assert all(each.same for each in found.workloads)


def test_the_first_order_is_that_of_the_input(contested: topospread.Inventory) -> None:
    found = simulate_orders(contested, 1, SimulationOptions(seed=5))
    assert found.given.placements == simulate(contested).placements
    assert found.pending == Bounds(least=1, most=1)


def test_a_seed_gives_the_same_ranges(contested: topospread.Inventory) -> None:
    one, two = (simulate_orders(contested, 7, SimulationOptions(seed=3)) for _ in range(2))
    assert (one.pending, one.all_placed) == (two.pending, two.all_placed)


def test_priorities_come_before_any_order(tmp_path: Path) -> None:
    classes = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 9\n---\n"
    picky = app("picky", 1, "nodeSelector: {rack: a1}\n      priorityClassName: high")
    found = simulate_orders(inventory(tmp_path, classes, app("any"), picky), 10, SimulationOptions())
    assert found.pending == Bounds(least=0, most=0)


def test_no_order_is_refused(contested: topospread.Inventory) -> None:
    with pytest.raises(UsageError, match="must be at least 1"):
        simulate_orders(contested, 0, SimulationOptions())


def queued(kind: str, sizes: list[int], waiting: int) -> list[QueuedPod]:
    """The pods of workloads one after another, behind some that wait in the cluster."""
    workloads = [Workload(kind, "default", f"w{number}", size) for number, size in enumerate(sizes)]
    there = [Workload("Pod", "default", f"there-{n}", 1) for n in range(waiting)]
    pods = [QueuedPod(Pod(), each.name, each, created="t") for each in there]
    return pods + [QueuedPod(Pod(), f"{each.name}-{n}", each) for each in workloads for n in range(each.replicas)]


@given(
    kind=st.sampled_from(["Deployment", "Pod"]),
    sizes=st.lists(st.integers(0, 5), max_size=5),
    waiting=st.integers(0, 3),
    seed=st.integers(),
    by_turns=st.booleans(),
)
def test_an_order_has_every_pod_once_and_each_workloads_in_its_own(
    kind: str, sizes: list[int], waiting: int, seed: int, by_turns: bool
) -> None:
    queue = queued(kind, sizes, waiting)
    found = interleaved(queue, random.Random(seed), by_turns=by_turns)
    assert Counter(map(id, found)) == Counter(map(id, queue))
    assert found[:waiting] == queue[:waiting]
    for workload in {id(each.workload) for each in queue}:
        assert [each for each in found if id(each.workload) == workload] == [
            each for each in queue if id(each.workload) == workload
        ]
    if kind == "Pod":
        assert found == queue


def test_every_interleaving_comes_about() -> None:
    queue = queued("Deployment", [2, 2], 0)
    source = random.Random(0)
    found = {tuple(each.name for each in interleaved(queue, source, by_turns=True)) for _ in range(200)}
    assert len(found) == 6
    one_after_another = {tuple(each.name for each in interleaved(queue, source, by_turns=False)) for _ in range(50)}
    assert one_after_another == {("w0-0", "w0-1", "w1-0", "w1-1"), ("w1-0", "w1-1", "w0-0", "w0-1")}


def test_the_report_says_ranges_and_what_is_the_same(contested: topospread.Inventory) -> None:
    found = simulate_orders(contested, 20, SimulationOptions())
    text = found.answer().text()
    assert text.startswith(f"no: 0–1 pod is pending; in {found.all_placed} of 20 orders no pod is pending\n")
    assert "default/picky" in text
    assert "same in every order: 1 workload: default/any\n" in text
    data = found.to_dict()
    assert data["pending"] == {"least": 0, "most": 1}
    assert [each["pending"]["most"] for each in data["workloads"]] == [0, 1]


def test_a_simulation_says_that_the_order_may_decide_where_it_may(
    contested: topospread.Inventory, tmp_path: Path
) -> None:
    (note,) = [each for each in simulate(contested).notes if "--orders" in each]
    assert note.startswith("pods of 2 workloads are placed in the order of the input")
    assert note not in simulate_orders(contested, 2, SimulationOptions()).given.notes
    alone = inventory(tmp_path, app("web", 3))
    assert not any("--orders" in each for each in simulate(alone).notes)
    placed = inventory(tmp_path, app("one"), app("two"))
    assert not any("--orders" in each for each in simulate(placed).notes)


def test_pending_pods_of_another_namespace_are_not_asked_about(contested: topospread.Inventory) -> None:
    found = simulate_orders(contested, 20, SimulationOptions(), namespace="kube-system")
    assert (found.verdict, found.pending, found.all_placed) == ("yes", Bounds.exactly(0), 20)


def test_a_workload_whose_nodes_alone_differ_is_the_same_by_zone(contested: topospread.Inventory) -> None:
    def spread(key: str, most: int) -> SpreadBounds:
        domains = {each: Bounds(least=1, most=most) for each in ("a", "b")}
        return SpreadBounds(key, "DoNotSchedule", 1, "pod", Bounds.exactly(0), domains)

    spreads = spread("topology.kubernetes.io/zone", 1), spread("kubernetes.io/hostname", 2)
    web = WorkloadBounds("Deployment", "default", "web", 2, Bounds.exactly(0), same=False, constraints=spreads)
    found = simulate_orders(contested, 1, SimulationOptions()).answer()
    text = msgspec.structs.replace(found, workloads=(web,)).text()
    assert text.endswith("same by zone in every order: 1 workload: default/web\n")
