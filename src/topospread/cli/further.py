"""What other commands would add to a report: how they are typed for the same input, and what is known of it at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .inputs import read_configuration, read_control_plane
from .typed_words import typed_words

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.rebalancing import Rebalance
    from topospread.report.further import FurtherCommands

_CHEAP = 2_000_000
"""Nodes times nodes times pods up to which evictions are worked out in the time that everything else takes."""


def further(given: Mapping[str, Any], inventory: Inventory, *paths: str) -> FurtherCommands:
    """Other commands, as they are typed for the same input; ``paths``: in place of the command line's."""
    from topospread.report.further import FurtherCommands

    typed = {name: _beside(name, given, *paths) for name in ("rebalance", "drill", "capacity")}
    found = moves_that_mend(given, inventory)
    return FurtherCommands(**typed, evictions=None if found is None else len(found.moves))


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


def _beside(command: str, given: Mapping[str, Any], *paths: str) -> str:
    """``topospread COMMAND``, as it is typed for the same input."""
    from topospread.text import shell_line

    words = ["topospread", command, *typed_words(given, *paths)]
    words += ["-l", given["selector"]] if given.get("selector") and command == "rebalance" else []
    return shell_line(words)
