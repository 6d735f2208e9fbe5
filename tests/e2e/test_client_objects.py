"""Objects that the clients kubernetes, kr8s and lightkube list, from a small API server, are a session's cluster."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import topospread
from tests.answering_server import PATHS, answering_server

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "docs/how-to/shop.json"
KINDS = ["Node", "Pod", "ReplicaSet", "Deployment", "StatefulSet"]
ITEMS: list[dict[str, Any]] = [each for each in json.loads(SHOP.read_text())["items"] if each["kind"] in KINDS]


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A kubeconfig for an API server that has the objects of the shop."""
    with answering_server(tmp_path_factory.mktemp("api")) as server:
        server.hold(ITEMS)
        for path in PATHS.values():
            listed = json.loads(server.answers[path])
            for each in listed["items"]:
                del each["kind"], each["apiVersion"]  # as an API server lists them
            server.answers[path] = json.dumps(listed).encode()
        server.answers["/version/"] = json.dumps({"major": "1", "minor": "35", "gitVersion": "v1.35.0"}).encode()
        yield str(server.kubeconfig)


def of_kubernetes(kubeconfig: str) -> Sequence[object]:
    from kubernetes import client, config

    with config.new_client_from_config(kubeconfig) as api:
        core, apps = client.CoreV1Api(api), client.AppsV1Api(api)
        lists = [core.list_node(), core.list_pod_for_all_namespaces(), apps.list_deployment_for_all_namespaces()]
        lists += [apps.list_replica_set_for_all_namespaces(), apps.list_stateful_set_for_all_namespaces()]
        return [each for found in lists for each in found.items]


def of_kr8s(kubeconfig: str) -> Sequence[object]:
    import kr8s
    from kr8s import objects
    from kr8s._async_utils import Portal

    api = kr8s.api(kubeconfig=kubeconfig)
    found = [each for kind in KINDS for each in getattr(objects, kind).list(namespace=kr8s.ALL, api=api)]
    Portal().call(api._session.aclose)  # it has no close of its own, and its objects keep it
    return found


def of_lightkube(kubeconfig: str) -> Sequence[object]:
    from lightkube import Client, KubeConfig
    from lightkube.resources import apps_v1, core_v1

    client = Client(config=KubeConfig.from_file(kubeconfig))
    found: list[object] = list(client.list(core_v1.Node))
    for kind in (core_v1.Pod, apps_v1.ReplicaSet, apps_v1.Deployment, apps_v1.StatefulSet):
        found += client.list(kind, namespace="*")
    client.close()
    return found


@pytest.mark.parametrize("listed", [of_kubernetes, of_kr8s, of_lightkube])
def test_what_a_client_lists_is_a_cluster(listed: Callable[[str], Sequence[object]], kubeconfig: str) -> None:
    found, expected = topospread.Session(listed(kubeconfig)), topospread.Session(ITEMS)
    gc.collect()
    assert (len(found.inventory.nodes), len(found.inventory.pods)) == (6, 11)
    assert found.status().to_json() == expected.status().to_json()
    assert found.why("shop/cache-0").to_json() == expected.why("shop/cache-0").to_json()
    assert found.rebalance(seconds=0).to_json() == expected.rebalance(seconds=0).to_json()


def test_a_live_cluster_is_read_by_the_kubeconfig(kubeconfig: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig)
    live = topospread.Session("live", context="shop")
    assert repr(live) == "<Session 6 nodes, 11 pods, v1.37>"
    assert [each.name for each in live.status().workloads] == [
        each.name for each in topospread.Session(SHOP).status().workloads
    ]
    assert live.but(kube_version="1.33").status().on.source == "the live cluster"
    with pytest.raises(topospread.TopospreadError, match="nosuch"):
        topospread.Session("live", context="nosuch")
    with pytest.raises(topospread.TopospreadError, match=r'write Session\("live", context="shop"\)'):
        topospread.Session(SHOP, context="shop")
