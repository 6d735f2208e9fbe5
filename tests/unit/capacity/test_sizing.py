"""The cheapest nodes of pools: prices, ties, limits, pods that are not judged, and time that ends."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.plain_inventory import inventory
from tests.unit.drill.builders import ZONE, node, nodes, spread, workload
from topospread.answers.capacity import Capacity, Sizing, capacity_answer
from topospread.api.node_selection import Taint
from topospread.api.pools import Limits, NodePool
from topospread.capacity.capacity import capacity
from topospread.errors import UsageError
from topospread.simulation.options import SimulationOptions

Json = dict[str, Any]
THREE_ZONES = {"topologySpreadConstraints": [spread(minDomains=3)]}
SPREAD = {"topologySpreadConstraints": [spread()]}


def pool(name: str, zone: str = "", cpu: int = 10, **more: Any) -> NodePool:
    labels = {"pool": name} | ({ZONE: zone} if zone else {}) | more.pop("labels", {})
    return NodePool(name, labels, {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}, **more)


def sized(objects: list[Json], *pools: NodePool, more: int = 1, seconds: float = 300.0, **others: Any) -> Capacity:
    options = SimulationOptions(pools=pools)
    report = capacity(
        inventory(*objects), "deploy/web", options=options, more=more, workers=1, seconds=seconds, **others
    )
    return capacity_answer(report)


def sizing(*asked: Any, **others: Any) -> Sizing:
    found = sized(*asked, **others).sizing
    assert found is not None
    return found


def added(found: Sizing) -> dict[str, int]:
    return {each.name: each.add for each in found.pools if each.add}


def test_without_prices_the_fewest_nodes_are_the_cheapest() -> None:
    found = sizing([*nodes("a"), workload("Deployment")], pool("small", cpu=2), pool("large", cpu=8), more=15)
    assert added(found) == {"large": 1}
    assert (found.verdict, found.nodes, found.price, found.cheapest) == ("yes", 1, None, True)


def test_prices_decide_where_pools_have_them() -> None:
    small, large = pool("small", cpu=2, price=Fraction("0.1")), pool("large", cpu=8, price=Fraction("0.5"))
    found = sizing([*nodes("a"), workload("Deployment")], small, large, more=15)
    assert added(found) == {"small": 4}
    assert found.price == pytest.approx(0.4)
    assert found.words == "+4 small"


def test_the_zone_that_ends_it_gets_the_nodes() -> None:
    pools = [pool(each, each) for each in "abc"]
    found = sizing([*nodes("a", "b"), node("c1", "c", cpu="2"), workload("Deployment", spec=SPREAD)], *pools, more=12)
    assert added(found) == {"c": 1}
    assert {each.name: each.more for each in found.zones} == {"a": 4, "b": 4, "c": 4}
    assert [each.why_not for each in found.pools] == ["maxSkew does not admit a", "maxSkew does not admit b", ""]


def test_new_nodes_are_for_pods_beyond_the_surge_of_a_rollout() -> None:
    web = workload("Deployment", replicas=1)
    web["metadata"]["uid"] = "web"
    objects: list[Json] = [node("a1", "a", cpu="2"), web]
    for name, revision in (("old", "1"), ("new", "2")):
        meta: Json = {
            "name": f"web-{name}",
            "namespace": "shop",
            "labels": web["spec"]["template"]["metadata"]["labels"],
        }
        owner = {"apiVersion": "apps/v1", "controller": True}
        template = (
            web["spec"]["template"]
            if name == "new"
            else {**web["spec"]["template"], "metadata": {**meta, "annotations": {"old": ""}}}
        )
        objects.append(
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "metadata": meta
                | {
                    "uid": name,
                    "annotations": {"deployment.kubernetes.io/revision": revision},
                    "ownerReferences": [owner | {"kind": "Deployment", "name": "web", "uid": "web"}],
                },
                "spec": web["spec"] | {"template": template},
            }
        )
        objects.append(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": meta
                | {
                    "name": f"web-{name}-1",
                    "ownerReferences": [owner | {"kind": "ReplicaSet", "name": f"web-{name}", "uid": name}],
                },
                "spec": web["spec"]["template"]["spec"] | {"nodeName": "a1"},
                "status": {"phase": "Running"},
            }
        )
    assert added(sizing(objects, pool("small", cpu=2))) == {"small": 1}


def test_two_new_zones_at_once_meet_min_domains() -> None:
    """One node of either zone brings nothing: the minimum counts as 0 until both are there."""
    objects = [*nodes("a"), workload("Deployment", replicas=1, spec=THREE_ZONES)]
    found = sizing(objects, pool("b", "b"), pool("c", "c"), more=5)
    assert added(found) == {"b": 1, "c": 1}


def test_pools_that_cannot_help_say_why() -> None:
    other = pool("other", taints=(Taint(key="only", value="x", effect="NoSchedule"),))
    full = pool("full", most=0)
    answer = sized([*nodes("a"), workload("Deployment")], other, full, more=9)
    assert answer.verdict == "no"
    assert answer.sizing is not None
    assert (answer.sizing.verdict, answer.sizing.nodes, answer.sizing.simulated) == ("no", 0, 0)
    assert [each.why_not for each in answer.sizing.pools] == [
        "a new node is tainted",
        "it has all the nodes it may have",
    ]
    assert answer.says == (
        "7 of 9 more replicas of shop/web fit besides its 3 (10 in all); no set of nodes of the pools is enough"
    )
    assert not answer.remedies


def test_a_pool_that_takes_the_next_pod_and_is_not_enough_says_how_many_fit_with_it() -> None:
    """Each zone lets in one pod more than the others: node for node the zones without a pool hold the pods back."""
    objects = [*nodes("a"), node("b1", "b", cpu="1"), workload("Deployment", replicas=2, spec=SPREAD)]
    for few in (pool("a", "a", most=3), pool("a", "a")):
        found = sizing(objects, few, pool("other", "b", cpu=1, most=1), more=9)
        assert found.verdict == "no"
        assert [each.why_not for each in found.pools] == ["maxSkew does not admit a", "with only +1 of it, 3 more fit"]


def test_limits_that_pools_share_hold_for_the_set() -> None:
    limits = Limits(("group", "g"), {"cpu": 15_000})
    shared = [pool(each, cpu=10, labels={"group": "g"}, limits=limits) for each in ("one", "two")]
    found = sizing([*nodes("a"), workload("Deployment")], *shared, more=20)
    assert (found.verdict, found.nodes) == ("no", 0)


def test_no_pool_is_looked_at_if_enough_fits() -> None:
    answer = sized([*nodes("a"), workload("Deployment")], pool("p"), more=5)
    assert (answer.verdict, answer.sizing) == ("yes", None)


def test_time_that_ends_leaves_a_set_that_was_simulated() -> None:
    found = sizing([*nodes("a"), workload("Deployment")], pool("p", cpu=5), more=15, seconds=0)
    assert added(found) == {"p": 2}
    assert (found.verdict, found.cheapest, found.seconds, found.least) == ("yes", False, 0, 2)


def test_time_that_ends_says_which_option_raises_it_and_what_any_set_costs() -> None:
    pools = pool("p", cpu=5, price=Fraction("0.25")), pool("q", cpu=4, price=Fraction("0.5"))
    answer = sized([*nodes("a"), workload("Deployment")], *pools, more=15, seconds=0)
    assert answer.sizing is not None
    assert (answer.sizing.price, answer.sizing.least) == (0.5, 0.5)
    says = "not proved: 0 s (--seconds) ended after 1 set of nodes was simulated; every set costs at least 0.5"
    assert says in " ".join(answer.text().split())


def test_time_that_ends_without_a_set_leaves_it_unknown() -> None:
    """Affinity is not counted, so that only simulations can exclude a pool in another zone."""
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
    near = {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    answer = sized([*nodes("a"), workload("Deployment", spec=near)], pool("b", "b"), more=8, seconds=0)
    assert answer.verdict == "no"
    assert answer.sizing is not None
    assert answer.sizing.verdict == "unknown"
    (part,) = answer.unjudged
    assert part.because == "0 s (--seconds) ended after 0 simulated sets of nodes; every set has at least 1 node"
    assert not part.to_know, "no time is sure to be enough"


def test_pods_that_are_not_judged_buy_nothing() -> None:
    claim = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]}
    answer = sized([*nodes("a"), workload("Deployment", spec=claim)], pool("p"), more=5)
    assert answer.verdict == "unknown"
    assert answer.sizing is None


def test_rounds_of_several_workloads_are_counted_together() -> None:
    objects = [*nodes("a"), workload("Deployment", replicas=1), workload("Deployment", "api", 1)]
    report = capacity(
        inventory(*objects),
        "deploy/web=2",
        "deploy/api=1",
        options=SimulationOptions(pools=[pool("p", cpu=4)]),
        more=6,
        workers=1,
        seconds=300.0,
    )
    assert report.sizing is not None
    assert [(each.add, report.sizing.simulated) for each in report.sizing.pools] == [(3, 1)]


def test_some_pools_without_a_price_are_refused() -> None:
    with pytest.raises(UsageError, match="pool b has no price and others have one"):
        sized([*nodes("a"), workload("Deployment")], pool("a", price=Fraction(1)), pool("b"), more=20)


@pytest.mark.parametrize(
    ("others", "words"), [({"each_zone": True}, "--each zone"), ({"shapes": ["cpu=8"]}, "--node-shape")]
)
def test_pools_answer_another_question_than_losses_and_shapes(others: Json, words: str) -> None:
    with pytest.raises(UsageError, match=f"--pools cannot be combined with {words}"):
        sized([*nodes("a"), workload("Deployment")], pool("p"), more=20, **others)


def test_many_pools_are_one_knapsack_in_each_zone() -> None:
    """The first set that is simulated suffices, although 18 pools of other sizes and prices have many sets."""
    pools = [
        pool(
            f"p{at}", "abc"[at % 3], cpu=2 ** (1 + at // 3), price=Fraction(2 ** (1 + at // 3) * (95 + at), 100), most=9
        )
        for at in range(18)
    ]
    found = sizing([*nodes("a", "b", "c"), workload("Deployment", spec=SPREAD)], *pools, more=300)
    assert (found.verdict, found.cheapest, found.simulated) == ("yes", True, 1)
    assert {each.more for each in found.zones} == {100}


def test_other_pending_pods_take_part_of_the_new_nodes_and_are_named() -> None:
    large = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "9"}}}]}
    objects = [*nodes("a"), workload("Deployment"), workload("Deployment", "fill", 2, large)]
    found = sized(objects, pool("large"), more=8)
    assert found.sizing is not None
    assert (added(found.sizing), found.room.waiting, found.sizing.taken) == ({"large": 1}, 2, {"shop/fill": 1})
    text = found.text()
    assert "note: other pending pods take part of the new nodes: 1 pod of shop/fill\n" in text
    assert "note: 1 other pod is pending, before and afterwards\n" in text


def test_domains_have_pods_where_a_quota_or_the_limit_ends_the_room() -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "shop"}}
    quota["spec"] = {"hard": {"requests.cpu": "5"}}
    for more in ([quota], []):
        report = capacity(
            inventory(*nodes("a", "b"), workload("Deployment", spec=SPREAD), *more), "deploy/web", limit=3
        )
        (zone,) = capacity_answer(report).room.keys
        assert [each.matching for each in zone.domains] == ([3, 2] if more else [3, 3])
        assert {each.allowed for each in zone.domains} == {None}


def test_a_soft_constraint_has_pods_and_no_verdict_on_the_next_one() -> None:
    soft = {"topologySpreadConstraints": [spread(whenUnsatisfiable="ScheduleAnyway")]}
    found = sized([*nodes("a", "b"), workload("Deployment", spec=soft)], more=30)
    (zone,) = found.room.keys
    assert [(each.matching, each.allowed) for each in zone.domains] == [(10, None), (10, None)]
    plain = sized([*nodes("a", "b"), workload("Deployment", spec={"topologySpreadConstraints": []})], more=30)
    assert [each.matching for each in plain.room.keys[-1].domains] == [10, 10]


@pytest.mark.parametrize("seconds", [300.0, 0.0])
def test_no_pool_grows_in_a_lost_zone(seconds: float) -> None:
    taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
    objects = [node("a1", "a", taints=[taint]), node("b1", "b", cpu="3"), workload("Deployment")]
    found = sizing(objects, pool("pa", "a"), pool("pb", "b"), more=9, seconds=seconds)
    assert (found.verdict, added(found)) == ("yes", {"pb": 1})
    assert [each.why_not for each in found.pools] == ["a is lost", ""]
    assert sizing(objects, pool("pa", "a"), more=9).verdict == "no"


def apart(key: str) -> Json:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "web"}}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def test_the_filter_that_ends_the_room_of_a_new_node_is_named() -> None:
    hostname = "kubernetes.io/hostname"
    found = sized([*nodes("a"), workload("Deployment", spec=apart(hostname))], pool("small", "a"), more=3)
    assert found.sizing is not None
    assert [each.takes for each in found.sizing.pools] == [
        f"1 new node takes 1 pod, then it is ruled out by pod anti-affinity: required podAntiAffinity over {hostname}"
    ]
    assert "small: 1 new node takes 1 pod" in found.text()
    room = sizing([*nodes("a"), workload("Deployment")], pool("large", cpu=8), more=25)
    assert [each.takes for each in room.pools] == ["1 new node takes 8 pods, then it lacks cpu"]


def test_a_pool_of_the_same_price_that_would_do_is_as_good() -> None:
    both = [pool(zone, zone, price=Fraction("0.1")) for zone in ("a", "b")]
    free = sized([*nodes("a", "b"), workload("Deployment")], *both, more=25)
    assert free.sizing is not None
    assert {(each.add, each.why_not) for each in free.sizing.pools} == {(1, ""), (0, "as good as b")}
    sizes = [pool(str(cpu), cpu=cpu, price=Fraction("0.1")) for cpu in (8, 2)]
    larger = sizing([*nodes("a", "b"), workload("Deployment")], *sizes, more=25)
    assert [(each.add, each.why_not) for each in larger.pools] == [(1, ""), (0, "not needed")]


def test_of_many_pools_at_one_price_a_few_are_tried_as_replacements() -> None:
    pools = [pool(f"p{at}", "a", price=Fraction("0.1")) for at in range(12)]
    found = sizing([*nodes("a"), workload("Deployment")], *pools, more=15)
    assert sum(each.why_not.startswith("as good as") for each in found.pools) == 6


def test_new_pods_in_one_zone_of_several_are_told() -> None:
    found = sized(
        [*nodes("a", "b"), workload("Deployment", spec=apart("kubernetes.io/hostname"))], pool("p", "b"), more=4
    )
    assert "new pods are placed in b\n" in found.text()


def test_a_pool_in_a_zone_that_no_node_has_warns_with_the_zones_of_the_cluster() -> None:
    objects = [*nodes("a", "b"), workload("Deployment")]
    (warning,) = sized(objects, pool("small", "zone-c"), pool("other", "a"), more=25).warnings
    assert "no node is in zone-c;" in warning
    assert "The cluster's zones are a, b" in warning
    assert not sized(objects, pool("small", "b"), more=25).warnings
    assert not sized(objects, pool("small"), more=25).warnings
