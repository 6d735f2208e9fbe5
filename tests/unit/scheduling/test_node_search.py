"""The node for one pod: the shared view of a DaemonSet gives its pods' nodes."""

from __future__ import annotations

import msgspec
import pytest

from conformance.generators.batching import cases
from conformance.judging.cases import profiles_of
from tests.unit.scheduling.test_batching import Json, volumes
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster, PodClass
from topospread.config.gates import gates_for
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework
from topospread.scheduling.node_search import Chosen, NodeSearch


def test_the_shared_view_of_a_daemon_set_gives_the_nodes_of_its_pods_own_views(monkeypatch: pytest.MonkeyPatch) -> None:
    found, shared = [], 0
    only_node = NodeSearch._only_node

    def counted(self: NodeSearch, pod_class: PodClass) -> Chosen | None:
        nonlocal shared
        chosen = only_node(self, pod_class)
        shared += chosen is not None
        return chosen

    for search in (counted, lambda *_: None):
        monkeypatch.setattr(NodeSearch, "_only_node", search)
        found.append([played(case) for case in cases(8, 160)])
    assert found[0] == found[1]
    assert shared > 100


def played(case: Json) -> list[str | None]:
    """The nodes of the pods of a case."""
    values = gates_for("1.37", case["featureGates"])
    cluster = Cluster()
    frameworks = {name: Framework(each, values) for name, each in profiles_of(case, values).items()}
    for each in case["objects"]:
        if each["kind"] == "Node":
            cluster.add_node(msgspec.convert(each, Node, strict=False))
    made, found = Scheduler(cluster, frameworks), []
    for step in case["steps"]:
        each = step.get("create", step.get("update", {}))
        if each.get("kind") == "Node":
            cluster.put_node(msgspec.convert(each, Node, strict=False))
        elif each.get("kind") == "Pod" and not volumes(each):
            found.append(made.schedule(msgspec.convert(each, Pod, strict=False)).node)
    return found
