"""The gates and rules of versions that move pods: only those that decide, with their version."""

from __future__ import annotations

from typing import Any

import topospread
from tests.unit.why.builders import constraint, node, spec, workload, zones

Json = dict[str, Any]


def rules(old: str, new: str, *objects: Json, seconds: float = 60) -> tuple[str, ...]:
    session = topospread.Session([*objects], kube_version=old)
    return session.plan(session.but(kube_version=new), seconds=seconds).rules


def test_the_gate_that_decides_is_named_with_its_version() -> None:
    three = spec(constraint(minDomains=3))
    objects = [*zones("ab"), workload("Deployment", 4, three, uid=False)]
    (said,) = rules("1.23", "1.27", *objects)
    assert said.startswith("since 1.27 the gate MinDomainsInPodTopologySpread is on: ")
    assert rules("1.27", "1.23", *objects) == (said,)
    assert rules("1.23", "1.26", *objects) == ()


def unbalanced() -> list[Json]:
    """Return nodes and workloads whose pods the balance of 1.36 moves."""
    nodes = [node("a", cpu="3"), node("b", cpu="16"), node("c", cpu="2")]
    web = [
        workload("Deployment", replicas, spec(cpu=cpu), name, uid=False)
        for name, replicas, cpu in (("w0", 4, "100m"), ("w1", 5, "900m"), ("w2", 5, "900m"))
    ]
    for each, memory in zip(web, ("100Mi", "100Mi", "1000Mi"), strict=True):
        each["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["memory"] = memory
    return [*nodes, *web]


def train() -> Json:
    """Return a workload with a device claim, which 1.33 drops and 1.34 does not judge without ResourceSlices."""
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}
    made = workload("Deployment", 1, spec(cpu="2500m", **claims), "a-train", uid=False)
    made["metadata"]["namespace"] = "ml"
    return made


def test_the_rule_of_the_plugin_that_decides_is_named() -> None:
    said = rules("1.35", "1.36", *unbalanced())
    assert said
    assert all(each.startswith("since 1.36, NodeResourcesBalancedAllocation: ") for each in said)


def test_a_version_that_moves_no_pod_is_not_named() -> None:
    assert rules("1.30", "1.37", node("a"), workload("Deployment", 2, spec(), uid=False)) == ()


def test_over_a_longer_distance_a_gate_does_not_hide_a_later_rule() -> None:
    """The pod with a claim is placed up to 1.33 only, which moves all later pods by other plugins."""
    gate, balance = rules("1.33", "1.37", train(), *unbalanced())
    assert gate.startswith("since 1.34 the gate DynamicResourceAllocation is on: ")
    assert balance.startswith("since 1.36, NodeResourcesBalancedAllocation: ")


def test_versions_that_were_not_searched_in_time_are_named() -> None:
    (said,) = rules("1.35", "1.37", *unbalanced(), seconds=0)
    assert said == "since 1.36 not known: 0 s (--seconds) ended before the versions were simulated"
