"""Plugins of a profile in another version of the configuration: enabled plugins by extension point, and weights.

The file's plugins are kept if they have the same effect in the target version. Otherwise the result lists the
differences from the target's defaults, or all plugins of an extension point if only that gives the file's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from topospread.config.api_versions import API_VERSIONS, ApiVersion
from topospread.config.expansion import expand
from topospread.config.gates import gates_for
from topospread.config.kinds import plugin_points
from topospread.config.old_versions.forgotten_points import forgotten_points
from topospread.config.old_versions.removed_plugins import SCORING_PLUGINS
from topospread.config.plugin_sets import ALL, PluginEntry, PluginSet, PluginSets, default_plugins, gated_plugins, merge
from topospread.config.profile import EXTENSION_POINTS, EnabledPlugin, Profile
from topospread.config.registry import extension_points
from topospread.errors import ConfigError, Place

WantedPlugins = Mapping[str, tuple[EnabledPlugin, ...]]
"""Extension point (key of `EXTENSION_POINTS`) → plugins in execution order, with their names in the target version."""

_SCORING = {"NodeResourcesFit", *SCORING_PLUGINS.values()}


@dataclass(frozen=True, slots=True)
class Conversion:
    """The source and target versions. Each is taken as read by the last Kubernetes version that serves it."""

    source: ApiVersion
    target: ApiVersion

    @property
    def scoring_is_legacy(self) -> bool:
        """True if in the target version separate plugins score node resources, and NodeResourcesFit only filters."""
        return self.target.rank < API_VERSIONS["v1beta2"].rank

    def compared(self, plugin: str, point: str) -> bool:
        """Return whether a plugin (by the target's name) must be equal in source and target at an extension point.

        Plugins that the source's kube-scheduler lacks or that depend on feature gates are not compared.
        """
        if plugin in gated_plugins() or (plugin, point) == ("VolumeBinding", "score"):
            return False
        if (plugin, point) == ("DefaultPreemption", "post_filter") or plugin == "DefaultPodTopologySpread":
            return True
        names = {plugin, "DefaultPodTopologySpread"} if plugin == "SelectorSpread" else {plugin}
        if point == "score" and plugin in _SCORING:
            names |= _SCORING
        points = extension_points(self.source.last)
        return any(point in points.get(name, ()) for name in names)

    def known_to_target(self, plugin: str, point: str) -> bool:
        """Return whether the target's kube-scheduler has a plugin at an extension point."""
        return point in extension_points(self.target.last).get(plugin, ())

    def name_in_target(self, plugin: str, point: str, profile: Profile) -> str:
        """Return the plugin's name in the target version.

        SelectorSpread and the plugins that score node resources have different names in some versions.
        """
        if plugin == "DefaultPodTopologySpread":
            return "SelectorSpread"
        if plugin == "SelectorSpread" and self.target.name == "v1alpha2":
            return "DefaultPodTopologySpread"
        if point == "score" and plugin in _SCORING and self.scoring_is_legacy == (plugin == "NodeResourcesFit"):
            strategy = profile.args.node_resources_fit.scoring_strategy.type
            return SCORING_PLUGINS[strategy] if self.scoring_is_legacy else "NodeResourcesFit"
        return plugin


def legacy_scoring(profile: Profile) -> list[EnabledPlugin]:
    """Return the profile's enabled plugins that score node resources, except NodeResourcesFit."""
    return [one for one in profile.plugins.get("score", ()) if one.name in SCORING_PLUGINS.values()]


def converted_plugins(
    conversion: Conversion, given: PluginSets | None, profile: Profile, place: Place
) -> PluginSets | None:
    """Return the plugin sets for the target version.

    Args:
        given: the file's plugins; ``None`` for none.
        profile: the effective profile in the source version.
        place: place of the configuration.

    Raises:
        ConfigError: if the file enables a plugin that the target lacks.
    """
    wanted = {
        point: tuple(_wanted_at(conversion, profile, point, place))
        for point in EXTENSION_POINTS
        if EXTENSION_POINTS[point] in plugin_points(conversion.target, conversion.target.last)
    }
    for sets in _ways(conversion, given, wanted):
        if _same(conversion, wanted, _in_force(conversion.target, sets)):
            return sets or None
    raise ConfigError(f"plugins cannot be expressed in {conversion.target.name}", place)


def _wanted_at(conversion: Conversion, profile: Profile, point: str, place: Place) -> Iterator[EnabledPlugin]:
    target = conversion.target
    scoring = legacy_scoring(profile) if point == "score" else []
    if len(scoring) > 1 and not conversion.scoring_is_legacy:
        where = scoring[1].origin or scoring[0].origin
        both = " and ".join(one.name for one in scoring)
        raise ConfigError(f"{both} together cannot be expressed in {target.name}", place.at(where))
    for one in profile.plugins.get(point, ()):
        name = conversion.name_in_target(one.name, point, profile)
        gated = not one.origin and name in gated_plugins()
        if conversion.known_to_target(name, point) and not gated:
            yield EnabledPlugin(name, one.weight, one.origin, one.weight_origin)
        elif one.origin and "multiPoint" not in one.origin:
            what = f"{target.name} has no plugin {one.name} at {EXTENSION_POINTS[point]}"
            raise ConfigError(f"cannot be expressed: {what}", place.at(one.origin))
    if target.name == "v1alpha2" and profile.args.pod_topology_spread.defaulting_type == "System":
        # SelectorSpread did what the built-in constraints do now.
        yield from (one for one in _PREDECESSOR.get(point, ()) if "SelectorSpread" not in profile.enabled("score"))


_PREDECESSOR = {
    "pre_score": (EnabledPlugin("DefaultPodTopologySpread"),),
    "score": (EnabledPlugin("DefaultPodTopologySpread", 1),),
}


def _ways(conversion: Conversion, given: PluginSets | None, wanted: WantedPlugins) -> Iterator[PluginSets]:
    target = conversion.target
    known = set(plugin_points(target, target.last)) - set(forgotten_points(target, target.last))
    if not given or set(given) <= known:
        yield given or {}
    standard = _in_force(target, {})
    sets = {point: _difference(conversion, point, standard.get(point, ()), one) for point, one in wanted.items()}
    found = _in_force(target, _non_empty(sets))
    for point, listed in wanted.items():
        if not _same_at(conversion, point, listed, found.get(point, ())):
            sets[point] = PluginSet(tuple(PluginEntry(one.name, one.weight) for one in listed), (ALL,))
    yield _non_empty(sets)


def _non_empty(sets: Mapping[str, PluginSet]) -> PluginSets:
    return {EXTENSION_POINTS[point]: one for point, one in sets.items() if one.enabled or one.disabled}


def _difference(
    conversion: Conversion, point: str, standard: Sequence[EnabledPlugin], wanted: Sequence[EnabledPlugin]
) -> PluginSet:
    weights = {one.name: one.weight for one in standard}
    there = {one.name for one in wanted}
    changed = [
        one
        for one in wanted
        if weights.get(one.name) != one.weight and (one.origin or conversion.compared(one.name, point))
    ]
    disabled = [one.name for one in standard if one.name not in there and conversion.compared(one.name, point)]
    if conversion.target.rank < API_VERSIONS["v1beta2"].rank:
        # These versions append enabled plugins, so a default plugin must be disabled to get another weight.
        disabled += [one.name for one in changed if one.name in weights]
    return PluginSet(tuple(PluginEntry(one.name, one.weight) for one in changed), tuple(disabled))


def _in_force(target: ApiVersion, sets: PluginSets) -> WantedPlugins:
    standard = default_plugins(target, target.last, gates_for(target.last))
    merged = merge(standard, sets, in_place=target.rank >= API_VERSIONS["v1beta2"].rank)
    expansion = expand(merged, target.last)
    return {} if expansion.problems else expansion.plugins


def _same(conversion: Conversion, wanted: WantedPlugins, found: WantedPlugins) -> bool:
    return bool(found) and all(
        _same_at(conversion, point, listed, found.get(point, ())) for point, listed in wanted.items()
    )


def _same_at(
    conversion: Conversion, point: str, wanted: Sequence[EnabledPlugin], found: Sequence[EnabledPlugin]
) -> bool:
    """Return whether ``found`` has the plugins and weights of ``wanted``, with the file's plugins in their order."""
    pairs = [
        {(one.name, one.weight) for one in plugins if conversion.compared(one.name, point)}
        for plugins in (wanted, found)
    ]
    listed = [one.name for one in wanted if one.origin]
    return pairs[0] == pairs[1] and listed == [one.name for one in found if one.name in listed]


def encoded_plugins(sets: PluginSets) -> dict[str, Any]:
    """Return plugin sets in the form of a configuration."""
    return {
        point: {
            key: value
            for key, value in (
                ("enabled", [_encoded_entry(entry) for entry in one.enabled]),
                ("disabled", [{"name": name} for name in one.disabled]),
            )
            if value
        }
        for point, one in sets.items()
    }


def _encoded_entry(entry: PluginEntry) -> dict[str, Any]:
    return {"name": entry.name, "weight": entry.weight} if entry.weight else {"name": entry.name}
