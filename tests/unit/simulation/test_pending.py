"""Why the domains of a pending pod's constraints reject it."""

from __future__ import annotations

from tests.unit.plugins.storage_builders import WEB, ZONE, cluster, node, place, pod, spread, zonal
from topospread.api.pod import PodSpec
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework
from topospread.simulation.pending import domain_outcomes, reasons_by_domain_of, unmatched_labels

SKEW = "node(s) didn't match pod topology spread constraints"
BIG = [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]


def test_each_domain_has_the_number_of_nodes_for_each_reason() -> None:
    made = cluster({})
    for name, zone, cpu in (("a0", "a", "4"), ("a1", "a", "2"), ("a2", "a", "2"), ("b0", "b", "2"), ("none", "", "4")):
        made.add_node(node(name, {ZONE: zone} if zone else {}, allocatable={"cpu": cpu, "pods": "9"}))
    place(made, pod(name="there", labels=WEB), "a0")
    waits = pod(labels=WEB, containers=BIG, topologySpreadConstraints=[spread()])
    verdict = Scheduler(made, {"default-scheduler": Framework(default_profile(), gates_for())}).verdict(waits)
    reasons = {"a": {SKEW: 1, "Insufficient cpu": 2}, "b": {"Insufficient cpu": 1}}
    assert reasons_by_domain_of(ZONE, verdict, made) == reasons
    outcomes = domain_outcomes(verdict.arithmetic[0], verdict, made)
    assert [(each.domain.name, each.domain.matching, each.rejected) for each in outcomes] == [
        *(("a", 1, reasons["a"]), ("b", 0, reasons["b"]))
    ]
    made.add_node(node("a3", {ZONE: "a"}))
    assert reasons_by_domain_of(ZONE, verdict, made) == reasons, "the verdict has its own nodes"


def test_labels_of_a_node_selector_that_no_node_has() -> None:
    made = cluster(zonal(n0="a", n1="b"))
    assert list(unmatched_labels(PodSpec(node_selector={ZONE: "b", "disk": "ssd"}), made)) == ["disk=ssd"]
    made.delete_node("n1")
    assert list(unmatched_labels(PodSpec(node_selector={ZONE: "b"}), made)) == [f"{ZONE}=b"]
