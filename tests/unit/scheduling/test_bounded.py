"""What is kept of pods and nodes that are gone does not grow with how many there were."""

from __future__ import annotations

import gc
from typing import Any

import msgspec

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

HOST = "kubernetes.io/hostname"
NODES, WORKLOADS, REPLICAS = 8, 4, 2


def node(number: int) -> Node:
    """A node of its own name, label, taint and size."""
    name = f"n{number}"
    amounts = {"cpu": "64", "memory": f"{64_000 + number}Mi", "pods": "99"}
    images = [{"names": [f"image-{number}"], "sizeBytes": number}]
    taints = [{"key": "number", "value": name, "effect": "PreferNoSchedule"}]
    described = {"metadata": {"name": name, "labels": {HOST: name}}, "spec": {"taints": taints}}
    return msgspec.convert(described | {"status": {"allocatable": amounts, "images": images}}, Node)


def replica(app: int, revision: int) -> Pod:
    labels = {"app": f"app-{app}", "pod-template-hash": f"{revision:x}"}
    selector = {"matchLabels": labels}
    constraint = {
        "maxSkew": 5, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector,
    }  # fmt: skip
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": f"app-{app}", "old": f"{revision}"}}}
    affinity = {
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    }
    spec: dict[str, Any] = {"topologySpreadConstraints": [constraint], "affinity": affinity}
    spec["containers"] = [{"name": "c", "resources": {"requests": {"cpu": f"{100 + revision}m"}}}]
    return msgspec.convert({"metadata": {"namespace": "ns", "labels": labels}, "spec": spec}, Pod)


MOST = {
    "classes": 600, "identities": 600, "selections": 700, "label values": 200, "taint sets": 200, "shapes": 200,
    "images": NODES, "views": 300, "listeners": 1_200, "pending": 1,
}  # fmt: skip
"""Bounds that this many pods and nodes reach at most, whatever there was before."""


def kept(scheduler: Scheduler) -> dict[str, int]:
    """Entries that are kept, by what they are of."""
    gc.collect()
    cluster = scheduler.cluster
    nodes, classes = cluster.nodes, cluster._classes
    views = list(scheduler.views)
    return {
        "classes": len(classes.every),
        "identities": len(classes._by_identity),
        "selections": len(cluster.selections),
        "label values": len(nodes.labels(HOST).values),
        "taint sets": len(nodes.taint_sets),
        "shapes": len(nodes._shapes),
        "images": len(nodes.images._states),
        "journal": len(cluster.journal._changes),
        "views": len(views),
        "listeners": max(view.heard for view in views),
        "pending": len(scheduler._pending.verdicts._known),
    }


def test_a_long_life_keeps_no_more_than_a_short_one() -> None:
    cluster = Cluster()
    for number in range(NODES):
        cluster.apply("ADDED", node(number))
    scheduler = Scheduler(cluster, {"default-scheduler": Framework(default_profile(), gates_for())})
    after = []
    for revision in range(360):
        for app in range(WORKLOADS):
            template = replica(app, revision)
            for i in range(REPLICAS):
                cluster.delete_pod(f"ns/app-{app}-{i}")
                assert scheduler.schedule(template, f"app-{app}-{i}").node is not None
        for key in cluster.remove_node(f"n{revision}"):
            cluster.delete_pod(key)
        cluster.apply("ADDED", node(revision + NODES))
        if revision in (179, 359):
            after.append(kept(scheduler))
    half, whole = after
    assert whole["journal"] <= 1 << 17
    # Classes and numberings are gone through now and then: what is kept of them lies below a bound, not at one.
    grown = {name for name in whole if name != "journal" and whole[name] > max(half[name], MOST[name])}
    assert not grown, (half, whole)
