"""Arguments of plugins as types."""

from __future__ import annotations

import pytest

from tests.unit.config.builders import configuration, with_args
from tests.unit.config.test_defaulting import args_of
from topospread.config.args import CPU_AND_MEMORY, ResourceWeight, ShapePoint
from topospread.config.load import load_configuration


def test_ratio_keeps_its_shape() -> None:
    strategy = {
        "type": "RequestedToCapacityRatio",
        "requestedToCapacityRatio": {"shape": [{"utilization": 0}, {"utilization": 100, "score": 10}]},
    }
    found = args_of(with_args("NodeResourcesFit", {"scoringStrategy": strategy})).node_resources_fit.scoring_strategy
    assert found.shape == (ShapePoint(0, 0), ShapePoint(100, 10))


def test_older_scoring_plugins_take_their_own_resources() -> None:
    data = with_args("NodeResourcesLeastAllocated", {"resources": [{"name": "cpu", "weight": 3}]}, "v1beta1")
    assert args_of(data).node_resources_least_allocated.resources == (ResourceWeight("cpu", 3),)
    assert args_of(data).node_resources_most_allocated.resources == CPU_AND_MEMORY


@pytest.mark.parametrize("zero", ["0s", "0", "0h", "0ms"])
def test_duration_of_zero_is_not_given(zero: str) -> None:
    assert load_configuration(configuration(leaderElection={"leaseDuration": zero}))
