"""Evictions that remove skew, for answers that only mention them: they are searched for where the search is short."""

from __future__ import annotations

from topospread.api.inventory import Inventory
from topospread.simulation.options import SimulationOptions

from .result import Rebalance

_CHEAP = 2_000_000
"""Nodes × nodes × pods up to which the search is short beside everything else."""


def is_cheap(inventory: Inventory) -> bool:
    """Return whether a cluster is so small that evictions are found in no time."""
    return len(inventory.nodes) ** 2 * max(len(inventory.pods), 1) <= _CHEAP


def moves_at_once(inventory: Inventory, options: SimulationOptions, namespace: str | None = None) -> Rebalance | None:
    """Return the evictions after which the hard constraints hold; ``None`` if the search is long or finds none."""
    if not is_cheap(inventory):
        return None
    from .rebalance import rebalance  # the search loads much, and is seldom needed

    found = rebalance(inventory, options.answered_by, namespace=namespace, seconds=0.0, allow_empty=True)
    return None if found.unmet or found.impossible or not found.moves else found
