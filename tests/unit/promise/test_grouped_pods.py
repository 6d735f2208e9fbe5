"""Promises of workloads whose pods, or whose neighbours, are in PodGroups."""

from __future__ import annotations

from typing import Any

from tests.plain_inventory import inventory
from tests.unit.drill.builders import ZONE, node, nodes, rolling, spread, workload
from tests.unit.drill.test_groups import OPTIONS, group
from topospread.answers.promise_check import CheckedPromise, promise_check
from topospread.answers.promise_design import promise_design
from topospread.answers.promise_show import PromisedEvent, PromiseShow, promise_show
from topospread.base import Bounds

Json = dict[str, Any]
THREE = nodes("a", "b", "c")
TIGHT = [node("a1", "a", cpu="2"), node("b1", "b", cpu="2")]
ONE_ZONE = {"schedulingConstraints": {"topology": [{"key": ZONE}]}}
ONE_RACK = {"schedulingConstraints": {"topology": [{"key": "rack"}]}}


def web(*constraints: Json, kind: str = "StatefulSet", of: str = "g", **more: Any) -> Json:
    spec = {"schedulingGroup": {"podGroupName": of}, "topologySpreadConstraints": list(constraints)}
    parallel = {"podManagementPolicy": "Parallel"} if kind == "StatefulSet" else {}
    return workload(kind, "web", 4, spec, **parallel | more)


def shown(*objects: Json, target: str = "web", kind: str = "statefulset") -> PromiseShow:
    return promise_show(inventory(*objects), [f"shop/{kind}/{target}"], OPTIONS)


def loss(found: PromiseShow, when: str = "zone-loss") -> PromisedEvent:
    return next(each for each in found.workloads[0].events if each.when == when)


def checked(want: str, *objects: Json, target: str = "statefulset/web") -> CheckedPromise:
    (found,) = promise_check(inventory(*objects), [f"shop/{target}"], OPTIONS, want=want).promises
    return found


def test_a_gang_with_room_keeps_what_filters_force() -> None:
    found = shown(*THREE, group("g", 4), web(spread()))
    assert (found.verdict, loss(found).leaves, loss(found).ground) == ("yes", Bounds.exactly(2), "proved")
    assert not found.unjudged


def test_a_gang_in_one_domain_breaks_its_promise_although_it_finds_nodes() -> None:
    found = checked("zone-loss>=1", *THREE, group("g", 4), web())
    assert (found.verdict, found.ground, found.says) == ("no", "proved", "losing a leaves 0 of 4")
    assert "node=a1" not in found.drill
    assert found.drill.count("=a1") == 4


def test_a_pod_that_takes_the_room_of_one_leaves_the_whole_gang_pending() -> None:
    alone = workload("ReplicaSet", "alone", 1)
    assert checked("never-waits", *TIGHT, group("g", 4), web()).verdict == "yes"
    found = checked("node-loss>=1", *TIGHT, group("g", 4), web(), alone)
    assert (found.verdict, found.ground, found.says) == ("no", "proved", "0 of 4 have a node")
    assert not found.drill  # a drill would place the gang first
    single = checked("zone-loss>=1", *TIGHT, group("g"), web(spread()), alone)
    assert single.verdict == "yes"


def test_the_first_pods_of_a_gang_may_take_the_nodes_of_the_last() -> None:
    """Each pod alone finds a node in every order, but kube-scheduler does not try the gang's other placements."""
    one = {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": {}, "topologyKey": ZONE}]}
    objects = [node("a1", "a", cpu="2"), node("b1", "b", cpu="4")]
    affine = web()
    affine["spec"]["template"]["spec"]["affinity"] = {"podAffinity": one}
    assert checked("never-waits", *objects, group("g", 4), affine).verdict == "no"


def test_a_pod_without_a_node_holds_up_no_pod_of_a_complete_gang() -> None:
    """Pods of the group have nodes already, and keep the pod with the index 0 away from them."""
    first = {"labelSelector": {"matchLabels": {"apps.kubernetes.io/pod-index": "0"}}, "topologyKey": ZONE}
    spec: Json = {"containers": [{"name": "c", "image": "i"}], "schedulingGroup": {"podGroupName": "g"}}
    spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [first]}}
    bound = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": on, "namespace": "shop"},
            "spec": spec | {"nodeName": on},
        }
        for on in ("a1", "b1")
    ]
    found = checked("zone-loss>=1", *TIGHT, group("g", 2), *bound, web(spread()))
    assert found.verdict == "yes"


def test_a_gang_of_more_pods_than_exist_gets_no_node() -> None:
    found = loss(shown(*THREE, group("g", 5), web(spread())))
    assert (found.orders, found.ground) == (Bounds.exactly(0), "proved")


def test_an_ordered_stateful_set_never_completes_its_gang() -> None:
    found = checked("zone-loss>=1", *THREE, group("g", 4), web(spread(), podManagementPolicy="OrderedReady"))
    assert (found.verdict, found.says) == ("no", "0 of 4 have a node")


def test_the_loss_of_its_domain_takes_a_whole_group() -> None:
    found = shown(*THREE, group("g", 4, **ONE_ZONE), web())
    assert found.verdict == "no"
    assert found.causes[0].says == f"shop/web: losing a zone leaves 0 (all pods of PodGroup shop/g are in one {ZONE})"
    assert loss(found).leaves == Bounds.exactly(0)
    assert checked("zone-loss>=1", *THREE, group("g", 4, **ONE_ZONE), web()).ground == "proved"


def racks(*cpu: str) -> list[Json]:
    made = [node(f"n{i}", "ab"[i % 2], cpu=each) for i, each in enumerate(cpu)]
    for place, each in enumerate(made):
        each["metadata"]["labels"]["rack"] = f"r{place // 2}"
    return made


def test_a_simulation_breaks_a_promise() -> None:
    claim: Json = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {}}},
    }
    volumes = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "disk"}}
    volumes |= {"provisioner": "disk.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
    claim["spec"]["storageClassName"] = "disk"
    pods = web(spread(2), volumeClaimTemplates=[claim])
    objects = [*racks("3", "1", "3", "1"), volumes, group("g", 4, **ONE_RACK), pods]
    found = checked("zone-loss>=2", *objects)
    assert (found.verdict, found.ground, found.when) == ("no", "played", "in one simulation")
    assert found.says == "losing a leaves 1 of 4"
    (part,) = shown(*objects).unjudged
    assert (
        part.because
        == "the orders of PodGroup shop/g are not searched: its pods need devices or volumes that are not bound"
    )


def test_a_gang_whose_volume_is_bound_is_searched() -> None:
    """Alone, the gang has room in both zones; its volume is in one."""
    volume: Json = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}}
    zone = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}
    capacity, modes = {"storage": "1Gi"}, ["ReadWriteMany"]
    bound = {"capacity": capacity, "accessModes": modes, "claimRef": {"namespace": "shop", "name": "data"}}
    volume["spec"] = bound | {"nodeAffinity": {"required": {"nodeSelectorTerms": [zone]}}}
    claim: Json = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    done = {"pv.kubernetes.io/bind-completed": "yes"}
    claim["metadata"] = {"name": "data", "namespace": "shop", "annotations": done}
    claim["spec"] = {"accessModes": modes, "resources": {"requests": capacity}, "volumeName": "pv"}
    pods = web()
    pods["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    for cpu, verdict in (("4", "yes"), ("3", "no")):
        nodes = [node("a1", "a", cpu=cpu), node("b1", "b", cpu="9")]
        found = checked("never-waits", *nodes, volume, claim, group("g", 4), pods)
        assert (found.verdict, found.ground) == (verdict, "proved")


def test_a_rollout_of_a_gang_is_not_searched() -> None:
    """Pod by pod a search decides it, but the group may need several pods at once."""
    objects = [*TIGHT, group("g", 4), web(spread(), kind="Deployment", strategy=rolling(1, 0))]
    found = checked("zone-loss>=2", *objects, target="deployment/web")
    assert (found.verdict, found.when) == ("unknown", "after every rollout")
    assert "rollouts of gangs are only simulated" in found.says
    plain = [*TIGHT, group("g"), web(spread(), kind="Deployment", strategy=rolling(1, 0))]
    assert checked("zone-loss>=1", *plain, target="deployment/web").verdict == "yes"


def test_pods_of_other_groups_take_room_in_any_order() -> None:
    alone = workload("ReplicaSet", "alone", 1)
    gang = [group("g", 4), web(spread())]
    assert checked("never-waits", *THREE, *gang, alone, target="replicaset/alone").verdict == "yes"
    full = [node("a1", "a", cpu="2"), node("b1", "b", cpu="2")]
    assert checked("never-waits", *full, *gang, alone, target="replicaset/alone").verdict == "no"
    short = [node("a1", "a", cpu="2"), node("b1", "b", cpu="1")]
    assert checked("never-waits", *short, *gang, alone, target="replicaset/alone").verdict == "yes"


def test_a_group_that_is_not_in_the_input_stays_unknown() -> None:
    found = shown(*THREE, web(spread()))
    assert found.verdict == "unknown"
    assert found.unjudged[0].what == "podGroups"


def test_many_workloads_are_counted_with_their_groups() -> None:
    others = [workload("ReplicaSet", f"w{number}", 1) for number in range(11)]
    objects = [*nodes("a", "a", "b", "b", "c", "c"), group("g", 4), web(spread()), *others]
    found = promise_show(inventory(*objects), (), OPTIONS)
    own = next(each for each in found.workloads if each.name == "web")
    assert (own.verdict, own.ground) == ("yes", "proved")
    assert not found.unjudged


def test_a_design_keeps_the_promises_of_a_gang() -> None:
    answer = promise_design(
        inventory(*THREE, group("g", 4), web()), ["shop/statefulset/web"], OPTIONS, want="zone-loss>=2"
    )
    assert (answer.verdict, answer.unjudged) == ("yes", ())
    assert "DoNotSchedule" in answer.workloads[0].manifest
    rack = inventory(*THREE, group("g", 4, **ONE_ZONE), web())
    assert promise_design(rack, ["shop/statefulset/web"], OPTIONS, want="zone-loss>=1").verdict != "yes"
