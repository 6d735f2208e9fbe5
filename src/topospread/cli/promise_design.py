"""``topospread promise design``: from what is wanted of a workload to the constraints that promise it, as YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .inputs import POOLS, given_pools, input_options, read_configuration, read_control_plane, read_inventory
from .targets import one_target, target_argument
from .terminal import layout, progress, show, warn, written
from .usage import Explained

if TYPE_CHECKING:
    from topospread.designing import Design

HELP = """\
Search for the fewest constraints that promise what is wanted of a workload on a cluster, and print them as YAML for
kubectl apply --server-side.

Every design that is tried is checked: each zone, node or domain of a key is lost in a drill, before and after a
rollout; nodes are drained; and all orders of pods are looked at. What cannot be promised is above the YAML.

\b
Examples:
  topospread promise design deploy/web --on cluster.json.gz --survive zone --left 4
"""

_LOSS = "The loss of any one leaves so many pods."
FORMATS = click.Choice(["table", "json", "yaml"])


@click.command(cls=Explained, help=HELP)
@target_argument(required=True)
@input_options
@click.option("--survive", multiple=True, metavar="zone|node|KEY", help=_LOSS)
@click.option("--left", multiple=True, type=int, metavar="N", help=_LOSS)
@click.option("--of", "replicas", type=click.IntRange(min=1), metavar="N", help="Of so many replicas (as it says).")
@click.option("--lose-node-unnoticed", "unnoticed", is_flag=True, help="A node takes one pod, which comes back.")
@click.option("--tries", type=click.IntRange(min=1), default=60, metavar="N", help="Check so many designs (60).")
@click.option("--states", type=click.IntRange(min=1), default=5_000, metavar="N", help="Of all orders look at (5000).")
@POOLS
@click.option("-n", "--namespace", metavar="NAMESPACE", help="Of a TARGET that names none, and of such objects.")
@click.option("-o", "--output", type=FORMATS, default="table", metavar="FORMAT", help="table, json or yaml.")
def design(**given: Any) -> int:
    """Show the design; 1 when what was asked cannot be promised."""
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    inventory = read_inventory(given, by=[by])
    import topospread

    with progress("designing") as bar:
        found = topospread.design(
            inventory,
            one_target(given["targets"]),
            survive=given["survive"],
            left=given["left"],
            replicas=given["replicas"],
            unnoticed=given["unnoticed"],
            namespace=given["namespace"],
            config=configuration,
            kube_version=str(by.scheduler.kube_version),
            gates=by.scheduler,
            apiserver_gates=by.apiserver,
            pools=given_pools(given),
            tries=given["tries"],
            states=given["states"],
            progress=bar,
        )
    show(_text(found, given["output"], given["color"]))
    return 0 if found.promises else 1


def _text(found: Design, output: str, color: str) -> str:
    if output == "table":
        from topospread.report.design import design_text

        return design_text(found, layout(color))
    warn(found.warnings)
    return written(found.to_dict(), output)
