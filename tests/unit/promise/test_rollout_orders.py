"""Every way that a rollout may go: how far skew gets, who gets stuck, what a loss leaves afterwards."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.order_questions import guarantee
from tests.parted import parted
from tests.unit.drill.builders import Json, inventory, node, nodes, spread, workload
from topospread.drill.checking import check_drills
from topospread.drill.drill_file import find_drills
from topospread.errors import InputError, UsageError
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


STUCK = [*(node(f"{zone}1", zone, cpu="1") for zone in "abc"), web(3, strategy=rolling(1, 0))]


def played(folder: Path, objects: list[Json], drill: str) -> list[str]:
    """What the drill of a way falls short of."""
    (folder / "all.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
    (folder / "way.yaml").write_text(drill.replace("spec:\n", "spec:\n  manifests: [all.yaml]\n", 1))
    found = check_drills(find_drills([str(folder / "way.yaml")]))
    return [each.message for drill in found.drills for each in drill.shortfalls]


def fixed(drill: str) -> str:
    """Return the drill with an order that must be possible, with scores."""
    assert "  anyNode: true\n" in drill
    return drill.replace("  anyNode: true\n", "")


def test_a_way_of_a_rollout_plays_again_as_a_drill(tmp_path: Path) -> None:
    skewed = [*nodes("a", "b", "c"), web()]
    drill = asked(skewed, skew=2).drill
    assert played(tmp_path, skewed, drill) == [
        "Deployment shop/web has skew 3 on topology.kubernetes.io/zone, at most 2 expected"
    ]
    (short,) = played(tmp_path, STUCK, asked(STUCK, never_pending=True).drill)
    assert "1 pending at the end" in short


def test_pods_that_are_there_stay_where_they_are(tmp_path: Path) -> None:
    """Of three pods one is read, on a2, and two are placed: only these may stand elsewhere."""
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u", "controller": True}
    labels = {"app": "web", "pod-template-hash": "x"}
    sets = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web-x", "namespace": "shop"}}
    template = web(3)["spec"]["template"]
    sets["metadata"] |= {"ownerReferences": [owner], "labels": labels, "uid": "r"}
    there = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "web-x-1",
            "namespace": "shop",
            "labels": labels,
            "ownerReferences": [owner | {"kind": "ReplicaSet", "name": "web-x", "uid": "r"}],
        },
        "spec": template["spec"] | {"nodeName": "a2"},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template | {"metadata": {"labels": labels}}}
    deployment = web(3)
    deployment["metadata"]["uid"] = "u"
    objects = [*nodes("a", "a", "b"), deployment, sets | {"spec": spec}, there]
    answer = asked(objects, skew=0)
    assert answer.drill.count("stands") == 2
    assert "web-x-1" not in answer.drill
    assert played(tmp_path, objects, answer.drill)


@pytest.mark.parametrize(
    ("turns", "why"),
    [
        ("{stands: web-nope=a1}", "stands web-nope a1 cannot be: shop/deploy/web has no such pod"),
        ("{placed: a1}", "placed a1 cannot be: kube-scheduler finds no node"),
        ("{ready: any}", "ready cannot be: no new pod has a node and is not ready yet"),
        ("{gone: a1}", "gone a1 cannot be: no deleted pod is left there"),
        ("{deleted: a1}", "deleted a1 cannot be: 0 old pods are removed together now, not 1"),
        ("{deleted: [a1]}", "expected a string"),
        ("{stands: a1}", "write POD=NODE"),
        ("{placed: a1=b}", "write a node"),
        ("{ready: web}", "write any: the turn is for any new pod"),
        ("{place: a1}", "unknown field 'place'; did you mean placed?"),
        ("{placed: a1, ready: any}", "a turn must have exactly one of the fields stands, placed, ready, deleted, gone"),
    ],
)
def test_a_turn_that_cannot_be_is_refused(tmp_path: Path, turns: str, why: str) -> None:
    drill = fixed(asked(STUCK, never_pending=True).drill)
    assert drill.count("turns:") == 1
    head, _, rest = drill.partition("turns:")
    broken = f"{head}turns: [{turns}]\n  expect:{rest.partition('  expect:')[2]}"
    with pytest.raises(InputError, match=re.escape(why)):
        played(tmp_path, STUCK, broken)


def test_who_goes_and_where_pods_are_placed_is_checked(tmp_path: Path) -> None:
    """With a doubled-up pod, another that is to go first is refused, and so is a node that is none of the best."""
    objects = [*nodes("a", "b", "c"), web(4, strategy=rolling(0, 1))]
    drill = fixed(asked(objects, skew=0).drill)
    assert "deleted: a1" in drill
    with pytest.raises(InputError, match="deleted b1 cannot be: the old pod on a1 goes before"):
        played(tmp_path, objects, drill.replace("deleted: a1", "deleted: b1", 1))
    with pytest.raises(InputError, match="kube-scheduler takes"):
        played(tmp_path, objects, re.sub(r"(stands: [\w-]+)=\w1", r"\1=a1", drill))


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
