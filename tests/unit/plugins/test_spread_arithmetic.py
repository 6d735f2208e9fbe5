"""The counts behind a spread constraint, as an explanation shows them."""

from __future__ import annotations

from typing import Any

from tests.unit.plugins.storage_builders import WEB, ZONE, Json, cluster, node, place, pod, spread, zonal
from topospread.api.taints import UNSCHEDULABLE_TAINT
from topospread.cluster import Cluster
from topospread.plugins.pod_topology_spread import PodTopologySpread
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domain, spread_arithmetic


def placed(*on: str) -> Cluster:
    """Zones a and b with two nodes each, c with one, and a node without a zone."""
    made = cluster({**zonal(a0="a", a1="a", b0="b", b1="b", c0="c"), "none": {}})
    for i, name in enumerate(on):
        place(made, pod(name=f"p{i}", labels=WEB), name)
    return made


def arithmetic(made: Cluster, *constraints: Json, **spec: Any) -> tuple[ConstraintArithmetic, ...]:
    incoming = pod(labels=WEB, topologySpreadConstraints=list(constraints), **spec)
    return spread_arithmetic(PodTopologySpread(), made.pod_class(incoming), made)


def test_each_domain_has_its_pods_nodes_and_skew() -> None:
    (found,) = arithmetic(placed("a0", "a1", "b0"), spread(maxSkew=2))
    assert list(found.domains) == [Domain("a", 2, 2, 3, False), Domain("b", 1, 2, 2, True), Domain("c", 0, 1, 1, True)]
    assert (found.minimum, found.fewest, found.minimum_domains, found.skew) == (0, 0, ("c",), 2)
    assert found.pods_by_domain == {"a": 2, "b": 1}
    assert [(each.reason, each.nodes) for each in found.left_out] == [(f"no label {ZONE}", ("none",))]


def test_hard_constraints_are_first_and_soft_ones_allow_every_domain() -> None:
    soft, hard = arithmetic(placed("a0", "a1"), spread("ScheduleAnyway"), spread())[::-1]
    assert (hard.hard, hard.position, soft.hard, soft.position) == (True, 1, False, 0)
    assert [each.allowed for each in hard.domains] == [False, True, True]
    assert all(each.allowed for each in soft.domains)


def test_below_min_domains_the_global_minimum_is_0_but_the_fewest_is_not() -> None:
    (found,) = arithmetic(placed("a0", "b0", "c0"), spread(minDomains=4))
    assert (found.lacks_domains, found.minimum, found.fewest) == (True, 0, 1)
    assert not any(each.allowed for each in found.domains)
    (enough,) = arithmetic(placed("a0", "b0", "c0"), spread(minDomains=3))
    assert (enough.lacks_domains, enough.minimum) == (False, 1)


def test_a_node_is_left_out_for_the_first_reason_that_applies() -> None:
    made = placed("a0")
    for name, zone in (("a1", "a"), ("c0", "c")):
        tainted = node(name, {ZONE: zone})
        tainted.spec.taints = [UNSCHEDULABLE_TAINT]
        made.put_node(tainted)
    (found,) = arithmetic(made, spread(nodeTaintsPolicy="Honor"), nodeSelector={ZONE: "a"})
    assert list(found.domains) == [Domain("a", 1, 1, 1, True)]
    assert [(each.reason, each.nodes) for each in found.left_out] == [
        (f"no label {ZONE}", ("none",)),
        ("nodeAffinityPolicy: Honor", ("b0", "b1", "c0")),
        ("nodeTaintsPolicy: Honor", ("a1",)),
    ]


def test_a_later_pod_does_not_change_the_result() -> None:
    made = placed("a0")
    (before,) = arithmetic(made, spread())
    place(made, pod(name="later", labels=WEB), "b0")
    (after,) = arithmetic(made, spread())
    assert (before.pods_by_domain, after.pods_by_domain) == ({"a": 1}, {"a": 1, "b": 1})
    assert before.domains != after.domains
    assert before.domains[1:] == (Domain("b", 0, 2, 1, True), Domain("c", 0, 1, 1, True))
    assert before.domains.same_as(after.domains)  # type: ignore[attr-defined]
