"""A KubeSchedulerConfiguration's settings for the running process: leader election, client, backoff.

Source: pkg/scheduler/apis/config/types.go, component-base/config/types.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from topospread.config.api_versions import API_VERSIONS, KIND
from topospread.config.defaulting import Defaults, process_fields, set_defaults
from topospread.config.document import Document, decode
from topospread.config.durations import parse_duration
from topospread.config.gates import Gates
from topospread.config.kinds import plugin_points
from topospread.config.plugin_sets import PluginSet
from topospread.config.versions import KubeVersion
from topospread.errors import Place

NEWEST_API = API_VERSIONS["v1"].group_version


@dataclass(frozen=True, slots=True)
class LeaderElectionSettings:
    """``leaderElection``; durations in seconds."""

    elect: bool
    lease_duration: float
    renew_deadline: float
    retry_period: float
    resource_name: str
    resource_namespace: str


@dataclass(frozen=True, slots=True)
class Operation:
    """The process settings of kube-scheduler.

    Attributes:
        leader_election: settings of the leader election.
        kubeconfig: ``clientConnection.kubeconfig``; "" if unset.
        qps: maximum requests per second; negative for no limit.
        burst: maximum requests at once after a pause.
        initial_backoff, max_backoff: shortest and longest backoff of a pod, in seconds.
        extenders: ``urlPrefix`` of each extender.
        given: top-level fields that the file sets.
        shown: all settings with defaults, as in kube-scheduler's ``/configz``.
    """

    leader_election: LeaderElectionSettings
    kubeconfig: str
    qps: float
    burst: int
    initial_backoff: float
    max_backoff: float
    extenders: tuple[str, ...]
    given: frozenset[str]
    shown: Mapping[str, Any]


def operation(data: Any, gates: Gates, place: Place | None = None) -> Operation:
    """Return the settings of a configuration; for ``None`` the defaults.

    Raises:
        ConfigError: not a KubeSchedulerConfiguration, or of an unknown version.
        DecodeError: unknown fields, or values of another type.
    """
    version = KubeVersion.parse(gates.kube_version)
    given = {"apiVersion": NEWEST_API, "kind": KIND} if data is None else data
    document = decode(given, version, place)
    full = set_defaults(document, gates)
    fields = full.fields
    election, client = fields["leaderElection"], fields["clientConnection"]
    return Operation(
        LeaderElectionSettings(
            election["leaderElect"],
            _seconds(election["leaseDuration"]),
            _seconds(election["renewDeadline"]),
            _seconds(election["retryPeriod"]),
            election["resourceName"],
            election["resourceNamespace"],
        ),
        client.get("kubeconfig", ""),
        float(client["qps"]),
        int(client["burst"]),
        float(fields["podInitialBackoffSeconds"]),
        float(fields["podMaxBackoffSeconds"]),
        tuple(each.get("urlPrefix", "") for each in fields.get("extenders", ())),
        document.given - {"apiVersion", "kind"},
        _shown(full, gates),
    )


def _seconds(duration: str) -> float:
    return (parse_duration(duration) or 0) / 1e9


def _shown(full: Document, gates: Gates) -> dict[str, Any]:
    """Return the configuration as plain data in version v1, with the empty fields that Go also writes."""
    v1 = API_VERSIONS["v1"]
    fields = process_fields(full.fields, Defaults(v1, v1.source_version(full.version), gates))
    fields["clientConnection"] = {"kubeconfig": "", "acceptContentTypes": "", **fields["clientConnection"]}
    shown: dict[str, Any] = {"enableContentionProfiling": False, **fields, "kind": KIND, "apiVersion": NEWEST_API}
    points = plugin_points(v1, full.version)
    shown["profiles"] = [
        {
            "schedulerName": profile.scheduler_name,
            "plugins": {point: _set((profile.plugins or {}).get(point, PluginSet())) for point in points},
            "pluginConfig": [
                {"name": one.name, "args": _args(one.name, one.args, one.in_tree)} for one in profile.plugin_config
            ],
        }
        | (
            {"percentageOfNodesToScore": profile.percentage_of_nodes_to_score}
            if profile.percentage_of_nodes_to_score is not None
            else {}
        )
        for profile in full.profiles
    ]
    return shown


def _set(plugins: PluginSet) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if plugins.enabled:
        shown["enabled"] = [{"name": each.name, "weight": each.weight} for each in plugins.enabled]
    if plugins.disabled:
        shown["disabled"] = [{"name": each, "weight": 0} for each in plugins.disabled]
    return shown


def _args(plugin: str, args: Mapping[str, Any] | None, in_tree: bool) -> Any:
    if args is None or not in_tree:
        return args
    empty = {"ignorePreferredTermsOfExistingPods": False} if plugin == "InterPodAffinity" else {}
    return {"kind": f"{plugin}Args", "apiVersion": NEWEST_API, **empty, **args}
