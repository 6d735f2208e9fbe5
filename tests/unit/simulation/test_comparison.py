"""Two simulations side by side: replicas are interchangeable, and what was placed and is pending is found."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.unit.render.builders import HOSTNAME, ZONE, arithmetic, placements, simulation, spread, workload
from topospread.simulation.comparison import Comparison, compare
from topospread.simulation.result import EvictedPod, Placement, Simulation


def placed(nodes: Mapping[str, str | None], of: str = "Deployment/web", **more: object) -> Simulation:
    kind, _, name = of.partition("/")
    there = sum(node is not None for node in nodes.values())
    row = workload(name, kind=kind, placed=there, pending=len(nodes) - there)
    return simulation([row], placements=placements(nodes, of), **more)


def compared(before: Simulation, after: Simulation) -> Comparison:
    return compare(before, after, ("a", "b"))


def is_same(found: Comparison) -> bool:
    return not (found.workloads or any(found.evictions) or any(found.warnings))


class TestPods:
    def test_nothing_differs(self) -> None:
        assert is_same(compared(placed({"web-0": "n1"}), placed({"web-0": "n1"})))

    def test_replicas_that_swap_their_nodes_are_no_difference(self) -> None:
        before, after = placed({"web-x": "n1", "web-y": "n2"}), placed({"web-x": "n2", "web-y": "n1"})
        assert is_same(compared(before, after))

    def test_replicas_are_the_same_under_other_names(self) -> None:
        assert is_same(compared(placed({"web-1a": "n1"}), placed({"web-2b": "n1"})))

    @pytest.mark.parametrize("kind", ["StatefulSet", "Pod"])
    def test_pods_with_an_identity_are_not_interchangeable(self, kind: str) -> None:
        before = placed({"db-0": "n1", "db-1": "n2"}, f"{kind}/db")
        after = placed({"db-0": "n2", "db-1": "n1"}, f"{kind}/db")
        assert [(each.pod.name, each.nodes) for each in compared(before, after).moved] == [
            ("db-0", ("n1", "n2")),
            ("db-1", ("n2", "n1")),
        ]

    def test_another_score_on_the_same_node(self) -> None:
        before, after = placed({"web-0": "n1"}), placed({"web-0": "n1"})
        other = Placement("shop", "web-0", "Deployment/web", "n1", None, "", 7, None)
        comparison = compared(before, simulation(after.workloads, placements=(other,)))
        assert [each.moved for each in comparison.placements] == [False]
        assert not is_same(comparison)

    def test_pod_that_is_newly_pending(self) -> None:
        comparison = compared(placed({"web-0": "n1", "web-1": "n2"}), placed({"web-0": None, "web-1": "n1"}))
        (pending,) = comparison.newly_pending
        assert pending.nodes == ("n2", None)
        assert comparison.newly_placed == ()
        assert comparison.workloads[0].pods == (2, 1)

    def test_pod_that_is_newly_placed(self) -> None:
        comparison = compared(placed({"web-0": None}), placed({"web-0": "n1"}))
        assert [each.nodes for each in comparison.newly_placed] == [(None, "n1")]
        assert comparison.newly_pending == ()

    def test_pending_pod_among_replicas_that_move_is_not_told_twice(self) -> None:
        before = placed({"web-0": "n1", "web-1": None})
        after = placed({"web-0": None, "web-1": "n2"})
        comparison = compared(before, after)
        assert [each.nodes for each in comparison.moved] == [("n1", "n2")]
        assert comparison.newly_pending == ()

    def test_pod_that_one_side_has_and_was_never_placed_is_not_newly_pending(self) -> None:
        comparison = compared(placed({}), placed({"web-0": None}))
        assert [each.nodes for each in comparison.moved] == [(None, None)]
        assert comparison.newly_pending == ()

    def test_many_replicas_take_no_time(self) -> None:
        before = {f"web-{i}": f"n{i}" for i in range(20_000)}
        after = {f"web-{i}": f"n{20_000 - i}" for i in range(20_000)}
        assert len(compared(placed(before), placed(after)).moved) == 1


class TestEvictions:
    GONE = EvictedPod("shop", "old", "n1", "", "shop/web-0", None)
    REPLACED = EvictedPod("shop", "old", "n1", "Deployment/old", "shop/web-0", "old-anew1")

    def test_evicted_in_one_only(self) -> None:
        comparison = compared(placed({"web-0": None}), placed({"web-0": "n1"}, evictions=(self.GONE,)))
        assert comparison.evictions == ((), (self.GONE,))
        assert comparison.newly_gone == (self.GONE,)

    def test_replacement_that_waits_is_newly_pending(self) -> None:
        before = placed({})
        after = simulation(
            [workload("old", pending=1)],
            placements=placements({"old-anew1": None}, "Deployment/old"),
            evictions=(self.REPLACED,),
        )
        assert [each.pod.name for each in compared(before, after).newly_pending] == ["old-anew1"]


class TestSpread:
    def test_counts(self) -> None:
        sides = [
            simulation([workload("web", spread(arithmetic(counts)), placed=3)])
            for counts in ({"a": 2, "b": 1}, {"a": 1, "b": 2})
        ]
        (change,) = compared(*sides).spreads
        assert change.before is not None
        assert change.after is not None
        assert change.spread is change.after

    def test_reasons_alone_are_no_difference(self) -> None:
        sides = [
            simulation([workload("web", spread(arithmetic({"a": 1}), rejected={"a": {reason: 1}}), placed=1)])
            for reason in ("old words", "new words")
        ]
        assert is_same(compared(*sides))

    def test_constraint_of_another_kind_is_paired_by_its_key(self) -> None:
        before = [spread(arithmetic({"a": 1}, hard=False, max_skew=5)), spread(arithmetic({"n": 1}, key=HOSTNAME))]
        sides = [
            simulation([workload("web", *before, placed=1)]),
            simulation([workload("web", spread(arithmetic({"a": 1})), placed=1)]),
        ]
        zone, hostname = compared(*sides).spreads
        assert (zone.spread.topology_key, hostname.spread.topology_key) == (ZONE, HOSTNAME)
        assert zone.before is not None
        assert zone.after is not None
        assert hostname.after is None


def test_warnings_of_one_side() -> None:
    comparison = compared(placed({}, warnings=("both", "first")), placed({}, warnings=("both", "second")))
    assert comparison.warnings == (("first",), ("second",))
