"""The plugins each version of the configuration enables on its own, with their weights, and what feature gates add.

The lists are in ``default_plugins.json``, which `conformance/oracle/cmd/plugins` prints from
pkg/scheduler/apis/config/VERSION/default_plugins.go (until 1.21 pkg/scheduler/algorithmprovider/registry.go) of every
minor version: ``getDefaultPlugins``, and ``applyFeatureGates`` at the places where it puts plugins.
"""

from __future__ import annotations

from functools import cache

from topospread.api.shipped_table import in_force, shipped_table
from topospread.config.api_versions import ApiVersion
from topospread.config.gates import Gates
from topospread.config.plugin_sets import PluginEntry, PluginSet
from topospread.config.versions import KubeVersion

_IF = " if "


@cache
def _printed() -> dict[str, dict[int, dict[str, list[str]]]]:
    """Version of the configuration → minor version of Kubernetes from which on → extension point → plugins in order.

    A weight stands after a colon, and a gate after " if ": ``TaintToleration:3``, ``SelectorSpread:1 if !SomeGate``.
    """
    return shipped_table(__package__, "default_plugins.json", dict[str, dict[int, dict[str, list[str]]]])


def default_plugins(api: ApiVersion, version: KubeVersion, gates: Gates) -> dict[str, PluginSet]:
    """The default plugin sets of a configuration version in a Kubernetes version that serves it."""
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
    """Default plugins of v1 that are there or not by feature gates, which a configuration does not hold."""
    every = (text for points in _printed()["v1"].values() for texts in points.values() for text in texts)
    return frozenset(_entry(text).name for text in every if _IF in text)
