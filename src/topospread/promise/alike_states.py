"""Equivalent cluster states: states that become equal if equal nodes, or equal zones, are swapped.

Nodes are equal if they differ only in their names and in labels that no pod uses. Zones are equal if no pod names
one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping

import msgspec

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.storage import PersistentVolumeClaim
from topospread.api.well_known_labels import BETA_REGION, BETA_ZONE, HOSTNAME, REGION, ZONE
from topospread.cluster import Cluster
from topospread.cluster.volume_use import volume_refs
from topospread.config.profile import Profile

_OF_NODES_THEMSELVES = ("name", "uid", "resourceVersion", "creationTimestamp", "annotations", "managedFields")
_OF_STATUS = ("addresses", "conditions", "nodeInfo", "volumesInUse", "volumesAttached")
_OF_SPEC = ("podCIDR", "podCIDRs", "providerID")


class AlikeStates:
    """Computes a key of the cluster's state. Equivalent states have the same key.

    Args:
        coming: the incoming pods. Nodes differ by each label that incoming or existing pods use.
        profiles: the scheduler profiles, whose plugins may use more node labels.
        keys: topology keys of pod groups.
    """

    def __init__(
        self, cluster: Cluster, coming: Iterable[Pod], profiles: Iterable[Profile], keys: Collection[str] = ()
    ) -> None:
        self._cluster = cluster
        default_keys = _keys_of_profiles(profiles, keys)
        pods = list(coming)
        is_free = not (any(map(volume_refs, pods)) and _has_volumes_of_nodes(cluster))
        pods += [each.pod for each in cluster.classes.values()]
        named = _keys_that_are_asked_for(pods)
        spoken_of = named | _topology_keys(pods) | default_keys if is_free and default_keys is not None else None
        free = {ZONE, HOSTNAME} - named if is_free else set[str]()
        if "metadata.name" in named or not _has_own_hostnames(cluster):
            free -= {HOSTNAME}
        rows = [row for row in range(cluster.nodes.size) if cluster.nodes.alive[row]]
        self._zones: dict[object, list[int]] = {}
        self._kinds: dict[int, Hashable] = {}
        for row in rows:
            node = cluster.nodes.nodes[row]
            assert node is not None, "it is alive"
            self._kinds[row] = _kind(node, free, spoken_of)
            self._zones.setdefault(node.labels.get(ZONE) if ZONE in free else None, []).append(row)

    def key(self, extra: Mapping[int, Hashable] | None = None) -> Hashable:
        """Return the state's key. ``extra``: node row → additional value that distinguishes the node."""
        told = extra or {}
        nodes = ([(self.of(row), told.get(row, ())) for row in rows] for rows in self._zones.values())
        return tuple(sorted(tuple(sorted(each)) for each in nodes))

    def of(self, row: int) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return a node's kind, and its pods by class."""
        there = Counter(each.index for each in self._cluster.on_node[row].values())
        return str(self._kinds[row]), tuple(sorted(there.items()))

    def zone(self, row: int) -> object:
        """Return the node's zone. Equal nodes are interchangeable within a zone."""
        node = self._cluster.nodes.nodes[row]
        return None if node is None else node.labels.get(ZONE)


def _kind(node: Node, free: set[str], spoken_of: set[str] | None) -> Hashable:
    """Return the node's properties except its names. For a `free` label, only its presence counts."""
    plain = msgspec.to_builtins(node)
    for part, left_out in (("metadata", _OF_NODES_THEMSELVES), ("status", _OF_STATUS), ("spec", _OF_SPEC)):
        for name in left_out:
            (plain.get(part) or {}).pop(name, None)
    labels = (plain.get("metadata") or {}).get("labels") or {}
    for key in list(labels):
        if key in free:
            labels[key] = ""
        elif spoken_of is not None and key not in spoken_of:
            del labels[key]
    return msgspec.json.encode(plain, order="deterministic")


def _has_own_hostnames(cluster: Cluster) -> bool:
    names = [each.labels[HOSTNAME] for each in cluster.nodes.nodes if each is not None and HOSTNAME in each.labels]
    return len(names) == len(set(names))


def _has_volumes_of_nodes(cluster: Cluster) -> bool:
    """Return whether volumes or devices depend on certain nodes or zones."""
    objects = cluster.objects
    there = (objects.persistent_volumes, objects.csi_nodes, objects.csi_storage_capacities, objects.volume_attachments)
    if (
        any(there)
        or objects.resource_slices
        or any(each.allowed_topologies for each in objects.storage_classes.values())
    ):
        return True
    claims = objects.persistent_volume_claims.values()
    return any(each.spec.volume_name or _selected_node(each) for each in claims)


def _selected_node(claim: PersistentVolumeClaim) -> str | None:
    return claim.metadata.annotations.selected_node if claim.metadata.annotations is not None else None


_KEY = re.compile(rb'"key":"((?:[^"\\]|\\.)*)"')
_TOPOLOGY_KEY = re.compile(rb'"topologyKey":"((?:[^"\\]|\\.)*)"')
_ALWAYS_ASKED_FOR = frozenset({REGION, BETA_ZONE, BETA_REGION})
"""Node labels that plugins of old versions read even if no pod names them."""


def _topology_keys(pods: Iterable[Pod]) -> set[str]:
    """Return the topology keys of the pods' constraints and affinity."""
    found = set(_ALWAYS_ASKED_FOR)
    for spec in {id(each.spec): each.spec for each in pods}.values():
        parts = [*(spec.topology_spread_constraints or ()), *([spec.affinity] if spec.affinity else ())]
        found |= {key.decode() for key in _TOPOLOGY_KEY.findall(msgspec.json.encode(parts))}
    return found


def _keys_of_profiles(profiles: Iterable[Profile], keys: Collection[str]) -> set[str] | None:
    """Return `keys` and node labels of profiles; ``None`` if added affinity or label plugins make them unknown."""
    found = {*keys}
    for each in profiles:
        own = each.args.node_affinity.added_affinity or _BY_LABELS & set(each.enabled("filter") + each.enabled("score"))
        if own:
            return None
        found |= {constraint.topology_key for constraint in each.args.pod_topology_spread.constraints_in_force}
    return found


_BY_LABELS = frozenset({"NodeLabel", "ServiceAffinity"})


def _keys_that_are_asked_for(pods: Iterable[Pod]) -> set[str]:
    """Return the node labels and fields that node selectors and node affinity name."""
    found: set[str] = set()
    for spec in {id(each.spec): each.spec for each in pods}.values():
        found |= set(spec.node_selector or ())
        affinity = spec.affinity.node_affinity if spec.affinity is not None else None
        if affinity is not None:
            found |= {key.decode() for key in _KEY.findall(msgspec.json.encode(affinity))}
    return found
