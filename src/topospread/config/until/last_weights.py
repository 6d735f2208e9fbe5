"""Until 1.21 the weight of a plugin that sits at several extension points is the last one's.

Source: pkg/scheduler/framework/runtime/framework.go of 1.18 to 1.21 (``NewFramework``).
"""

from __future__ import annotations

from collections.abc import Mapping

from topospread.config.plugin_sets import PluginEntry, PluginSet

LAST_WEIGHT_COUNTS_UNTIL = 21
"""The minor version."""

# The order in which framework.go visits the extension points.
_VISITED = (
    "preFilter",
    "filter",
    "postFilter",
    "reserve",
    "preScore",
    "score",
    "preBind",
    "bind",
    "postBind",
    "permit",
    "queueSort",
)


def last_entries(sets: Mapping[str, PluginSet]) -> dict[str, PluginEntry]:
    """Plugin → the entry whose weight counts."""
    visited = (sets[point] for point in _VISITED if point in sets)
    return {entry.name: entry for plugins in visited for entry in plugins.enabled}
