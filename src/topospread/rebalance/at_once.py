"""Find evictions for answers that only mention them, if the search is short."""

from __future__ import annotations

from topospread.api.inventory import Inventory
from topospread.simulation.options import SimulationOptions

from .result import Rebalance

_CHEAP = 2_000_000
"""Limit on nodes × nodes × pods for a short search."""


def is_cheap(inventory: Inventory) -> bool:
    """Return whether the cluster is small enough for a short search."""
    return len(inventory.nodes) ** 2 * max(len(inventory.pods), 1) <= _CHEAP


def moves_at_once(inventory: Inventory, options: SimulationOptions, namespace: str | None = None) -> Rebalance | None:
    """Return evictions for all hard constraints; None if the search is long."""
    if not is_cheap(inventory):
        return None
    from .rebalance import rebalance  # an expensive import that is rarely needed

    return rebalance(inventory, options.answered_by, namespace=namespace, seconds=0.0, allow_empty=True)
