"""What holds in every order, orders in which it does not, and drills that play those again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.order_questions import guarantee
from tests.parted import parted
from tests.unit.drill.builders import ZONE, inventory, node, nodes, spread, workload
from topospread.drill.checking import check_drills
from topospread.drill.drill_file import find_drills
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


def test_pods_of_a_stateful_set_come_in_their_order() -> None:
    found = searched([*nodes("a", "b"), workload("StatefulSet", "db", 3)])
    assert (found.holds, found.why, found.states) == (True, "", 5)  # by turns, and the last on either node


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
