"""The zone of a node for kube-scheduler's node order and SelectorSpread, which have no configurable topology key.

Source: component-helpers/node/topology/helpers.go (``GetZoneKey``); until 1.21 pkg/util/node.
"""

from __future__ import annotations

from topospread.api.node import Node
from topospread.api.well_known_labels import BETA_REGION, BETA_ZONE, REGION, ZONE

_ZONES = (BETA_ZONE, ZONE)
_REGIONS = (BETA_REGION, REGION)


def zone_key(node: Node) -> str:
    """Return region and zone as one string, from the older labels if present; "" if the node has neither."""
    zone = next((node.labels[key] for key in _ZONES if key in node.labels), "")
    region = next((node.labels[key] for key in _REGIONS if key in node.labels), "")
    return f"{region}:\0:{zone}" if region or zone else ""
