"""Whether a change gets worse, and which findings are new."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.render.builders import arithmetic, placements, simulation, spread, workload
from topospread.answers.plan import plan_answer
from topospread.base import Bounds
from topospread.errors import Place
from topospread.lint.rule import Finding
from topospread.plan.review import Review, only_in
from topospread.promise.compared import PromiseChange
from topospread.simulation.comparison import compare
from topospread.simulation.result import Simulation

A = Finding("selector-empty", "warning", "it has 3", Place("a.yaml", line=3, object="Pod a", field="x[0]"))


def state(nodes: dict[str, str | None], counts: tuple[int, ...] = (1, 1), name: str = "web") -> Simulation:
    there = sum(node is not None for node in nodes.values())
    row = workload(
        name, spread(arithmetic(dict(zip("ab", counts, strict=True)))), placed=there, pending=len(nodes) - there
    )
    return simulation([row], placements=placements(nodes, f"Deployment/{name}"))


def review(before: Simulation, after: Simulation, **findings: tuple[Finding, ...]) -> Review:
    return Review(replace(compare(before, after, ("old", "new")), counts_new=True), **findings)


def test_nothing_is_worse_when_nothing_changes() -> None:
    same = state({"web-0": "n1"})
    assert not review(same, same).reasons
    answer = plan_answer(review(same, same))
    assert (answer.verdict, answer.says) == ("yes", "nothing gets worse")


def test_a_pod_of_a_new_workload_that_is_pending_is_worse() -> None:
    found = review(simulation([]), state({"web-0": None}))
    assert found.reasons == ["1 pod is newly pending"]


def test_the_moved_pods_of_several_workloads_are_counted() -> None:
    def of_two(node: str) -> Simulation:
        sides = [state({f"{name}-0": node, f"{name}-1": node}, name=name) for name in ("web", "api")]
        rows, pods = ([*getattr(sides[0], each), *getattr(sides[1], each)] for each in ("workloads", "placements"))
        return simulation(rows, placements=tuple(pods))

    told = plan_answer(review(of_two("n1"), of_two("n2"))).text(wide=True)
    assert "moved: 4 pods of 2 workloads to other nodes" in told
    assert "moved:" not in plan_answer(review(state({"web-0": "n1"}), state({"web-0": "n2"}))).text(wide=True)


def test_a_pod_that_is_pending_in_both_is_not() -> None:
    found = review(state({"web-0": None}), state({"web-0": None, "web-1": "n1"}))
    assert found.pending == ()


def test_a_skew_that_grows_is_worse_when_it_exceeds_max_skew() -> None:
    before = state({"web-0": "n1"}, (1, 1))
    within, beyond = state({"web-0": "n1"}, (2, 1)), state({"web-0": "n1"}, (4, 1))
    assert review(before, within).reasons == []
    assert review(before, beyond).reasons == ["1 skew newly exceeds maxSkew"]
    assert not review(beyond, before).reasons
    further = state({"web-0": "n1"}, (5, 1))
    assert review(beyond, further).reasons == ["1 skew above maxSkew grows"]


def test_a_new_workload_that_is_skewed_is_worse() -> None:
    assert review(simulation([]), state({"web-0": "n1"}, (4, 1))).reasons == ["1 skew newly exceeds maxSkew"]


@pytest.mark.parametrize(("severity", "worse"), [("error", True), ("warning", True), ("hint", False)])
def test_new_findings_are_worse_unless_they_are_hints(severity: str, worse: bool) -> None:
    same = state({"web-0": "n1"})
    assert bool(review(same, same, new=(replace(A, severity=severity),)).reasons) == worse
    assert not review(same, same, gone=(replace(A, severity=severity),)).reasons


@pytest.mark.parametrize(
    "other",
    [
        replace(A, place=replace(A.place, line=9, source="b.yaml")),
        replace(A, place=replace(A.place, field="x[1]")),
        replace(A, message="it has 4"),
    ],
)
def test_a_finding_that_moved_or_counts_something_else_is_the_same(other: Finding) -> None:
    assert only_in([other], [A]) == ()
    assert only_in([other, other], [A]) == (other,)


@pytest.mark.parametrize(
    "other",
    [
        replace(A, rule="selector-missing"),
        replace(A, place=replace(A.place, object="Pod b")),
        replace(A, message="it has 4", place=replace(A.place, field="x[1]")),
    ],
)
def test_a_finding_of_another_rule_object_or_field_is_another(other: Finding) -> None:
    assert only_in([other], [A]) == (other,)


def test_findings_that_agree_most_are_taken_for_one_another() -> None:
    near = replace(A, message="it has 4")
    assert only_in([near, A], [A]) == (near,)


def test_markdown_says_what_moves_and_nothing_is_taken_for_a_sign() -> None:
    bad = replace(A, message="a|b <i> `c` [d] *e*")
    answer = plan_answer(review(state({"web-0": "n1"}), state({"web-0": None}, (4, 1)), new=(bad,)))
    text = answer.markdown()
    assert text.startswith("### ❌ 1 pod is newly pending; 1 skew newly exceeds maxSkew; 1 new warning\n")
    assert "| shop/web | 1 → 0 |" in text
    assert "**0 → 3 (max 1, zone)**" in text
    assert "a\\|b &lt;i\\> \\`c\\` \\[d\\] \\*e\\*" in text


def kept(before: Bounds, after: Bounds, replicas: tuple[int, int] = (6, 6)) -> PromiseChange:
    return PromiseChange(("Deployment", "shop", "web"), "zone-loss", before, after, replicas)


def test_a_loss_that_may_leave_fewer_is_worse_although_every_pod_stays_where_it_is() -> None:
    same = state({"web-0": "n1"})
    answer = plan_answer(review(same, same), [kept(Bounds.exactly(4), Bounds.exactly(0))])
    assert (answer.verdict, answer.says) == (
        "no",
        "shop/web keeps less: losing a zone leaves at least 0 of 6, not 4",
    )
    assert [each.code for each in answer.causes] == ["keeps-less"]
    assert "zone loss, worst case 4 of 6 0 of 6 worse proved" in " ".join(answer.text().split())
    unsure = plan_answer(review(same, same), [kept(Bounds.exactly(4), Bounds(least=0, most=3))])
    assert unsure.says == "shop/web keeps less: losing a zone leaves 0–3 of 6, not 4"


@pytest.mark.parametrize(
    ("before", "after", "replicas", "verdict"),
    [
        ((4, 4), (4, 4), (6, 6), "yes"),
        ((4, 4), (5, 5), (6, 6), "yes"),
        ((3, 5), (3, 5), (6, 6), "yes"),
        ((4, 4), (2, 2), (6, 3), "no"),
        ((4, 4), (4, 4), (6, 9), "yes"),
        ((4, 4), (1, 1), (6, 3), "no"),
        ((3, 5), (4, 4), (6, 6), "unknown"),
        ((4, 4), (1, 6), (6, 6), "unknown"),
        ((0, 4), (0, 0), (6, 6), "unknown"),
    ],
)
def test_what_losses_leave_is_compared_on_bounds(
    before: tuple[int, int], after: tuple[int, int], replicas: tuple[int, int], verdict: str
) -> None:
    sides = [Bounds(least=least, most=most) for least, most in (before, after)]
    change = kept(sides[0], sides[1], replicas)
    assert change.verdict == verdict
    same = state({"web-0": "n1"})
    assert plan_answer(review(same, same), [change]).verdict == verdict


def unsure(most: int, name: str = "web") -> Simulation:
    found = state({f"{name}-0": None}, name=name)
    return replace(found, open_pods=(f"shop/{name}-0",), bounds={f"shop/Deployment/{name}": Bounds(least=0, most=most)})


def test_a_pod_that_is_not_judged_is_not_newly_pending() -> None:
    found = review(state({"web-0": "n1"}), unsure(1))
    assert plan_answer(found).newly_pending == ()


def test_the_same_unknown_on_both_sides_cancels_and_another_does_not() -> None:
    assert plan_answer(review(unsure(1), unsure(1)), is_same_input=True).verdict == "yes"
    assert plan_answer(review(unsure(1), unsure(1))).verdict == "unknown"
    assert plan_answer(review(simulation([]), unsure(1))).verdict == "unknown"
