"""Why that node: points, rivals, and the arithmetic of topology spread."""

from __future__ import annotations

import math

from topospread.why.result import NodeScores

from .builders import HOST, SPREAD, ZONE, constraint, explained, node, pod, spec, zones

SOFT = spec(constraint(when="ScheduleAnyway"))


def scores(*objects: dict[str, object]) -> NodeScores:
    found = explained("web", *objects).scores
    assert found is not None
    return found


def test_the_chosen_node_comes_first_and_then_the_best_others() -> None:
    found = scores(*zones(), pod("there", "a", SOFT), pod("web", of=SOFT))
    assert (found.chosen, [each.node for each in found.nodes]) == ("b", ["b", "c", "a"])
    assert found.best == ("b", "c")
    assert found.feasible == 3
    assert all(sum(each.points.values()) == each.total for each in found.nodes)


def test_of_nodes_with_equal_points_one_is_shown() -> None:
    found = scores(*zones("abcd"), pod("web", of=SOFT))
    assert [(each.node, each.alike) for each in found.nodes] == [("a", 0), ("b", 2)]


def test_the_sum_of_a_soft_constraint() -> None:
    found = scores(*zones("ab"), pod("there", "a", SOFT), pod("web", of=SOFT))
    chosen, rival = found.spread
    (part,) = rival.parts
    assert (part.topology_key, part.domain, part.matching, part.domains, part.max_skew) == (ZONE, "zone-a", 1, 2, 1)
    assert part.weight == math.log(2 + 2)
    assert part.points == part.weight
    assert (rival.raw, rival.lowest, rival.highest, rival.normalized) == (1, 0, 1, 0)
    assert (chosen.raw, chosen.normalized, chosen.weight) == (0, 100, 2)
    assert found.nodes[0].points[SPREAD] == 200


def test_the_hostname_counts_the_pods_of_the_node_itself() -> None:
    of = spec(constraint(HOST, "ScheduleAnyway", maxSkew=3))
    found = scores(*zones("ab"), pod("there", "a", of), pod("web", of=of))
    part = next(each for each in found.spread if each.node == "a").parts[0]
    assert (part.domain, part.matching, part.domains) == ("a", 1, 2)
    assert part.points == math.log(4) + 2


def test_a_node_without_a_key_is_not_scored() -> None:
    found = scores(*zones("a"), node("bare"), pod("web", of=SOFT))
    bare = next(each for each in found.spread if each.node == "bare")
    assert (bare.raw, bare.normalized) == (None, 0)


def test_without_soft_constraints_there_is_no_arithmetic() -> None:
    assert scores(*zones("ab"), pod("web", of=spec(constraint()))).spread == ()
