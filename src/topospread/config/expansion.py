"""The plugins at each extension point, their order and weights; and kube-scheduler's errors about them.

Source: pkg/scheduler/framework/runtime/framework.go (``NewFramework``, ``expandMultiPointPlugins``,
``getValidScoreWeights``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from topospread.api.quantity import wrap_int64
from topospread.config.old_versions.last_weights import LAST_WEIGHT_COUNTS_UNTIL, last_entries
from topospread.config.plugin_checks import checked_points
from topospread.config.plugin_sets import ALL, PluginEntry, PluginSet
from topospread.config.profile import EXTENSION_POINTS, EnabledPlugin
from topospread.config.registry import extension_points, last_version_with
from topospread.config.versions import KubeVersion

ExpansionProblem = tuple[str, str]
"""(path of the field that causes the problem, or "" if no field does; kube-scheduler's message)."""

WEIGHED = ("score", "placement_score")
_HIGHEST_TOTAL = 2**63 - 1
MAX_NODE_SCORE = 100

_NONE = PluginSet()


class Expansion(msgspec.Struct, frozen=True):
    """The plugins in force. ``problems``: why kube-scheduler would not start with them."""

    plugins: Mapping[str, tuple[EnabledPlugin, ...]]
    problems: tuple[ExpansionProblem, ...]


def expand(sets: Mapping[str, PluginSet], version: KubeVersion, scheduler_name: str = "") -> Expansion:
    """Return every extension point's plugins, and problems in the order in which kube-scheduler finds them.

    ``sets``: name of the extension point in the configuration → its plugins, merged with the defaults.
    """
    points = extension_points(version)
    problems = list(dict.fromkeys(_problems(sets, points, checked_points(version))))
    plugins = {
        point: _weighed(point, _ordered(point, sets, points), sets, version)
        for point, field in EXTENSION_POINTS.items()
        if field in sets or any(point in found for found in points.values())
    }
    plugins = {point: listed for point, listed in plugins.items() if listed}
    if not problems:
        problems += [*_unusable(plugins, version, scheduler_name), *_overflowing(sets, points, version)]
    return Expansion(plugins, tuple(problems))


def _ordered(
    point: str, sets: Mapping[str, PluginSet], points: Mapping[str, frozenset[str]]
) -> tuple[PluginEntry, ...]:
    """Return multiPoint plugins that the extension point also lists, other multiPoint plugins, then its others."""
    own = sets.get(EXTENSION_POINTS[point], _NONE)
    listed = {entry.name: entry for entry in own.enabled}
    multi_point = [
        entry
        for entry in sets.get("multiPoint", _NONE).enabled
        if point in points.get(entry.name, ()) and entry.name not in own.disabled
    ]
    if ALL in own.disabled or not multi_point:
        return tuple(listed.values())
    again = {entry.name for entry in multi_point} & set(listed)
    return (
        *(entry for entry in listed.values() if entry.name in again),
        *(entry for entry in multi_point if entry.name not in again),
        *(entry for entry in listed.values() if entry.name not in again),
    )


def _weighed(
    point: str, entries: tuple[PluginEntry, ...], sets: Mapping[str, PluginSet], version: KubeVersion
) -> tuple[EnabledPlugin, ...]:
    if point not in WEIGHED:
        return tuple(EnabledPlugin(entry.name, 0, entry.origin) for entry in entries)
    deciding = _deciding_entries(point, sets, version)
    return tuple(
        EnabledPlugin(
            entry.name,
            deciding[entry.name].weight or 1,
            entry.origin,
            deciding[entry.name].origin if deciding[entry.name].weight else "",
        )
        for entry in entries
    )


def _deciding_entries(point: str, sets: Mapping[str, PluginSet], version: KubeVersion) -> dict[str, PluginEntry]:
    """Return plugin → the entry whose weight counts."""
    if version.minor <= LAST_WEIGHT_COUNTS_UNTIL:
        return last_entries(sets, version)
    both = (*sets.get(EXTENSION_POINTS[point], _NONE).enabled, *sets.get("multiPoint", _NONE).enabled)
    return {entry.name: entry for entry in reversed(both)}


def _interface(point: str) -> str:
    """Return Go's interface name of an extension point, ``FilterPlugin``."""
    field = EXTENSION_POINTS[point]
    return f"{field[0].upper()}{field[1:]}Plugin"


def _problems(
    sets: Mapping[str, PluginSet], points: Mapping[str, frozenset[str]], checked: Sequence[str]
) -> Iterator[ExpansionProblem]:
    for point in checked:
        seen: set[str] = set()
        for entry in sets.get(EXTENSION_POINTS[point], _NONE).enabled:
            if entry.name not in points:
                yield _missing(point, entry)
            elif point not in points[entry.name]:
                yield entry.origin, f'plugin "{entry.name}" does not extend {_interface(point)} plugin'
            elif entry.name in seen:
                yield entry.origin, f'plugin "{entry.name}" already registered as "{_interface(point)}"'
            seen.add(entry.name)
    yield from _multi_point_problems(sets, points, checked)


def _multi_point_problems(
    sets: Mapping[str, PluginSet], points: Mapping[str, frozenset[str]], checked: Sequence[str]
) -> Iterator[ExpansionProblem]:
    """Yield the first problem of each entry, point by point like ``expandMultiPointPlugins``."""
    told: set[PluginEntry] = set()
    for point in checked:
        own = sets.get(EXTENSION_POINTS[point], _NONE)
        passed_over = {*own.disabled, *(entry.name for entry in own.enabled)}
        seen: set[str] = set()
        for entry in sets.get("multiPoint", _NONE).enabled if ALL not in own.disabled else ():
            if entry.name not in points and entry not in told:
                told.add(entry)
                yield _missing(point, entry)
            elif point in points.get(entry.name, ()) and entry.name not in passed_over:
                if entry.name in seen and entry not in told:
                    told.add(entry)
                    yield entry.origin, f'plugin "{entry.name}" already registered as "{_interface(point)}"'
                seen.add(entry.name)


def _missing(point: str, entry: PluginEntry) -> ExpansionProblem:
    hint = ""
    last = last_version_with(entry.name)
    if last is not None:
        hint = f" (Kubernetes {last} was the last version that had it)"
    return entry.origin, f'{_interface(point)} "{entry.name}" does not exist{hint}'


def _overflowing(
    sets: Mapping[str, PluginSet], points: Mapping[str, frozenset[str]], version: KubeVersion
) -> Iterator[ExpansionProblem]:
    """Yield errors for weights whose sum overflows Go's int64 and becomes negative.

    Until 1.21, kube-scheduler added the weights in the random order of a Go map, so the error was random.
    """
    for point in WEIGHED if version.minor >= 22 else ():
        first: dict[str, PluginEntry] = {}
        for entry in (*sets.get(EXTENSION_POINTS[point], _NONE).enabled, *sets.get("multiPoint", _NONE).enabled):
            if point in points[entry.name]:
                first.setdefault(entry.name, entry)
        total = 0
        for entry in first.values():
            weighed = (entry.weight or 1) * MAX_NODE_SCORE
            if weighed > wrap_int64(_HIGHEST_TOTAL - total):
                before = "" if version.minor < 36 else f"{point.replace('_', ' ')} plugins: "
                origin = next(each.origin for each in first.values() if each.weight < 0)
                yield origin, f"{before}total score of Score plugins could overflow"
                break
            total += weighed


def _unusable(
    plugins: Mapping[str, tuple[EnabledPlugin, ...]], version: KubeVersion, scheduler_name: str
) -> list[ExpansionProblem]:
    """Return errors for extension points with too few or too many plugins."""
    whose = f'for profile with scheduler name "{scheduler_name}"'
    found: list[ExpansionProblem] = []
    queue_sort = plugins.get("queue_sort", ())
    if len(queue_sort) != 1:
        newer = f"only one queue sort plugin required {whose}, but got {len(queue_sort)}"
        found.append(("", newer if version.minor >= 25 else f"one queue sort plugin required {whose}"))
    if not plugins.get("bind"):
        needed = "at least one bind plugin is needed"
        found.append(("", f"{needed} {whose}" if version.minor >= 25 else needed))
    if len(plugins.get("placement_generate", ())) > 1:
        found.append(("", f"at most one placement generate plugin is allowed {whose}"))
    return found
