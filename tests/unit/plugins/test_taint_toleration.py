"""TaintToleration: effects that reject, effects that cost score, tolerations, and the queueing hint."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from conformance.judging.cases import judge_case
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.plugins.taint_toleration import TaintToleration

Json = dict[str, Any]


def taint(key: str, effect: str = "NoSchedule") -> Json:
    return {"key": key, "value": "v", "effect": effect}


def node(name: str, *taints: Json) -> Json:
    return {"metadata": {"name": name}, "spec": {"taints": list(taints)}, "status": {"allocatable": {"pods": "9"}}}


def pod(*tolerations: Json) -> Json:
    spec = {"containers": [{"name": "c"}], "tolerations": list(tolerations)}
    return {"metadata": {"name": "new", "namespace": "d"}, "spec": spec}


def verdict(incoming: Json, *nodes: Json, version: str = "1.37") -> Json:
    found: Json = judge_case({"nodes": list(nodes), "incoming": [incoming], "kubeVersion": version})["verdicts"][0]
    return found


def test_no_schedule_and_no_execute_reject_and_prefer_no_schedule_does_not() -> None:
    nodes = [node(effect, taint("k", effect)) for effect in ("NoSchedule", "NoExecute", "PreferNoSchedule")]
    found = verdict(pod(), *nodes)
    assert found["feasible"] == ["PreferNoSchedule"]
    assert {each["code"] for each in found["rejected"].values()} == {"UnschedulableAndUnresolvable"}
    assert found["rejected"]["NoSchedule"]["reasons"] == ["node(s) had untolerated taint(s)"]


@pytest.mark.parametrize(
    ("toleration", "feasible"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "k", "operator": "Exists"}, True),
        ({"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, True),
        ({"key": "k", "operator": "Equal", "value": "other"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
    ],
)
def test_a_toleration_needs_key_value_and_effect(toleration: Json, feasible: bool) -> None:
    assert bool(verdict(pod(toleration), node("n", taint("k")))["feasible"]) is feasible


def test_each_untolerated_preference_costs_the_same_share() -> None:
    soft = [taint(key, "PreferNoSchedule") for key in "jk"]
    nodes = [node(f"n{count}", *soft[:count]) for count in range(3)]
    scores = verdict(pod(), *nodes)["scores"]
    assert {name: each["TaintToleration"] for name, each in scores.items()} == {"n0": 300, "n1": 150, "n2": 0}
    scores = verdict(pod({"key": "j", "operator": "Exists", "effect": "NoSchedule"}), *nodes)["scores"]
    assert scores["n1"]["TaintToleration"] == 150, "a toleration of NoSchedule does not cover PreferNoSchedule"
    scores = verdict(pod({"key": "j", "operator": "Exists"}), *nodes)["scores"]
    assert {name: each["TaintToleration"] for name, each in scores.items()} == {"n0": 300, "n1": 300, "n2": 0}


@pytest.mark.parametrize(
    ("old", "new", "helps"),
    [
        (None, [], True),
        (None, ["k"], False),
        (["k"], [], True),
        (["k"], ["k"], False),
        (["tolerated"], [], False),
        (["k", "tolerated"], ["tolerated"], True),
    ],
)
def test_a_node_helps_once_its_last_untolerated_taint_is_gone(
    old: list[str] | None, new: list[str], helps: bool
) -> None:
    registration, _ = TaintToleration().events_to_register(Cluster())
    before = None if old is None else msgspec.convert(node("n", *map(taint, old)), Node)
    after = msgspec.convert(node("n", *map(taint, new)), Node)
    pending = msgspec.convert(pod({"key": "tolerated", "operator": "Exists"}), Pod)
    assert registration.hint(pending, before, after) is helps
