"""Evictions that remove skew, for the pages of other commands, if they are cheap to find."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .inputs import read_configuration, read_control_plane

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.rebalancing import Rebalance

_CHEAP = 2_000_000
"""Nodes times nodes times pods up to which evictions are worked out in the time that everything else takes."""


def is_cheap(inventory: Inventory) -> bool:
    """Whether a cluster is so small that evictions are known in no time."""
    return len(inventory.nodes) ** 2 * max(len(inventory.pods), 1) <= _CHEAP


def moves_that_mend(given: Mapping[str, Any], inventory: Inventory) -> Rebalance | None:
    """Evictions that mend the hard constraints; ``None`` where those are not cheap to know, or none do."""
    if not is_cheap(inventory):
        return None
    from topospread.rebalancing.rebalance import rebalance

    by = read_control_plane(given)
    found = rebalance(
        inventory,
        namespace=given["namespace"],
        selector=given.get("selector"),
        config=read_configuration(given["config_path"], by.scheduler),
        kube_version=str(by.scheduler.kube_version),
        gates=by.scheduler,
        apiserver_gates=by.apiserver,
        seconds=0.0,
        allow_empty=True,
    )
    return None if found.unmet or found.impossible or not found.moves else found
