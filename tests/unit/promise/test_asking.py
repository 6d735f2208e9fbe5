"""What holds in every order, orders in which it does not, and drills that play those again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.order_questions import guarantee
from tests.parted import parted
from tests.unit.drill.builders import ZONE, budget, inventory, node, nodes, spread, workload
from topospread.api.promises import Want
from topospread.drill.checking import check_drills
from topospread.drill.drill_file import find_drills
from topospread.promise.kept import WorkloadPromises
from topospread.promise.order_answer import GuaranteeAnswer
from topospread.promise.orders import OrderSearch, SearchBudget, Searched
from topospread.promise.questions import NoPending
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import prepare

Json = dict[str, Any]


def asked(objects: list[Json], **options: Any) -> GuaranteeAnswer:
    (answer,) = guarantee(inventory(*objects), **parted(options))
    return answer


def of(name: str, replicas: int, cpu: str = "1", *constraints: Json) -> Json:
    """A Deployment whose pods want so much cpu."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    own = [each | {"labelSelector": {"matchLabels": {"app": name}}} for each in constraints]
    spec = {"containers": [container]} | ({"topologySpreadConstraints": own} if own else {})
    return workload("Deployment", name, replicas, spec)


def searched(objects: list[Json], states: int = 20_000) -> Searched:
    """Whether pods stay pending, looked at order by order although it could be counted."""
    run = prepare(inventory(*objects), SimulationOptions(preemption=False), with_spreads=False)
    return OrderSearch(run, run.queue, NoPending(), SearchBudget(states)).search()


BIG_LAST = [node("a1", "a", cpu="3"), node("b1", "b", cpu="3"), of("small", 2), of("big", 2, "2")]
"""Two small pods and two big ones fit, unless the small ones come first to one node: they do not."""
SPLIT = [node("a1", cpu="2"), node("a2", cpu="2"), of("small", 2, "1"), of("big", 1, "2")]
"""The small pods go to a node each, and leave no room for the big one, which fits when it comes first."""


def test_what_always_holds_is_said_with_how_much_was_looked_at() -> None:
    answer = asked(BIG_LAST, never_pending=True)
    assert (answer.answer, answer.order, answer.why) == ("always", (), "")
    assert answer.states > answer.ends > 0


def test_an_order_in_which_a_pod_stays_pending_is_shown() -> None:
    answer = asked(SPLIT, never_pending=True)
    assert (answer.answer, answer.why) == ("not always", "1 of shop/big stays pending")
    assert [(each.workload, bool(each.node)) for each in answer.order] == [
        ("Deployment/small", True),
        ("Deployment/small", True),
        ("Deployment/big", False),
    ]


def test_what_holds_in_no_order_is_never() -> None:
    answer = asked([*nodes("a"), of("big", 1, "11")], never_pending=True)
    assert (answer.answer, answer.states, answer.ends) == ("never", 1, 1)


def test_a_pod_that_is_refused_at_first_comes_again() -> None:
    """The pods of web may only be near one of seed, which may come after them."""
    near = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "seed"}}}
    web = of("web", 2)
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    web["spec"]["template"]["spec"]["affinity"] = affinity
    assert asked([*nodes("a", "b"), web, of("seed", 1)], never_pending=True).answer == "always"
    assert asked([*nodes("a", "b"), web], never_pending=True).answer == "never"


def test_a_daemon_sets_pod_that_finds_no_room_stays_pending(tmp_path: Path) -> None:
    agent = workload("DaemonSet", "agent", spec=of("agent", 1, "3")["spec"]["template"]["spec"])
    objects = [node("a1", cpu="2"), node("a2", cpu="4"), agent, of("web", 1)]
    answer = asked(objects, never_pending=True)
    assert (answer.answer, answer.why) == ("never", "1 of shop/agent stays pending")
    (said,) = played_again(tmp_path, objects, answer)
    assert said.startswith("1 pending at the end")
    assert asked([node("a2", cpu="4"), agent, of("web", 1)], never_pending=True).answer == "always"


def test_skew_in_every_order() -> None:
    objects = [*nodes("a", "b"), of("web", 4, "1", spread(whenUnsatisfiable="ScheduleAnyway"))]
    assert asked(objects, skew=0).answer == "always"
    crowded = [node("a1", "a"), node("b1", "b", cpu="1"), *objects[2:]]
    answer = asked(crowded, skew=1)
    assert (answer.answer, answer.why) == ("never", f"shop/web has skew 2 on {ZONE}")


def test_what_the_loss_of_a_zone_leaves() -> None:
    objects = [*nodes("a", "b", "c"), of("web", 3, "1", spread())]
    assert asked(objects, survives="zone", left=["deploy/web=2"]).answer == "always"
    answer = asked(objects, survives="zone", left=["shop/deploy/web=3"])
    assert (answer.answer, answer.why) == ("not always", "losing a leaves 2 of 3")
    assert asked(objects, survives="node", left=["deploy/web=2"]).answer == "always"


def test_pods_of_a_stateful_set_come_in_their_order() -> None:
    found = searched([*nodes("a", "b"), workload("StatefulSet", "db", 3)])
    assert (found.holds, found.why, found.states) == (True, "", 5)  # by turns, and the last on either node


def test_nodes_and_zones_that_are_alike_are_one() -> None:
    few = searched([*nodes("a", "b", "c"), of("web", 3, "1", spread())])
    many = searched([*nodes(*"aabbcc"), of("web", 3, "1", spread())])
    assert few.states == many.states == 4


def labelled(key: str, *zones: str) -> list[Json]:
    """Nodes of zones that have a label of their own each."""
    made = nodes(*zones)
    for each in made:
        each["metadata"]["labels"][key] = f"general-{each['metadata']['labels'][ZONE]}"
    return made


def test_labels_that_nobody_asks_for_tell_no_nodes_apart() -> None:
    pods = of("web", 3, "1", spread())
    assert searched([*labelled("pool", *"aabbcc"), pods]).states == 4
    pods["spec"]["template"]["spec"]["topologySpreadConstraints"].append(
        spread(topologyKey="pool", labelSelector={"matchLabels": {"app": "web"}})
    )
    assert searched([*labelled("pool", *"aabbcc"), pods]).states > 4


def test_volumes_that_are_made_for_their_pods_tell_no_nodes_apart() -> None:
    claim: Json = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}}
    claim["spec"]["resources"] = {"requests": {"storage": "1Gi"}}
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}}
    storage |= {"provisioner": "csi.example", "volumeBindingMode": "WaitForFirstConsumer"}
    db = workload("StatefulSet", "db", 3, {"volumes": []})
    db["spec"]["volumeClaimTemplates"] = [claim]
    objects = [*nodes(*"aabbcc"), db, storage]
    assert searched(objects).states == 4
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "a1"}, "spec": {"drivers": []}}
    assert searched([*objects, driver]).states > 4


def test_what_asks_for_a_zone_by_name_tells_zones_apart() -> None:
    in_a = of("other", 1, "1")
    in_a["spec"]["template"]["spec"]["nodeSelector"] = {ZONE: "a"}
    objects = [*nodes("a", "b"), of("web", 2, "1", spread())]
    assert searched([*objects, in_a]).states > searched([*objects, of("other", 1)]).states


def test_beyond_the_budget_it_says_what_ran_out_and_how_far_it_came() -> None:
    soft = of("web", 6, "1", spread(whenUnsatisfiable="ScheduleAnyway"))
    objects = [*nodes("a", "b", "c"), soft, of("api", 4, "2")]
    answer = asked(objects, skew=4, states=5, seconds=900)
    assert answer.answer == "not decided"
    assert answer.why == (
        "not decided within 5 states (raise --states); 5 states were searched, 0 ends, of 10 pods at most 4 placed; "
        "200 orders drawn at random all end well"
    )
    assert "not decided within 0 s (raise --seconds)" in asked(objects, skew=4, seconds=0).why


def test_memory_that_runs_out_is_named_and_spoils_no_other_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    look, looked = OrderSearch._look, []

    def without_memory(search: OrderSearch) -> None:
        looked.append(search)
        if len(looked) == 3:
            raise MemoryError
        look(search)

    monkeypatch.setattr(OrderSearch, "_look", without_memory)
    first, second = guarantee(inventory(*SPLIT), never_pending=True, skew=0)
    assert (first.answer, first.why.partition(";")[0]) == ("not decided", "memory ran out")
    assert second.answer == "always"
    assert asked(SPLIT, never_pending=True).answer == "not always"


def test_orders_that_are_drawn_find_what_few_states_do_not() -> None:
    """Of very many orders most leave a pod over: not all have to be looked at to know that."""
    objects = [node(f"n{i}", cpu="4") for i in range(6)]
    answer = asked(
        [*objects, *(of(f"s{i}", 2) for i in range(4)), of("big", 5, "4")], never_pending=True, states=301, seconds=900
    )
    assert answer.answer == "not always"
    assert answer.order[-1].node == ""


def test_more_pods_than_all_orders_are_looked_at_of_are_drawn_from() -> None:
    answer = asked(
        [node("a1", cpu="200"), node("b1", cpu="200"), of("web", 301), of("big", 1, "60")], never_pending=True
    )
    assert answer.answer in ("not always", "not decided")
    assert "not for 302" in answer.why or answer.order


def test_where_pods_may_be_evicted_nothing_is_decided() -> None:
    important = of("dns", 1, "10")
    important["spec"]["template"]["spec"]["priorityClassName"] = "system-cluster-critical"
    answer = asked([*nodes("a"), of("web", 1), important], skew=5)
    assert (answer.answer, answer.why) == ("not decided", "shop/dns may evict pods of less priority")


def test_who_may_evict_others_is_not_said_to_stay_pending() -> None:
    """The important pod after the other one would evict it: only the order in which it comes first is an end."""
    important = of("dns", 1, "10")
    important["spec"]["template"]["spec"]["priorityClassName"] = "system-cluster-critical"
    answer = asked([*nodes("a"), of("web", 1), important], never_pending=True)
    assert (answer.answer, answer.why, answer.ends) == ("not always", "1 of shop/web stays pending", 1)


def test_a_sample_of_the_nodes_decides_nothing_but_what_can_be_counted() -> None:
    soft = of("web", 2, "1", spread(whenUnsatisfiable="ScheduleAnyway"))
    objects = [*nodes(*"ab" * 60), soft]
    answer = asked(objects, skew=1)
    assert answer.answer == "not decided"
    assert "sample" in answer.why
    assert asked(objects, never_pending=True).answer == "always"


def with_manifests(folder: Path, objects: list[Json], drill: str) -> list[str]:
    """Return what a drill's file falls short of on these objects."""
    (folder / "all.yaml").write_text(yaml.safe_dump_all(objects))
    (folder / "loss.yaml").write_text(drill.replace("spec:\n", "spec:\n  manifests: [all.yaml]\n", 1))
    return [
        each.message for one in check_drills(find_drills([str(folder / "loss.yaml")])).drills for each in one.shortfalls
    ]


def played_again(tmp_path: Path, objects: list[Json], answer: GuaranteeAnswer) -> list[str]:
    """Return what the drill of an order falls short of."""
    return with_manifests(tmp_path, objects, answer.drill)


def test_an_order_plays_again_as_a_drill(tmp_path: Path) -> None:
    (said,) = played_again(tmp_path, SPLIT, asked(SPLIT, never_pending=True))
    assert said.startswith("1 pending at the end, at most 0 expected: shop/big")


@pytest.mark.parametrize("loss", ["zone", "node"])
def test_the_drill_of_a_loss_shows_the_break_and_passes_once_the_manifest_is_mended(tmp_path: Path, loss: str) -> None:
    key = ZONE if loss == "zone" else "kubernetes.io/hostname"
    hard = spread(topologyKey=key, whenUnsatisfiable="DoNotSchedule")
    there, other = nodes("a", "a", "b"), of("other", 2, "1")
    (kept,) = WorkloadPromises(
        inventory(*there, of("web", 2), other), SimulationOptions(), ("Deployment", "shop", "web"), SearchBudget(), {}
    ).kept([Want("zone-loss" if loss == "zone" else "node-loss", 1)])
    assert kept.part.answer is not None
    (said,) = with_manifests(tmp_path, [*there, of("web", 2), other], kept.part.answer.drill)
    assert said.startswith(f"Deployment shop/web had 0 ready (during fail {key}=")
    assert not with_manifests(tmp_path, [*there, of("web", 2, "1", hard), other], kept.part.answer.drill)


def test_ties_that_matter_are_forced(tmp_path: Path) -> None:
    """Only where the first pod goes to the second of two equal nodes the constrained one finds no room."""
    picky = of("picky", 1, "2")
    picky["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "a2"}
    objects = [node("a1", cpu="2"), node("a2", cpu="2"), of("small", 1), picky]
    answer = asked(objects, never_pending=True)
    assert answer.answer == "not always"
    assert answer.order[0].node == "a2"
    assert "shop/Deployment/small=a2" in answer.drill
    assert played_again(tmp_path, objects, answer)


def test_a_workload_that_has_pods_already_is_played_too(tmp_path: Path) -> None:
    pods = of("web", 2)
    there = {"name": "web-1", "namespace": "shop", "labels": {"app": "api"}}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "api", "uid": "u", "controller": True}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": there | {"ownerReferences": [owner]}, "spec": {}}
    pod["spec"] = pods["spec"]["template"]["spec"] | {"nodeName": "a1"}
    replicas = workload("ReplicaSet", "api", 2, pods["spec"]["template"]["spec"])
    replicas["metadata"]["uid"] = "u"
    objects = [node("a1", cpu="1"), replicas, pod]
    answer = asked(objects, never_pending=True)
    assert answer.answer == "never"
    (said,) = played_again(tmp_path, objects, answer)
    assert said.startswith("1 pending at the end")


def test_several_questions_are_answered_each() -> None:
    found = guarantee(inventory(*BIG_LAST, budget("web", minAvailable=1)), never_pending=True, skew=0)
    assert [each.question for each in found] == ["no pod stays pending", "no skew is more than 0"]
    assert [each.answer for each in found] == ["always", "always"]
