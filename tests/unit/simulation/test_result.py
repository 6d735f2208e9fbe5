"""The result of a simulation: its verdict, and the spread of a workload."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.live.test_explanations import verdict
from topospread.simulation.result import (
    DomainSpread,
    DomainSpreads,
    PendingGroup,
    Placement,
    Simulation,
    WorkloadResult,
    WorkloadSpread,
)


@pytest.mark.parametrize(
    ("pending", "opened", "found"),
    [
        ("", "", ("yes", "yes", "yes")),
        ("a/p", "", ("no", "no", "yes")),
        ("a/p", "a/p", ("unknown", "unknown", "yes")),
        ("a/p b/q", "b/q", ("no", "no", "unknown")),
        ("", "b/q", ("unknown", "yes", "unknown")),
    ],
)
def test_a_pod_that_is_surely_pending_is_a_no(pending: str, opened: str, found: tuple[str, ...]) -> None:
    groups = [PendingGroup("w", *each.split("/")[:1], (each[2:],), "") for each in pending.split()]
    result = Simulation((), (), tuple(groups), 1, open_pods=tuple(opened.split()))
    assert (result.verdict, result.verdict_in("a"), result.verdict_in("b")) == found


def test_a_placement_is_found_by_name_and_namespace() -> None:
    made = [Placement(namespace, "p", "w", "n", None, "", 1, None) for namespace in ("default", "other")]
    result = Simulation(tuple(made), (), (), 1)
    assert (result.placement("p"), result.placement("p", "other")) == (made[0], made[1])
    with pytest.raises(KeyError, match="default/q"):
        result.placement("q")


def spread_of(*counts: int, before: int = 0) -> WorkloadSpread:
    """Domains with these counts; ``before``: number of domains that were counted before, without pods."""
    (arithmetic,) = verdict(*counts).arithmetic
    earlier = verdict(*[0] * before).arithmetic[0].domains if before else arithmetic.domains
    domains = DomainSpreads(earlier, arithmetic.domains, {"zone-0": {"full": 1}, "gone": {"full": 1}})
    return WorkloadSpread("zone", "DoNotSchedule", 1, "pod", arithmetic.skew, domains, arithmetic)


@pytest.mark.parametrize(
    ("counts", "only", "exceeded"),
    [
        ((2, 0), "zone-0", True),
        ((0, 0, 3), "zone-2", True),
        ((1, 0), "", False),
        ((5,), "", False),
        ((2, 1), "", False),
    ],
)
def test_a_workload_in_one_domain(counts: tuple[int, ...], only: str, exceeded: bool) -> None:
    found = spread_of(*counts)
    assert (found.only_domain, found.is_exceeded) == (only, exceeded)
    assert WorkloadResult("Deployment", "a", "web", 2, 0, 2, 0, (found,)).is_skewed == exceeded


def test_domains_are_those_of_after_with_their_counts_of_before() -> None:
    domains = spread_of(2, 1, before=1).domains
    assert domains == (DomainSpread("zone-0", 0, 2, 1, {"full": 1}), DomainSpread("zone-1", 0, 1, 1))
    assert np.array_equal(domains.after, [2, 1])
    assert dict(domains.rejected) == {"zone-0": {"full": 1}}, "domains that are gone have no rejections"
    assert spread_of(2, 1).domains[1:] == (DomainSpread("zone-1", 1, 1, 1),)
