"""``topospread promise show``: what the constraints of a workload promise on a cluster, each sentence checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .inputs import input_options, read_configuration, read_control_plane, read_inventory, retyped
from .targets import one_target, target_argument
from .terminal import layout, show, warn, written
from .usage import Explained

if TYPE_CHECKING:
    from topospread.promises import Description

HELP = """\
Say in plain sentences what a workload is promised on a cluster, and what it is not: after the loss of a zone, a node
or a domain, a drain and a rollout.

Every sentence is checked by a drill or over all orders of pods, and names the command that repeats the check.

\b
Examples:
  topospread promise show deploy/web --on cluster.json.gz
  topospread promise show shop/deploy/web -f app.yaml --on zones=3,nodes=6
  topospread promise show sts/db --on cluster.json.gz -n shop -o json
"""

FORMATS = click.Choice(["table", "json", "yaml"])


@click.command("show", cls=Explained, help=HELP)
@target_argument(required=True)
@input_options
@click.option(
    "--most", type=click.IntRange(min=1), default=20, metavar="N", help="Drill so many domains of a key (20)."
)
@click.option("--states", type=click.IntRange(min=1), default=5_000, metavar="N", help="Of all orders look at (5000).")
@click.option("--seconds", type=click.FloatRange(min=0), default=10.0, metavar="S", help="… for so long each (10).")
@click.option("-n", "--namespace", metavar="NAMESPACE", help="Of a TARGET that names none, and of such objects.")
@click.option("-o", "--output", type=FORMATS, default="table", metavar="FORMAT", help="table, json or yaml.")
def show_promises(**given: Any) -> int:
    """Show the sentences; 0, as nothing was asked that could be answered with no."""
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    inventory = read_inventory(given, by=[by])
    import topospread

    found = topospread.describe(
        inventory,
        one_target(given["targets"]),
        namespace=given["namespace"],
        config=configuration,
        kube_version=str(by.scheduler.kube_version),
        gates=by.scheduler,
        apiserver_gates=by.apiserver,
        most=given["most"],
        states=given["states"],
        seconds=given["seconds"],
        typed=retyped(given),
    )
    show(_text(found, given["output"], given["color"]))
    return 0


def _text(found: Description, output: str, color: str) -> str:
    if output == "table":
        from topospread.report.description import description_text

        return description_text(found, layout(color))
    warn(found.warnings)
    return written(found.to_dict(), output)
