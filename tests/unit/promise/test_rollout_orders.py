"""Every way that a rollout may go: how far skew gets, who gets stuck, what a loss leaves afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.order_questions import guarantee
from tests.parted import parted
from tests.unit.drill.builders import Json, inventory, node, nodes, spread, workload
from topospread.errors import UsageError
from topospread.promise.order_answer import GuaranteeAnswer


def web(replicas: int = 6, **more: Any) -> Json:
    """A Deployment with a hard constraint; ``more``: of the constraint, and the Deployment's ``strategy``."""
    strategy = more.pop("strategy", None)
    made = workload("Deployment", "web", replicas, {"topologySpreadConstraints": [spread(**more)]})
    if strategy is not None:
        made["spec"]["strategy"] = strategy
    return made


def asked(objects: list[Json], **options: Any) -> GuaranteeAnswer:
    (answer,) = guarantee(inventory(*objects), rollout="deploy/web", **parted(options))
    return answer


def rolling(surge: int | str, unavailable: int | str) -> Json:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def test_the_skew_after_a_rollout_has_a_most_that_is_reached() -> None:
    """Old pods count until they are deleted, and what was placed beside them stays."""
    answer = asked([*nodes("a", "b", "c"), web()], skew=2)
    assert (answer.answer, answer.why) == ("not always", "shop/web has skew 3 on topology.kubernetes.io/zone")
    assert {each.does for each in answer.order} == {"stands", "placed", "ready", "deleted", "gone"}
    assert [each.does for each in answer.order].count("placed") == 6
    assert asked([*nodes("a", "b", "c"), web()], skew=3).answer == "always"


def test_where_the_old_pods_stand_is_looked_at_in_every_way() -> None:
    """Two of three old pods in zone a: two new ones join the one in b, and the last follows while a still counts."""
    cells = [node("n0", "b", cpu="2"), node("n1", "b", cpu="4"), node("n2", "a", cpu="4")]
    answer = asked([*cells, web(3, strategy=rolling(2, 0))], skew=1)
    assert (answer.answer, answer.why) == ("not always", "shop/web has skew 3 on topology.kubernetes.io/zone")
    stood = [each.node for each in answer.order if each.does == "stands"]
    assert stood.count("n2") == 2


def test_match_label_keys_keep_the_skew() -> None:
    assert asked([*nodes("a", "b", "c"), web(matchLabelKeys=["pod-template-hash"])], skew=1).answer == "always"


def test_a_rollout_that_gets_stuck_says_so() -> None:
    """One node a zone with room for one pod: without a surge a pod goes first, with one nothing ever fits."""
    full = [node(f"{zone}1", zone, cpu="1") for zone in "abc"]
    assert asked([*full, web(3, strategy=rolling(0, 1))], never_pending=True).answer == "always"
    answer = asked([*full, web(3, strategy=rolling(1, 0))], never_pending=True)
    assert (answer.answer, answer.why) == ("never", "1 of shop/web stays pending")
    assert answer.order[-1].node == ""


def test_a_loss_after_the_rollout_is_asked() -> None:
    objects = [*nodes("a", "b", "c"), web(3, matchLabelKeys=["pod-template-hash"])]
    assert asked(objects, survives="zone", left=["deploy/web=2"]).answer == "always"
    plain = asked([*nodes("a", "b", "c"), web(3)], survives="zone", left=["deploy/web=2"])
    assert (plain.answer, "leaves" in plain.why) == ("not always", True)


def test_who_goes_first_is_told_by_pods_and_not_by_chance() -> None:
    """Of the old pods the doubled-up one goes first: with one node a zone and four pods always that of the first."""
    answer = asked([*nodes("a", "b", "c"), web(4, strategy=rolling(0, 1))], skew=0)
    first = next(each for each in answer.order if each.does == "deleted")
    assert first.node == "a1"


def test_what_cannot_be_searched_is_refused_or_not_decided() -> None:
    with pytest.raises(UsageError, match="not a StatefulSet"):
        guarantee(inventory(*nodes("a"), workload("StatefulSet", "db")), skew=1, rollout="sts/db")
    with pytest.raises(UsageError, match="Recreate"):
        asked([*nodes("a"), web(2, strategy={"type": "Recreate"})], skew=1)
    with pytest.raises(UsageError, match="shop/deployment/web"):
        guarantee(inventory(*nodes("a"), web(2)), skew=1, rollout="deploy/wep")
    few = asked([node("a1", "a", cpu="1"), web(2)], skew=1)
    assert (few.answer, few.why) == ("not decided", "some pods are not ready when the rollout begins")
    assert asked([*nodes("a", "b", "c"), web()], skew=3, states=10).answer == "not decided"


def quota(pods: int) -> Json:
    metadata = {"name": "few", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": str(pods)}}}


def test_a_rollout_whose_surge_exceeds_a_quota_is_stuck(tmp_path: Path) -> None:
    given = [*nodes("a", "b", "c"), web(3, strategy=rolling(1, 0))]
    assert asked(given, never_pending=True).answer == "always"
    assert asked([*given, quota(4)], never_pending=True).answer == "always"
    answer = asked([*given, quota(3)], never_pending=True)
    assert (answer.answer, answer.why) == ("never", "1 of shop/web stays pending")


def test_pods_that_a_quota_refuses_are_created_once_old_pods_are_deleted() -> None:
    given = [*nodes("a", "b", "c"), web(3, strategy=rolling(1, 1)), quota(3)]
    answer = asked(given, never_pending=True)
    assert answer.answer == "always"
    assert answer.states > 0, "counting does not decide it"


def test_a_rollout_beside_refused_pods_of_other_workloads_is_not_decided() -> None:
    other = workload("Deployment", "other", 2)
    answer = asked([*nodes("a", "b", "c"), web(3, strategy=rolling(1, 1)), other, quota(4)], never_pending=True)
    assert answer.answer == "not decided"


def test_a_rollout_that_may_stop_is_counted_by_the_pods_that_stay_ready() -> None:
    """Eleven of fourteen stay ready, and a zone has at most six of the eighteen that may exist: no search ends."""
    made = web(14)
    own = made["spec"]["template"]["spec"]["topologySpreadConstraints"]
    own.append(spread(topologyKey="kubernetes.io/hostname"))
    answer = asked([*nodes(*"aabbcc"), made], survives="zone", left=["web=5"], seconds=1.0)
    assert (answer.answer, answer.states) == ("always", 0)
    assert answer.why.endswith("11 pods stay ready, at most 6 in one zone, so at least 5 are left")
    assert asked([*nodes(*"aabbcc"), made], survives="zone", left=["web=6"], seconds=0.1).answer != "always"
