"""The pods that count as a workload's."""

from __future__ import annotations

from tests.plain_inventory import inventory
from tests.unit.drill.builders import running
from tests.unit.status.test_status import NODES, constraint, node, only, replica_set, spec, status
from topospread.answers.status import status as status_of


def test_terminating_pods_do_not_count() -> None:
    owner, first, second, third = replica_set(spec(constraint()), ["a1", "a1", "a1"])
    first["metadata"] = first["metadata"] | {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    found = only(status(*NODES, owner, first, second, third))
    assert (found.existing, found.constraints[0].skew) == (2, 2)


def test_pods_that_a_controller_would_delete_are_still_there() -> None:
    found = status(*NODES, *replica_set(spec(constraint()), ["a1", "a1", "a1"], 1))
    assert (only(found).replicas, only(found).existing, only(found).constraints[0].skew) == (1, 1, 3)
    assert any(note.startswith("2 pods that their controllers are about to delete") for note in found.notes)


def test_ready_pods_are_those_whose_condition_says_so_on_nodes_that_answer() -> None:
    taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
    for three, ready in ((NODES, 2), ([*NODES[:2], node("c1", "c", taints=[taint])], 1)):
        found = status_of(inventory(*three, *running(False, True, True)))
        (workload,) = found.workloads
        assert (found.verdict, workload.existing, workload.ready) == ("yes", 3, ready)
        pods = "1 pod with a node is" if ready == 2 else "2 pods with nodes are"
        assert f"{pods} not ready: shop/web" in found.notes
