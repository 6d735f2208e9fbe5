"""Why evictions do not fix a constraint, and what helps."""

from __future__ import annotations

from topospread.answers.rebalance import moved_domains, rebalance_answer

from .builders import CLAIMS, HOST, ZONE, node, rebalance_of, soft, spread, standing


def test_who_comes_back_is_told_with_what_helps() -> None:
    """Preferred affinity sends every pod to the zone that it came from."""
    near = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "web"}}}
    on_a1 = {"matchExpressions": [{"key": HOST, "operator": "In", "values": ["a1"]}]}
    prefers = {
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 9, "preference": on_a1}]},
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 9, "podAffinityTerm": near}]},
    }
    pods = standing({"a1": 4}, soft(), affinity=prefers)
    found = rebalance_of([node("a1", "a", cpu="100"), node("b1", "b", cpu="100"), *pods], max_skew=1)
    assert found.moves == ()
    (unmet,) = found.unmet
    assert unmet.returns
    assert "an eviction does not help: if shop/" in unmet.why
    assert [(each.what, each.tried) for each in unmet.helps] == [("hard", True), ("cordon", True)]


def test_who_is_kept_out_of_where_pods_lack_is_told_with_why() -> None:
    """No scores send these back: their node selector, or a volume, lets them nowhere else."""
    pods = standing({"a1": 3}, soft(nodeAffinityPolicy="Ignore"), nodeSelector={ZONE: "a"})
    found = rebalance_of([node("a1", "a"), node("b1", "b"), *pods], max_skew=1)
    (unmet,) = found.unmet
    assert unmet.why.endswith(
        "on the same node, because no node of b takes it (1 didn't match Pod's node affinity/selector)"
    )
    assert "scores" not in unmet.why
    assert (unmet.returns, unmet.helps) == (True, ())
    answer = rebalance_answer(found)
    assert (answer.verdict, [each.code for each in answer.causes]) == ("no", ["placed-back"])
    assert answer.says.startswith(
        "no evictions help: 1 constraint is not restored; evicting the movable pods cannot restore all constraints"
    )


def test_nodes_are_named_once() -> None:
    """Where the label of a node's name is not its name, as in clouds, it is no second word for it."""
    there = [node(f"{zone}1", zone) for zone in "ab"]
    for each in there:
        each["metadata"]["labels"][HOST] = each["metadata"]["name"] + ".internal"
    found = rebalance_of([*there, *standing({"a1": 4}, spread(), spread(topologyKey=HOST))])
    move = found.moves[0]
    assert (move.namespace, move.name, move.node, move.target) == ("shop", "web-0", "a1", "b1")
    assert moved_domains(move) == [("a", "b")]


def test_what_judged_filters_refuse_everywhere_is_left_whatever_the_claim_says() -> None:
    full = [node("a1", "a"), node("b1", "b", cpu="1")]
    blocked = standing({"b1": 1}, name="log", priority=0, cpu="1")
    blocked[1]["metadata"]["ownerReferences"] = []
    answer = rebalance_answer(rebalance_of([*full, *standing({"a1": 2}, spread(), **CLAIMS), *blocked]))
    assert (answer.verdict, answer.unjudged) == ("no", ())
