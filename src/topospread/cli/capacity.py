"""``topospread capacity``: how many more replicas fit, what ends it, and which node would help most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from topospread.errors import UsageError

from .drill_many import INTERRUPTED
from .inputs import PATH, input_options, namespace_options, read_configuration, read_control_plane, read_inventory
from .live_options import access_options
from .targets import target_argument
from .terminal import layout, progress, show, warn, written
from .usage import Explained

if TYPE_CHECKING:
    from topospread.spare_capacity import CapacityReport

HELP = """\
Say how many more replicas of a workload fit until the first stays pending, with everything there that is there.

PATHs are as for simulate; without, the cluster is read that kubectl points at.
Their own pods are placed first; then replicas come one after the other, each placed as
kube-scheduler would, and nothing is evicted for them. Of several workloads in a ratio they come in rounds.

The report shows how many more fit in each domain, what the next one meets there, and what ends it. --each zone asks the
same after each zone's loss, when everything that can be replaced elsewhere is. --buy says what one more node would
bring, like those that are there or of a --shape, in each zone.

With --headroom the exit code is 1 when less fits than such a share of the replicas, now or after one of the losses.

\b
Examples:
  topospread capacity deploy/web -n shop
  topospread capacity deploy/web --on cluster.json.gz
  topospread capacity deploy/web=2,deploy/api=1 --on cluster.json.gz
  topospread capacity --on cluster.json.gz --pod pod.yaml -o json
  topospread capacity deploy/web -f app.yaml --on zones=3,nodes=9 --each zone --headroom 20%
  topospread capacity deploy/web --on cluster.json.gz --buy --shape cpu=8,memory=32Gi
"""

FORMATS = click.Choice(["table", "wide", "summary", "json", "yaml"])


@click.command(cls=Explained, help=HELP)
@target_argument(required=False)
@input_options
@access_options
@click.option("--pod", metavar="FILE", type=PATH, help="More pods like this one.")
@click.option("--each", type=click.Choice(["zone"]), help="Ask again after each zone's loss.")
@click.option("--headroom", metavar="PERCENT", help="There has to be room for such a share of the replicas.")
@click.option("--buy", is_flag=True, help="Say what one more node of each sort would bring in each zone.")
@click.option("--shape", "shapes", multiple=True, metavar="SPEC", help="… of this shape (cpu=8,memory=32Gi,…).")
@click.option("--limit", type=click.IntRange(min=1), default=10_000, metavar="N", help="Try at most N rounds (10000).")
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes (one for each core).")
@click.option("--seed", type=int, metavar="N", help="Draw among equals where kube-scheduler does, repeatably.")
@namespace_options("Workloads of")
@click.option("-o", "--output", type=FORMATS, default="table", help="How to show the result.")
def capacity(**given: Any) -> int:
    """Ask; 1 when there is less headroom than was asked for."""
    if bool(given["targets"]) == (given["pod"] is not None):
        raise UsageError("say what is to fit: deploy/web, or --pod FILE")
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    from topospread.sources.needed_kinds import PLACEMENT

    # What a pod of a file claims is not known yet.
    needed = PLACEMENT if given["pod"] is None else PLACEMENT.with_volumes
    inventory = read_inventory(given, by=[by], needed=needed)
    from topospread.drills.interruption import Interrupted
    from topospread.spare_capacity.capacity import capacity as ask

    try:
        with progress("placing") as bar:
            found: CapacityReport = ask(
                inventory,
                *given["targets"],
                pod=given["pod"],
                namespace=given["namespace"],
                each_zone=given["each"] is not None,
                headroom=given["headroom"],
                buy=given["buy"],
                shapes=given["shapes"],
                limit=given["limit"],
                config=configuration,
                seed=given["seed"],
                kube_version=str(by.scheduler.kube_version),
                gates=by.scheduler,
                apiserver_gates=by.apiserver,
                workers=given["workers"],
                progress=bar,
            )
        code = 0 if found.holds else 1
    except Interrupted as interrupted:
        found, code = interrupted.finished, INTERRUPTED
    _show(found, given)
    return code


def _show(found: CapacityReport, given: dict[str, Any]) -> None:
    output = given["output"]
    if output in ("summary", "json", "yaml"):
        warn(found.warnings)
    if output in ("json", "yaml"):
        show(written(found.to_dict(), output))
    else:
        from topospread.report.capacity import capacity_summary, capacity_text

        write = capacity_summary if output == "summary" else capacity_text
        show(write(found, layout(given["color"], wide=output == "wide")))
