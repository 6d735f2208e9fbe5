"""What makes pods one class, and that telling classes apart stays cheap for the pods every cluster has many of."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.cluster.pod_class import identity


def pod(name: str, affinity: dict[str, Any] | None = None) -> Pod:
    spec = {"containers": [{"name": "c"}], "affinity": affinity}
    return msgspec.convert({"metadata": {"name": name, "namespace": "default"}, "spec": spec}, Pod)


def of_node(node: str) -> dict[str, Any]:
    """The affinity that the DaemonSet controller gives a pod."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def test_pods_of_a_daemon_set_are_told_apart_by_their_hash() -> None:
    pods = [pod(f"agent-{i}", of_node(f"node-{i}")) for i in range(50)]
    assert len({hash(identity(each)) for each in pods}) == 50
    assert len({identity(each) for each in pods}) == 50


def test_replicas_are_one_class() -> None:
    cluster = Cluster()
    assert cluster.pod_class(pod("a")) is cluster.pod_class(pod("b"))
    assert cluster.pod_class(pod("c", of_node("n"))) is not cluster.pod_class(pod("a"))


def test_a_cluster_knows_the_classes_that_ask_for_pods_of_a_namespace() -> None:
    cluster = Cluster()

    def away(**more: object) -> dict[str, Any]:
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}, **more}
        return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}

    cluster.pod_class(pod("plain"))
    cluster.pod_class(pod("pinned", of_node("n")))
    own = cluster.pod_class(pod("own", away()))
    named = cluster.pod_class(pod("named", away(namespaces=["other"])))
    labelled = cluster.pod_class(pod("labelled", away(namespaces=["other"], namespaceSelector={})))
    assert set(cluster.classes_asking("default")) == {own, labelled}
    assert set(cluster.classes_asking("other")) == {named, labelled}
    assert set(cluster.classes_asking("elsewhere")) == {labelled}
