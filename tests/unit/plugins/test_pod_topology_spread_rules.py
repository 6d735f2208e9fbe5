"""PodTopologySpread by version: what a node without the key lacks, and how the score is made."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import WEB, cluster, place, pod, prepare, rejections, spread, zonal
from topospread.config.args import PluginArgs
from topospread.config.gates import gates_for
from topospread.plugins.interface import Plugin
from topospread.plugins.registry import PLUGINS, PluginSettings

SKEW = "node(s) didn't match pod topology spread constraints"


def of(version: str) -> Plugin:
    return PLUGINS["PodTopologySpread"](PluginSettings(PluginArgs(), gates_for(version)))


@pytest.mark.parametrize(("version", "reason"), [("1.18", SKEW), ("1.19", f"{SKEW} (missing required label)")])
def test_a_node_without_the_key_is_told_apart_since_1_19(version: str, reason: str) -> None:
    made = cluster({**zonal(a="a"), "none": {}})
    incoming = pod(labels=WEB, topologySpreadConstraints=[spread()])
    assert rejections(of(version), incoming, made) == {"none": (reason,)}


@pytest.mark.parametrize(("version", "raw"), [("1.18", 1), ("1.19", 1), ("1.23", 1), ("1.24", 2), ("1.37", 2)])
def test_a_weighed_pod_is_rounded_since_1_24(version: str, raw: int) -> None:
    made = cluster(zonal(a="a", b="b", c="c"))
    place(made, pod(name="there", labels=WEB), "a")
    incoming = pod(labels=WEB, topologySpreadConstraints=[spread("ScheduleAnyway")])
    score = prepare(of(version), incoming, made).score
    assert score is not None
    assert score.score(slice(0, 3)).tolist() == [raw, 0, 0]  # 1 · ln 5 = 1.6


@pytest.mark.parametrize(("version", "scored"), [("1.18", False), ("1.19", True), ("1.27", True), ("1.28", False)])
def test_a_pod_without_constraints_is_scored_from_1_19_to_1_27(version: str, scored: bool) -> None:
    prepared = prepare(of(version), pod(labels=WEB), cluster(zonal(a="a")))
    assert (prepared.score.score(slice(0, 1)).tolist() if prepared.score else None) == ([100] if scored else None)
