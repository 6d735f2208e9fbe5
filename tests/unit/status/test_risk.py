"""Pods that a domain's failure takes."""

from __future__ import annotations

from tests.unit.status.test_status import NODES, ZONE, only, replica_set, spec, status


def test_what_domains_take() -> None:
    found = status(*NODES, *replica_set(spec(), ["a1", "a1", "a1", "b1"]))
    worst = {each.topology_key: (each.domain, each.lost, each.of) for each in only(found).worst_losses}
    assert worst == {ZONE: ("a", 3, 4), "kubernetes.io/hostname": ("a1", 3, 4)}
    first = found.domains[0]
    assert (first.topology_key, first.name, first.pods, [each.workload for each in first.loses_most]) == (
        ZONE,
        "a",
        3,
        ["shop/web"],
    )
