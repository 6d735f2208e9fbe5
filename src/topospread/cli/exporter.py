"""``topospread run exporter``: Prometheus metrics about how the pods of a live cluster are spread."""

from __future__ import annotations

from typing import Any

import click

from topospread.config.gates import read_gates
from topospread.config.versions import NEWEST

from .inputs import PATH, read_configuration
from .served_address import served_at, tls_options
from .usage import EXITS_WORKED, Explained

HELP = """\
Watch a cluster and serve metrics of its pods' spread for Prometheus, until SIGTERM. Nothing is written to the
cluster.

The metrics have the numbers of `topospread status`. /metrics, /healthz, /livez and /readyz have no authentication, and
listen on 127.0.0.1 by default.

\b
Examples:
  topospread run exporter
  topospread run exporter --context prod --port 9401
  topospread run exporter --config scheduler.yaml --bind-address 0.0.0.0
  curl -s localhost:9401/metrics | grep topospread_constraint_skew
"""
PORT = 9401


@click.command(cls=Explained, help=HELP, exits=EXITS_WORKED)
@click.option(
    "--kubeconfig",
    type=PATH,
    metavar="FILE",
    help="Kubeconfig; by default KUBECONFIG, the pod's service account or ~/.kube/config.",
)
@click.option("--context", metavar="NAME", help="Context of the kubeconfig; by default the current one.")
@click.option("--config", "config_path", type=PATH, metavar="FILE", help="kube-scheduler's configuration, any version.")
@click.option(
    "--kube-version", default=str(NEWEST), metavar="VERSION", help="Act as this kube-scheduler (1.18 … 1.37)."
)
@click.option("--feature-gates", default="", metavar="A=true,B=false", help="kube-scheduler's feature gates.")
@click.option(
    "--max-workloads",
    type=click.IntRange(min=0),
    default=2_000,
    show_default=True,
    metavar="N",
    help="Maximum number of workloads with time series, worst first.",
)
@click.option(
    "--max-domains",
    type=click.IntRange(0, 100),
    default=20,
    show_default=True,
    metavar="N",
    help="Maximum number of domains of a constraint with time series; 0 for none.",
)
@click.option("--bind-address", default="127.0.0.1", metavar="IP", help="Address to serve on.")
@click.option("--port", type=click.IntRange(1, 65535), default=PORT, show_default=True, help="Port to serve on.")
@tls_options
@click.option("-v", "--v", "verbosity", type=click.IntRange(0, 10), default=0, help="Log level and format.")
@click.option("--logging-format", type=click.Choice(["text", "json"]), default="text", help="Log level and format.")
def exporter(**given: Any) -> int:
    """Run until SIGTERM."""
    from topospread.extras import require

    require("live")
    from topospread.config.load import default_configuration
    from topospread.exporter.collector import SeriesLimits
    from topospread.exporter.process import Judging

    gates = read_gates(given["kube_version"], given["feature_gates"])
    configuration = read_configuration(given["config_path"], gates)
    configuration = configuration or default_configuration(gates.kube_version, gates)
    judging = Judging(configuration, gates, SeriesLimits(given["max_workloads"], given["max_domains"]))
    # The server only has metrics, so --bind-address is their address; loopback by default.
    metrics = given["bind_address"], given["port"]
    address = served_at(given | {"metrics": metrics}, given["port"], "--port")
    import asyncio

    from topospread.exporter.process import Export
    from topospread.exporter.process import export as run
    from topospread.live.logs import set_up

    set_up(given["verbosity"], given["logging_format"])
    return asyncio.run(run(Export(judging, given["kubeconfig"], given["context"], address)))
