"""Numbers that a session is given are checked before anything is computed."""

from __future__ import annotations

from typing import Any

import pytest

import topospread
from tests.unit.drill.builders import nodes, workload
from topospread import Session
from topospread.errors import UsageError


@pytest.mark.parametrize("wrong", ["1", 0, -1, 1.5, True])
def test_a_count_is_a_whole_number_of_at_least_one(wrong: Any) -> None:
    session = Session([*nodes("a"), workload("Deployment", "web", 1)])
    with pytest.raises(UsageError, match=r"max_skew=.* use a whole number of at least 1"):
        session.rebalance(max_skew=wrong)
    with pytest.raises(UsageError, match="states="):
        session.promises.check(states=wrong)


def test_a_number_is_no_name_or_path() -> None:
    session = Session([*nodes("a"), workload("Deployment", "web", 1)])
    with pytest.raises(UsageError, match="3: expected a name or a path, got a number"):
        session.simulate(3)  # type: ignore[arg-type]


def test_steps_of_drills_are_found_where_an_error_says() -> None:
    steps = topospread.steps
    with pytest.raises(UsageError, match="with: from topospread import steps"):
        Session(nodes("a")).drill("fail zone-a")  # type: ignore[arg-type]
    assert Session(nodes("a", "b")).drill(steps.Fail(steps.NodeChoice("node", "a1"))).verdict == "yes"
