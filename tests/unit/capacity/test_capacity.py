"""How many more fit, what ends it, what is left after a loss, and what one more node brings."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.parted import parted
from tests.plain_inventory import inventory
from tests.unit.drill.builders import ZONE, node, nodes, spread, workload
from topospread.answers.capacity import capacity_answer
from topospread.answers.causes import why_words
from topospread.capacity import CapacityReport
from topospread.capacity.capacity import capacity
from topospread.capacity.purchases import read_shape
from topospread.capacity.wanted import pods_asked, read_more, read_shares
from topospread.errors import UsageError

Json = dict[str, Any]
SPREAD = {"topologySpreadConstraints": [spread()]}


def asked(objects: list[Json], *of: str, **besides: Any) -> CapacityReport:
    return capacity(inventory(*objects), *(of or ("deploy/web",)), workers=1, **parted(besides))


def ends(report: CapacityReport) -> str:
    return why_words(capacity_answer(report).room.ends)


def verdict(report: CapacityReport) -> str:
    return capacity_answer(report).verdict


def more(report: CapacityReport) -> dict[str, int]:
    zones = next(each for each in report.capacity.keys if each.topology_key == ZONE)
    return {each.name: each.more for each in zones.domains}


def test_what_is_there_already_counts() -> None:
    found = asked([*nodes("a"), workload("Deployment"), workload("Deployment", "other", 4)])
    assert found.capacity.rounds == 3


def test_a_quota_ends_the_room_whatever_is_not_judged() -> None:
    quota = {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "shop"}, "spec": {"hard": {"pods": "1"}}}
    foreign = workload("Deployment", "other", 1, {"schedulerName": "volcano"})
    found = asked(
        [*nodes("a", "b"), foreign | {"metadata": {"name": "other", "namespace": "ml"}}, quota, workload("Deployment")]
    )
    assert (found.may_change, verdict(found)) == (True, "no")


def quota(**hard: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "shop"},
        "spec": {"hard": hard},
    }


def test_a_quota_is_shared_in_the_ratio_whatever_the_order_of_the_workloads() -> None:
    both = [workload("Deployment", "web", 2), workload("StatefulSet", "api", 2)]
    others = workload("Deployment", "other", 2)
    for objects in ([*both, others], [others, *both[::-1]]):
        found = asked([*nodes("a", "b"), *objects, quota(pods="10")], "deploy/web", "sts/api", more=5)
        assert found.capacity.rounds == 2
        assert not found.capacity.waiting
        assert "exceeded quota: q" in ends(found)


def test_no_nodes_are_searched_for_pods_that_a_quota_denies() -> None:
    found = asked([*nodes("a"), workload("Deployment", replicas=2), quota(pods="12")], more=12)
    assert (found.capacity.rounds, found.capacity.created, found.sizing) == (8, 10, None)
    assert "a1 lacks cpu, and ResourceQuotas admit 10 of 12 more: FailedCreate: " in why_words(
        capacity_answer(found).causes
    )
    enough = asked([*nodes("a"), workload("Deployment", replicas=2), quota(pods="14")], more=12)
    assert "ResourceQuotas" not in why_words(capacity_answer(enough).causes)


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_a_constraint_that_honors_taints_needs_no_node(kind: str) -> None:
    gpu = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    tainted = node("c1", "c")
    tainted["spec"] = tainted.get("spec", {}) | gpu
    objects = [*nodes("a", "b"), tainted, workload(kind, replicas=2, spec=SPREAD)]
    found = asked(objects, f"{kind.lower()}/web", more=4)
    answer = capacity_answer(found)
    assert (found.capacity.rounds, verdict(found)) == (0, "no")
    assert answer.remedies[0].says == "nodeTaintsPolicy: Honor in shop/web"
    assert "\nfix: nodeTaintsPolicy: Honor in shop/web, without a new node; tried: all fit\n" in answer.text()
    small = asked([*nodes("a", "b"), workload(kind, replicas=2, spec=SPREAD)], f"{kind.lower()}/web", more=40)
    assert all(each.code != "nodeTaintsPolicy" for each in capacity_answer(small).remedies)


def test_after_a_loss_the_dead_zone_still_holds_the_minimum() -> None:
    found = asked([*nodes("a", "b", "c"), workload("Deployment", replicas=6, spec=SPREAD)], each_zone=True)
    assert [(each.target, each.capacity.rounds, each.pending) for each in found.losses] == [
        ("a", 0, 2),
        ("b", 0, 2),
        ("c", 0, 2),
    ]


def test_as_many_as_are_asked_for_have_to_fit_after_each_loss_too() -> None:
    shop = [*nodes("a", "b", "c"), workload("Deployment", replicas=10)]
    assert verdict(asked(shop, each_zone=True, more="100%")) == "yes"
    found = capacity_answer(asked(shop, each_zone=True, more="101%"))
    assert (found.verdict, found.says) == (
        "no",
        "20 more replicas of shop/web fit besides its 10 (30 in all), 10 of 11 after the loss of a",
    )
    assert verdict(asked(shop, more="200%")) == "yes"
    assert verdict(asked(shop, more="200.1%")) == "no"
    assert verdict(asked(shop, more=20)) == "yes"
    short = capacity_answer(asked(shop, more=21))
    assert short.says == "20 of 21 more replicas of shop/web fit besides its 10 (30 in all)"


def test_a_node_that_is_enough_is_the_fix() -> None:
    shop = [*nodes("a"), workload("Deployment")]
    assert not capacity_answer(asked(shop)).remedies
    found = capacity_answer(asked(shop, more=10))
    assert [(each.says, each.tried.places, each.tried.of) for each in found.remedies] == [
        ("add 1 node like a1 in a", 13, 13)
    ]


def test_several_nodes_like_those_that_exist_are_the_fix_if_one_is_too_few() -> None:
    short = capacity_answer(asked([*nodes("a"), workload("Deployment")], more=20, seconds=300.0))
    assert (short.says, short.purchases[0].gain) == (
        "7 of 20 more replicas of shop/web fit besides its 3 (10 in all); 2 more nodes are enough",
        10,
    )
    assert [(each.says, each.tried.places) for each in short.remedies] == [("+2 like a1 (a)", 23)]
    lost = capacity_answer(asked([*nodes("a", "b"), workload("Deployment")], more=50, each_zone=True))
    assert (lost.sizing, lost.remedies) == (None, ())
    assert "fix: no single node is enough (2 tried); 1 like a1 in a makes room for 10 more" in lost.text()


CLAIMS = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]}


def test_more_of_what_cannot_be_judged_is_between_none_and_what_other_filters_admit() -> None:
    found = capacity_answer(asked([*nodes("a", "b"), workload("Deployment", spec=CLAIMS)]))
    assert (found.verdict, found.says) == ("unknown", "0–17 more replicas of shop/web fit besides its 3")
    assert [each.what for each in found.unjudged] == ["resourceClaims"]
    assert (found.remedies, found.purchases, found.causes) == ((), (), ())
    crowded = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "11"}}}]
    refused = capacity_answer(asked([*nodes("a", "b"), workload("Deployment", spec=CLAIMS | {"containers": crowded})]))
    assert (refused.verdict, refused.unjudged, refused.causes[0].code) == ("no", (), "cpu-short")


def test_neighbours_that_cannot_be_judged_are_bracketed() -> None:
    shop = [*nodes("a"), workload("Deployment"), workload("Deployment", "gpu", 4, CLAIMS)]
    found = capacity_answer(asked(shop))
    assert (found.verdict, found.says) == ("yes", "3–7 more replicas of shop/web fit besides its 3")
    assert found.assumed
    assert capacity_answer(asked(shop, more=7)).verdict == "unknown"
    assert capacity_answer(asked(shop, more=8)).verdict == "no"


def test_a_neighbour_that_is_not_judged_may_take_the_room_where_the_constraint_needs_it() -> None:
    """A simulation puts it on the emptiest node. On the smallest one, fewer replicas fit within maxSkew."""
    small = node("b1", "b", cpu="4")
    shop = [node("a1", "a", cpu="40"), small, workload("Deployment", replicas=2, spec=SPREAD)]
    assert capacity_answer(asked(shop)).says.startswith("7 more replicas of shop/web fit")
    found = capacity_answer(asked([*shop, workload("Deployment", "gpu", 1, CLAIMS)]))
    assert found.says.startswith("5–7 more replicas of shop/web fit")
    assert [found.verdict] + [
        capacity_answer(asked([*shop, workload("Deployment", "gpu", 1, CLAIMS)], more=number)).verdict
        for number in (5, 6, 7, 8)
    ] == ["yes", "yes", "unknown", "unknown", "no"]


@pytest.mark.parametrize(
    ("of", "besides", "says"),
    [
        (("deploy/wep",), {}, "did you mean shop/deployment/web"),
        (("ds/log",), {}, "a DaemonSet cannot get more replicas"),
        (("deploy/web=0",), {}, "KIND/NAME"),
        (("deploy/web", "deploy/web=2"), {}, "given twice"),
        (("deploy/web", "shop/deploy/web"), {}, "given twice"),
        (("deploy/web",), {"pod": "pod.yaml"}, "give either workloads or a pod's file"),
        ((), {}, "name the workload to scale up"),
        (("deploy/web",), {"more": "lots"}, "percentage"),
        (("deploy/web",), {"more": "0"}, "from 1 to"),
        ((), {"more": "20%", "pod": "pod.yaml"}, "no replicas"),
        (("deploy/web",), {"shapes": ["zones=3,cpu=1"]}, "describes a cluster, not a node"),
        (("deploy/web",), {"shapes": ["cpu=lots"]}, "cpu=lots"),
        (("deploy/gated",), {}, "scheduling gates"),
    ],
)
def test_what_cannot_be_asked_is_said(of: tuple[str, ...], besides: Json, says: str) -> None:
    gated = workload("Deployment", "gated", spec={"schedulingGates": [{"name": "wait"}]})
    there = inventory(*nodes("a"), workload("Deployment"), workload("DaemonSet", "log"), gated)
    with pytest.raises(UsageError, match=says):
        capacity(there, *of, **parted(besides))


def test_a_cluster_without_zones_cannot_lose_one() -> None:
    with pytest.raises(UsageError, match="there is none"):
        asked([node("n"), workload("Deployment")], each_zone=True)


def test_forms() -> None:
    assert [(each.target, each.number) for each in read_shares(["deploy/web=2, sts/db", "a/job/x"], "shop")] == [
        ("shop/deploy/web", 2),
        ("shop/sts/db", 1),
        ("a/job/x", 1),
    ]
    assert (read_more("12.5%"), read_more("7"), read_more(7)) == (Fraction(1, 8), 7, 7)
    assert (pods_asked(2, 3, 10), pods_asked(Fraction(1, 3), 1, 10)) == (6, 4)
    assert read_shape("cpu=8,label=pool=big").model.labels["pool"] == "big"


def test_long_names_of_nodes_keep_the_columns_of_a_purchase_straight() -> None:
    name = "ip-10-0-0-00.eu-west-1.compute.internal"
    lines = capacity_answer(asked([node(name, "a"), *nodes("b"), workload("Deployment")], more=20)).text().splitlines()
    heads = next(each for each in lines if each.startswith("ONE MORE NODE"))
    rows = lines[lines.index(heads) + 1 :][:2]
    assert [each[heads.index("ZONE") :].split()[0] for each in rows if each] == ["a", "b"]


def test_pods_of_stateful_sets_that_are_not_replaced_after_a_loss_are_named() -> None:
    found = asked([*nodes("a", "b"), workload("StatefulSet", "db", 2), workload("Deployment")], each_zone=True)
    assert sorted(each.not_replaced for each in found.losses) == [("shop/db-0",), ("shop/db-1",)]
    said = " ".join(capacity_answer(found).text().split())
    assert "shop/db-0" in said
    assert "note: a StatefulSet replaces a pod only after the old one is deleted" in said


def test_a_no_names_the_required_rounds_of_several_workloads() -> None:
    both = [*nodes("a"), workload("Deployment"), workload("Deployment", "api", 1)]
    found = capacity_answer(asked(both, "deploy/web=2,deploy/api", more=9))
    assert (found.verdict, found.says.partition(";")[0]) == (
        "no",
        "2 of 9 more rounds of 2 shop/web and 1 shop/api fit",
    )


def test_a_no_for_pods_that_are_not_judged_has_a_cause_and_its_rows_claim_nothing() -> None:
    found = capacity_answer(asked([*nodes("a", "b"), workload("Deployment", spec=CLAIMS)], more=99))
    assert (found.verdict, [each.code for each in found.causes]) == ("no", ["cpu-short"])
    text = found.text(wide=True)
    assert "why: " in text
    assert [line.split()[1] for line in text.splitlines() if line.startswith(("a1 ", "b1 "))] == ["?", "?"]
    assert "not judged\n" in text
    assert "no node takes it" not in text


def test_a_reason_of_some_nodes_is_told_apart_from_the_reason_that_all_nodes_share() -> None:
    wants = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "40Gi"}}}]}
    shop = [node("a1", cpu="1"), *(node(f"a{at}") for at in (2, 3, 4, 5)), workload("Deployment", spec=wants)]
    assert ends(asked(shop)) == "all 5 nodes lack memory, and a1 lacks cpu, too"
    assert capacity_answer(asked(shop)).says == "2 more replicas of shop/web fit besides its 3 (5 in all)"
