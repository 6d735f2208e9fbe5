"""The smallest sets of changes that suffice."""

from __future__ import annotations

import pytest

import topospread
from tests.unit.why.test_suggest import OF, of_deployment
from topospread.why import what_if

from .builders import GPU, HOST, ZONE, constraint, explained, node, pod, spec, workload, zones


def test_two_constraints_that_contradict_each_other_are_changed_together() -> None:
    of = spec(constraint(ZONE), constraint(HOST))
    nodes = [node("a", "zone-a"), node("b", "zone-b", cpu="40m")]
    pair = of_deployment(2, *nodes, of=of)
    assert pair["maxSkew+maxSkew"].title == f"maxSkew 2 instead of 1 on {ZONE}, and maxSkew 2 instead of 1 on {HOST}"
    assert [each["value"] for each in pair["maxSkew+maxSkew"].patch] == [2, 2]


def test_a_taint_and_too_little_cpu_are_changed_together() -> None:
    nodes = [node("a", taints=[GPU]), node("b", cpu="1", cordoned=True)]
    found = explained("deploy/web", *nodes, workload("Deployment", 1, spec(cpu="5"))).suggestions
    assert [(each.kind, each.complete) for each in found] == [
        ("toleration+requests", True),
        ("requests+uncordon", True),
    ]
    assert found[0].title == "tolerate dedicated=gpu:NoSchedule, and cpu request 4 instead of 5"
    assert found[0].further == ()
    (uncordon,) = found[1].further
    assert (uncordon.kind, uncordon.object["name"]) == ("uncordon", "b")


def test_three_changes_are_the_most() -> None:
    taints = [GPU, {"key": "other", "effect": "NoSchedule"}]
    closed = node("a", "zone-a", taints=taints, cordoned=True)
    of = spec(cpu="5", nodeSelector={ZONE: "zone-aa"})
    assert explained("web", closed, pod("web", of=of)).suggestions == (), "four would be needed"
    (found,) = explained("web", closed, pod("web", of=of | spec(cpu="4"))).suggestions
    assert found.kind == "nodeSelector+toleration+uncordon"


def test_sets_are_within_the_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if, "EFFORT", 20)
    explanation = explained("web", node("a", taints=[GPU]), pod("web", of=spec(cpu="5")))
    assert explanation.suggestions == ()
    assert explanation.untried == 2


def test_two_obstacles_of_one_node_are_undone_together_although_another_change_suffices() -> None:
    nodes = [*zones("ab"), node("c", "zone-c", taints=[GPU], cordoned=True)]
    session = topospread.Session([*nodes, workload("Deployment", 3, OF)])
    why = session.why("deploy/web")
    found = {each.code: each for each in why.remedies}
    assert found["nodeTaintsPolicy"].tried.verdict == "yes"
    both = found["uncordon+untaint"]
    assert [" ".join(each.command) for each in both.parts] == [
        "kubectl uncordon c",
        "kubectl taint nodes c dedicated=gpu:NoSchedule-",
    ]
    assert both.tried.verdict == session.with_patch(both).why("deploy/web").verdict == "yes"


def test_a_taint_and_too_little_room_of_one_node_are_undone_together() -> None:
    full = [pod("full", "b", spec(cpu="3900m"), labels={"app": "full"})]
    for cordoned, code in ((False, "untaint+free"), (True, "uncordon+untaint+free")):
        nodes = [node("a", "zone-a"), node("b", "zone-b", taints=[GPU], cordoned=cordoned)]
        session = topospread.Session([*nodes, pod("web-0", "a", OF), *full, pod("web", of=OF)])
        both = {each.code: each for each in session.why("web").remedies}[code]
        assert both.says.endswith("remove the taint dedicated=gpu:NoSchedule from b, and free 400m cpu on b in zone-b")
        assert session.with_patch(both).why("web").verdict == "yes"
