"""What events leave of a workload: bounds that filters force, and what drills show afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.parted import parted
from tests.unit.drill.builders import ZONE, budget, inventory, nodes, rolling, running, spread, workload
from topospread.answers.promise_check import promise_check
from topospread.answers.promise_show import PromisedEvent, PromiseShow, promise_show
from topospread.base import Bounds
from topospread.errors import UsageError
from topospread.promise.orders import OrderSearch
from topospread.promise.questions import LeftAfterLoss
from topospread.simulation.simulate import simulate

Json = dict[str, Any]
THREE = nodes("a", "a", "b", "b", "c", "c")
BY_REVISION = {"matchLabelKeys": ["pod-template-hash"]}


def of(*objects: Json, **options: Any) -> PromiseShow:
    return promise_show(inventory(*objects), ["deploy/web"], **parted(options))


def event(found: PromiseShow, when: str) -> PromisedEvent:
    return next(each for each in found.workloads[0].events if each.when == when)


def web(*constraints: Json, replicas: int = 6, **more: Any) -> Json:
    return workload("Deployment", "web", replicas, {"topologySpreadConstraints": list(constraints)}, **more)


def test_a_zones_loss_leaves_what_filters_force_and_a_rollout_may_leave_fewer() -> None:
    found = event(of(*THREE, web(spread(), strategy=rolling(2, 1))), "zone-loss")
    assert (found.orders, found.rolled) == (Bounds.exactly(4), Bounds.exactly(3))
    assert (found.leaves, found.ground) == (Bounds.exactly(3), "proved")
    alone = event(of(*THREE, web(spread(**BY_REVISION))), "zone-loss")
    assert (alone.leaves, alone.rolled) == (Bounds.exactly(4), None)


def test_a_loose_constraint_promises_less_although_scores_spread_the_pods() -> None:
    assert event(of(*THREE, web(spread(5, **BY_REVISION))), "zone-loss").leaves == Bounds.exactly(1)


def test_a_lost_zone_that_still_counts_leaves_pods_pending_and_one_that_is_left_out_does_not() -> None:
    counts = event(of(*THREE, web(spread())), "zone-loss")
    assert (counts.pending, counts.then) == (2, "2 stay pending")
    assert "didn't match pod topology spread constraints" in counts.message
    assert event(of(*THREE, web(spread(nodeTaintsPolicy="Honor"))), "zone-loss").then == "all ready again"


def test_without_a_hard_constraint_a_single_loss_can_take_everything() -> None:
    for constraints in ((), (spread(whenUnsatisfiable="ScheduleAnyway"),)):
        found = of(*THREE, web(*constraints))
        assert (found.verdict, event(found, "zone-loss").leaves) == ("no", Bounds.exactly(0))
        assert "no hard constraint over topology.kubernetes.io/zone" in found.causes[0].says


def test_a_hard_constraint_that_matches_none_of_its_pods_is_told() -> None:
    typo = spread(labelSelector={"matchLabels": {"app": "wbe"}})
    (cause,) = of(*THREE, web(typo)).causes
    assert "losing a zone can leave 0 of 6 pods (app=wbe matches none of its pods)" in cause.says
    (cause,) = of(*THREE, web(typo, spread(6))).causes
    assert "(maxSkew 6 allows it)" in cause.says


def test_pods_that_find_no_node_are_the_cause_and_not_the_constraint() -> None:
    large = web(spread(), replicas=3)
    large["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100"}}
    for constraints in ([spread()], []):
        large["spec"]["template"]["spec"]["topologySpreadConstraints"] = constraints
        found = of(*THREE, large)
        (cause,) = found.causes
        assert (cause.code, found.next[:3]) == ("pods-pending", ("topospread", "why", "shop/deployment/web"))
        assert "losing a zone can leave 0 of 3 pods (3 of its pods find no node)" in cause.says


def test_a_rollout_that_ends_skewed_is_the_cause() -> None:
    (cause,) = of(*nodes("a", "a", "b", "b"), web(spread(), replicas=2, strategy=rolling(1, 1))).causes
    assert "(a rollout can end above maxSkew 1, as old pods count)" in cause.says


def test_a_rollout_keeps_what_its_strategy_says_and_may_end_skewed() -> None:
    plain = event(of(*THREE, web(spread(), strategy=rolling(1, 1))), "rollout")
    assert (plain.leaves, plain.skew, plain.runs) == (Bounds.exactly(5), 2, 8)
    assert event(of(*THREE, web(spread(**BY_REVISION), strategy=rolling(1, 1))), "rollout").skew == 0


def test_a_budget_that_lets_nothing_go_holds_a_drain_up() -> None:
    found = of(*THREE, web(spread()), budget(maxUnavailable=0))
    held = event(found, "drain")
    assert (found.verdict, found.says.partition(", ")[2]) == (
        "yes",
        "but budget shop/web blocks every drain of a node with its pods",
    )
    assert held.then == "does not end: 1 pod of a1 cannot be evicted, 6 of 6 stay ready"
    assert event(of(*THREE, web(spread())), "drain").then == "all ready again"


def test_a_drain_that_kubectl_refuses_leaves_all_pods_now() -> None:
    bare = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"bare-{on}", "namespace": "shop", "uid": on}}
        | {"spec": {"nodeName": on, "containers": [{"name": "c", "image": "i"}]}}
        for on in ("a1", "b1", "c1")
    ]
    after = simulate(inventory(*nodes("a", "b", "c"), *bare, web(spread(), replicas=3)), keep_after=True).after
    assert after is not None
    found = promise_show(after, ["deploy/web"])
    assert (event(found, "node-loss").now, event(found, "drain").now) == (2, 3)


def test_a_loss_that_breaks_a_budget_says_so_and_what_becomes_of_the_pods() -> None:
    found = event(of(*THREE, web(spread()), budget(minAvailable=5)), "zone-loss")
    assert found.then == "breaks the budget shop/web; 2 stay pending"


def test_a_drain_leaves_what_filters_and_budgets_force_and_not_what_one_placement_shows() -> None:
    """Scores spread the pods evenly, so that each drill leaves 5 of 6; filters let one node hold two."""
    drain = event(of(*THREE, web(spread(**BY_REVISION))), "drain")
    assert (drain.leaves, drain.orders, drain.ground) == (Bounds.exactly(4), Bounds.exactly(4), "proved")
    assert event(of(*THREE, web(spread())), "drain").rolled == Bounds.exactly(3)
    kept = event(of(*THREE, web(spread(), replicas=6), budget(minAvailable=5)), "drain")
    assert (kept.leaves, kept.orders, kept.ground) == (Bounds.exactly(5), Bounds.exactly(5), "proved")
    loose = event(of(*THREE, web()), "drain")
    assert (loose.leaves, loose.now) == (Bounds.exactly(0), None)


def test_a_budget_keeps_no_pod_that_has_no_node() -> None:
    large = web(spread(), replicas=6)
    large["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "4"}}
    room = [each | {"status": {"allocatable": {"cpu": "5", "pods": "10"}}} for each in nodes("a", "b", "c")]
    drain = event(of(*room, large, budget(minAvailable=5)), "drain")
    assert drain.leaves.most == 3
    (check,) = promise_check(inventory(*room, large, budget(minAvailable=5)), want="drain>=5").promises
    assert (check.verdict, check.says) == ("no", "3 of 6 have a node")


def test_a_drain_after_which_another_pod_preempts_is_played() -> None:
    """The drained node's pod of more priority evicts a pod of the workload on the other node."""
    room = [each | {"status": {"allocatable": {"cpu": "2", "pods": "10"}}} for each in nodes("a", "b")]
    one = web(spread(topologyKey="kubernetes.io/hostname"), replicas=2)
    one["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    first = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "first"}, "value": 9}
    other = workload("Deployment", "other", 2, {"priorityClassName": "first"})
    other["spec"]["template"]["spec"]["containers"] = one["spec"]["template"]["spec"]["containers"]
    after = simulate(inventory(*room, first, one, other), keep_after=True).after
    assert after is not None
    found = promise_show(after, ["deploy/web"])
    drain = event(found, "drain")
    assert (event(found, "node-loss").orders, drain.leaves) == (Bounds.exactly(1), Bounds.exactly(0))
    assert drain.ground == "played"


def test_the_domains_that_are_drilled_are_counted() -> None:
    assert event(of(*THREE, web(spread())), "drain").runs == 6
    assert event(of(*THREE, web(spread()), most=2), "drain").runs == 2


def test_a_stateful_set_of_odd_size_needs_its_quorum() -> None:
    db = workload("StatefulSet", "db", 3, {"topologySpreadConstraints": []})
    db["spec"]["template"]["spec"]["topologySpreadConstraints"] = [
        {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
        | {"labelSelector": {"matchLabels": {"app": "db"}}}
    ]
    (kept,) = promise_show(inventory(*THREE, db)).workloads
    assert (kept.needed, kept.verdict) == (2, "yes")
    (broken,) = promise_show(inventory(*nodes("a", "b"), db)).workloads
    assert (broken.needed, broken.verdict) == (2, "no")


def test_pods_that_are_not_judged_give_bounds() -> None:
    """The claim's allocation may leave them no node: a loss leaves from none to what judged filters allow."""
    claiming = web(spread(), replicas=3)
    spec = claiming["spec"]["template"]["spec"]
    spec["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    found = of(*THREE, claiming)
    assert (found.verdict, event(found, "zone-loss").leaves) == ("unknown", Bounds(least=0, most=2))
    assert {each.when for each in found.workloads[0].events} == {"zone-loss", "node-loss"}
    assert [each.what for each in found.unjudged] == ["resourceClaims"]
    assert "0 to 2 of 3, not decided" in found.text()


def test_several_workloads_are_a_row_each() -> None:
    found = promise_show(inventory(*THREE, web(spread()), workload("ReplicaSet", "other", 2)))
    assert found.says == "a single loss can leave too few pods in 1 of 2 workloads"
    rows = [line.split()[:2] for line in found.text().splitlines() if line.startswith("shop/")]
    assert sorted(rows) == [["shop/other", "2"], ["shop/web", "6"]]
    assert any(line.startswith("WORKLOAD    PODS") for line in found.text().splitlines())


def test_a_counted_rollout_keeps_no_pod_that_has_no_node() -> None:
    """So many workloads are counted. The nodes have room for four of the six pods, and the strategy keeps five."""
    large, others = web(spread(6)), [workload("Deployment", f"api-{number}", 1) for number in range(11)]
    large["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "6"}}
    found = promise_show(inventory(*nodes("a", "a", "b", "b"), large, *others))
    shown = next(each for each in found.workloads if each.name == "web")
    assert next(each.leaves for each in shown.events if each.when == "rollout") == Bounds.exactly(4)


def test_what_cannot_be_shown_is_refused() -> None:
    with pytest.raises(UsageError, match="a DaemonSet cannot have promises"):
        promise_show(inventory(*THREE, workload("DaemonSet", "agent")), ["ds/agent"])
    with pytest.raises(UsageError, match="Deployment none not found"):
        promise_show(inventory(*THREE, web()), ["deploy/none"])


def test_a_table_shows_what_is_proved_where_only_the_rollout_is_open_and_names_the_next_command() -> None:
    found = promise_show(inventory(*THREE, web(spread()), workload("Deployment", "api", 3)), typed=["-f", "a.yaml"])
    open_to = {"leaves": Bounds(least=0, most=3), "of": 6, "ground": "none", "rolled": Bounds(least=0, most=3)}
    rolled = PromisedEvent(when="zone-loss", now=4, orders=Bounds.exactly(3), **open_to)
    orders = PromisedEvent(when="node-loss", now=4, orders=Bounds(least=0, most=3), **open_to)
    workloads = [replace(each, events=(rolled, orders)) for each in found.workloads]
    lines = replace(found, workloads=tuple(workloads)).text().splitlines()
    row = next(line for line in lines if line.startswith("shop/web"))
    alone = replace(found, workloads=(workloads[0],)).text(width=120)
    assert "0 to 3 of 6, not decided" in alone
    assert "–" not in alone
    assert row.split()[2:6] == ["3*", "now", "4,", "0–3?"]
    assert "*: proved for every order of pods, but not after rollouts" in lines
    assert found.next == ("topospread", "promise", "design", "shop/deployment/api", "-f", "a.yaml")
    assert found.text().splitlines()[-1] == "next: topospread promise design shop/deployment/api -f a.yaml"


def test_the_ground_of_each_figure_is_on_the_screen() -> None:
    """A loss may be worst now, and a drain may be simulated: the table of many workloads says so."""
    found = promise_show(inventory(*THREE, web(spread()), workload("Deployment", "api", 3)))
    seen = PromisedEvent(when="zone-loss", leaves=Bounds.exactly(1), of=6, ground="seen", now=1)
    played = PromisedEvent(when="drain", leaves=Bounds.exactly(2), of=6, ground="played", now=2)
    drawn = PromisedEvent(when="rollout", leaves=Bounds.exactly(4), of=6, ground="drawn")
    page = replace(found, workloads=tuple(replace(each, events=(seen, played, drawn)) for each in found.workloads))
    row = next(line for line in page.text().splitlines() if line.startswith("shop/web"))
    assert row.split()[2:] == ["1", "now", "–", "2", "simulated", "4", "sampled"]
    assert "simulated: in one simulation" in page.text()


def roomy(*zones: str) -> list[Json]:
    """Nodes with room for thousands of pods that want nothing."""
    return [each | {"status": {"allocatable": {"cpu": "10", "pods": "5000"}}} for each in nodes(*zones)]


SMALL = {"containers": [{"name": "c", "image": "i"}]}


def many(replicas: int, *constraints: Json) -> Json:
    return workload("Deployment", "web", replicas, SMALL | {"topologySpreadConstraints": list(constraints)})


def test_many_replicas_are_gathered_once_for_a_loss_and_each_event_is_played_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gathered: list[str] = []
    search = OrderSearch.gathered

    def counted(self: OrderSearch, question: LeftAfterLoss, least: int) -> Any:
        gathered.append(question.loss)
        return search(self, question, least)

    monkeypatch.setattr(OrderSearch, "gathered", counted)
    (found,) = of(*roomy(*"abc"), many(310, spread(5))).workloads
    assert gathered == ["zone", "node"]
    zone = next(each for each in found.events if each.when == "zone-loss")
    assert (zone.orders, zone.ground) == (Bounds.exactly(204), "none")  # a rollout of so many pods is not searched
    assert {each.when: each.runs for each in found.events} == {
        "zone-loss": 1, "node-loss": 1, "drain": 1, "rollout": 1, "scale-down": 1, "more": 0,
    }  # fmt: skip


def test_a_search_without_time_decides_nothing() -> None:
    found = event(of(*roomy(*"abc"), many(310), seconds=0.0), "node-loss")
    assert (found.orders, found.ground) == (Bounds(least=0, most=206), "none")


def test_thousands_of_replicas_are_counted() -> None:
    (found,) = of(*roomy(*"abc"), many(3_001, spread())).workloads
    events = {each.when: each for each in found.events}
    assert (events["rollout"].leaves, events["rollout"].ground) == (Bounds.exactly(2_251), "proved")
    assert (events["drain"].leaves, events["drain"].ground) == (events["node-loss"].leaves, "none")


def declaring(text: str) -> Json:
    made = web(spread(**BY_REVISION))
    made["metadata"]["annotations"] = {"topospread.dev/promise": text}
    return made


def test_declared_pods_are_shown_beside_what_is_left_and_decide() -> None:
    found = of(*THREE, declaring("zone-loss>=4 drain>=5 rollout>=50%"))
    assert {each.when: each.needed for each in found.workloads[0].events if each.needed} == {
        "zone-loss": 4,
        "drain": 5,
        "rollout": 3,
    }
    assert (found.verdict, found.says) == ("no", "shop/web may not keep the pods that its promises declare")
    assert found.causes[0].says == "shop/web: a drain can leave 4 of 6 pods, 5 are declared"
    rows = [line.split() for line in found.text().splitlines() if "drain" in line]
    assert ["a", "node", "drains", "4", "of", "6", "5"] in [row[:7] for row in rows]
    assert found.next[found.next.index("--want") + 1] == "zone-loss>=4 drain>=5 rollout>=50%"
    kept = of(*THREE, declaring("zone-loss>=4"))
    assert (kept.verdict, kept.workloads[0].declared) == ("yes", "zone-loss>=4")
    assert "required: zone-loss>=4: kept, proved" in kept.text()


def test_a_declaration_without_counts_leaves_the_question_of_all_pods() -> None:
    found = of(*THREE, declaring("skew<=1"))
    assert {each.when: each.needed for each in found.workloads[0].events if each.needed} == {
        "zone-loss": 1,
        "node-loss": 1,
    }
    assert "REQUIRED" not in found.text()


def test_no_design_is_suggested_for_a_single_replica() -> None:
    found = of(*nodes(*"abc"), web(replicas=1))
    assert (found.verdict, found.next) == ("no", ())


def test_simulations_beside_pods_that_are_not_judged_say_that_these_take_no_room() -> None:
    claiming = workload("Deployment", "gpu", 2)
    claiming["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    note = "note: in simulations, other pods that are not judged take no room"
    assert note in promise_show(inventory(*THREE, web(spread()), claiming), ["deploy/web"]).text()
    assert note not in promise_show(inventory(*THREE, web(spread()), claiming), ["deploy/gpu"]).text()
    assert note not in of(*THREE, web(spread())).text()


def test_pods_of_a_workload_whose_name_begins_alike_are_other_pods() -> None:
    claiming = workload("Deployment", "web-api", 2)
    claiming["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    (one,) = of(*THREE, web(spread()), claiming).workloads
    assert not one.has_unjudged
    assert {each.when for each in one.events} == {"zone-loss", "node-loss", "drain", "rollout", "scale-down", "more"}
    (api,) = promise_show(inventory(*THREE, web(spread()), claiming), ["deploy/web-api"]).workloads
    assert api.has_unjudged


def test_simulations_are_repeated_only_within_the_limit_of_seconds() -> None:
    objects = *THREE, web(spread(**BY_REVISION))
    assert [event(of(*objects, seconds=limit), "rollout").runs for limit in (60.0, 0.0)] == [8, 1]


def test_budgets_of_other_workloads_are_not_those_of_a_workload() -> None:
    """A zone's loss violates the budget of `web`, and a drain waits for its pods; `other` has no budget."""
    other = workload("Deployment", "other", 3, {"topologySpreadConstraints": [spread()]})
    found = promise_show(
        inventory(*THREE, web(spread()), other, budget(maxUnavailable=0)), ["deploy/web", "deploy/other"]
    )
    ends = {(one.name, each.when): each.then for one in found.workloads for each in one.events}
    assert ends["web", "zone-loss"].startswith("breaks the budget shop/web; ")
    assert "shop/web" not in ends["other", "zone-loss"]
    assert ends["web", "drain"].startswith("does not end: ")
    assert ends["other", "drain"] == "all ready again; the drain waits for 1 pod of other workloads"
    (row,) = [each for each in found.text().splitlines() if each.startswith("shop/other ")]
    assert "budget" not in row
    assert "blocked" not in row


def test_a_broken_quorum_is_not_called_undecided_and_the_present_pods_come_first() -> None:
    """Bounds below the requirement decide it, and the pods that are left as placed now may still be enough."""
    loss = PromisedEvent.like(
        event(of(*THREE, web(spread())), "zone-loss"),
        needed=3, now=4, orders=Bounds(least=0, most=1), rolled=None, leaves=Bounds(least=0, most=1), ground="none",
    )  # fmt: skip
    found = of(*THREE, web(spread()))
    one = replace(found.workloads[0], verdict="no", ground="proved", needed=3, events=(loss,))
    text = " ".join(replace(found, workloads=(one,)).text().split())
    assert "4 as placed now; can be 1 or fewer, proved" in text
    assert "not kept, proved for other orders of pods; kept as placed now" in text


def test_ready_pods_on_a_node_that_is_not_ready_do_not_count_as_ready() -> None:
    a1, *others = nodes("a", "b", "c")
    a1["spec"]["taints"] = [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]
    found = promise_show(inventory(a1, *others, *running(True, True, True)), ["deploy/web"])
    assert [(each.ready, each.replicas) for each in found.workloads] == [(2, 3)]


def test_a_count_that_others_leave_open_is_shown_as_it_is_without_them() -> None:
    """The other workload can fill a zone, so `web` may get no node there."""
    room = [{**each, "status": {"allocatable": {"cpu": "4", "pods": "110"}}} for each in THREE]
    one_cpu = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
    crowd = workload("Deployment", "crowd", 8, one_cpu)
    pods = {"topologySpreadConstraints": [spread(**BY_REVISION)], **one_cpu}
    answer = of(*room, workload("Deployment", "web", 6, pods), crowd, states=10, seconds=0.1)
    found = event(answer, "zone-loss")
    assert (found.ground, found.alone, found.alone_rolled) == ("none", 4, 4)
    assert "4 if others leave room" in answer.text(width=120)
