"""The effective scheduler configuration as text: plugins with their order and weights, and where each came from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Shown = dict[str, Any]

_POINTS = ("preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score")


def configuration_text(described: Shown) -> str:
    """What `topospread.config.show.describe` says, for people."""
    lines = [f"configuration  {described['configurationVersion']}"]
    for profile in described["profiles"]:
        lines += ["", *_profile(profile)]
    lines += [f"warning: {warning}" for warning in described["warnings"]]
    return "\n".join(lines) + "\n"


def _profile(profile: Shown) -> Iterator[str]:
    yield f"profile {profile['schedulerName']}"
    for point in _POINTS:
        plugins = profile["plugins"].get(point, [])
        if plugins:
            yield f"  {point}"
            for plugin in plugins:
                weight = f"  weight {plugin['weight']}" if "weight" in plugin else ""
                yield f"    {plugin['name']}{weight}{_origin(plugin)}"
    yield from _default_constraints(profile["defaultConstraints"])


def _default_constraints(shown: Shown) -> Iterator[str]:
    yield f"  default constraints  ({shown['defaultingType']}, {shown['from']})"
    for each in shown["constraints"]:
        yield "    " + "  ".join(f"{name} {value}" for name, value in each.items() if name != "from")
    if not shown["constraints"]:
        yield "    none"
    if not shown["inForce"]:
        yield "    not in force: PodTopologySpread is off"


def _origin(shown: Shown) -> str:
    origin = shown.get("from", "default")
    return "" if origin == "default" else f"  ({origin})"
