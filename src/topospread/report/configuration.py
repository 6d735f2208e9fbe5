"""The effective scheduler configuration as text: plugins with their order and weights, and where each came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .layout import Layout
from .paragraphs import hanging, together

Shown = Mapping[str, Any]

_POINTS = ("preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score")


def configuration_text(described: Shown, layout: Layout) -> str:
    """What `topospread.config.show.describe` says, for people."""
    lines = [f"configuration  {described['configurationVersion']}"]
    for profile in described["profiles"]:
        lines += ["", *_profile(profile, layout)]
    if described["warnings"]:
        lines.append("")
    lines += layout.remarks(described["warnings"])
    return "\n".join(lines) + "\n"


def _profile(profile: Shown, layout: Layout) -> Iterator[str]:
    yield f"profile {layout.style(profile['schedulerName'], 'bold')}"
    for point in _POINTS:
        plugins = profile["plugins"].get(point, [])
        if plugins:
            yield f"  {point}"
        for plugin in plugins:
            weight = f"weight {plugin['weight']}" if "weight" in plugin else ""
            origins = dict.fromkeys(plugin.get(key, "default") for key in ("from", "weightFrom"))
            where = ", ".join(each for each in origins if each != "default")
            text = "  ".join(part for part in (together(weight), f"({where})" if where else "") if part)
            yield from hanging(f"    {plugin['name']}  ", text, layout.width, 6)
        for name in profile["off"].get(point, ()):
            yield f"    {name}  off (on by default)"
    yield from _default_constraints(profile["defaultConstraints"], layout)
    yield from _set(profile, layout)


def _default_constraints(shown: Shown, layout: Layout) -> Iterator[str]:
    origin = shown["from"] if shown["defaultingType"] == "List" else "built in"
    yield from hanging("  default constraints  ", f"{shown['defaultingType']} ({origin})", layout.width, 6)
    for each in shown["constraints"]:
        kind = "hard" if each["whenUnsatisfiable"] == "DoNotSchedule" else "soft"
        others = {name: value for name, value in each.items() if name not in _NAMED}
        terms = [kind, f"maxSkew {each['maxSkew']}", *(f"{name} {_plain(value)}" for name, value in others.items())]
        yield from hanging(f"    {each['topologyKey']}  ", "  ".join(map(together, terms)), layout.width, 6)
    if not shown["constraints"]:
        yield "    none"
    if not shown["inForce"]:
        yield "    not in force: PodTopologySpread is off"


_NAMED = frozenset({"topologyKey", "whenUnsatisfiable", "maxSkew", "from"})


def _set(profile: Shown, layout: Layout) -> Iterator[str]:
    """Everything else that the file sets, and where."""
    lines = [
        (f"{plugin}.{name}", _plain(shown["values"].get(name)), path)
        for plugin, shown in profile["args"].items()
        for name, path in shown["from"].items()
        if name in shown["values"]
    ]
    percentage = profile["percentageOfNodesToScore"]
    if percentage["from"] != "default":
        lines.append(("percentageOfNodesToScore", str(percentage["value"]), percentage["from"]))
    if lines:
        yield "  arguments that are set"
    for name, value, path in lines:
        yield from hanging(f"    {name}  ", f"{value}  ({path})", layout.width, 6)


def _plain(value: Any) -> str:
    """A value on one line: ``type MostAllocated, resources cpu 1``."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(each)}" for key, each in value.items() if each not in (None, [], {}))
    if isinstance(value, list):
        return "; ".join(_plain(each) for each in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "none" if value is None else str(value)
