"""Which endpoints kube-proxy of a node gives requests to, each with the same chance. Hints are made by `hints`.

Source: pkg/proxy/topology.go (``CategorizeEndpoints``, ``topologyModeFromHints``).
"""

from __future__ import annotations

from collections.abc import Sequence

from .hints import Endpoint


def chosen(endpoints: Sequence[Endpoint], node: str, zone: str, *, local: bool, by_node: bool) -> list[Endpoint]:
    """The endpoints that requests of a node's pods may reach; none where they fail.

    Args:
        endpoints: ready ones, and those that terminate.
        node, zone: of the client; "" for no zone.
        local: ``internalTrafficPolicy: Local``.
        by_node: whether the version knows hints for nodes.
    """
    ready = [each for each in endpoints if each.ready]
    if local:
        own = [each for each in ready if each.node == node]
        return own or [each for each in endpoints if not each.ready and each.node == node]
    if not ready:
        return list(endpoints)
    if by_node and all(each.for_node for each in ready):
        own = [each for each in ready if each.for_node == node]
        if own:
            return own
    if all(each.for_zone for each in ready):
        own = [each for each in ready if each.for_zone == zone]
        if own:
            return own
    return ready
