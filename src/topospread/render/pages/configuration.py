"""The page of `config show`: the plugins in force, their order, weights and origins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from topospread.render.blocks import Fact, Page, Part, Section

Shown = Mapping[str, Any]

_POINTS = ("preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score")
_NAMED = frozenset({"topologyKey", "whenUnsatisfiable", "maxSkew", "from"})


def page(described: Shown) -> Page:
    """Return the page for the result of `topospread.config.show.describe`."""
    version = described["configurationVersion"]
    parts: list[Part] = [Fact("configuration", version)]
    parts += [Fact("warning", each) for each in described["warnings"]]
    for profile in described["profiles"]:
        name = profile["schedulerName"]
        parts += [
            Section(f"profile {name}: {point}", facts) for point in _POINTS if (facts := _plugins(profile, point))
        ]
        shown = profile["defaultConstraints"]
        origin = shown["from"] if shown["defaultingType"] == "List" else "built in"
        title = f"profile {name}: default constraints, {shown['defaultingType']} ({origin})"
        parts.append(Section(title, tuple(_default_constraints(shown))))
        arguments = tuple(_arguments(profile))
        parts += [Section(f"profile {name}: arguments that are set", arguments)] if arguments else []
    return Page(f"configuration {version}", tuple(parts))


def _plugins(profile: Shown, point: str) -> tuple[Part, ...]:
    facts = []
    for plugin in profile["plugins"].get(point, []):
        weight = f"weight {plugin['weight']}" if "weight" in plugin else "on"
        origins = dict.fromkeys(plugin.get(key, "default") for key in ("from", "weightFrom"))
        where = ", ".join(each for each in origins if each != "default")
        facts.append(Fact(plugin["name"], f"{weight} ({where})" if where else weight))
    facts += [Fact(name, "off (on by default)") for name in profile["off"].get(point, ())]
    return tuple(facts)


def _default_constraints(shown: Shown) -> Iterator[Part]:
    for each in shown["constraints"]:
        kind = "hard" if each["whenUnsatisfiable"] == "DoNotSchedule" else "soft"
        others = {name: value for name, value in each.items() if name not in _NAMED}
        terms = [kind, f"maxSkew {each['maxSkew']}", *(f"{name} {_plain(value)}" for name, value in others.items())]
        yield Fact(each["topologyKey"], ", ".join(terms))
    if not shown["constraints"]:
        yield Fact("constraints", "none")
    if not shown["inForce"]:
        yield Fact("not in force", "PodTopologySpread is off")


def _arguments(profile: Shown) -> Iterator[Part]:
    for plugin, shown in profile["args"].items():
        for name, path in shown["from"].items():
            if name in shown["values"]:
                yield Fact(f"{plugin}.{name}", f"{_plain(shown['values'].get(name))} ({path})")
    percentage = profile["percentageOfNodesToScore"]
    if percentage["from"] != "default":
        yield Fact("percentageOfNodesToScore", f"{percentage['value']} ({percentage['from']})")


def _plain(value: Any) -> str:
    """Return a value on one line: ``type MostAllocated, resources cpu 1``."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(each)}" for key, each in value.items() if each not in (None, [], {}))
    if isinstance(value, list):
        return "; ".join(_plain(each) for each in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "none" if value is None else str(value)
