"""``topospread status``: what is skewed now, which pods would be refused where they are, and what is at risk."""

from __future__ import annotations

from contextlib import nullcontext
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
from .status_watch import check_watch, watch
from .terminal import layout, progress, show, warn, written
from .usage import Explained

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.config.profile import Configuration
    from topospread.sources.needed_kinds import NeededKinds
    from topospread.spread_status import SpreadStatus
    from topospread.workloads.control_plane import ControlPlane

HELP = """\
Show how the pods that exist are spread: what is skewed now, and what is at risk. Nothing is placed.

Workloads are listed worst first. Pods of all namespaces count, whichever are shown; pods of DaemonSets belong to
their nodes and are not judged.

\b
Examples:
  topospread status --context prod
  topospread status -n shop --watch -o summary
  topospread status --on cluster.json.gz -n shop -l app=web -o wide
  topospread status --on cluster.json.gz --check -o json
  kubectl get no,po,svc,rs,sts -A -o json | topospread status -f -
"""

FORMATS = click.Choice(["table", "wide", "summary", "json", "yaml"])


@click.command(cls=Explained, help=HELP)
@input_options
@access_options
@namespace_options("Show workloads of")
@click.option("-l", "--selector", metavar="SELECTOR", help="Show workloads whose pods have these labels.")
@click.option("--key", "keys", multiple=True, metavar="KEY", help="Look at this topology key alone; repeatable.")
@click.option("--min-skew", type=click.IntRange(min=0), metavar="N", help="Show constraints of at least this skew.")
@click.option("--check", is_flag=True, help="Exit with 1 when a hard constraint is exceeded.")
@click.option("--watch", "-w", is_flag=True, help="Show it again whenever the live cluster changes.")
@traffic_options
@html_options
@click.option(
    "-o", "--output", type=FORMATS, default="table", metavar="FORMAT", help="table, wide, summary, json or yaml."
)
def status(**given: Any) -> int:
    """Show the status; 1 when it is to be checked and a hard constraint is exceeded."""
    check_html(given)
    asked_traffic(given)
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    if given["watch"]:
        check_watch(given)
        watch(
            given,
            _needed(given),
            lambda inventory: _text(inventory, _found(inventory, given, by, configuration), given, by),
        )
    inventory = read_inventory(given, by=[by], needed=_needed(given))
    found = _found(inventory, given, by, configuration)
    write_html(given, ReportWish(inventory, options_of(by, configuration), shown={"at": "0"}))
    if given["output"] in ("json", "yaml"):
        warn(found.warnings)
    show(_text(inventory, found, given, by))
    return 1 if given["check"] and found.exceeded else 0


def _needed(given: dict[str, Any]) -> NeededKinds:
    """A table says which evictions would mend what is exceeded, where that is known at once."""
    from topospread.sources.needed_kinds import PLACEMENT, STATUS

    return PLACEMENT if given["output"] in ("table", "wide") else STATUS


def _found(
    inventory: Inventory, given: dict[str, Any], by: ControlPlane, configuration: Configuration | None
) -> SpreadStatus:
    import topospread

    # Beside a status that is drawn again and again a bar would only flicker.
    with nullcontext() if given["watch"] else progress("looking") as bar:
        return topospread.status(
            inventory,
            namespace=shown_namespace(given),
            selector=given["selector"],
            keys=given["keys"],
            config=configuration,
            kube_version=str(by.scheduler.kube_version),
            gates=by.scheduler,
            apiserver_gates=by.apiserver,
            allow_empty=given["allow_empty"] or given["watch"],
            progress=bar,
        )


def _text(inventory: Inventory, found: SpreadStatus, given: dict[str, Any], by: ControlPlane) -> str:
    from topospread.spread_status.status import with_min_skew

    moved = expected_traffic(inventory, asked_traffic(given), by)
    output, min_skew = given["output"], given["min_skew"]
    shown = found if min_skew is None else with_min_skew(found, min_skew)
    if output in ("table", "wide", "summary"):
        from topospread.report.status import status_summary, status_text
        from topospread.report.traffic import with_traffic

        drawn = layout(given["color"], wide=output == "wide")
        added = further(given, inventory) if output != "summary" else None
        text = status_summary(shown, drawn) if output == "summary" else status_text(shown, drawn, added)
        return with_traffic(text, moved, drawn)
    return written(shown.to_dict() | ({"traffic": moved.to_dict()} if moved else {}), output)
