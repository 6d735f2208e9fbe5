"""What lint says of pods that stay pending is what a simulation of the same manifest shows."""

from __future__ import annotations

import re
from io import BytesIO

from hypothesis import given, settings
from hypothesis import strategies as st

import topospread
from topospread.linting.examples import constraint, deployment
from topospread.linting.run import lint
from topospread.sources.load import load

OWN = "labelSelector:\n  matchLabels: {app: web}"
ROOM = "cpu=1000,memory=1000Gi,pods=1000"


def pending(manifest: str, cluster: str) -> int:
    """How many pods a simulation leaves pending."""
    inventory = load(["-"], cluster=cluster, stdin=BytesIO(manifest.encode()))
    return sum(len(group.pods) for group in topospread.simulate(inventory).pending)


def found(manifest: str, cluster: str, rule: str) -> list[str]:
    """What one rule says."""
    return [
        each.message for each in lint(["-"], stdin=BytesIO(manifest.encode()), cluster=cluster) if each.rule == rule
    ]


@given(
    nodes=st.lists(st.integers(1, 3), min_size=2, max_size=4),
    closed=st.sets(st.integers(0, 3), min_size=1, max_size=2),
    max_skew=st.integers(1, 3),
    replicas=st.integers(1, 12),
    cordon=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_as_many_stay_pending_for_a_closed_domain_as_lint_says(
    nodes: list[int], closed: set[int], max_skew: int, replicas: int, cordon: bool
) -> None:
    names = [f"zone-{'abcd'[each]}" for each in sorted(closed) if each < len(nodes)]
    closing = "".join(f",cordon={name}" if cordon else f",taint={name}:a=b:NoSchedule" for name in names)
    cluster = f"zones={len(nodes)},nodes={'+'.join(map(str, nodes))},{ROOM}{closing}"
    manifest = deployment(constraint(OWN).replace("maxSkew: 1", f"maxSkew: {max_skew}"), replicas=replicas)
    said = found(manifest, cluster, "closed-domain-pins-minimum")
    numbers = [int(re.search(r": (\d+) of \d+ pods stay pending", each)[1]) for each in said]  # type: ignore[index]
    all_closed = len(names) == len(nodes)
    left = pending(manifest, cluster)
    assert numbers == ([left] if left and not all_closed else [])


@given(
    nodes=st.lists(st.integers(1, 4), min_size=2, max_size=3),
    skews=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    replicas=st.integers(1, 10),
)
@settings(max_examples=40, deadline=None)
def test_a_deadlock_is_what_leaves_pods_pending_with_both_constraints_and_none_without_one(
    nodes: list[int], skews: tuple[int, int], replicas: int
) -> None:
    by_zone = constraint(OWN).replace("maxSkew: 1", f"maxSkew: {skews[0]}")
    by_node = constraint(OWN, key="kubernetes.io/hostname").replace("maxSkew: 1", f"maxSkew: {skews[1]}")
    both = by_zone + by_node.removeprefix("topologySpreadConstraints:\n")
    cluster = f"zones={len(nodes)},nodes={'+'.join(map(str, nodes))},{ROOM}"
    left = pending(deployment(both, replicas=replicas), cluster)
    alone = [pending(deployment(each, replicas=replicas), cluster) for each in (by_zone, by_node)]
    said = found(deployment(both, replicas=replicas), cluster, "constraints-deadlock")
    assert bool(said) == (left > 0 and alone == [0, 0])


@given(zones=st.integers(1, 3), min_domains=st.integers(2, 5), replicas=st.integers(1, 8))
@settings(max_examples=20, deadline=None)
def test_too_few_domains_take_as_many_pods_as_lint_says(zones: int, min_domains: int, replicas: int) -> None:
    manifest = deployment(constraint(f"{OWN}\nminDomains: {min_domains}"), replicas=replicas)
    cluster = f"zones={zones},nodes={zones},{ROOM}"
    said = found(manifest, cluster, "min-domains-over-cluster")
    assert bool(said) == (zones < min_domains)
    if said:
        assert pending(manifest, cluster) == max(0, replicas - zones)
