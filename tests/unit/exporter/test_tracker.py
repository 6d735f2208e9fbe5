"""A tracker looks at what a change concerns, keeps what it cannot judge, and says who keeps pods waiting."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pod import Container, Pod, PodResourceClaim
from topospread.api.workload import Deployment
from topospread.config.gates import gates_for
from topospread.config.load import default_configuration
from topospread.exporter.collector import SeriesLimits, SpreadCollector
from topospread.exporter.tracker import Tracker
from topospread.exporter.watch_health import WatchHealth
from topospread.live.spread_figures import ConstraintOf
from topospread.simulation.options import SimulationOptions

ZONE = "topology.kubernetes.io/zone"
Json = dict[str, Any]


@pytest.fixture
def tracker() -> Tracker:
    made = Tracker(SimulationOptions(default_configuration(), gates=gates_for()))
    for number in range(3):
        made.put(node(number))
    for app in ("web", "db"):
        for number in range(2):
            made.put(pod(f"{app}-{number}", app, number))
    work(made)
    return made


def node(number: int, **spec: Any) -> Node:
    labels = {"kubernetes.io/hostname": f"node-{number}", ZONE: f"zone-{number}"}
    metadata = {"name": f"node-{number}", "uid": f"n-{number}", "labels": labels}
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "20"}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": {"allocatable": amounts}}, Node)


def pod(name: str, app: str, on: int | None, **more: Any) -> Pod:
    spread: Json = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"} | more
    spread["labelSelector"] = {"matchLabels": {"app": app}}
    spec: Json = {"containers": [{"name": "c", "image": "i"}], "topologySpreadConstraints": [spread]}
    spec["nodeName"] = None if on is None else f"node-{on}"
    owner = {"apiVersion": "acme.example/v1", "kind": "App", "name": app, "uid": app, "controller": True}
    metadata = {"name": name, "namespace": "default", "uid": name, "labels": {"app": app}, "ownerReferences": [owner]}
    status = {"phase": "Pending" if on is None else "Running"}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, Pod)


def work(tracker: Tracker) -> None:
    assert tracker.work(time.monotonic() + 600)
    assert tracker.since is None


def looked_at(tracker: Tracker, item: KubeObject) -> int:
    """How many workloads are looked at for a change."""
    before = tracker.done.looked_at
    tracker.put(item)
    work(tracker)
    return tracker.done.looked_at - before


def samples(tracker: Tracker, name: str, limits: SeriesLimits | None = None) -> dict[tuple[str, ...], float]:
    collector = SpreadCollector(tracker, WatchHealth(), "1.37", limits or SeriesLimits())
    return {
        tuple(sample.labels.values()): sample.value
        for family in collector.collect()
        for sample in family.samples
        if sample.name == name
    }


def test_a_pod_concerns_its_own_workload_alone(tracker: Tracker) -> None:
    assert looked_at(tracker, pod("web-2", "web", 0)) == 1
    assert samples(tracker, "topospread_constraint_skew")["default", "App/web", ZONE, "DoNotSchedule"] == 2


def test_a_heartbeat_concerns_nobody(tracker: Tracker) -> None:
    assert looked_at(tracker, node(0)) == 0
    assert looked_at(tracker, pod("web-0", "web", 0)) == 0


def test_a_cordon_concerns_those_with_pods_there(tracker: Tracker) -> None:
    assert looked_at(tracker, node(0, unschedulable=True)) == 2
    assert looked_at(tracker, node(2, unschedulable=True)) == 0


def test_a_taint_takes_a_domain_from_those_that_do_not_count_tainted_nodes(tracker: Tracker) -> None:
    taint = {"key": "gpu", "effect": "NoSchedule"}
    assert looked_at(tracker, node(2, taints=[taint])) == 0
    tracker.put(pod("honest-0", "honest", 0, nodeTaintsPolicy="Honor"))
    work(tracker)
    honest = "default", "App/honest", ZONE, "DoNotSchedule"
    assert samples(tracker, "topospread_constraint_domains")[honest] == 2
    assert looked_at(tracker, node(2)) == 0
    assert samples(tracker, "topospread_constraint_domains")[honest] == 3
    assert samples(tracker, "topospread_constraint_skew")[honest] == 1
    assert looked_at(tracker, node(1, taints=[taint])) == 2, "those with pods there"
    assert looked_at(tracker, node(2, taints=[taint])) == 1, "no domain is empty now: the minimum is another"


def test_labels_concern_those_who_read_them(tracker: Tracker) -> None:
    plain = node(2)
    labelled = replace(plain, metadata=replace(plain.metadata, labels={**plain.labels, "disk": "ssd"}))
    assert looked_at(tracker, labelled) == 0
    moved = replace(plain, metadata=replace(plain.metadata, labels={**plain.labels, ZONE: "zone-1"}))
    assert looked_at(tracker, moved) == 2


def test_a_node_that_comes_or_goes_brings_and_takes_a_domain(tracker: Tracker) -> None:
    of_web = "default", "App/web", ZONE, "DoNotSchedule"
    fourth = replace(node(3), metadata=replace(node(3).metadata, labels={**node(3).labels, ZONE: "zone-d"}))
    assert looked_at(tracker, fourth) == 0
    assert samples(tracker, "topospread_constraint_domains")[of_web] == 4
    assert samples(tracker, "topospread_domain_pods")[*of_web, "zone-d"] == 0
    tracker.delete(Node, "", fourth.name, fourth)
    before = tracker.done.looked_at
    work(tracker)
    assert tracker.done.looked_at == before
    assert samples(tracker, "topospread_constraint_domains")[of_web] == 3


def test_a_node_that_goes_takes_its_pods_until_it_comes_back(tracker: Tracker) -> None:
    of_web = "default", "App/web", ZONE, "DoNotSchedule"
    tracker.delete(Node, "", node(1).name, node(1))
    work(tracker)
    assert samples(tracker, "topospread_workload_pods")["default", "App/web"] == 1
    assert looked_at(tracker, node(1)) == 2
    assert samples(tracker, "topospread_workload_pods")["default", "App/web"] == 2
    assert samples(tracker, "topospread_constraint_domains")[of_web] == 3


@pytest.mark.parametrize("steps", range(8))
def test_a_pod_that_changes_its_owner_and_back_between_steps_counts_once(tracker: Tracker, steps: int) -> None:
    own = pod("web-0", "web", 0)
    tracker.put(own)
    work(tracker)
    tracker.put(pod("web-0", "db", 0))
    for _ in range(steps):
        tracker.work(time.monotonic())
    tracker.put(own)
    work(tracker)
    pods = {("default", "App/web"): 2, ("default", "App/db"): 2}
    assert samples(tracker, "topospread_workload_pods") == pods
    assert set(samples(tracker, "topospread_domain_pods").values()) == {0, 1}
    tracker.delete(Pod, "default", "web-0", own)
    work(tracker)
    assert samples(tracker, "topospread_workload_pods") == pods | {("default", "App/web"): 1}


def test_the_largest_loss_of_each_key_is_kept(tracker: Tracker) -> None:
    tracker.put(pod("web-2", "web", 1))
    work(tracker)
    losses = {each.name: [(one.topology_key, one.lost) for one in each.losses] for each in tracker.figures.values()}
    assert losses["web"] == [(ZONE, 2), ("kubernetes.io/hostname", 2)]


def test_series_of_what_is_gone_go(tracker: Tracker) -> None:
    for number in range(2):
        tracker.delete(Pod, "default", f"db-{number}", None)
    work(tracker)
    assert {labels[1] for labels in samples(tracker, "topospread_workload_pods")} == {"App/web"}


def test_waiting_pods_are_told_by_the_constraint_that_rejects_a_node(tracker: Tracker) -> None:
    for number in range(3):
        tracker.put(node(number, unschedulable=number == 2))
    tracker.put(pod("web-2", "web", None))
    work(tracker)
    # The empty zone's node is cordoned, and counts all the same: the others are too full.
    assert tracker.blocked.by == {ConstraintOf("default", "App/web", ZONE, "DoNotSchedule"): 1}
    assert tracker.blocked.waiting == 1


def test_waiting_pods_that_cannot_be_judged_are_counted_by_what_keeps_them(tracker: Tracker) -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    for number, cpu in enumerate(("1", "1", "64")):
        waiting = pod(f"infer-{number}", f"infer-{cpu}", None)
        container = msgspec.convert({"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}, Container)
        spec = replace(waiting.spec, resource_claims=msgspec.convert(claims, list[PodResourceClaim]))
        tracker.put(replace(waiting, spec=replace(spec, containers=[container])))
    work(tracker)
    # No node has 64 CPUs, whatever the claim asks: that pod is judged.
    assert samples(tracker, "topospread_unjudged_pods") == {("resourceClaims",): 2}
    assert samples(tracker, "topospread_pending_pods") == {(): 3}


def test_the_worst_workloads_are_shown_and_domains_up_to_so_many(tracker: Tracker) -> None:
    tracker.put(pod("db-2", "db", 0))
    work(tracker)
    few = SeriesLimits(workloads=1, domains=2)
    assert samples(tracker, "topospread_workload_pods", few) == {("default", "App/db"): 3}
    assert samples(tracker, "topospread_workloads_not_shown", few) == {(): 1}
    assert samples(tracker, "topospread_domain_pods", few) == {}
    assert len(samples(tracker, "topospread_domain_pods")) == 6


def test_what_cannot_be_judged_is_counted_and_the_rest_goes_on(tracker: Tracker) -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "No such"}]}
    metadata = {"name": "odd", "namespace": "default", "uid": "odd"}
    odd = msgspec.convert({"metadata": metadata, "spec": {"selector": selector}}, Deployment)
    assert looked_at(tracker, odd) == 0
    assert samples(tracker, "topospread_workloads_not_judged") == {(): 1}
    assert looked_at(tracker, pod("web-2", "web", 2)) == 1
    tracker.delete(Deployment, "default", "odd", odd)
    work(tracker)
    assert samples(tracker, "topospread_workloads_not_judged") == {(): 0}
