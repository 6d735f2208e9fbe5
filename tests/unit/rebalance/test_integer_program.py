"""The integer program bounds the evictions."""

from __future__ import annotations

import pytest

from topospread.rebalance import bounds

from .builders import THREE, nodes, rebalance_of, spread, standing


def test_the_integer_program_knows_that_nothing_helps() -> None:
    only_a = {"nodeSelector": {"kubernetes.io/hostname": "a1"}}
    found = rebalance_of([*THREE, *standing({"a1": 3}, spread(nodeAffinityPolicy="Ignore"), **only_a)])
    assert found.impossible
    assert found.bound is None


def test_the_integer_program_adds_up_what_counts_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third constraint counts the pods of both workloads, so that by counts alone one eviction might help both."""
    both = spread(9, labelSelector={"matchExpressions": [{"key": "app", "operator": "Exists"}]})
    objects = [*nodes("a", "b"), *standing({"a1": 2}, spread()), *standing({"b1": 2}, spread(), both, name="api")]
    found = rebalance_of(objects)
    assert (len(found.moves), found.bound, found.bound_by) == (2, 2, "solver")
    monkeypatch.setattr(bounds, "has_solver", lambda: False)
    without = rebalance_of(objects)
    assert (without.moves, without.bound, without.bound_by) == (found.moves, 2, "search")
