"""`topospread rebalance --apply` on a real API server, beside real controllers and kube-scheduler."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.live.conftest import ControlPlane
from tests.live.test_suggestions import controllers
from topospread.rebalance.rebalance import rebalance as evictions_of
from topospread.sources.load import load

Json = dict[str, Any]
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
MAIN = "from topospread.cli.main import main; main()"


def node(number: int, zone: str) -> Json:
    name = f"node-{number}"
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "50"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOST: name, ZONE: zone}},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def deployment(name: str, replicas: int) -> Json:
    labels = {"matchLabels": {"app": name}}
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": labels,
    }
    spec = {
        "containers": [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": "100m"}}}],
        "topologySpreadConstraints": [constraint],
        "terminationGracePeriodSeconds": 1,
    }
    template = {"metadata": {"labels": {"app": name}}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"replicas": replicas, "selector": labels, "template": template},
    }


@contextmanager
def ends(plane: ControlPlane) -> Iterator[None]:
    """Let terminating pods end, as kubelets would."""
    stop = threading.Event()

    def play() -> None:
        while not stop.wait(0.5):
            for each in json.loads(plane.kubectl("get", "pods", "-n", "shop", "-o", "json"))["items"]:
                if "deletionTimestamp" in each["metadata"]:
                    words = ["delete", "pod", each["metadata"]["name"], "-n", "shop", "--force", "--grace-period=0"]
                    plane.kubectl(*words, "--ignore-not-found", "--wait=false")

    playing = threading.Thread(target=play)
    playing.start()
    try:
        yield
    finally:
        stop.set()
        playing.join()


def per_zone(plane: ControlPlane, app: str) -> Counter[str]:
    items = json.loads(plane.kubectl("get", "pods,nodes", "-n", "shop", "-o", "json"))["items"]
    zones = {each["metadata"]["name"]: each["metadata"]["labels"][ZONE] for each in items if each["kind"] == "Node"}
    pods = [each for each in items if each["kind"] == "Pod" and each["metadata"]["labels"]["app"] == app]
    return Counter(zones[each["spec"]["nodeName"]] for each in pods if each["spec"].get("nodeName"))


def until(done: Any, seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < limit
        time.sleep(0.5)


def rebalance(plane: ControlPlane, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = folder / "now.json"
    kinds = "nodes,pods,deployments,replicasets,poddisruptionbudgets"
    path.write_text(plane.kubectl("get", kinds, "-A", "-o", "json"))
    command = [sys.executable, "-c", MAIN, "rebalance", "-f", path, "-n", "shop", "-o", "json", *words]
    return subprocess.run(list(map(str, command)), env=None, capture_output=True, text=True, check=False)


@pytest.fixture
def shop(own_plane: ControlPlane, tmp_path: Path) -> Iterator[ControlPlane]:
    """Six pods of web and five of api in one zone of three: the other two came later."""
    with controllers(own_plane, tmp_path, "disruption-controller"), ends(own_plane):
        nodes = [node(number, zone) for number, zone in enumerate("aabbcc")]
        budget = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        }
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
        own_plane.create([namespace, *nodes[:2], deployment("web", 6), deployment("api", 5), budget])
        until(lambda: per_zone(own_plane, "web")["a"] == 6 and per_zone(own_plane, "api")["a"] == 5)
        words = ("get", "poddisruptionbudget", "web", "-n", "shop", "-o", "jsonpath={.status.currentHealthy}")
        until(lambda: own_plane.kubectl(*words) == "6")
        own_plane.create(nodes[2:])
        time.sleep(2)
        yield own_plane


def test_the_plan_comes_true_eviction_by_eviction(shop: ControlPlane, tmp_path: Path) -> None:
    done = rebalance(shop, tmp_path, "--apply", "--kubeconfig", str(shop.kubeconfig), "--timeout", "60")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["applied"]["surprise"] == ""
    assert len(found["applied"]["evictions"]) == len(found["evictions"]) == found["bound"]["evictions"] == 7
    assert sorted(per_zone(shop, "web").values()) == [2, 2, 2]
    assert sorted(per_zone(shop, "api").values()) in ([1, 2, 2],)
    again = json.loads(rebalance(shop, tmp_path).stdout)
    assert again["evictions"] == []


def test_it_stops_where_the_cluster_is_not_as_it_was(shop: ControlPlane, tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    path.write_text(shop.kubectl("get", "nodes,pods,deployments,replicasets", "-A", "-o", "json"))
    plan = evictions_of(load([str(path)]), namespace="shop")
    first = plan.moves[0]
    shop.kubectl("delete", "pod", first.name, "-n", "shop", "--wait=true")
    command = [sys.executable, "-c", MAIN, "rebalance", "-f", str(path), "-n", "shop", "-o", "json", "--apply"]
    command += ["--kubeconfig", str(shop.kubeconfig), "--timeout", "30"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    applied = json.loads(done.stdout)["applied"]
    surprise = f"shop/{first.name}: it no longer exists"
    assert applied == {"evictions": [], "surprise": surprise, "begun": "", "partial": ""}
