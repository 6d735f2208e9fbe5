"""The selector of constraints that bring none."""

from __future__ import annotations

import msgspec
import pytest

from topospread.api.pod import Pod
from topospread.api.workload import ReplicationController
from topospread.cluster import Cluster
from topospread.plugins.default_selector import default_selector


@pytest.mark.parametrize(("api_version", "owns"), [("v1", True), ("/v1", True), ("apps/v1", False), ("v1/", False)])
def test_an_owner_is_found_by_its_group_and_version_as_apimachinery_reads_them(api_version: str, owns: bool) -> None:
    cluster = Cluster()
    controller = {"metadata": {"name": "rc", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
    cluster.objects.add([msgspec.convert(controller, ReplicationController)])
    owner = {"apiVersion": api_version, "kind": "ReplicationController", "name": "rc", "controller": True}
    metadata = {"name": "p", "namespace": "default", "ownerReferences": [owner]}
    pod = msgspec.convert({"metadata": metadata, "spec": {"containers": []}}, Pod)

    assert default_selector(cluster.pod_class(pod), cluster.objects).matches({"app": "web"}) is True
    assert default_selector(cluster.pod_class(pod), cluster.objects).matches({"app": "db"}) is not owns
