"""The gates and rules of versions that move pods: only those that decide, with their version."""

from __future__ import annotations

from typing import Any

import topospread
from tests.unit.why.builders import constraint, node, spec, workload, zones

Json = dict[str, Any]


def rules(old: str, new: str, *objects: Json) -> tuple[str, ...]:
    session = topospread.Session([*objects], kube_version=old)
    return session.plan(session.but(kube_version=new)).rules


def test_the_gate_that_decides_is_named_with_its_version() -> None:
    three = spec(constraint(minDomains=3))
    objects = [*zones("ab"), workload("Deployment", 4, three, uid=False)]
    (said,) = rules("1.23", "1.27", *objects)
    assert said.startswith("since 1.27 the gate MinDomainsInPodTopologySpread is on: ")
    assert rules("1.27", "1.23", *objects) == (said,)
    assert rules("1.23", "1.26", *objects) == ()


def test_the_rule_of_the_plugin_that_decides_is_named() -> None:
    nodes = [node("a", cpu="3"), node("b", cpu="16"), node("c", cpu="2")]
    web = [
        workload("Deployment", replicas, spec(cpu=cpu), name, uid=False)
        for name, replicas, cpu in (("w0", 4, "100m"), ("w1", 5, "900m"), ("w2", 5, "900m"))
    ]
    for each, memory in zip(web, ("100Mi", "100Mi", "1000Mi"), strict=True):
        each["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["memory"] = memory
    said = rules("1.35", "1.36", *nodes, *web)
    assert said
    assert all(each.startswith("since 1.36, NodeResourcesBalancedAllocation: ") for each in said)


def test_a_version_that_moves_no_pod_is_not_named() -> None:
    assert rules("1.30", "1.37", node("a"), workload("Deployment", 2, spec(), uid=False)) == ()
