"""States of a cluster that are alike: the same but for which of equal nodes, or of equal zones, is which.

Nodes are equal when everything but their names is; zones when pods ask for none by name. Nothing is placed here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping

import msgspec

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
_OF_NODES_THEMSELVES = ("name", "uid", "resourceVersion", "creationTimestamp", "annotations", "managedFields")
_OF_STATUS = ("addresses", "conditions", "nodeInfo", "volumesInUse", "volumesAttached")
_OF_SPEC = ("podCIDR", "podCIDRs", "providerID")


class AlikeStates:
    """Says of the cluster as it is which others it is alike to.

    Args:
        pods: all that there are and are to come: what they ask of nodes by name tells nodes apart.
    """

    def __init__(self, cluster: Cluster, pods: Iterable[Pod]) -> None:
        self._cluster = cluster
        named = _keys_that_are_asked_for(pods)
        volumes = bool(cluster.objects.persistent_volumes) or bool(cluster.objects.persistent_volume_claims)
        free = set() if volumes else {ZONE, HOST} - named
        free -= {HOST} if "metadata.name" in named else set()
        rows = [row for row in range(cluster.nodes.size) if cluster.nodes.alive[row]]
        self._zones: dict[object, list[int]] = {}
        self._kinds: dict[int, Hashable] = {}
        for row in rows:
            node = cluster.nodes.nodes[row]
            assert node is not None, "it is alive"
            self._kinds[row] = _kind(node, free)
            self._zones.setdefault(node.labels.get(ZONE) if ZONE in free else None, []).append(row)

    def key(self, extra: Mapping[int, Hashable] | None = None) -> Hashable:
        """The same for states that are alike; ``extra``: what tells a node apart beside the pods there, by row."""
        told = extra or {}
        nodes = ([(self.of(row), told.get(row, ())) for row in rows] for rows in self._zones.values())
        return tuple(sorted(tuple(sorted(each)) for each in nodes))

    def of(self, row: int) -> tuple[str, tuple[tuple[int, int], ...]]:
        """What a node is, and the pods that are there by class."""
        there = Counter(each.index for each in self._cluster.on_node[row].values())
        return str(self._kinds[row]), tuple(sorted(there.items()))

    def zone(self, row: int) -> object:
        """What nodes that are exchanged one for the other have in common."""
        node = self._cluster.nodes.nodes[row]
        return None if node is None else node.labels.get(ZONE)


def _kind(node: Node, free: set[str]) -> Hashable:
    plain = msgspec.to_builtins(node)
    for part, left_out in (("metadata", _OF_NODES_THEMSELVES), ("status", _OF_STATUS), ("spec", _OF_SPEC)):
        for name in left_out:
            (plain.get(part) or {}).pop(name, None)
    labels = (plain.get("metadata") or {}).get("labels") or {}
    for key in free:
        labels.pop(key, None)
    return msgspec.json.encode(plain, order="deterministic")


_KEY = re.compile(rb'"key":"((?:[^"\\]|\\.)*)"')


def _keys_that_are_asked_for(pods: Iterable[Pod]) -> set[str]:
    """Keys of labels and fields that a selector of nodes names."""
    found: set[str] = set()
    for spec in {id(each.spec): each.spec for each in pods}.values():
        found |= set(spec.node_selector or ())
        affinity = spec.affinity.node_affinity if spec.affinity is not None else None
        if affinity is not None:
            found |= {key.decode() for key in _KEY.findall(msgspec.json.encode(affinity))}
    return found
