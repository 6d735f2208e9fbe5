"""nodeAffinityPolicy and nodeTaintsPolicy: the nodes that a constraint includes."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.unit.plugins.storage_builders import cluster, pod
from topospread.api.node import Node
from topospread.cluster import Cluster
from topospread.plugins.node_inclusion import Inclusion


def nodes() -> Cluster:
    made = cluster({"plain": {"disk": "hdd"}, "fast": {"disk": "ssd"}})
    for name, effect in (("tainted", "NoSchedule"), ("preferred", "PreferNoSchedule")):
        taints = [{"key": "k", "value": "v", "effect": effect}]
        labels = {"name": name, "labels": {"disk": "ssd"}}
        made.add_node(msgspec.convert({"metadata": labels, "spec": {"taints": taints}}, Node))
    return made


def included(made: Cluster, *, affinity: bool = False, taints: bool = False, **spec: Any) -> set[str]:
    inclusion = Inclusion(made.pod_class(pod(**spec)), made.nodes, False)
    found = inclusion(slice(0, made.nodes.size), honors_affinity=affinity, honors_taints=taints)
    return {name for name, row in made.nodes.row_of.items() if found[row]}


def test_without_policies_every_node_is_included() -> None:
    assert included(nodes(), nodeSelector={"disk": "ssd"}) == {"plain", "fast", "tainted", "preferred"}


def test_honored_affinity_excludes_nodes_that_the_selector_does_not_match() -> None:
    assert included(nodes(), affinity=True, nodeSelector={"disk": "ssd"}) == {"fast", "tainted", "preferred"}


def test_honored_taints_exclude_untolerated_nodes_except_preferred_ones() -> None:
    assert included(nodes(), taints=True) == {"plain", "fast", "preferred"}
    tolerations = [{"key": "k", "operator": "Exists"}]
    assert "tainted" in included(nodes(), taints=True, tolerations=tolerations)


def test_a_node_with_a_new_set_of_taints_is_evaluated() -> None:
    made = nodes()
    inclusion = Inclusion(made.pod_class(pod()), made.nodes, False)
    inclusion.tolerated(slice(0, made.nodes.size))
    taints = [{"key": "other", "effect": "NoExecute"}]
    made.add_node(msgspec.convert({"metadata": {"name": "late"}, "spec": {"taints": taints}}, Node))
    assert not inclusion.tolerated(slice(0, made.nodes.size))[made.nodes.row_of["late"]]


def test_a_deleted_node_is_not_included() -> None:
    made = nodes()
    made.delete_node("plain")
    assert "plain" not in included(made)


def test_pods_share_a_key_if_their_policies_read_the_same_fields() -> None:
    made = nodes()
    selecting, other = (
        Inclusion(made.pod_class(pod(nodeSelector={"disk": disk})), made.nodes, False) for disk in ("ssd", "hdd")
    )
    assert selecting.key(honors_affinity=False, honors_taints=True) == other.key(
        honors_affinity=False, honors_taints=True
    )
    assert selecting.key(honors_affinity=True, honors_taints=True) != other.key(
        honors_affinity=True, honors_taints=True
    )
