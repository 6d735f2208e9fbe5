"""``topospread run scale-in-keeper``: make ReplicaSets remove pods from the fullest domain first."""

from __future__ import annotations

from typing import Any

import click

from .live_options import access_options, read_access
from .served_address import METRICS_OPTION, served_at, tls_options
from .usage import EXITS_WORKED, Explained

HELP = """\
Set controller.kubernetes.io/pod-deletion-cost on pods of Deployments that opt in, so that a scale-in removes pods of
the fullest domain first. Run until SIGTERM.

A Deployment opts in with the annotation topospread.dev/scale-in: keep-spread.

\b
Examples:
  topospread run scale-in-keeper
  topospread run scale-in-keeper --context prod --dry-run
"""
LEASE = "topospread-scale-in-keeper"


@click.command("scale-in-keeper", cls=Explained, help=HELP, exits=EXITS_WORKED)
@access_options
@click.option("--dry-run", is_flag=True, help="Log the pod deletion costs without writing them.")
@click.option(
    "--leader-elect", type=bool, default=True, metavar="BOOL", help="Leader election: only one replica writes (true)."
)
@click.option("--leader-elect-resource-name", default=LEASE, metavar="NAME", help=f"Name of the Lease ({LEASE}).")
@click.option(
    "--leader-elect-resource-namespace",
    default="kube-system",
    metavar="NAME",
    help="Namespace of the Lease (kube-system).",
)
@click.option("--kube-api-qps", type=float, default=20, metavar="N", help="Writes per second (20).")
@click.option("--kube-api-burst", type=int, default=30, metavar="N", help="Burst of writes beyond --kube-api-qps (30).")
@click.option(
    "--bind-address", default="127.0.0.1", metavar="IP", help="Address to serve metrics and health checks on."
)
@click.option("--port", type=click.IntRange(0, 65535), default=9404, help="Port to serve on; 0 for none.")
@METRICS_OPTION
@tls_options
@click.option("-v", "--v", "verbosity", type=click.IntRange(0, 10), default=0, help="Log level.")
@click.option("--logging-format", type=click.Choice(["text", "json"]), default="text", help="Log format.")
def scale_in_keeper(**given: Any) -> int:
    """Run until SIGTERM (exit code 0) or until the lease is lost (1)."""
    access = read_access(given)
    address = served_at(given, given["port"], "--port")
    import asyncio

    from topospread.live.logs import set_up
    from topospread.live.run_scale_in_keeper import ScaleInSettings, run_scale_in_keeper

    set_up(given["verbosity"], given["logging_format"])
    lease = given["leader_elect_resource_namespace"], given["leader_elect_resource_name"]
    elects = given["leader_elect"] and not given["dry_run"]
    settings = ScaleInSettings(
        access,
        address,
        lease if elects else None,
        dry_run=given["dry_run"],
        qps=given["kube_api_qps"],
        burst=given["kube_api_burst"],
    )
    return asyncio.run(run_scale_in_keeper(settings))
