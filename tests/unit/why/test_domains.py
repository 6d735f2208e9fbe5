"""The domains of each constraint: the arithmetic, and what keeps the pod out of those that it allows."""

from __future__ import annotations

from topospread.why.result import ConstraintTable, DomainRow

from .builders import GPU, HOST, constraint, explained, node, pod, spec, zones

CORDONED, TAINTED = "node(s) were unschedulable", "node(s) had untolerated taint(s)"
OF = spec(constraint())


def rows(table: ConstraintTable) -> dict[str, DomainRow]:
    return {row.name: row for row in table.domains}


def test_the_sum_of_each_domain() -> None:
    there = [pod(f"web-{i}", on, OF) for i, on in enumerate("aab")]
    (table,) = explained("web", *zones("ab"), *there, pod("web", of=OF)).constraints
    a, b = table.domains
    assert (a.name, a.nodes, a.matching, a.after, a.skew, a.allowed, a.holds_minimum) == (
        "zone-a",
        1,
        2,
        3,
        2,
        False,
        False,
    )
    assert (b.name, b.nodes, b.matching, b.after, b.skew, b.allowed, b.holds_minimum) == (
        "zone-b",
        1,
        1,
        2,
        1,
        True,
        True,
    )


def test_the_minimum_says_why_it_takes_no_pod() -> None:
    nodes = [node("a", "zone-a"), node("full", "zone-b", cpu="100m"), node("b", "zone-b", cordoned=True)]
    (table,) = explained("web", *nodes, pod("there", "a", OF), pod("web", of=OF), suggest=False).constraints
    minimum = rows(table)["zone-b"]
    assert (minimum.holds_minimum, minimum.allowed, minimum.open) == (True, True, 0)
    assert minimum.rejected == {"Insufficient cpu": 1, CORDONED: 1}


def test_a_taint_besides_the_cordons_own_is_told() -> None:
    nodes = [node("a", "zone-a"), node("b", "zone-b", cordoned=True, taints=[GPU])]
    (table,) = explained("web", *nodes, pod("there", "a", OF), pod("web", of=OF), suggest=False).constraints
    assert rows(table)["zone-b"].rejected == {CORDONED: 1, TAINTED: 1}


def test_nodes_that_take_no_part_are_not_counted() -> None:
    of = spec(constraint(nodeTaintsPolicy="Honor"))
    nodes = [node("a", "zone-a"), node("a2", "zone-a", taints=[GPU]), node("b", "zone-b", taints=[GPU])]
    (table,) = explained("web", *nodes, pod("web", of=of)).constraints
    assert [(row.name, row.nodes, row.open) for row in table.domains] == [("zone-a", 1, 1)]
    assert [list(each.nodes) for each in table.arithmetic.left_out] == [["a2", "b"]]


def test_a_node_that_another_constraint_refuses_is_open_all_the_same() -> None:
    of = spec(constraint(), constraint(HOST))
    (zone, host) = explained(
        "web", *zones("a"), node("b", "zone-b", cordoned=True), pod("1", "a", of), pod("web", of=of)
    ).constraints
    assert rows(zone)["zone-a"].open == 1
    assert rows(host)["a"].open == 1
