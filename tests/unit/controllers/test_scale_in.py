"""Orders that keep the spread while pods are removed one by one, and the deletion costs for them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from topospread.controllers.scale_in import FIRST, STEP, DomainLoad, new_costs, spread_order

READY = (True, 2, True)
UNREADY = (True, 2, False)


def load(of: list[int], domains: int, max_skew: int = 1, min_domains: int = 1, hard: bool = True) -> DomainLoad:
    """Return the load of pods in domains."""
    counted = Counter(of)
    counts = np.array([counted[domain] for domain in range(domains)])
    return DomainLoad(counts, np.array(of), max_skew, min_domains, hard)


def skews(of: list[int], domains: int, order: tuple[int, ...]) -> list[int]:
    """Return the skew after each removal."""
    counted = Counter(dict.fromkeys(range(domains), 0))
    counted.update(of)
    found = []
    for index in order:
        counted[of[index]] -= 1
        found.append(max(counted.values()) - min(counted.values()))
    return found


def test_the_fullest_domain_loses_pods_first() -> None:
    of = [0, 0, 0, 0, 1, 1, 2]
    removals = spread_order([load(of, 3)], [READY] * 7, range(7))
    assert removals.order[:3] == (0, 1, 2)
    assert removals.excess == 1  # 3, 2, 1 after the first removal, which no order avoids
    assert max(skews(of, 3, removals.order)[1:]) == 1


def test_pods_that_the_controller_removes_first_come_first_whatever_their_domain() -> None:
    of = [0, 0, 1, 1, 1]
    removals = spread_order([load(of, 2)], [UNREADY, READY, READY, READY, READY], range(5))
    assert removals.order[:3] == (0, 2, 3)


def test_two_constraints_are_kept_together() -> None:
    zones, hosts = [0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 3, 3]
    loads = [load(zones, 2), load(hosts, 4)]
    removals = spread_order(loads, [READY] * 6, range(6))
    assert removals.excess == 0
    assert max(skews(zones, 2, removals.order)) <= 1
    assert max(skews(hosts, 4, removals.order)) <= 1


def test_a_soft_constraint_decides_where_the_hard_one_does_not() -> None:
    zones, hosts = [0, 0, 0, 1, 1], [0, 1, 1, 2, 3]
    loads = [load(zones, 2), load(hosts, 4, hard=False)]
    assert spread_order(loads, [READY] * 5, range(5)).order[0] == 1


def test_the_preferred_pod_of_a_domain_is_removed_first() -> None:
    assert spread_order([load([0, 0, 0], 1)], [READY] * 3, [2, 0, 1]).order == (1, 2, 0)


def test_pods_that_do_not_count_are_removed_at_any_time() -> None:
    of = [-1, 0, 0, 1]
    of_counted = DomainLoad(np.array([2, 1]), np.array(of), 1, 1, hard=True)
    removals = spread_order([of_counted], [READY] * 4, range(4))
    assert sorted(removals.order) == [0, 1, 2, 3]
    assert removals.excess == 0


def test_missing_domains_count_as_empty() -> None:
    # Two domains are fewer than minDomains 3: the minimum is 0, and 2 pods in a domain are skew 2.
    assert spread_order([load([0, 0, 1], 2, min_domains=3)], [READY] * 3, range(3)).order[0] in (0, 1)
    assert spread_order([load([0, 0, 1, 1], 2, min_domains=3)], [READY] * 4, range(4)).excess == 1


def test_no_constraint_and_no_domain() -> None:
    assert sorted(spread_order([], [READY] * 2, range(2)).order) == [0, 1]
    assert sorted(spread_order([load([-1, -1], 0)], [READY] * 2, range(2)).order) == [0, 1]


@st.composite
def placed(draw: st.DrawFn) -> tuple[list[int], list[int], list[int], int, int]:
    """Draw the zones of hosts, and the hosts of pods as kube-scheduler places them under two limits."""
    zone_of = [zone for zone in range(draw(st.integers(2, 3))) for _ in range(draw(st.integers(1, 3)))]
    zone_limit, host_limit = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    on: list[int] = []
    for _ in range(draw(st.integers(0, 12))):
        hosts = Counter(dict.fromkeys(range(len(zone_of)), 0))
        zones = Counter(dict.fromkeys(zone_of, 0))
        hosts.update(on)
        zones.update(zone_of[host] for host in on)
        admitted = [
            host
            for host, zone in enumerate(zone_of)
            if zones[zone] + 1 - min(zones.values()) <= zone_limit
            and hosts[host] + 1 - min(hosts.values()) <= host_limit
        ]
        if not admitted:
            break
        on.append(draw(st.sampled_from(admitted)))
    return zone_of, on, draw(st.permutations(range(len(on)))), zone_limit, host_limit


@given(placed())
def test_after_every_removal_both_limits_hold(case: tuple[list[int], list[int], list[int], int, int]) -> None:
    zone_of, hosts, preference, zone_limit, host_limit = case
    zones = [zone_of[host] for host in hosts]
    number = max(zone_of) + 1
    loads = [load(zones, number, zone_limit), load(hosts, len(zone_of), host_limit)]
    removals = spread_order(loads, [READY] * len(hosts), preference)
    assert sorted(removals.order) == list(range(len(hosts)))
    assert removals.excess == 0
    assert max(skews(zones, number, removals.order), default=0) <= zone_limit
    assert max(skews(hosts, len(zone_of), removals.order), default=0) <= host_limit


@given(st.lists(st.integers(-5, 40) | st.integers(-(2**31), 2**31 - 1), max_size=30))
def test_new_costs_rise_in_the_order(costs: list[int]) -> None:
    order = list(range(len(costs)))
    written = new_costs(order, dict(enumerate(costs)))
    after = [written.get(index, costs[index]) for index in order]
    assert all(left < right for left, right in pairwise(after))
    assert all(0 < cost < 2**31 for cost in written.values())
    assert all(written[index] != costs[index] for index in written)
    assert new_costs(order, dict(enumerate(after))) == {}


def test_the_first_costs_leave_room_for_later_pods() -> None:
    assert new_costs([2, 0, 1], {0: 0, 1: 0, 2: 0}) == {0: FIRST + STEP, 1: FIRST + 2 * STEP}


def test_one_pod_in_between_is_one_write() -> None:
    costs = {0: 0, 1: FIRST, 2: FIRST + STEP, 3: 0}
    assert new_costs([0, 1, 3, 2], costs) == {3: FIRST + STEP // 2}


def test_all_costs_are_new_when_there_is_no_room() -> None:
    written = new_costs([0, 1, 2, 3], {0: 5, 1: 0, 2: 6, 3: 7})
    assert written == {1: FIRST + STEP, 2: FIRST + 2 * STEP, 3: FIRST + 3 * STEP}
