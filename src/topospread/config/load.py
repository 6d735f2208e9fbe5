"""Profiles from a KubeSchedulerConfiguration as plain data, or from the defaults.

The order is kube-scheduler's: decode, default, validate, expand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from topospread.api.validation.field import FieldError
from topospread.config.api_versions import KIND, latest_api_version
from topospread.config.defaulting import set_defaults
from topospread.config.document import Document, ProfileDocument, decode
from topospread.config.durations import parse_duration
from topospread.config.expansion import Expansion, expand
from topospread.config.gates import Gates, gates_for
from topospread.config.old_versions.forgotten_points import forgotten_points
from topospread.config.old_versions.v1alpha2 import args_of_1_18, preemption_of_1_18
from topospread.config.profile import NOT_ASKED, Configuration, Extender, Profile
from topospread.config.registry import extension_points
from topospread.config.typed_args import typed_args
from topospread.config.validation import configuration_errors, startup_errors
from topospread.config.versions import NEWEST, KubeVersion
from topospread.errors import ConfigError, InvalidError, Place


def default_configuration(kube_version: str | KubeVersion = NEWEST, gates: Gates | None = None) -> Configuration:
    """Return the configuration of a kube-scheduler without a configuration file."""
    version = KubeVersion.parse(kube_version)
    document = Document(latest_api_version(version), version, {}, ())
    full = set_defaults(document, gates or gates_for(version))
    return _configuration(document, full, version, Place())


def standard_configuration(api_version: str, gates: Gates) -> Configuration:
    """Return a configuration with only ``apiVersion`` (``kubescheduler.config.k8s.io/v1beta2``), with defaults."""
    return load_configuration({"apiVersion": api_version, "kind": KIND}, kube_version=gates.kube_version, gates=gates)


def default_profile(kube_version: str | KubeVersion = NEWEST, gates: Gates | None = None) -> Profile:
    """Return the profile ``default-scheduler`` of a kube-scheduler without a configuration file."""
    return default_configuration(kube_version, gates).profiles[0]


def load_configuration(
    data: Any,
    *,
    place: Place | None = None,
    kube_version: str | KubeVersion = NEWEST,
    gates: Gates | None = None,
    validate: bool = True,
) -> Configuration:
    """Load a KubeSchedulerConfiguration of any version from plain data, with the defaults of its version.

    ``gates``: kube-scheduler's gates; by default the version's, without overrides. ``validate=False`` skips
    kube-scheduler's validation.

    Raises:
        ConfigError: not a KubeSchedulerConfiguration, an unknown version, or plugins that kube-scheduler does not have.
        DecodeError: unknown fields, or values of another type.
        InvalidError: kube-scheduler's validation refuses it; every reason with its field path.
    """
    version = KubeVersion.parse(kube_version)
    place = place or Place()
    document = decode(data, version, place)
    gates = gates or gates_for(version)
    full = set_defaults(document, gates)
    errors = configuration_errors(full, gates, document.api.group_version) + startup_errors(full) if validate else []
    if errors:
        raise InvalidError([error.message for error in errors], place)
    return _configuration(document, full, version, place)


def problems(
    data: Any, *, place: Place | None = None, kube_version: str | KubeVersion = NEWEST, gates: Gates | None = None
) -> list[FieldError]:
    """Return the errors of kube-scheduler's validation; empty if the configuration is valid.

    The messages are exactly those of ``ValidateKubeSchedulerConfiguration``. ``load_configuration`` also refuses
    configurations with which kube-scheduler's plugins would not start.

    Raises:
        ConfigError: not a KubeSchedulerConfiguration, or of an unknown version.
        DecodeError: unknown fields, or values of another type.
    """
    version = KubeVersion.parse(kube_version)
    gates = gates or gates_for(version)
    return configuration_errors(set_defaults(decode(data, version, place), gates), gates)


def _configuration(document: Document, full: Document, kube_version: KubeVersion, place: Place) -> Configuration:
    """Return the configuration of a document in its given and its defaulted form."""
    given = document.profiles or (ProfileDocument(None, None, (), None),)
    expansions = [expand(each.plugins or {}, full.version, each.scheduler_name or "") for each in full.profiles]
    told = zip(full.profiles, expansions, strict=True)
    said = [(path or profile.origin, what) for profile, expansion in told for path, what in expansion.problems]
    if said:
        raise ConfigError.joined(said, place)
    return Configuration(
        document.api.group_version,
        tuple(_profile(*each, full) for each in zip(given, full.profiles, expansions, strict=True)),
        full.fields["percentageOfNodesToScore"],
        tuple(_warnings(document, full, kube_version)),
        {name: name for name in sorted(document.given)},
    )


def _profile(given: ProfileDocument, full: ProfileDocument, expansion: Expansion, document: Document) -> Profile:
    args = typed_args(full.plugin_config)
    plugins = expansion.plugins
    if document.api.name == "v1alpha2":
        plugins = {**plugins, **preemption_of_1_18(document)}
        args = args_of_1_18(args, document)
    ignored = _ignored_resources(document)
    if ignored:
        fit = replace(args.node_resources_fit, ignored_resources=tuple(ignored.values()))
        args = replace(args, node_resources_fit=fit)
    own = full.percentage_of_nodes_to_score
    return Profile(
        full.scheduler_name or "",
        document.api.group_version,
        plugins,
        args,
        document.fields["percentageOfNodesToScore"] if own is None else own,
        dict(_origins(given, document)),
        tuple(_extenders(document)),
        bool(document.fields.get("extenders")),
    )


def _ignored_resources(document: Document) -> dict[str, str]:
    """Return field path → resource that Filter ignores because an extender handles it (``buildExtenders``).

    In every profile, these resources replace ``ignoredResources`` in NodeResourcesFit's arguments.
    """
    return {
        f"extenders[{index}].managedResources[{position}]": resource.get("name", "")
        for index, extender in enumerate(document.fields.get("extenders", ()))
        for position, resource in enumerate(extender.get("managedResources", ()))
        if resource.get("ignoredByScheduler")
    }


def _extenders(document: Document) -> Iterator[Extender]:
    """Yield the extenders that affect placements, in call order: ignorable extenders last."""
    given = [*enumerate(document.fields.get("extenders", ()))]
    for index, extender in sorted(given, key=lambda each: bool(each[1].get("ignorable"))):
        decides = {verb: what for verb, what in _VERBS.items() if extender.get(verb)}
        if decides:
            timeout = extender.get("httpTimeout") or 0
            nanoseconds = parse_duration(timeout) if isinstance(timeout, str) else timeout
            yield Extender(
                extender.get("urlPrefix", ""),
                decides,
                frozenset(resource.get("name", "") for resource in extender.get("managedResources", ())),
                origin=f"extenders[{index}]",
                verbs={verb: extender[verb] for verb in decides},
                weight=extender.get("weight", 0),
                ignorable=bool(extender.get("ignorable")),
                node_cache_capable=bool(extender.get("nodeCacheCapable")),
                enable_https=bool(extender.get("enableHTTPS") or extender.get("enableHttps")),
                tls=extender.get("tlsConfig") or {},
                timeout=(nanoseconds or 5 * 10**9) / 10**9,
            )


def _origins(given: ProfileDocument, document: Document) -> Iterator[tuple[str, str]]:
    if given.scheduler_name is not None:
        yield "schedulerName", f"{given.origin}.schedulerName"
    if given.percentage_of_nodes_to_score is not None:
        yield "percentageOfNodesToScore", f"{given.origin}.percentageOfNodesToScore"
    elif "percentageOfNodesToScore" in document.given:
        yield "percentageOfNodesToScore", "percentageOfNodesToScore"
    if "bindTimeoutSeconds" in document.given:
        yield "VolumeBinding.bindTimeoutSeconds", "bindTimeoutSeconds"
    for one in given.plugin_config:
        for key in one.args or {}:
            yield f"{one.name}.{key}", f"{one.origin}.{key}"
    for path in _ignored_resources(document):
        yield "NodeResourcesFit.ignoredResources", path


_VERBS = {
    "filterVerb": "filter nodes",
    "prioritizeVerb": "score nodes",
    "preemptVerb": "choose the victims of a preemption",
}
"""Extender verb that can change a placement → its effect in words. A bind verb cannot."""


def _warnings(given: Document, full: Document, kube_version: KubeVersion) -> Iterator[str]:
    served = given.api.warning(kube_version)
    if served:
        yield served
    for each in _extenders(given):
        does = " and ".join(each.decides.values())
        asks = NOT_ASKED if set(each.verbs) - {"preemptVerb"} else ""
        yield f"{each.origin} ({each.url}) is not asked: kube-scheduler would let it {does}{asks}"
    known = extension_points(full.version)
    for profile, defaulted in zip(given.profiles, full.profiles, strict=False):
        for point in forgotten_points(given.api, full.version):
            if profile.plugins and point in profile.plugins:
                yield f"{profile.origin}.plugins.{point} has no effect: kube-scheduler ignores it in {given.api.name}"
        enabled = {entry.name for plugins in (defaulted.plugins or {}).values() for entry in plugins.enabled}
        for one in profile.plugin_config:
            if one.name not in enabled:
                what = "not enabled" if one.name in known else "not a plugin of kube-scheduler"
                yield f'{one.origin} has no effect: "{one.name}" is {what}'
