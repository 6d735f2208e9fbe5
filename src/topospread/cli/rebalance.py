"""``topospread rebalance``: which few evictions mend constraints that do not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .inputs import (
    input_options,
    namespace_options,
    read_configuration,
    read_control_plane,
    read_inventory,
    shown_namespace,
)
from .terminal import layout, progress, show, warn, written
from .usage import Explained

if TYPE_CHECKING:
    from topospread.rebalancing import Rebalance

HELP = """\
Say which pods to evict, in which order, so that kube-scheduler itself puts those that come in their place where
constraints hold again: the fewest evictions, and a bound below which none can do it.

PATHs are as for simulate; `topospread dump` writes one of a cluster. Hard constraints are mended; with --max-skew soft
ones are brought to that skew, too. Every eviction waits for the new pod of the one before it: no disruption budget is
broken, nothing is left pending, and no constraint gets worse. Pods of Jobs and DaemonSets and bare pods stay.

Where kube-scheduler would put the new pod where the old one was, nothing is evicted: the report says so, and what would
help. What is proved is proved for the pods that may be evicted; the extra 'solver' (pip install 'topospread[solver]')
proves more than the counts of single constraints do.

The exit code is 1 when a constraint cannot be mended.

\b
Examples:
  topospread rebalance cluster.json.gz
  topospread rebalance cluster.json.gz -n shop --max-skew 1
  topospread rebalance cluster.json.gz -l app=web -o commands > move.sh
"""

FORMATS = click.Choice(["table", "wide", "summary", "commands", "json", "yaml"])


@click.command(cls=Explained, help=HELP)
@input_options
@namespace_options("Mend workloads of")
@click.option("-l", "--selector", metavar="SELECTOR", help="Mend workloads whose pods have these labels.")
@click.option("--max-skew", type=click.IntRange(min=1), metavar="N", help="Bring soft constraints to this skew, too.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=10.0,
    metavar="S",
    help="Time for the proof (10); 0 for the counts alone.",
)
@click.option("-o", "--output", type=FORMATS, default="table", help="How to show the evictions; commands for kubectl.")
def rebalance(**given: Any) -> int:
    """Show what to evict; 1 when a constraint cannot be mended."""
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    inventory = read_inventory(given, by=[by])
    import topospread

    with progress("rebalancing") as bar:
        found = topospread.rebalance(
            inventory,
            namespace=shown_namespace(given),
            selector=given["selector"],
            max_skew=given["max_skew"],
            config=configuration,
            kube_version=str(by.scheduler.kube_version),
            gates=by.scheduler,
            apiserver_gates=by.apiserver,
            seconds=given["seconds"],
            progress=bar,
        )
    show(_text(found, given["output"], given["color"]))
    return 0 if found.is_met else 1


def _text(found: Rebalance, output: str, color: str) -> str:
    if output in ("table", "wide", "summary"):
        from topospread.report.rebalance import rebalance_summary, rebalance_text

        write = rebalance_summary if output == "summary" else rebalance_text
        return write(found, layout(color, wide=output == "wide"))
    warn(found.warnings)
    if output == "commands":
        from topospread.report.rebalance_commands import rebalance_commands

        return rebalance_commands(found)
    return written(found.to_dict(), output)
