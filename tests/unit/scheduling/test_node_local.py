"""Node-local answers: each row is evaluated once for all pod classes that share it."""

from __future__ import annotations

from tests.unit.scheduling.test_cycle import cluster_of, place, replica_of
from topospread.scheduling.node_local import Work


def test_a_class_that_is_placed_again_reads_only_what_no_other_class_read() -> None:
    scheduler = cluster_of(300)
    place(scheduler, "web", 5)
    place(scheduler, "plain", 40, constraints=[])

    back = place(scheduler, "web", 1)

    assert back == Work(built=0, changes=1, rows=1, heads=back.heads, full=0), "the last pod of the other class"


def test_classes_that_differ_in_what_they_say_of_other_pods_evaluate_a_row_once_for_all() -> None:
    scheduler = cluster_of(300)
    for i in range(20):
        place(scheduler, f"app-{i}", 1)

    again = [place(scheduler, f"app-{i}", 1) for i in range(20)]

    assert sum(each.built for each in again) == 0
    assert sum(each.rows for each in again) == 20, "one row a placement, not one a placement and class"
    assert sum(each.changes for each in again) == 20, "one change a placement, not one a placement and class"


def test_a_row_that_changed_often_is_evaluated_once() -> None:
    scheduler = cluster_of(30)
    place(scheduler, "web", 1)
    plain = scheduler.cluster.shared_class(replica_of("plain", constraints=[]))
    for i in range(3_000):
        scheduler.cluster.bind(f"default/plain-{i}", plain, i % 30)

    back = place(scheduler, "web", 1)

    assert back.changes == 3_001
    assert back.rows <= 30
