"""``topospread simulate``: place pods, and show the spread of workloads and the pending pods."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import UsageError

from .inputs import (
    AUTOSCALE,
    CALL_EXTENDERS,
    POOLS,
    asked_traffic,
    expected_traffic,
    input_options,
    namespace_options,
    parse_cron_jobs,
    parse_scale,
    read_inventory,
    read_options,
    shown_namespace,
    traffic_options,
)
from .live_options import access_options
from .output import check_outputs, code_of, output_options, prints_page, wants, write_answer
from .report_file import ReportWish, check_html, html_text, page_options
from .saved import check_saved, saved_option, write_saved
from .terminal import progress, show, warn
from .usage import Explained

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.config.profile import Configuration
    from topospread.controllers.control_plane import ControlPlane
    from topospread.simulation.options import Sampling, SimulationOptions
    from topospread.simulation.result import Simulation

    Side = tuple[ControlPlane, Configuration | None, Sampling]
    """Control plane, configuration and sampling of one simulation."""

HELP = """\
Place all pods of the manifests as kube-scheduler does, and show how they are spread.

The manifests of -f are applied to the cluster of --on. Without --on, their own nodes are the cluster. If they have no
nodes, kubectl's current cluster is used. -n is the namespace of objects without one. It also limits what is shown and
judged, but pods of all namespaces are simulated.

\b
Examples:
  topospread simulate -f app.yaml --context prod
  topospread simulate -f app.yaml --on zones=3,nodes=12,cpu=8,memory=32Gi
  topospread simulate -f app.yaml --on snapshot.json --scale deploy/web=30
  topospread simulate -f app.yaml --on snapshot.json --save after.json.gz
  topospread simulate -f app.yaml --on snapshot.json --orders 50
"""

SAMPLING = click.Choice(["all", "kube"])


@click.command(cls=Explained, help=HELP)
@input_options
@access_options
@click.option("--scale", multiple=True, metavar="[NS/]KIND/NAME=N", help="Replicas to use instead of the manifest's.")
@click.option(
    "--autoscale", type=AUTOSCALE, default="keep", help="HPA target's replicas: unchanged, minimum or maximum."
)
@click.option("--seed", type=int, metavar="N", help="Seed of the choice between nodes with equal scores.")
@click.option("--run-cron-job", "cron_jobs", multiple=True, metavar="[NS/]NAME", help="Simulate one run of a CronJob.")
@click.option("--sampling", type=SAMPLING, default="all", help="Score all feasible nodes, or kube-scheduler's sample.")
@click.option(
    "--orders", type=click.IntRange(min=1), metavar="N", help="Simulate N random orders of pods; show ranges."
)
@click.option("--no-preemption", is_flag=True, help="Never preempt pods of lower priority.")
@CALL_EXTENDERS
@POOLS
@traffic_options
@page_options
@saved_option("Write the cluster with the placed pods as a snapshot.")
@namespace_options("Show")
@output_options("name")
def simulate(**given: Any) -> int:
    """Run the simulation; return the exit code of the verdict."""
    given["scale"] = parse_scale(given)
    given["cron_jobs"] = parse_cron_jobs(given)
    given["traffic"] = asked_traffic(given)
    check_outputs(given)
    check_html(given)
    options = replace(
        read_options(given),
        scale=given["scale"],
        run_cron_jobs=given["cron_jobs"],
        sampling=given["sampling"],
        autoscale=given["autoscale"],
    )
    check_saved(given["save"])
    from topospread.sources.needed_kinds import PLACEMENT, PLACEMENT_AND_RUNS

    needed = (PLACEMENT_AND_RUNS if given["cron_jobs"] else PLACEMENT).under(options.in_force[0])
    inventory = read_inventory(given, by=[options], needed=needed)
    if given["orders"] is not None:
        return _in_orders(given, inventory, options)
    from topospread.simulation.simulate import simulate as run

    with progress("placing") as bar:
        keep_after = given["save"] is not None or given["traffic"] is not None
        result = run(inventory, options, keep_after=keep_after, progress=bar)
    write_saved(result.after, given, options)
    return _answered(result, given, inventory, options)


def _in_orders(given: dict[str, Any], inventory: Inventory, options: SimulationOptions) -> int:
    """Simulate several orders of the pods. Return 1 if pods stay pending in any order."""
    from topospread.answers.asked import about
    from topospread.answers.orders import orders_answer
    from topospread.simulation.orders import simulate_orders

    if wants(given, "name"):
        raise UsageError("--orders gives ranges, which -o name cannot show")
    if given["traffic"] is not None:
        raise UsageError("--traffic cannot be combined with --orders")
    if options.pools:
        raise UsageError("--orders cannot be combined with --pools")
    with progress("placing") as bar:
        found = simulate_orders(inventory, given["orders"], options, bar, shown_namespace(given))
    return write_answer(about(orders_answer(found, shown_namespace(given)), inventory, options), given)


def _answered(result: Simulation, given: dict[str, Any], inventory: Inventory, options: SimulationOptions) -> int:
    from topospread.answers.asked import about
    from topospread.answers.simulation import names, simulation_answer

    namespace = shown_namespace(given)
    if not prints_page(given):
        warn(result.warnings)
    if [name for name, _ in given["outputs"]] == ["name"] and not given["outputs"][0][1]:
        show(names(result, namespace))  # building the whole answer is slow with 5,000 nodes
        return code_of(result.verdict_in(namespace), given)
    found = expected_traffic(result.after, given["traffic"], options)
    answer = about(simulation_answer(result, namespace, traffic=found), inventory, options)
    wish = ReportWish(inventory, replace(options, pools=()), shown={"at": "1"})
    others = {"html": lambda: html_text(given, wish), "name": lambda: names(result, namespace)}
    return write_answer(answer, given, others)
