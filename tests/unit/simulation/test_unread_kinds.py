"""Pods with volumes are not judged while objects behind the volumes are not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from topospread.base import Bounds
from topospread.simulation.options import SimulationOptions
from topospread.simulation.orders import simulate_orders
from topospread.simulation.result import Simulation
from topospread.simulation.simulate import simulate
from topospread.sources.load import load
from topospread.sources.snapshot_facts import FORMAT

CLUSTER = "zones=3,nodes=6,cpu=4,memory=8Gi"
Json = dict[str, Any]
VOLUMES = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]


def pod(cpu: str = "1") -> Json:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": "web-0", "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], "volumes": VOLUMES},
    }


def claim(name: str) -> Json:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def simulated(folder: Path, *objects: Json, missing: dict[str, str] | None = None) -> Simulation:
    path = folder / "objects.json"
    facts = {} if missing is None else {"topospread": {"format": FORMAT, "missing": missing}}
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects), **facts}))
    return simulate(load([str(path)], cluster=CLUSTER))


def test_a_claim_is_unknown_if_the_input_has_none(tmp_path: Path) -> None:
    found = simulated(tmp_path, pod())
    assert found.verdict == "unknown"
    (part,) = found.unjudged
    assert (part.what, part.field, part.pods) == ("volumes", "spec.volumes", ("default/web-0",))
    assert part.because == "PersistentVolumeClaim objects are not known: the input has none"
    assert part.to_know.startswith("kubectl get pv,pvc")


def test_a_claim_is_missing_if_the_input_has_others(tmp_path: Path) -> None:
    found = simulated(tmp_path, pod(), claim("other"))
    assert found.verdict == "no"
    assert 'persistentvolumeclaim "data" not found' in found.pending[0].message


@pytest.mark.parametrize(("cpu", "verdict"), [("1", "unknown"), ("16", "no")])
def test_kinds_that_may_not_be_read_decide_nothing(tmp_path: Path, cpu: str, verdict: str) -> None:
    found = simulated(tmp_path, pod(cpu), claim("data"), missing={"PersistentVolume": "Forbidden"})
    assert found.verdict == verdict


@pytest.mark.parametrize("why", ["NotFound", 'Forbidden outside the namespace "default"'])
def test_kinds_that_are_not_served_have_no_objects(tmp_path: Path, why: str) -> None:
    found = simulated(tmp_path, pod(), claim("data"), missing={"CSIStorageCapacity": why})
    assert found.verdict == "yes"


def test_pods_without_volumes_are_judged(tmp_path: Path) -> None:
    plain = pod()
    del plain["spec"]["volumes"]
    assert simulated(tmp_path, plain, missing={"PersistentVolume": "Forbidden"}).verdict == "yes"


def test_orders_of_pods_are_bounds_and_a_judged_pending_pod_decides(tmp_path: Path) -> None:
    path = tmp_path / "objects.json"
    heavy = pod("16")
    heavy["metadata"]["name"] = "heavy"
    del heavy["spec"]["volumes"]

    def orders(*objects: Json) -> Any:
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
        return simulate_orders(load([str(path)], cluster=CLUSTER), 3, SimulationOptions())

    found = orders(pod())
    assert (found.verdict, found.pending, found.all_placed) == ("unknown", Bounds(least=0, most=1), 0)
    found = orders(pod(), heavy)
    assert (found.verdict, found.pending) == ("no", Bounds(least=1, most=2))
