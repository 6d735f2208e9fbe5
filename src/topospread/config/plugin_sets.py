"""Lists of enabled and disabled plugins, and the merge of a file's lists into a version's defaults.

Source: pkg/scheduler/apis/config/v1/default_plugins.go (``mergePluginSet``) and its predecessors
(v1beta1/default_plugins.go, 1.18's apis/config/types.go ``mergePluginSets``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import msgspec

from topospread.api.shipped_table import in_force, shipped_table
from topospread.config.api_versions import ApiVersion
from topospread.config.gates import Gates
from topospread.config.versions import KubeVersion

ALL = "*"


class PluginEntry(msgspec.Struct, frozen=True):
    """An enabled plugin. ``weight``: 0 if unset. ``origin``: path of its field; "" for a default."""

    name: str
    weight: int = 0
    origin: str = ""


class PluginSet(msgspec.Struct, frozen=True):
    """The enabled plugins, in order, and the disabled plugins' names (or ``*``) at an extension point or multiPoint."""

    enabled: tuple[PluginEntry, ...] = ()
    disabled: tuple[str, ...] = ()


PluginSets = Mapping[str, PluginSet]
"""Extension point as in the configuration (such as ``multiPoint`` or ``score``) → its plugins."""


def merge(defaults: PluginSets, custom: PluginSets, *, in_place: bool) -> dict[str, PluginSet]:
    """Return the file's plugins merged into the defaults for every extension point.

    ``in_place``: whether a default plugin that the file enables again keeps its position and gets the file's weight, as
    since v1beta2. Before, the file's entry was appended, and kube-scheduler rejected the plugin as a duplicate.
    """
    points = dict.fromkeys((*defaults, *custom))
    return {
        point: _merged(defaults.get(point, PluginSet()), custom.get(point, PluginSet()), in_place) for point in points
    }


def _merged(default: PluginSet, custom: PluginSet, in_place: bool) -> PluginSet:
    disabled = (*custom.disabled, *default.disabled)
    kept = () if ALL in disabled else tuple(entry for entry in default.enabled if entry.name not in disabled)
    # If the file has a name twice, its last entry replaces the default, and its other entries are appended.
    again = {entry.name: index for index, entry in enumerate(custom.enabled)} if in_place else {}
    replaced = {again[entry.name] for entry in kept if entry.name in again}
    enabled = [custom.enabled[again[entry.name]] if entry.name in again else entry for entry in kept]
    enabled += [entry for index, entry in enumerate(custom.enabled) if index not in replaced]
    return PluginSet(tuple(enabled), disabled)


def names(sets: Iterable[PluginSet]) -> list[str]:
    """Return every enabled plugin, sorted."""
    return sorted({entry.name for plugins in sets for entry in plugins.enabled})


# The default plugins of each version of the configuration, with their weights and feature gates.
# The lists are in ``default_plugins.json``, which `conformance/oracle/cmd/plugins` prints from
# pkg/scheduler/apis/config/VERSION/default_plugins.go (until 1.21 pkg/scheduler/algorithmprovider/registry.go) of every
# minor version: ``getDefaultPlugins``, and ``applyFeatureGates`` at the places where it puts plugins.

_IF = " if "


@cache
def _printed() -> dict[str, dict[int, dict[str, list[str]]]]:
    """Return configuration version → first minor version of Kubernetes → extension point → plugins in order.

    A weight follows a colon, and a gate follows " if ": ``TaintToleration:3``, ``SelectorSpread:1 if !SomeGate``.
    """
    return shipped_table(__package__, "default_plugins.json", dict[str, dict[int, dict[str, list[str]]]])


def default_plugins(api: ApiVersion, version: KubeVersion, gates: Gates) -> dict[str, PluginSet]:
    """Return the default plugin sets of a configuration version in a Kubernetes version that serves it."""
    listed = in_force(_printed()[api.name], version.minor)
    on = {point: [_entry(text) for text in texts if _is_on(text, gates)] for point, texts in listed.items()}
    return {point: PluginSet(tuple(entries)) for point, entries in on.items() if entries}


def _is_on(text: str, gates: Gates) -> bool:
    gate = text.partition(_IF)[2]
    return not gate or gates.enabled(gate.removeprefix("!")) != gate.startswith("!")


def _entry(text: str) -> PluginEntry:
    name, _, weight = text.partition(_IF)[0].partition(":")
    return PluginEntry(name, int(weight or 0))


@cache
def gated_plugins() -> frozenset[str]:
    """Return the default plugins of v1 that depend on feature gates."""
    every = (text for points in _printed()["v1"].values() for texts in points.values() for text in texts)
    return frozenset(_entry(text).name for text in every if _IF in text)
