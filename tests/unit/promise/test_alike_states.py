"""States that are equal once equal nodes or zones are swapped."""

from __future__ import annotations

from tests.unit.drill.builders import ZONE, nodes, spread, workload
from tests.unit.promise.test_asking import Json, of, searched


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
