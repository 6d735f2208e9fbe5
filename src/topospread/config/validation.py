"""kube-scheduler's validation of a defaulted configuration, with its field paths and messages.

``validation_args.py`` checks plugin arguments, and ``expansion.py`` finds errors that occur when the plugins start.
Source: pkg/scheduler/apis/config/validation/validation.go of 1.37, with the plugins that earlier versions refuse;
component-base's config/validation. The metrics and health addresses of 1.18 to 1.27 are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from topospread.api.shipped_table import shipped_table
from topospread.api.validation import names
from topospread.api.validation.field import FieldError, Named, duplicate, invalid, report, required
from topospread.config.document import Document, PluginConfig, ProfileDocument
from topospread.config.durations import format_duration, parse_duration
from topospread.config.gates import Gates
from topospread.config.old_versions.removed_plugins import conflicting_scores
from topospread.config.plugin_checks import refused_plugins, refusing_points
from topospread.config.plugin_sets import PluginSet
from topospread.config.validation_args import MISNAMED, args_errors, fit_errors

# Plugins' arguments as Go prints them. One message of kube-scheduler has them.


@cache
def _printed() -> dict[str, list[str]]:
    """Return struct → its fields in order: name, Go's type, and "omitempty" if set."""
    return shipped_table(__package__, "internal_args.json", dict[str, list[str]])


def go_form(plugin: str, args: Mapping[str, Any] | None) -> Any:
    """Return an in-tree plugin's arguments in the form and order that Go prints."""
    return _written(_struct(plugin), args) if _struct(plugin) in _printed() else args


def same_args(plugin: str, one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Return whether Kubernetes treats two values of ``args`` as equal. For in-tree plugins, null equals []."""
    if _struct(plugin) not in _printed():
        return one == other
    return bool(_without_empty(go_form(plugin, one)) == _without_empty(go_form(plugin, other)))


def _struct(plugin: str) -> str:
    return f"{plugin}Args"


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: kept for key, one in value.items() if (kept := _without_empty(one)) is not None}
    if isinstance(value, list):
        return [_without_empty(one) for one in value] or None
    return value


def _written(form: str, value: Any) -> Any:
    form = form.removeprefix("*")
    if isinstance(value, list):
        return [_written(form.removeprefix("[]"), one) for one in value]
    if form == "duration" and value is not None:
        return format_duration(parse_duration(value) or 0)
    if form not in _printed() or value is None:
        return dict(sorted(value.items())) if isinstance(value, dict) else value
    shown = {}
    for field in _printed()[form]:
        name, kind, *omitted = field.split()
        given = value.get(name[0].lower() + name[1:], _zero(kind))
        empty = given is None or (given in ("", [], {}) and kind[0] != "*")
        if not (omitted and empty):
            shown[name] = _written(kind, given)
    return shown


def _zero(kind: str) -> Any:
    if kind.startswith(("*", "[]", "map[]")):
        return None
    return {} if kind in _printed() else {"string": "", "bool": False}.get(kind, 0)


_NONE = PluginSet()


class _Judge(msgspec.Struct, frozen=True):
    """The input of validation in addition to the configuration.

    ``api_version``: configuration version that messages name, or "".
    """

    document: Document
    gates: Gates
    api_version: str


def configuration_errors(document: Document, gates: Gates, api_version: str = "") -> list[FieldError]:
    """Return the errors of a defaulted configuration (``ValidateKubeSchedulerConfiguration``)."""
    return report(_configuration(_Judge(document, gates, api_version)))


def startup_errors(document: Document) -> list[FieldError]:
    """Return errors that only NodeResourcesFit reports, when kube-scheduler starts it after validation."""
    found: list[FieldError] = []
    for profile in document.profiles:
        enabled = {entry.name for plugins in (profile.plugins or {}).values() for entry in plugins.enabled}
        for one in profile.plugin_config:
            if one.name == "NodeResourcesFit" and one.name in enabled:
                found += fit_errors(one.origin, one.args or {}, document.version)
    return report(found)


def _configuration(judge: _Judge) -> Iterator[FieldError]:
    document, fields = judge.document, judge.document.fields
    if fields["clientConnection"]["burst"] < 0:
        yield invalid("clientConnection.burst", fields["clientConnection"]["burst"], "must be non-negative")
    yield from _leader_election(fields["leaderElection"], document.version.minor)
    if fields.get("parallelism", 1) <= 0:
        yield invalid("parallelism", fields["parallelism"], "should be an integer value greater than zero")
    yield from _profiles(judge)
    yield from _percentage("percentageOfNodesToScore", fields["percentageOfNodesToScore"])
    initial, longest = fields["podInitialBackoffSeconds"], fields["podMaxBackoffSeconds"]
    if initial <= 0:
        yield invalid("podInitialBackoffSeconds", initial, "must be greater than 0")
    if longest < initial:
        yield invalid("podMaxBackoffSeconds", longest, "must be greater than or equal to PodInitialBackoffSeconds")
    yield from _extenders(fields.get("extenders", ()))


def _leader_election(fields: Mapping[str, Any], minor: int) -> Iterator[FieldError]:
    if not fields["leaderElect"]:
        return
    times = {name: parse_duration(fields[name]) or 0 for name in ("leaseDuration", "renewDeadline", "retryPeriod")}
    shown = {name: Named(format_duration(time)) for name, time in times.items()}
    for name, time in times.items():
        if time <= 0:
            yield invalid(f"leaderElection.{name}", shown[name], "must be greater than zero")
    margin = times["leaseDuration"] - times["renewDeadline"]
    if margin < 0 or (margin == 0 and minor >= 26):
        yield invalid("leaderElection.leaseDuration", shown["renewDeadline"], "must be greater than `RenewDeadline`")
    if minor >= 26 and fields["resourceLock"] != "leases":
        yield invalid("leaderElection.resourceLock", fields["resourceLock"], 'resourceLock value must be "leases"')


def _profiles(judge: _Judge) -> Iterator[FieldError]:
    first: dict[str, int] = {}
    profiles = judge.document.profiles
    for index, profile in enumerate(profiles):
        path = f"profiles[{index}]"
        name = profile.scheduler_name or ""
        if not name:
            yield required(f"{path}.schedulerName")
        if profile.percentage_of_nodes_to_score is not None:
            yield from _percentage(f"{path}.percentageOfNodesToScore", profile.percentage_of_nodes_to_score)
        yield from _refused_plugins(judge, f"{path}.plugins", profile.plugins or {})
        yield from _plugin_config(judge, path, profile)
        if name in first:
            # kube-scheduler passes the first profile's field path as the value. Go prints it as {}.
            yield duplicate(f"{path}.schedulerName", {})
        first[name] = index
    yield from _common_queue_sort(profiles)


def _percentage(path: str, value: int) -> Iterator[FieldError]:
    if not 0 <= value <= 100:
        yield invalid(path, value, "not in valid range [0-100]")


def _refusal(judge: _Judge, path: str, name: str) -> Iterator[FieldError]:
    since = _refused(judge).get(name)
    if since is not None:
        verb = "removed" if judge.document.version.minor <= 24 else "invalid"
        version = f'(KubeSchedulerConfiguration is version "{judge.api_version}")'
        yield invalid(path, name, f'was {verb} in version "{since}" {version}')


def _refused(judge: _Judge) -> dict[str, str]:
    return refused_plugins(judge.document.api, judge.document.version)


def _refused_plugins(judge: _Judge, path: str, plugins: Mapping[str, PluginSet]) -> Iterator[FieldError]:
    for stage in refusing_points(judge.document.version):
        for index, entry in enumerate(plugins.get(stage, _NONE).enabled):
            yield from _refusal(judge, f"{path}.{stage}.enabled[{index}]", entry.name)
    if judge.document.api.name == "v1beta1" and judge.document.version.minor == 22:
        yield from conflicting_scores(f"{path}.score", plugins.get("score", _NONE), judge.document.api.group_version)


def _plugin_config(judge: _Judge, path: str, profile: ProfileDocument) -> Iterator[FieldError]:
    seen: set[str] = set()
    gone = _refused(judge)
    for index, one in enumerate(profile.plugin_config):
        where = f"{path}.pluginConfig[{index}]"
        if one.name in seen:
            yield duplicate(where, one.name)
        seen.add(one.name)
        if one.name in gone:
            yield from _refusal(judge, where, one.name)
        elif one.name == MISNAMED and judge.document.version.minor >= 22:
            yield invalid(f"{where}.args", one.args, "has to match plugin args")
        elif one.in_tree:
            yield from args_errors(one.name, f"{where}.args", one.args or {}, judge.gates)


def _common_queue_sort(profiles: tuple[ProfileDocument, ...]) -> Iterator[FieldError]:
    canon = _queue_sort(profiles[0])
    name = canon.enabled[0].name if canon.enabled else ""
    if len(canon.enabled) > 1:
        count = len(canon.enabled)
        yield invalid("profiles[0].plugins.queueSort.Enabled", count, "only one queue sort plugin can be enabled")
    args = _args_of(profiles[0], name)
    for index, profile in enumerate(profiles[1:], start=1):
        current = _queue_sort(profile)
        if _plain(current) != _plain(canon):
            path = f"profiles[{index}].plugins.queueSort"
            yield invalid(path, _plain(current), "must be the same for all profiles")
        for one in profile.plugin_config:
            if one.name == name and not same_args(name, one.args, args):
                path = f"profiles[{index}].pluginConfig.args"
                yield invalid(path, go_form(name, one.args), "queueSort must be the same for all profiles")


def _queue_sort(profile: ProfileDocument) -> PluginSet:
    return (profile.plugins or {}).get("queueSort", _NONE)


def _args_of(profile: ProfileDocument, name: str) -> Mapping[str, Any] | None:
    """Return the plugin's last arguments in the profile; ``None`` without arguments."""
    found: list[PluginConfig] = [one for one in profile.plugin_config if name and one.name == name]
    return found[-1].args if found else None


def _plain(plugins: PluginSet) -> dict[str, Any]:
    """Return a plugin set as Go prints it."""
    return {
        "Enabled": [{"Name": entry.name, "Weight": entry.weight} for entry in plugins.enabled] or None,
        "Disabled": [{"Name": name, "Weight": 0} for name in plugins.disabled] or None,
    }


def _extenders(extenders: list[Mapping[str, Any]]) -> Iterator[FieldError]:
    binders = 0
    managed: set[str] = set()
    for index, extender in enumerate(extenders):
        path = f"extenders[{index}]"
        weight = extender.get("weight", 0)
        if extender.get("prioritizeVerb") and weight <= 0:
            yield invalid(f"{path}.weight", weight, "must have a positive weight applied to it")
        binders += bool(extender.get("bindVerb"))
        for position, resource in enumerate(extender.get("managedResources", ())):
            where, name = f"{path}.managedResources[{position}].name", resource.get("name", "")
            reasons = names.label_key(name)
            for reason in reasons:
                yield invalid(where, Named(name), reason)
            if not reasons and not _is_extended_resource(name):
                yield invalid(where, name, "is an invalid extended resource name")
            if name in managed:
                yield invalid(where, name, "duplicate extender managed resource name")
            managed.add(name)
    if binders > 1:
        yield invalid(
            "extenders", f"found {binders} extenders implementing bind", "only one extender can implement bind"
        )


def _is_extended_resource(name: str) -> bool:
    native = "/" not in name or "kubernetes.io/" in name
    return not native and not name.startswith("requests.") and not names.label_key(f"requests.{name}")
