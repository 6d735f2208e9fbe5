"""Lists of enabled and disabled plugins, and how a file's is merged into a version's defaults; no plugin runs here.

Source: pkg/scheduler/apis/config/v1/default_plugins.go (``mergePluginSet``) and its predecessors
(v1beta1/default_plugins.go, 1.18's apis/config/types.go ``mergePluginSets``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

ALL = "*"


class PluginEntry(msgspec.Struct, frozen=True):
    """A plugin that is enabled; weight 0 is "not given", ``origin`` the path of its field, "" for a default."""

    name: str
    weight: int = 0
    origin: str = ""


class PluginSet(msgspec.Struct, frozen=True):
    """The enabled plugins, in order, and the disabled ones (names, or ``*``) at an extension point or at multiPoint."""

    enabled: tuple[PluginEntry, ...] = ()
    disabled: tuple[str, ...] = ()


PluginSets = Mapping[str, PluginSet]
"""Extension point as in the configuration (``multiPoint``, ``score``, …) → its set."""


def merge(defaults: PluginSets, custom: PluginSets, *, in_place: bool) -> dict[str, PluginSet]:
    """A file's plugins merged into the defaults, for every extension point that either has.

    ``in_place``: since v1beta2 a default plugin that the file enables again keeps its position and takes the file's
    weight; before, the file's entry was appended, a second registration that kube-scheduler then refused.
    """
    points = dict.fromkeys((*defaults, *custom))
    return {
        point: _merged(defaults.get(point, PluginSet()), custom.get(point, PluginSet()), in_place) for point in points
    }


def _merged(default: PluginSet, custom: PluginSet, in_place: bool) -> PluginSet:
    disabled = (*custom.disabled, *default.disabled)
    kept = () if ALL in disabled else tuple(entry for entry in default.enabled if entry.name not in disabled)
    # With a name given twice the last entry takes the default's place, and the others are appended.
    again = {entry.name: index for index, entry in enumerate(custom.enabled)} if in_place else {}
    replaced = {again[entry.name] for entry in kept if entry.name in again}
    enabled = [custom.enabled[again[entry.name]] if entry.name in again else entry for entry in kept]
    enabled += [entry for index, entry in enumerate(custom.enabled) if index not in replaced]
    return PluginSet(tuple(enabled), disabled)


def names(sets: Iterable[PluginSet]) -> list[str]:
    """Every enabled plugin, sorted."""
    return sorted({entry.name for plugins in sets for entry in plugins.enabled})
