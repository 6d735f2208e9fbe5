"""What makes pods one class, and that telling classes apart stays cheap for the pods every cluster has many of."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.forks import fork
from topospread.api.pod import Pod, PodStatus
from topospread.cluster import Cluster, PodClass
from topospread.cluster.pod_class import identity


def pod(name: str, affinity: dict[str, Any] | None = None, owner: str = "", node: str | None = None) -> Pod:
    spec = {"containers": [{"name": "c"}], "affinity": affinity, "nodeName": node}
    owners = [{"apiVersion": "apps/v1", "kind": owner, "name": "agent", "controller": True}] if owner else []
    metadata = {"name": name, "namespace": "default", "ownerReferences": owners}
    return msgspec.convert({"metadata": metadata, "spec": spec}, Pod)


def of_node(node: str) -> dict[str, Any]:
    """The affinity that the DaemonSet controller gives a pod."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def test_pods_for_one_node_each_are_told_apart_by_their_hash() -> None:
    pods = [pod(f"agent-{i}", of_node(f"node-{i}")) for i in range(50)]
    assert len({hash(identity(each)) for each in pods}) == 50
    assert len({identity(each) for each in pods}) == 50


def test_pods_of_a_daemon_set_are_one_class_and_each_tied_to_its_node() -> None:
    cluster = Cluster()
    there = cluster.pod_class(pod("agent-0", of_node("n0"), "DaemonSet", "n0"), is_placed=True)
    coming = [cluster.pod_class(pod(f"agent-{i}", of_node(f"n{i}"), "DaemonSet")) for i in (1, 2)]

    assert list(cluster.classes.values()) == [there]
    assert [each.general for each in coming] == [there, there]
    assert [each.pinned_node for each in coming] == ["n1", "n2"]
    assert there.pod.spec.affinity is not None
    assert there.pod.spec.affinity.node_affinity is not None
    assert there.pod.spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution is None


def test_a_pod_of_a_daemon_set_on_a_node_that_it_is_not_for_is_a_class_of_its_own() -> None:
    cluster = Cluster()
    there = cluster.pod_class(pod("agent-0", of_node("n0"), "DaemonSet", "n0"), is_placed=True)

    elsewhere = cluster.pod_class(pod("agent-1", of_node("n1"), "DaemonSet", "n0"), is_placed=True)

    assert elsewhere is not there
    assert not elsewhere.pinned_node


def test_replicas_are_one_class() -> None:
    cluster = Cluster()
    assert cluster.pod_class(pod("a")) is cluster.pod_class(pod("b"))
    assert cluster.pod_class(pod("c", of_node("n"))) is not cluster.pod_class(pod("a"))


@pytest.mark.parametrize(
    "status",
    [
        {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "1"}}]},
        {"containerStatuses": [{"name": "c"}, {"name": "c", "allocatedResources": {"cpu": "1"}}]},
        {"containerStatuses": [{"name": "c", "resources": {}}]},
        {"containerStatuses": [{"name": "c"}], "resize": "Infeasible"},
        {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]},
        {"allocatedResources": {}},
        {"resources": {"requests": {"cpu": "1"}}},
    ],
)
def test_pods_of_which_the_kubelet_says_other_resources_are_classes_of_their_own(status: dict[str, Any]) -> None:
    cluster = Cluster()
    resized, again = (replace(pod(name), status=msgspec.convert(status, PodStatus)) for name in ("a", "b"))
    assert cluster.pod_class(resized) is cluster.pod_class(again)
    assert cluster.pod_class(resized) is not cluster.pod_class(pod("plain"))


def test_pods_are_told_apart_by_the_container_that_the_kubelet_names_first() -> None:
    cluster = Cluster()
    told = {"name": "c", "allocatedResources": {"cpu": "1"}}
    first, second = (
        replace(pod("a"), status=msgspec.convert({"containerStatuses": each}, PodStatus))
        for each in ([told], [{"name": "c"}, told])
    )
    assert cluster.pod_class(first) is not cluster.pod_class(second)


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


def test_a_cluster_finds_the_classes_whose_terms_may_mean_a_pod_by_its_labels() -> None:
    cluster = Cluster()

    def away(app: str, **more: object) -> dict[str, Any]:
        selector = {"matchLabels": {"app": app}}
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector, **more}
        return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}

    def labelled(name: str, terms: dict[str, Any], app: str) -> PodClass:
        made = pod(name, terms)
        return cluster.pod_class(replace(made, metadata=replace(made.metadata, labels={"app": app})))

    web, other = (labelled(app, away(app), app) for app in ("web", "other"))
    elsewhere = labelled("elsewhere", away("web", namespaces=["shop"]), "elsewhere")
    anywhere = labelled("anywhere", away("web", namespaceSelector={}), "anywhere")
    invalid = {"matchExpressions": [{"key": "a", "operator": "?"}]}
    labelled("invalid", away("web", labelSelector=invalid), "invalid")
    assert set(cluster.classes_meaning(web)) == {web, anywhere}
    assert set(cluster.classes_meaning(other)) == {other, anywhere}
    assert elsewhere.namespace == web.namespace
    forked = fork(cluster)
    assert {each.index for each in forked.classes_meaning(web)} == {web.index, anywhere.index}
