"""Conversion of a KubeSchedulerConfiguration to another version with the same decisions.

A field that the target version cannot express is an error. Each version has its own defaults, so the result sets fields
whose defaults differ. ``convert_plugins.py`` converts the plugins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace as with_fields

from topospread.config.api_versions import API_VERSIONS, GROUP, KIND, ApiVersion
from topospread.config.args import PLUGINS, ScoringStrategy
from topospread.config.convert_plugins import Conversion, converted_plugins, encoded_plugins, legacy_scoring
from topospread.config.defaulting import Defaults, default_args
from topospread.config.document import Args, Document, PluginConfig, ProfileDocument, decode
from topospread.config.durations import format_duration, parse_duration
from topospread.config.gates import gates_for
from topospread.config.kinds import configuration, extender_fields, plugin_args, profile_fields
from topospread.config.load import load_configuration
from topospread.config.old_versions.removed_plugins import SCORING_PLUGINS
from topospread.config.profile import Profile
from topospread.config.schema import DURATION
from topospread.config.typed_args import plain
from topospread.config.versions import NEWEST
from topospread.errors import ConfigError, InputError, Place

# The arguments of a profile's plugins in another version of the configuration.


def converted_args(
    conversion: Conversion, given: tuple[PluginConfig, ...], profile: Profile, place: Place
) -> tuple[PluginConfig, ...]:
    """Return the file's arguments in the target version, with different defaults written out.

    Raises:
        ConfigError: if the target has no arguments for a plugin that has some in the file.
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
    """Remove arguments that equal the target's defaults."""
    before = configs.get(name)
    if before is None:
        return
    rest = {key: value for key, value in (before.args or {}).items() if args.get(key) != value}
    if rest:
        configs[name] = PluginConfig(name, rest, True, before.origin)
    elif before.args:
        del configs[name]


def _scoring_as_strategy(configs: dict[str, PluginConfig], profile: Profile) -> None:
    """Convert the only plugin that scores node resources to NodeResourcesFit's strategy."""
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
    """Convert NodeResourcesFit's strategy to the arguments of the older scoring plugin."""
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
    """Write ``defaultingType`` if the target has another default.

    In a version without ``defaultingType``, constraints are always a list. An empty list is omitted if the target has
    no SelectorSpread, the plugin that the built-in constraints replaced.
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


Data = dict[str, Any]

_EMPTY = ProfileDocument(None, None, (), None)
_V1ALPHA2 = API_VERSIONS["v1alpha2"]


def convert(data: Any, to_version: str, place: Place | None = None) -> Data:
    """Convert a configuration to another version (``v1``, or with its group), with the same effect on placements.

    Default plugins that the target lacks are left out: the volume limits of in-tree drivers, NodePreferAvoidPods, and
    SelectorSpread, which the built-in default constraints replaced. Plugins that only the target has are as in its
    defaults.

    Raises:
        ConfigError: if a version is unknown, or the target cannot express a field, which the message names.
        DecodeError, InvalidError: if the configuration itself is not valid.
    """
    place = place or Place()
    name = to_version.removeprefix(f"{GROUP}/")
    if name not in API_VERSIONS:
        raise ConfigError(f'"{to_version}" is not a version to convert to; known are {", ".join(API_VERSIONS)}', place)
    target = API_VERSIONS[name]
    source = decode(data, NEWEST, place)
    effective = load_configuration(data, place=place, kube_version=source.version)
    result: Data = {"apiVersion": target.group_version, "kind": KIND}
    if target == source.api:
        result |= dict(source.fields) | _profiles(source.profiles)
    else:
        conversion = Conversion(source.api, target)
        result |= _process_fields(source, target) | _fields_for_all_profiles(source, effective.profiles, target, place)
        given = [_with_bind_timeout(one, source) for one in source.profiles or (_EMPTY,)]
        pairs = zip(given, effective.profiles, strict=True)
        result |= _profiles([_profile(conversion, one, profile, place) for one, profile in pairs])
    # Load the result as a check: the target version may lack a field, or its validation may reject a value.
    try:
        load_configuration(result, kube_version=target.last)
    except InputError as error:
        field = error.place.field
        raise ConfigError(f"cannot be expressed in {target.name}: {error.message}", place.at(field)) from error
    return result


def _process_fields(source: Document, target: ApiVersion) -> Data:
    """Return the fields outside the profiles; an empty field is dropped if the target lacks it."""
    known = configuration(target, target.last).fields
    fields = {
        key: value
        for key, value in source.fields.items()
        if key not in _FOR_ALL_PROFILES and (key in known or not _says_nothing(value))
    }
    if "extenders" in fields:
        fields["extenders"] = [_extender(one, target) for one in fields["extenders"]]
    return fields


def _says_nothing(value: Any) -> bool:
    """Return whether a field's value has no effect, so it can be dropped: false, or an address without a port."""
    return value is False or (isinstance(value, str) and value.rpartition(":")[2] in ("", "0"))


def _extender(extender: Mapping[str, Any], target: ApiVersion) -> Data:
    """Return an extender with the target's field names (``enableHttps``) and the target's type of the timeout."""
    known = extender_fields(target, target.last)
    spelt = {name.lower(): name for name in known}
    converted = {spelt[name.lower()]: value for name, value in extender.items()}
    timeout = converted.get("httpTimeout")
    if isinstance(timeout, str) and known["httpTimeout"] != DURATION:
        converted["httpTimeout"] = parse_duration(timeout)
    elif isinstance(timeout, int) and known["httpTimeout"] == DURATION:
        converted["httpTimeout"] = format_duration(timeout)
    return converted


# Fields that v1alpha2 has once and later versions in every profile; percentageOfNodesToScore can be in both.
_FOR_ALL_PROFILES = ("disablePreemption", "bindTimeoutSeconds", "percentageOfNodesToScore", "apiVersion", "kind")


def _fields_for_all_profiles(source: Document, profiles: Sequence[Profile], target: ApiVersion, place: Place) -> Data:
    fields: Data = {}
    own = [one.percentage_of_nodes_to_score for one in source.profiles]
    if "percentageOfNodesToScore" in source.fields:
        fields["percentageOfNodesToScore"] = source.fields["percentageOfNodesToScore"]
    if not _has_percentages(target) and any(one is not None for one in own):
        values = {profile.percentage_of_nodes_to_score for profile in profiles}
        fields["percentageOfNodesToScore"] = _one(values, "percentageOfNodesToScore", target, place)
    if target == _V1ALPHA2:
        preempting = {"DefaultPreemption" in profile.enabled("post_filter") for profile in profiles}
        if not _one(preempting, "plugins.postFilter", target, place):
            fields["disablePreemption"] = True
        timeouts = {profile.args.volume_binding.bind_timeout_seconds for profile in profiles}
        if any(one.name == "VolumeBinding" for profile in source.profiles for one in profile.plugin_config):
            fields["bindTimeoutSeconds"] = _one(timeouts, "VolumeBinding's bindTimeoutSeconds", target, place)
    return fields


def _has_percentages(target: ApiVersion) -> bool:
    return "percentageOfNodesToScore" in profile_fields(target, target.last)


def _one(values: set[Any], field: str, target: ApiVersion, place: Place) -> Any:
    if len(values) > 1:
        what = f"{target.name} has one value for all profiles, but they differ"
        raise ConfigError(f"{field} cannot be expressed: {what}", place.at("profiles"))
    return next(iter(values))


def _profile(conversion: Conversion, given: ProfileDocument, profile: Profile, place: Place) -> ProfileDocument:
    own_percentage = _has_percentages(conversion.target)
    config = given.plugin_config
    if conversion.target == _V1ALPHA2:
        config = tuple(one for one in config if not _is_timeout_alone(one))
    return with_fields(
        given,
        plugins=converted_plugins(conversion, given.plugins, profile, place),
        plugin_config=converted_args(conversion, config, profile, place),
        percentage_of_nodes_to_score=given.percentage_of_nodes_to_score if own_percentage else None,
    )


def _with_bind_timeout(profile: ProfileDocument, source: Document) -> ProfileDocument:
    if "bindTimeoutSeconds" not in source.fields:
        return profile
    args = {"bindTimeoutSeconds": source.fields["bindTimeoutSeconds"]}
    return with_fields(profile, plugin_config=(*profile.plugin_config, PluginConfig("VolumeBinding", args, True)))


def _is_timeout_alone(config: PluginConfig) -> bool:
    return config.name == "VolumeBinding" and set(config.args or {}) <= {"bindTimeoutSeconds"}


def _profiles(profiles: Sequence[ProfileDocument]) -> Data:
    encoded = [_encoded(profile) for profile in profiles]
    return {"profiles": encoded} if any(encoded) else {}


def _encoded(profile: ProfileDocument) -> Data:
    encoded: Data = {}
    if profile.scheduler_name is not None:
        encoded["schedulerName"] = profile.scheduler_name
    if profile.percentage_of_nodes_to_score is not None:
        encoded["percentageOfNodesToScore"] = profile.percentage_of_nodes_to_score
    if profile.plugins:
        encoded["plugins"] = encoded_plugins(profile.plugins)
    if profile.plugin_config:
        encoded["pluginConfig"] = [
            {"name": one.name, **({"args": one.args} if one.args is not None else {})} for one in profile.plugin_config
        ]
    return encoded
