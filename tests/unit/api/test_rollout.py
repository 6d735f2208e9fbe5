"""Strategies of rollouts as numbers of pods."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.why.builders import workload
from tests.unit.why.test_rolling_update import OF, strategy
from topospread.api.rollout import OrdinalStrategy, Strategy, strategy_of, strategy_of_daemon_set
from topospread.api.rollout import strategy_of_stateful_set as of_stateful_set
from topospread.api.workload import DaemonSet, Deployment, StatefulSet
from topospread.errors import InputError


@pytest.mark.parametrize(
    ("given", "replicas", "numbers"),
    [
        (None, 10, Strategy(3, 2)),
        (None, 1, Strategy(1, 0)),
        (strategy("25%", "25%"), 6, Strategy(2, 1)),
        (strategy(1, 0), 6, Strategy(1, 0)),
        (strategy(0, "10%"), 5, Strategy(0, 1)),
        (strategy("100%", 9), 4, Strategy(4, 4)),
        ({"type": "Recreate"}, 4, None),
    ],
)
def test_percentages_are_of_the_replicas(given: Any, replicas: int, numbers: Strategy | None) -> None:
    made = workload("Deployment", replicas, OF) | {}
    if given is not None:
        made["spec"]["strategy"] = given
    assert strategy_of(msgspec.convert(made, Deployment)) == numbers


def test_a_stateful_set_rounds_down_and_a_daemon_set_up() -> None:
    given = {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 2, "maxUnavailable": "30%"}}}}
    assert of_stateful_set(msgspec.convert(given, StatefulSet), 9) == OrdinalStrategy(2, 2)
    assert of_stateful_set(StatefulSet(), 9) == OrdinalStrategy(0, 1)
    assert strategy_of_daemon_set(msgspec.convert(given, DaemonSet), 9) == Strategy(0, 3)
    assert strategy_of_daemon_set(DaemonSet(), 9) == Strategy(0, 1)
    on_delete = {"spec": {"updateStrategy": {"type": "OnDelete"}}}
    assert of_stateful_set(msgspec.convert(on_delete, StatefulSet), 9) is None
    assert strategy_of_daemon_set(msgspec.convert(on_delete, DaemonSet), 9) is None


@pytest.mark.parametrize("wrong", ["x%", "1.5"])
def test_a_strategy_that_means_nothing_is_refused(wrong: str) -> None:
    given = {"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": wrong}}}}
    with pytest.raises(InputError, match="a valid percent string"):
        of_stateful_set(msgspec.convert(given, StatefulSet), 2)
