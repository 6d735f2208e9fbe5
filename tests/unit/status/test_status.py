"""What a status says of workloads, case by case; `tests/property/test_status.py` holds its numbers to the engine's."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tests.plain_inventory import inventory
from tests.unit.drill.builders import running
from topospread.answers.status import Status
from topospread.answers.status import status as status_of
from topospread.api.selector_text import parse_selector
from topospread.errors import UsageError
from topospread.status.result import WorkloadStatus

ZONE = "topology.kubernetes.io/zone"
Json = dict[str, Any]


def thing(kind: str, name: str, version: str = "v1", **more: Any) -> Json:
    metadata = {"name": name, "namespace": "shop", "uid": f"{kind}-{name}"} | more.pop("metadata", {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def node(name: str, zone: str | None = None, **spec: Any) -> Json:
    labels = {"kubernetes.io/hostname": name} | ({ZONE: zone} if zone else {})
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    return thing(
        "Node", name, metadata={"labels": labels, "namespace": None}, spec=spec, status={"allocatable": amounts}
    )


NODES = [node("a1", "a"), node("b1", "b"), node("c1", "c")]


def constraint(skew: int = 1, when: str = "DoNotSchedule", **more: Any) -> Json:
    selector = {"matchLabels": {"app": "web"}}
    return {"maxSkew": skew, "topologyKey": ZONE, "whenUnsatisfiable": when, "labelSelector": selector} | more


def spec(*constraints: Json, **more: Any) -> Json:
    return {"containers": [{"name": "c", "image": "i"}], "topologySpreadConstraints": list(constraints)} | more


def pods(where: list[str], labels: Json, given: Json, owner: Json | None = None, prefix: str = "web") -> list[Json]:
    metadata: Json = {"labels": labels}
    if owner is not None:
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True}
        metadata["ownerReferences"] = [reference | {each: owner["metadata"][each] for each in ("name", "uid")}]
    return [
        thing("Pod", f"{prefix}-{i}", metadata=metadata, spec=given | {"nodeName": name})
        for i, name in enumerate(where)
    ]


def replica_set(given: Json, where: list[str], replicas: int | None = None) -> list[Json]:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": given}
    wanted = {"replicas": len(where) if replicas is None else replicas, "selector": {"matchLabels": labels}}
    owner = thing("ReplicaSet", "web", "apps/v1", spec=wanted | {"template": template})
    return [owner, *pods(where, labels, given, owner)]


def status(*objects: Json, **options: Any) -> Status:
    return status_of(inventory(*objects), **options)


def only(found: Status) -> WorkloadStatus:
    (workload,) = found.workloads
    return workload


def test_an_exceeded_constraint_and_who_would_be_refused() -> None:
    found = only(status(*NODES, *replica_set(spec(constraint()), ["a1", "a1", "a1", "b1"], 5)))
    (zone,) = found.constraints
    assert (zone.skew, zone.excess, zone.minimum, zone.empty_names) == (3, 2, 0, ("c",))
    assert {each.name: each.matching for each in zone.domains} == {"a": 3, "b": 1}
    assert (found.existing, found.missing, found.hard_excess) == (4, 1, 2)
    assert [(each.name, each.node, each.plugin) for each in found.refused] == [
        (f"web-{i}", "a1", "PodTopologySpread") for i in range(3)
    ]


def test_every_workload_with_an_exceeded_constraint_is_named() -> None:
    one = replica_set(spec(constraint()), ["a1", "a1", "a1"])
    other = json.loads(json.dumps(one).replace('"shop"', '"market"'))
    found = status(*NODES, *one, *other)
    assert "2 hard constraints are exceeded: " in found.says
    assert {"market/web", "shop/web"} <= set(found.says.split())
    (shop,) = status(*NODES, *one, *other, namespace="shop", typed=["--on", "x"]).remedies
    (every,) = status(*NODES, *one, *other, typed=["--on", "x"]).remedies
    assert shop.command == ("topospread", "rebalance", "--on", "x", "-n", "shop")
    assert (shop.tried.evicts, every.tried.evicts) == (2, 4)
    assert shop.says == "after 2 evictions every hard constraint of namespace shop holds"


@pytest.mark.parametrize("is_short", [True, False])
def test_rebalance_is_named_beside_the_fixes_of_pending_pods(monkeypatch: pytest.MonkeyPatch, is_short: bool) -> None:
    monkeypatch.setattr("topospread.rebalance.at_once.is_cheap", lambda _: is_short)
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    cordoned = node("b2", "b", unschedulable=True, taints=[taint])
    large = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "6"}}}
    waiting = [
        thing("Pod", "alone", spec=spec(nodeSelector={"kubernetes.io/hostname": "b2"})),
        thing("Pod", "large", spec=spec(containers=[large])),
    ]
    web = replica_set(spec(constraint()), ["a1", "a1", "a1"])
    found = status(*NODES[:2], cordoned, *waiting, *web, typed=["-f", "shop"])
    assert len(found.pending) == 2
    assert [len(each.remedies) for each in found.pending] == [1, 1]
    assert "topospread rebalance -f shop" in found.text()
    assert bool(found.next) is not is_short


def test_a_soft_constraint_is_unsatisfied_and_refuses_nobody() -> None:
    found = only(status(*NODES, *replica_set(spec(constraint(when="ScheduleAnyway")), ["a1", "a1", "a1"])))
    assert (found.hard_excess, found.soft_excess, found.refused) == (0, 2, ())


def test_a_cordoned_node_refuses_its_pods() -> None:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    cordoned = node("a1", "a", unschedulable=True, taints=[taint])
    found = only(status(cordoned, *NODES[1:], *replica_set(spec(), ["a1", "b1"])))
    assert [(each.name, each.plugin) for each in found.refused] == [("web-0", "NodeUnschedulable")]


def test_a_bare_pod_is_a_workload_of_its_own() -> None:
    found = only(status(*NODES, *pods(["a1"], {"app": "web"}, spec(constraint()))))
    assert (found.kind, found.name, found.existing, found.worst_losses) == ("Pod", "web-0", 1, ())


def test_pods_of_a_daemon_set_belong_to_their_nodes() -> None:
    labels = {"app": "agent"}
    template = {"metadata": {"labels": labels}, "spec": spec()}
    owner = thing("DaemonSet", "agent", "apps/v1", spec={"selector": {"matchLabels": labels}, "template": template})
    taint = {"key": "dedicated", "effect": "NoSchedule"}
    tainted = node("a1", "a", taints=[taint])
    found = only(status(tainted, *NODES[1:], owner, *pods(["a1", "b1"], labels, spec(), owner, "agent")))
    assert (found.existing, found.refused, found.losses) == (2, (), ())


def test_pods_of_another_scheduler_are_counted_and_not_asked() -> None:
    found = only(status(*NODES, *replica_set(spec(constraint(), schedulerName="mine"), ["a1", "a1"])))
    assert (found.hard_excess, found.refused) == (1, ())


def test_pods_that_are_not_judged_have_a_row_for_each_reason() -> None:
    other = thing("Pod", "other", spec=spec(schedulerName="mine"))
    claims = thing("Pod", "claims", spec=spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]))
    found = status(*NODES, other, claims).pending
    assert sorted((each.workloads, each.says.partition(",")[0]) for each in found) == [
        (("shop/Pod/claims",), "resource claims need ResourceSlices"),
        (("shop/Pod/other",), 'schedulerName "mine" is in no profile'),
    ]


def test_a_selector_that_does_not_compile_is_said() -> None:
    broken = constraint(labelSelector={"matchExpressions": [{"key": "app", "operator": "Nope"}]})
    found = only(status(*NODES, *pods(["a1"], {"app": "web"}, spec(broken))))
    assert found.constraints == ()
    assert found.problem
    assert [each.plugin for each in found.refused] == [""]


def test_chosen_by_namespace_labels_and_key() -> None:
    objects = [*NODES, *replica_set(spec(constraint()), ["a1", "b1"])]
    assert status(*objects, selector=parse_selector("app=web")).workloads
    assert not status(*objects, selector=parse_selector("app!=web"), allow_empty=True).workloads
    with pytest.raises(UsageError, match=r"^-l app notin \(web\) selects no workload \(--allow-empty accepts that\)$"):
        status(*objects, selector=parse_selector("app!=web"))
    assert only(status(*objects, keys=["kubernetes.io/hostname"])).constraints == ()
    with pytest.raises(UsageError, match='no workload found in namespace "nope"; namespaces with workloads: shop'):
        status(*objects, namespace="nope")
    with pytest.raises(UsageError, match='no node has the label "rack"'):
        status(*objects, keys=["rack"])


def test_the_inventory_is_left_as_it_was() -> None:
    given = inventory(*NODES, *replica_set(spec(constraint()), ["a1", "a1"], 1))
    before = msgspec.json.encode(list(given.objects()))
    status_of(given)
    assert msgspec.json.encode(list(given.objects())) == before


def test_a_picture_of_a_status_has_a_bar_for_each_constraint() -> None:
    picture = status(*NODES, *replica_set(spec(constraint()), ["a1", "a1", "a1", "b1"])).svg()
    assert picture.count('<rect class="over"') == 1


def test_zone_columns_have_the_places_of_the_pods_and_a_remark_has_other_counts_of_the_constraint() -> None:
    taint = {"key": "closed", "effect": "NoSchedule"}
    given = spec(constraint(2, nodeTaintsPolicy="Honor"))
    found = status_of(inventory(*NODES[:2], node("c1", "c", taints=[taint]), *replica_set(given, ["a1", "b1", "c1"])))
    (row,) = [" ".join(line.split()) for line in found.text().splitlines() if line.startswith("shop/web")]
    assert row == "shop/web 3/3 1 1 1 0 2 counts 1, 1, –"
    nowhere = spec(constraint(2), nodeSelector={"disk": "ssd"})
    found = status_of(inventory(*NODES[:2], *replica_set(nowhere, ["a1", "b1"])))
    (row,) = [" ".join(line.split()) for line in found.text().splitlines() if line.startswith("shop/web")]
    assert row == "shop/web 2/2 1 1 0 2 counts no node"


def test_the_first_line_counts_nodes_that_are_not_ready_and_the_page_names_them_with_their_pods() -> None:
    dead = node("a1", "a", taints=[{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}])
    found = status_of(inventory(dead, *NODES[1:], *running(True, True)))
    assert found.says.startswith("every pod has a node, and every hard constraint holds; 1 node is not Ready (3 nodes")
    assert found.not_ready == {"a1": ("shop/web-a",)}
    assert "not ready: node a1 has 1 pod: shop/web-a\n" in found.text()
    assert "not Ready" not in status_of(inventory(*NODES, *running(True, True))).says
