"""``topospread run scheduler``: schedule the pods of a real cluster, next to kube-scheduler or instead of it."""

from __future__ import annotations

import gc
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

import click

from topospread.config.gates import read_gates
from topospread.config.versions import NEWEST
from topospread.errors import ConfigError, Place, UsageError

from .inputs import PATH
from .served_address import METRICS_OPTION, served_at, tls_options
from .standard_input import standard_input
from .usage import EXITS_WORKED, Explained

if TYPE_CHECKING:
    from topospread.config.gates import Gates
    from topospread.config.operation import LeaderElectionSettings, Operation
    from topospread.config.profile import Configuration
    from topospread.live.launch import Beside

HELP = """\
Schedule the pods of a real cluster as kube-scheduler does, next to it or instead of it, until SIGTERM. --config and
the flags have the form of kube-scheduler's.

A second scheduler needs its own lease (--leader-elect-resource-name).

\b
Examples:
  topospread run scheduler --config second.yaml
  topospread run scheduler --leader-elect=false --secure-port 0 -v 2
  topospread run scheduler --kubeconfig ~/.kube/config --dry-run
"""

DEFAULT_SCHEDULER = "default-scheduler"
KUBE_SCHEDULERS_LEASE = ("kube-system", "kube-scheduler")
_BETWEEN_COLLECTIONS = (50_000, 20, 50)
"""`gc` thresholds.

Nearly all objects that listing a cluster creates stay alive; scanning them took a fifth of the start.
"""


class Seconds(click.ParamType[float]):
    """A duration in Go's syntax, converted to seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds; an invalid duration is a usage error."""
        from topospread.config.durations import parse_duration

        nanoseconds = parse_duration(str(value))
        if nanoseconds is None:
            self.fail(f'"{value}" is not a duration; write it as 15s or 1m30s', param, ctx)
        return nanoseconds / 1e9


SECONDS = Seconds()


@click.command(cls=Explained, help=HELP, exits=EXITS_WORKED)
@click.option("--config", "config_path", type=PATH, metavar="FILE", help="kube-scheduler's configuration, any version.")
@click.option(
    "--kubeconfig",
    type=PATH,
    metavar="FILE",
    help="Kubeconfig; by default KUBECONFIG, the pod's service account or ~/.kube/config.",
)
@click.option("--context", metavar="NAME", help="Context of the kubeconfig; by default the current one.")
@click.option(
    "--leader-elect",
    type=bool,
    is_flag=False,
    flag_value="true",
    metavar="BOOL",
    help="Leader election: only one replica schedules (true).",
)
@click.option(
    "--leader-elect-lease-duration",
    type=SECONDS,
    metavar="--leader-elect-…",
    help="Lease settings, as for kube-scheduler.",
)
@click.option("--leader-elect-renew-deadline", type=SECONDS, help="Lease settings, as for kube-scheduler.")
@click.option("--leader-elect-retry-period", type=SECONDS, help="Lease settings, as for kube-scheduler.")
@click.option(
    "--leader-elect-resource-lock", type=click.Choice(["leases"]), help="Lease settings, as for kube-scheduler."
)
@click.option("--leader-elect-resource-name", metavar="NAME", help="Lease settings, as for kube-scheduler.")
@click.option("--leader-elect-resource-namespace", metavar="NAME", help="Lease settings, as for kube-scheduler.")
@click.option("--feature-gates", default="", metavar="A=true,B=false", help="kube-scheduler's feature gates.")
@click.option(
    "--kube-version", default=str(NEWEST), metavar="VERSION", help="Decide as this kube-scheduler (1.18 … 1.37)."
)
@click.option("--kube-api-qps", type=float, metavar="N", help="API requests per second; negative for no limit (50).")
@click.option("--kube-api-burst", type=int, metavar="N", help="Burst of requests beyond --kube-api-qps (100).")
@click.option(
    "--bind-address", default="127.0.0.1", metavar="IP", help="Address to serve metrics and health checks on."
)
@click.option("--secure-port", type=click.IntRange(0, 65535), default=10259, help="Port to serve on; 0 for none.")
@METRICS_OPTION
@tls_options
@click.option("--dry-run", is_flag=True, help="Bind no pod; compare with the bindings of other schedulers.")
@click.option("--export", is_flag=True, help="Also serve the metrics of `topospread run exporter`.")
@click.option("--explain-events", is_flag=True, help="Also write events that explain rejections by spread.")
@click.option("-v", "--v", "verbosity", type=click.IntRange(0, 10), default=0, help="Log level and format.")
@click.option("--logging-format", type=click.Choice(["text", "json"]), default="text", help="Log level and format.")
def scheduler(**given: Any) -> int:
    """Run until SIGTERM (exit code 0) or until the lease is lost (1)."""
    gc.set_threshold(*_BETWEEN_COLLECTIONS)
    from topospread.extras import require

    require("live")
    gates = read_gates(given["kube_version"], given["feature_gates"])
    configuration, operation = _read(given["config_path"], gates)
    operation = _flags_above(operation, given)
    _refuse_what_is_not_covered(operation, given["config_path"])
    if not given["dry_run"]:
        _check_lease(operation.leader_election, tuple(each.scheduler_name for each in configuration.profiles))
    address = served_at(given, given["secure_port"], "--secure-port")
    import asyncio

    from topospread.live.batching_selector import batching_loop
    from topospread.live.launch import Launch, launch
    from topospread.live.logs import set_up

    lines = set_up(given["verbosity"], given["logging_format"])
    wanted = Launch(
        configuration,
        operation,
        gates,
        given["kubeconfig"],
        given["context"],
        address,
        dry_run=given["dry_run"],
        explain_events=given["explain_events"],
        beside=_beside(given, configuration, gates),
        dropped_log_lines=lambda: lines.dropped,
    )
    with asyncio.Runner(loop_factory=batching_loop) as runner:
        return runner.run(launch(wanted))


def _beside(given: dict[str, Any], configuration: Configuration, gates: Gates) -> Beside | None:
    """Return the exporter's settings, if it is enabled."""
    if not given["export"]:
        return None
    from topospread.exporter.collector import SeriesLimits
    from topospread.exporter.process import Judging, beside_scheduler

    return beside_scheduler(Judging(configuration, gates, SeriesLimits()))


def _read(path: str | None, gates: Gates) -> tuple[Configuration, Operation]:
    """Return the profiles and the process settings, from ``--config`` or the defaults."""
    from topospread.config.find import find_configuration
    from topospread.config.load import default_configuration
    from topospread.config.operation import operation
    from topospread.sources.configuration import read_configuration, read_single_file

    if path is None:
        return default_configuration(gates.kube_version, gates), operation(None, gates)
    given = standard_input() if path == "-" else None
    text = given.read() if given is not None else b""
    configuration = read_configuration(path, gates, BytesIO(text))
    data, place = find_configuration(read_single_file(path, BytesIO(text))[1], Place(source=path))
    return configuration, operation(data, gates, place)


_ELECTION = {
    "leader_elect": "elect",
    "leader_elect_lease_duration": "lease_duration",
    "leader_elect_renew_deadline": "renew_deadline",
    "leader_elect_retry_period": "retry_period",
    "leader_elect_resource_name": "resource_name",
    "leader_elect_resource_namespace": "resource_namespace",
}
"""Option → the setting that it overrides."""


def _flags_above(operation: Operation, given: dict[str, Any]) -> Operation:
    """Return the file's settings, overridden by the command line."""
    from topospread.live.election import Timing

    chosen = {field: given[option] for option, field in _ELECTION.items() if given[option] is not None}
    election = replace(operation.leader_election, **chosen)
    if election.elect:
        Timing(election.lease_duration, election.renew_deadline, election.retry_period).check()
    qps = operation.qps if given["kube_api_qps"] is None else given["kube_api_qps"]
    burst = operation.burst if given["kube_api_burst"] is None else given["kube_api_burst"]
    return replace(operation, leader_election=election, qps=qps, burst=burst)


def _refuse_what_is_not_covered(operation: Operation, path: str | None) -> None:
    """Raise ConfigError for settings that would be ignored."""
    if operation.extenders:
        named = ", ".join(operation.extenders)
        raise ConfigError(
            f"this scheduler does not call extenders, so their pods could be placed wrongly: remove {named}",
            Place(source=path or "", field="extenders"),
        )


def _check_lease(election: LeaderElectionSettings, profiles: tuple[str, ...]) -> None:
    """Raise UsageError if a second scheduler would share kube-scheduler's lease."""
    lease = (election.resource_namespace, election.resource_name)
    if election.elect and lease == KUBE_SCHEDULERS_LEASE and DEFAULT_SCHEDULER not in profiles:
        raise UsageError(
            f"the scheduler for {', '.join(profiles)} would share kube-scheduler's lease kube-system/kube-scheduler: "
            "only one of the two would schedule at a time. Add --leader-elect-resource-name topospread"
        )
