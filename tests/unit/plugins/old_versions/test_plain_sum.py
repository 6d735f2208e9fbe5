"""PodTopologySpread's score in 1.18."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import HOST, WEB, cluster, place, pod, prepare, spread, zonal
from topospread.config.args import PluginArgs
from topospread.config.gates import gates_for
from topospread.plugins.interface import Normalized
from topospread.plugins.registry import PLUGINS, PluginSettings

SPREAD_1_18 = PLUGINS["PodTopologySpread"](PluginSettings(PluginArgs(), gates_for("1.18")))


@pytest.mark.parametrize(
    ("placed", "keys", "raw", "points"),
    [
        (["a0", "a0", "b0", "c0", "c0", "c0"], 1, [2, 1, 3, 0], [80, 100, 60, 0]),  # 100 · (6 − raw) / (6 − 1)
        (["a0", "b0"], 2, [2, 2, 0, 0], [50, 50, 100, 0]),  # pods of the zone and of the host add up
        (["none"], 1, [0, 0, 0, 0], [100, 100, 100, 100]),  # the sum is the lowest score
    ],
)
def test_the_sum_of_matching_pods_is_relative_to_all_nodes(
    placed: list[str], keys: int, raw: list[int], points: list[int]
) -> None:
    made = cluster({**zonal(a0="a", b0="b", c0="c"), "none": {}})
    for i, name in enumerate(placed):
        place(made, pod(name=f"p{i}", labels=WEB), name)
    soft = [spread("ScheduleAnyway"), spread("ScheduleAnyway", HOST)]
    score = prepare(SPREAD_1_18, pod(labels=WEB, topologySpreadConstraints=soft[:keys]), made).score
    assert isinstance(score, Normalized)
    found = score.score(slice(0, 4))
    assert (found.tolist(), score.normalize(found, slice(0, 4)).tolist()) == (raw, points)
