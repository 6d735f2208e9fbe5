"""Plugin weights until 1.21: the weight in a plugin's last entry counts, of any extension point.

Source: pkg/scheduler/framework/runtime/framework.go of 1.18 to 1.21 (``NewFramework``).
"""

from __future__ import annotations

from collections.abc import Mapping

from topospread.config.plugin_checks import checked_points
from topospread.config.plugin_sets import PluginEntry, PluginSet
from topospread.config.profile import EXTENSION_POINTS
from topospread.config.versions import KubeVersion

LAST_WEIGHT_COUNTS_UNTIL = 21
"""Last minor version with this rule."""


def last_entries(sets: Mapping[str, PluginSet], version: KubeVersion) -> dict[str, PluginEntry]:
    """Return plugin → the last entry that has it, whose weight counts."""
    fields = (EXTENSION_POINTS[point] for point in checked_points(version))
    visited = (sets[field] for field in fields if field in sets)
    return {entry.name: entry for plugins in visited for entry in plugins.enabled}
