"""``topospread status``: what is skewed now, which pods would be refused where they are, and what is at risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .further import further
from .inputs import (
    asked_traffic,
    expected_traffic,
    input_options,
    namespace_options,
    read_configuration,
    read_control_plane,
    read_inventory,
    shown_namespace,
    traffic_options,
)
from .live_options import access_options
from .report_file import ReportWish, check_html, html_options, options_of, write_html
from .terminal import layout, progress, show, warn, written
from .usage import Explained

if TYPE_CHECKING:
    from topospread.report.further import FurtherCommands
    from topospread.service_traffic import Traffic
    from topospread.spread_status import SpreadStatus

HELP = """\
Show how the pods that are there are spread: what is skewed now, and what is at risk. Nothing is placed.

Without PATH the cluster is read that kubectl points at. PATHs are as for simulate: YAML or JSON files, folders, or -
for standard input; `topospread dump` writes one of a cluster.

Workloads stand worst first: hard constraints that are exceeded, pods that kube-scheduler would refuse on the node that
they are on if they were placed anew, soft constraints that are unsatisfied, and what the failure of one domain takes.
Of more than ten workloads the worst ten are shown with what is wrong, the others in a line each; -o wide shows all, -o
summary only who is in trouble. The pods of all namespaces count,
whichever are shown. Pods of DaemonSets belong to their nodes and are not asked.

With --check the exit code is 1 when a hard constraint of the workloads that were chosen is exceeded.

\b
Examples:
  topospread status --context prod
  topospread status cluster.json.gz
  topospread status cluster.json.gz -n shop -l app=web -o wide
  topospread status cluster.json.gz --key topology.kubernetes.io/zone --min-skew 2
  topospread status cluster.json.gz --check -o json
  kubectl get no,po,svc,rs,sts -A -o json | topospread status -
"""

FORMATS = click.Choice(["table", "wide", "summary", "json", "yaml"])


@click.command(cls=Explained, help=HELP)
@input_options
@access_options
@namespace_options("Show workloads of")
@click.option("-l", "--selector", metavar="SELECTOR", help="Show workloads whose pods have these labels.")
@click.option("--key", "keys", multiple=True, metavar="KEY", help="Look at this topology key alone; may be repeated.")
@click.option("--min-skew", type=click.IntRange(min=0), metavar="N", help="Show constraints of at least this skew.")
@click.option("--check", is_flag=True, help="Exit with 1 when a hard constraint is exceeded.")
@traffic_options
@html_options
@click.option("-o", "--output", type=FORMATS, default="table", help="How to show the status.")
def status(**given: Any) -> int:
    """Show the status; 1 when it is to be checked and a hard constraint is exceeded."""
    check_html(given)
    asking = asked_traffic(given)
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    inventory = read_inventory(given, by=[by])
    import topospread

    with progress("looking") as bar:
        found = topospread.status(
            inventory,
            namespace=shown_namespace(given),
            selector=given["selector"],
            keys=given["keys"],
            config=configuration,
            kube_version=str(by.scheduler.kube_version),
            gates=by.scheduler,
            apiserver_gates=by.apiserver,
            progress=bar,
        )
    write_html(given, ReportWish(inventory, options_of(by, configuration), shown={"at": "0"}))
    added = further(given, inventory) if given["output"] in ("table", "wide") else None
    show(_text(found, given, expected_traffic(inventory, asking, by), added))
    return 1 if given["check"] and found.exceeded else 0


def _text(found: SpreadStatus, given: dict[str, Any], moved: Traffic | None, added: FurtherCommands | None) -> str:
    from topospread.spread_status.status import with_min_skew

    output, min_skew = given["output"], given["min_skew"]
    shown = found if min_skew is None else with_min_skew(found, min_skew)
    if output in ("table", "wide", "summary"):
        from topospread.report.status import status_summary, status_text
        from topospread.report.traffic import with_traffic

        drawn = layout(given["color"], wide=output == "wide")
        text = status_summary(shown, drawn) if output == "summary" else status_text(shown, drawn, added)
        return with_traffic(text, moved, drawn)
    warn(found.warnings)
    return written(shown.to_dict() | ({"traffic": moved.to_dict()} if moved else {}), output)
