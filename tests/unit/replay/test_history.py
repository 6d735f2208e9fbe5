"""The cluster at each time of a log."""

from __future__ import annotations

from pathlib import Path

from tests.unit.drill.builders import node
from tests.unit.replay.builders import pod, record, refused, replayed


def test_the_first_of_two_changes_of_a_node_began_it(tmp_path: Path) -> None:
    cordoned = node("b1", "b", unschedulable=True)
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    tainted = node("b1", "b", unschedulable=True, taints=[taint])
    found = replayed(
        tmp_path / "log",
        record(1, "patch", cordoned),
        record(2, "patch", tainted),
        record(3, "create", pod("web-1")),
        refused(4, "web-1"),
        refused(6, "web-1"),
    )
    (each,) = found.refusals
    assert each.cause is not None
    assert (each.cause.what, each.cause.at[-3:]) == ("cordoned", "01Z")
    assert (each.first[-3:], each.last[-3:], each.placed_on) == ("04Z", "06Z", "")
    assert [one.what for one in found.alterations] == ["cordoned", "taints"]


def test_a_node_that_was_deleted_began_it(tmp_path: Path) -> None:
    log = [record(1, "delete", node("b1", "b")), record(2, "create", pod("web-1"))]
    busy = {"key": "busy", "effect": "NoSchedule"}
    log += [record(3, "patch", node("a1", "a", taints=[busy])), refused(4, "web-1", "0/1 nodes are available")]
    (each,) = replayed(tmp_path / "log", *log).refusals
    assert each.cause is not None
    assert (each.cause.what, each.cause.node) == ("taints", "a1")
    (each,) = replayed(tmp_path / "log", *log[:2], refused(4, "web-1", "0/1 nodes are available")).refusals
    assert (each.computed, each.cause) == ("", None)


def test_a_pod_that_is_gone_makes_room_and_one_that_ends_slowly_does_not(tmp_path: Path) -> None:
    slow = pod("web-0", "a1")
    slow["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:31Z", "deletionGracePeriodSeconds": 30}
    rest = [record(2, "create", pod("web-1", cpu="10")), record(3, "patch", node("b1", "b", unschedulable=True))]
    gone = replayed(tmp_path / "log", record(1, "delete", pod("web-0", "a1")), *rest, refused(4, "web-1"))
    assert gone.refusals[0].computed == ""
    ended = replayed(tmp_path / "log", record(1, "delete", slow), *rest, refused(4, "web-1"))
    assert "Insufficient cpu" in ended.refusals[0].computed
