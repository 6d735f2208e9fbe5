"""Conversion of plugin arguments from validated and defaulted plain data to the types in `args`, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from topospread.config.args import PLUGINS, PluginArgs
from topospread.config.document import PluginConfig
from topospread.config.durations import parse_duration
from topospread.config.old_versions.removed_plugins import SCORING_PLUGINS

Args = Mapping[str, Any]


def typed_args(plugin_config: Iterable[PluginConfig]) -> PluginArgs:
    """Return the arguments of all plugins; a plugin that is not in ``plugin_config`` has its defaults."""
    typed: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    for one in plugin_config:
        field = PLUGINS.get(one.name)
        if field is None or not one.in_tree:
            unknown[one.name] = one.args
        else:
            typed[field.name] = msgspec.convert(_IN_ANOTHER_FORM.get(one.name, dict)(one.args or {}), field.type)
    return PluginArgs(**typed, unknown=unknown)


def plain(value: Any) -> Any:
    """Return typed arguments as plain data with Kubernetes' field names."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _fit(args: Args) -> Args:
    strategy = args.get("scoringStrategy")
    if strategy is None:
        return args
    return {**args, "scoringStrategy": {**strategy, **strategy.get("requestedToCapacityRatio", {})}}


def _in_nanoseconds(args: Args) -> Args:
    return {name: parse_duration(text) for name, text in args.items()}


def _of_strategy(strategy: str) -> Callable[[Args], Args]:
    return lambda args: {**args, "type": strategy}


_IN_ANOTHER_FORM: Mapping[str, Callable[[Args], Args]] = {
    "NodeResourcesFit": _fit,
    "DynamicResources": _in_nanoseconds,
    **{plugin: _of_strategy(strategy) for strategy, plugin in SCORING_PLUGINS.items()},
}
"""Plugin → function that converts Kubernetes' fields to the fields of the type in `args`, if they differ."""
