"""The settings that differ between two configurations. Their effect on pods is not known here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from topospread.config.profile import EXTENSION_POINTS, Configuration
from topospread.config.show import describe

_POINTS = ("filter", "post_filter", "score")
"""Where a plugin being on or off changes what is decided; the other points prepare these or act on the cluster."""

_NEVER_ASKED = frozenset({"DynamicResources", "GangScheduling"})
"""Plugins for pods that a simulation does not judge."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting that is not the same.

    Attributes:
        profile: scheduler name.
        setting: ``score NodeResourcesFit``, ``default constraints``, ``NodeResourcesFit.scoringStrategy.type``.
        before, after: its values as text, "" where a side has none.
    """

    profile: str
    setting: str
    before: str
    after: str


def differences(before: Configuration, after: Configuration) -> list[Difference]:
    """The settings in force that differ, by profile; a profile that only one side has differs in all of them."""
    ours, theirs = _settings(before), _settings(after)
    return [
        Difference(profile, setting, was, now)
        for profile in {**ours, **theirs}
        for setting in {**ours.get(profile, {}), **theirs.get(profile, {})}
        if (was := ours.get(profile, {}).get(setting, "")) != (now := theirs.get(profile, {}).get(setting, ""))
    ]


def _settings(configuration: Configuration) -> dict[str, dict[str, str]]:
    return {each["schedulerName"]: dict(_of_profile(each)) for each in describe(configuration)["profiles"]}


def _of_profile(profile: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for point in _POINTS:
        name = EXTENSION_POINTS[point]
        for plugin in profile["plugins"].get(name, ()):
            if plugin["name"] in _NEVER_ASKED:
                continue
            yield f"{name} {plugin['name']}", f"weight {plugin['weight']}" if "weight" in plugin else "on"
    yield "default constraints", _constraints(profile["defaultConstraints"])
    for plugin, args in profile["args"].items():
        yield from _flat(plugin, args["values"])
    percentage = profile["percentageOfNodesToScore"]["value"]
    yield "percentageOfNodesToScore", "" if percentage is None else str(percentage)


def _constraints(shown: Mapping[str, Any]) -> str:
    listed = "; ".join(
        f"{each['topologyKey']} maxSkew {each['maxSkew']} {each['whenUnsatisfiable']}" for each in shown["constraints"]
    )
    return f"{shown['defaultingType']}: {listed or 'none'}" if shown["inForce"] else "not in force"


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Values of a tree by their path; lists stay whole."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{path}.{key}", inner)
    elif isinstance(value, list):
        if value:
            yield path, ", ".join(map(_item, value))
    elif value not in (None, ""):
        yield path, str(value)


def _item(value: Any) -> str:
    """``name cpu weight 1``."""
    return " ".join(f"{key} {each}" for key, each in value.items()) if isinstance(value, Mapping) else str(value)
