"""What holds for every plan, whatever the workloads and the pods they already have."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.controllers.manifests import Json, inventory, node, pod, workload
from tests.unit.controllers.record import Cases
from topospread.admission.pod_admission import Admission
from topospread.api.inventory import Inventory
from topospread.api.pod import Pod
from topospread.api.policy import LimitRange, PriorityClass, RuntimeClass
from topospread.api.requests import incoming_requests
from topospread.api.timestamps import seconds
from topospread.config.gates import gates_for
from topospread.controllers.planned import Plan
from topospread.controllers.planner import plan
from topospread.errors import InvalidError

TIMES = [None, "2026-01-01T00:00:00Z", "2026-01-02T12:00:00Z", "2026-01-02T12:00:00+02:00"]
NODES = ["n1", "n2", "n3"]
CLASSES = [
    {"kind": "PriorityClass", "metadata": {"name": name}, "value": value} for name, value in (("a", 9), ("b", -3))
]


def without_none(**fields: Any) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


@st.composite
def existing(draw: st.DrawFn, kind: str, name: str) -> list[Json]:
    """Pods of a workload: on nodes, waiting, leaving and finished."""
    ordinals = draw(st.lists(st.integers(0, 7), unique=True, max_size=6))
    return [
        pod(
            f"{name}-{ordinal}",
            f"{kind}/{name}",
            draw(st.sampled_from(["", *NODES])),
            labels={"app": name},
            **without_none(
                creationTimestamp=draw(st.sampled_from(TIMES)),
                deletionTimestamp=draw(st.sampled_from([None, None, None, TIMES[1]])),
                phase=draw(st.sampled_from([None, None, None, "Failed", "Succeeded"])),
            ),
        )
        for ordinal in ordinals
    ]


@st.composite
def clusters(draw: st.DrawFn) -> Inventory:
    objects: list[Json] = [node(name) for name in NODES] + CLASSES
    kinds = st.sampled_from(["Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"])
    for i, kind in enumerate(draw(st.lists(kinds, max_size=5))):
        name = f"w{i}"
        spec = without_none(priorityClassName=draw(st.sampled_from([None, "a", "b"])))
        if draw(st.integers(0, 5)) == 0:
            spec["schedulingGates"] = [{"name": "gate"}]
        size = {"Job": "parallelism"}.get(kind, "replicas")
        fields = {size: draw(st.integers(0, 8))} if kind != "DaemonSet" else {}
        if kind == "StatefulSet":
            fields["podManagementPolicy"] = draw(st.sampled_from(["OrderedReady", "Parallel"]))
        item = workload(kind, name, pod=spec, **fields)
        there = draw(existing(kind, name)) if kind not in ("Deployment", "Job") else []
        objects += draw(st.permutations([item, *there]))
    bare = draw(st.integers(0, 3))
    objects += [pod(f"bare-{i}", node_name=draw(st.sampled_from(["", "n1"]))) for i in range(bare)]
    return inventory(*objects)


def pods_of(result: Plan) -> Counter[tuple[str, str]]:
    """(namespace, name) of every pod that is there or is going to be."""
    every = [(each.namespace, each.name) for each in result.bound]
    every += [(each.namespace, each.name) for each in (*result.queue, *result.gated)]
    return Counter(every)


@given(clusters())
def test_workloads_get_as_many_pods_as_they_want(given_inventory):
    result = plan(given_inventory)
    waiting = Counter(id(each.workload) for each in (*result.queue, *result.gated))
    for row in result.workloads:
        there = len(row.existing) + waiting[id(row)]
        if row.kind in ("DaemonSet", "StatefulSet"):
            # A terminating pod still has the node or the ordinal that its successor is going to have.
            assert row.replicas - len(row.terminating) <= there
            assert there <= row.replicas or row.kind == "DaemonSet"
        else:
            assert there == row.replicas


@given(clusters())
def test_no_name_is_given_twice(given_inventory):
    assert max(pods_of(plan(given_inventory)).values(), default=1) == 1


@given(clusters())
def test_every_pod_is_accounted_for(given_inventory):
    result = plan(given_inventory)
    waiting = {
        each.name for each in (*result.queue, *result.gated) if each.pod.status is not None
    }  # new ones have none
    there = waiting | {each.name for each in result.bound}
    removed = {each.name for each in result.removed}
    for each in given_inventory.pods:
        finished = each.phase in ("Succeeded", "Failed")
        deleted = each.terminating and not each.spec.node_name
        assert (each.name in there) == (not finished and not deleted and each.name not in removed)


@given(clusters())
def test_queue_is_in_kube_schedulers_order(given_inventory):
    result = plan(given_inventory)
    position = {id(each): i for i, each in enumerate(result.queue)}
    free = [each for each in result.queue if each.after is None]
    keys = [(-each.priority, seconds(each.created) or float("inf")) for each in free]
    assert keys == sorted(keys)
    for each in result.queue:
        if each.after is not None:
            assert position[id(each.after)] < position[id(each)]


@given(clusters())
def test_same_input_same_plan_and_the_input_stays(given_inventory):
    before = msgspec.json.encode(list(given_inventory.objects()))
    first, second = plan(given_inventory), plan(given_inventory)
    assert pods_of(first) == pods_of(second)
    assert [each.name for each in first.queue] == [each.name for each in second.queue]
    assert msgspec.json.encode(list(given_inventory.objects())) == before


@given(clusters(), st.integers(0, 10), st.integers(0, 4))
def test_scaling_gives_exactly_that_many(given_inventory, replicas, index):
    name = f"w{index}"
    scalable = {"Deployment": "deploy", "ReplicaSet": "rs", "ReplicationController": "rc", "Job": "job"}
    kinds = {each.name: each.kind for each in given_inventory.objects() if each.kind in scalable}
    if name not in kinds:
        return
    result = plan(given_inventory, scale={f"{scalable[kinds[name]]}/{name}": replicas})
    (row,) = (each for each in result.workloads if each.name == name)
    waiting = sum(each.workload is row for each in (*result.queue, *result.gated))
    assert len(row.existing) + waiting == row.replicas
    assert row.replicas == replicas


@given(st.integers(0, 2**32))
@pytest.mark.parametrize("version", ["1.27", "1.33", "1.35", "1.37"])
def test_admission_twice_is_once(version, seed):
    case = Cases(seed).admit()
    objects = Inventory(
        limit_ranges=msgspec.convert(case["limitRanges"], list[LimitRange]),
        priority_classes=msgspec.convert(case["priorityClasses"], list[PriorityClass]),
        runtime_classes=msgspec.convert(case["runtimeClasses"], list[RuntimeClass]),
    )
    admission = Admission(objects, gates_for(version, component="apiserver"))
    item = msgspec.convert(case["pod"], Pod)
    before = msgspec.to_builtins(item)
    try:
        once = admission.admit(item)
    except InvalidError:
        once = admission.admit(item, lenient=True)
    twice = admission.admit(once, lenient=True)
    assert msgspec.to_builtins(item) == before
    # Before 1.37 what the pod as a whole requests was summed up before LimitRanges had their say.
    once.spec.resources, twice.spec.resources, resources = None, None, (once.spec.resources, twice.spec.resources)
    # Of tolerations that make each other redundant, merging with a RuntimeClass's keeps the later, then the other way.
    for admitted in (once, twice):
        admitted.spec.tolerations = sorted(admitted.spec.tolerations or (), key=repr)
    assert twice == once
    if version == "1.37":
        assert resources[0] == resources[1]
    assert incoming_requests(twice) == incoming_requests(once)
