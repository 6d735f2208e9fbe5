"""PodTopologySpread: the boundary of maxSkew, minDomains, missing labels, and the score."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest

from conformance.judging.cases import judge_case
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.plugins.interface import FilterEach, ScoreEach
from topospread.plugins.pod_topology_spread import (
    IGNORED,
    PodTopologySpread,
    lacks_domains,
    minimum_in_force,
    points_among,
    skew_of,
    weight_and_more,
)

Json = dict[str, Any]
SKEW = "node(s) didn't match pod topology spread constraints"
MISSING = f"{SKEW} (missing required label)"


def node(name: str, zone: str | None) -> Json:
    metadata = {"name": name, "labels": {} if zone is None else {"zone": zone}}
    return {"metadata": metadata, "status": {"allocatable": {"pods": "20"}}}


def pod(name: str, on: str = "", app: str = "web", **constraint: Any) -> Json:
    given = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}, **constraint}
    spec: Json = {"containers": [{"name": "c"}], "nodeName": on}
    spec |= {"topologySpreadConstraints": [given]} if constraint else {}
    return {"metadata": {"name": name, "namespace": "d", "labels": {"app": app}}, "spec": spec}


def hard(app: str = "web", **fields: Any) -> Json:
    return pod("new", app=app, **{"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **fields})


def verdict(incoming: Json, *placed: str, nodes: tuple[str | None, ...] = ("a", "b")) -> Json:
    """The verdict on a pod in a cluster with a node for each zone, and a pod on each placed zone."""
    case = {
        "nodes": [node(zone or "none", zone) for zone in nodes],
        "pods": [pod(f"p{i}", zone) for i, zone in enumerate(placed)],
        "incoming": [incoming],
    }
    found: Json = judge_case(case)["verdicts"][0]
    return found


@pytest.mark.parametrize(
    ("max_skew", "placed", "feasible"),
    [(1, "", "ab"), (1, "a", "b"), (1, "ab", "ab"), (2, "a", "ab"), (2, "aa", "b"), (1, "aab", "b")],
)
def test_a_node_is_rejected_above_max_skew(max_skew: int, placed: str, feasible: str) -> None:
    assert verdict(hard(maxSkew=max_skew), *placed)["feasible"] == list(feasible)


def test_a_pod_that_its_selector_does_not_match_adds_nothing() -> None:
    assert verdict(hard(app="other"), "a")["feasible"] == ["a", "b"]
    assert verdict(hard(app="other"), "a", "a")["feasible"] == ["b"]


@pytest.mark.parametrize(("min_domains", "feasible"), [(2, ["a", "b"]), (3, [])])
def test_the_minimum_is_0_below_min_domains(min_domains: int, feasible: list[str]) -> None:
    assert verdict(hard(minDomains=min_domains), "a", "b")["feasible"] == feasible


def test_evictions_can_help_against_skew_but_not_against_a_missing_label() -> None:
    rejected = verdict(hard(), "a", nodes=("a", "b", None))["rejected"]
    assert {name: (each["code"], each["reasons"]) for name, each in rejected.items()} == {
        "a": ("Unschedulable", [SKEW]),
        "none": ("UnschedulableAndUnresolvable", [MISSING]),
    }


def test_fewer_matching_pods_score_more_and_a_node_without_the_key_0() -> None:
    incoming = pod("new", maxSkew=1, whenUnsatisfiable="ScheduleAnyway")
    scores = verdict(incoming, "a", "a", "b", nodes=("a", "b", "c", None))["scores"]
    # Three zones: a has 2 · ln 5 = 3.2 → 3, b has 1.6 → 2, c has 0; the plugin's weight is 2.
    assert {name: each["PodTopologySpread"] for name, each in scores.items()} == {"a": 0, "b": 66, "c": 200, "none": 0}


def test_the_formulas() -> None:
    assert skew_of(3, 1, 2) == 2
    assert [lacks_domains(domains, 3) for domains in range(5)] == [False, True, True, False, False]
    assert (minimum_in_force(2, 5, 3), minimum_in_force(3, 5, 3)) == (0, 5)
    assert weight_and_more(3, 4) == (math.log(5), 3)
    assert points_among(np.array([2, 4, 6]), 2, 6).tolist() == [100, 66, 33]


def test_node_by_node_gives_the_same_as_arrays() -> None:
    cluster = Cluster()
    for name, zone in (("a", "a"), ("a2", "a"), ("b", "b"), ("e", ""), ("x", None)):
        cluster.add_node(msgspec.convert(node(name, zone), Node))
    for i, on in enumerate(("a", "a2", "a2", "b", "x")):
        cluster.add_pod(msgspec.convert(pod(f"p{i}", on), Pod))
    rows = list(range(5))
    for when in ("DoNotSchedule", "ScheduleAnyway"):
        incoming = msgspec.convert(pod("new", maxSkew=1, whenUnsatisfiable=when), Pod)
        prepared = PodTopologySpread().prepare(cluster.pod_class(incoming), cluster)
        if prepared.filter is not None:
            assert isinstance(prepared.filter, FilterEach)
            assert (
                prepared.filter.filter_each(rows) == prepared.filter.filter(np.array(rows)).tolist() == [1, 1, 1, 0, 2]
            )
        else:
            assert isinstance(prepared.score, ScoreEach)
            raw = prepared.score.score_each(rows)
            assert raw == prepared.score.score(np.array(rows)).tolist()
            assert [each == IGNORED for each in raw] == [False] * 4 + [True]
            points = prepared.score.normalize(np.array(raw), np.array(rows)).tolist()
            assert prepared.score.normalize_each(raw) == points == [0, 0, 60, 100, 0]
