"""The arguments of a profile's plugins said in another version of the configuration."""

from __future__ import annotations

from typing import Any

from topospread.config.args import PLUGINS, ScoringStrategy
from topospread.config.convert_plugins import Conversion, legacy_scoring
from topospread.config.defaulting import Defaults, default_args
from topospread.config.document import Args, PluginConfig
from topospread.config.gates import gates_for
from topospread.config.kinds import plugin_args
from topospread.config.profile import Profile
from topospread.config.typed_args import plain
from topospread.config.until.removed_plugins import SCORING_PLUGINS
from topospread.errors import ConfigError, Place


def converted_args(
    conversion: Conversion, given: tuple[PluginConfig, ...], profile: Profile, place: Place
) -> tuple[PluginConfig, ...]:
    """The file's arguments for the target version; what the versions default differently is said explicitly.

    Raises:
        ConfigError: the target has no arguments for a plugin that the file gives some.
    """
    configs = {one.name: one for one in given}
    if conversion.scoring_is_legacy:
        _strategy_as_scoring(configs, profile)
    else:
        _scoring_as_strategy(configs, profile)
    _explicit_defaulting(conversion, configs, profile)
    kinds = plugin_args(conversion.target, conversion.target.last)
    for one in configs.values():
        if one.in_tree and one.name not in kinds:
            what = f"{conversion.target.name} has no arguments for {one.name}"
            raise ConfigError(f"cannot be expressed: {what}", place.at(one.origin))
    return tuple(configs.values())


def _set(configs: dict[str, PluginConfig], name: str, args: Args) -> None:
    before = configs.get(name)
    merged = {**(before.args or {} if before else {}), **args}
    configs[name] = PluginConfig(name, merged, True, before.origin if before else "")


def _drop(configs: dict[str, PluginConfig], name: str, args: Args) -> None:
    """Takes arguments away that say what the target means without them."""
    before = configs.get(name)
    if before is None:
        return
    rest = {key: value for key, value in (before.args or {}).items() if args.get(key) != value}
    if rest:
        configs[name] = PluginConfig(name, rest, True, before.origin)
    elif before.args:
        del configs[name]


def _scoring_as_strategy(configs: dict[str, PluginConfig], profile: Profile) -> None:
    """The one plugin that scores node resources, as NodeResourcesFit's strategy."""
    for name in SCORING_PLUGINS.values():
        configs.pop(name, None)
    for one in legacy_scoring(profile):
        strategy: ScoringStrategy = getattr(profile.args, PLUGINS[one.name].name)
        if strategy != ScoringStrategy():
            said: Args = {"type": strategy.type, "resources": plain(strategy.resources)}
            if strategy.shape:
                said["requestedToCapacityRatio"] = {"shape": plain(strategy.shape)}
            _set(configs, "NodeResourcesFit", {"scoringStrategy": said})


def _strategy_as_scoring(configs: dict[str, PluginConfig], profile: Profile) -> None:
    """NodeResourcesFit's strategy as the arguments of the plugin that scored before it could."""
    fit = configs.get("NodeResourcesFit")
    if fit is None or "scoringStrategy" not in (fit.args or {}):
        return
    rest = {key: value for key, value in (fit.args or {}).items() if key != "scoringStrategy"}
    configs["NodeResourcesFit"] = PluginConfig(fit.name, rest, True, fit.origin)
    if not rest:
        del configs["NodeResourcesFit"]
    strategy = profile.args.node_resources_fit.scoring_strategy
    args: Args = {}
    if strategy.resources != ScoringStrategy().resources:
        args["resources"] = plain(strategy.resources)
    if strategy.shape:
        args["shape"] = plain(strategy.shape)
    if args:
        name = SCORING_PLUGINS[strategy.type]
        configs[name] = PluginConfig(name, args, True, f"{fit.origin}.scoringStrategy")


def _explicit_defaulting(conversion: Conversion, configs: dict[str, PluginConfig], profile: Profile) -> None:
    """``defaultingType`` where the target would take another one.

    A version without it lists constraints. That it has none is not said to a version without SelectorSpread: there
    the built-in constraints do what that plugin did.
    """
    target = conversion.target
    wanted = profile.args.pod_topology_spread
    if "defaultingType" not in plugin_args(target, target.last)["PodTopologySpread"].fields:
        _drop(configs, "PodTopologySpread", {"defaultingType": "List"})
        return
    spread_by_plugin = {"SelectorSpread", "DefaultPodTopologySpread"} & set(profile.enabled("score"))
    if (
        spread_by_plugin
        and not wanted.default_constraints
        and not conversion.known_to_target("SelectorSpread", "score")
    ):
        return
    given = configs.get("PodTopologySpread")
    defaults = Defaults(target, target.last, gates_for(target.last))
    taken = default_args("PodTopologySpread", given.args or {} if given else {}, defaults)["defaultingType"]
    if taken != wanted.defaulting_type:
        _set(configs, "PodTopologySpread", {"defaultingType": wanted.defaulting_type})


def encoded_args(configs: tuple[PluginConfig, ...]) -> list[dict[str, Any]]:
    """``pluginConfig`` as it stands in a configuration."""
    return [{"name": one.name, **({"args": one.args} if one.args is not None else {})} for one in configs]
