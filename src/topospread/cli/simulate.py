"""``topospread simulate``: where the pods land, how the workloads spread, and why some stay pending."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import UsageError

from .inputs import (
    AUTOSCALE,
    POOLS,
    asked_traffic,
    expected_traffic,
    given_pools,
    input_options,
    namespace_options,
    parse_cron_jobs,
    parse_scale,
    read_configuration,
    read_control_plane,
    read_inventory,
    shown_namespace,
    traffic_options,
)
from .live_options import access_options
from .output import check_outputs, code_of, output_options, prints_page, wants, write_answer
from .report_file import ReportWish, check_html, html_text, options_of, page_options
from .saved import check_saved, saved_option, write_saved
from .terminal import layout, progress, show, warn, written
from .usage import Explained

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.config.profile import Configuration
    from topospread.simulation import Simulation
    from topospread.simulation.comparison import Comparison
    from topospread.simulation.run import Sampling, SimulationOptions
    from topospread.workloads.control_plane import ControlPlane

    Side = tuple[ControlPlane, Configuration | None, Sampling]
    """What one simulation is run with."""

HELP = """\
Place every pod that the manifests want, exactly as kube-scheduler would, and show where each lands.

-f is applied to the cluster of --on, or holds the nodes itself. -n is where objects go that name no namespace, and
what is shown; all namespaces take part.

\b
Examples:
  topospread simulate -f app.yaml --context prod
  topospread simulate -f app.yaml --on zones=3,nodes=12,cpu=8,memory=32Gi
  topospread simulate -f app.yaml --on snapshot.json --scale deploy/web=30
  topospread simulate -f app.yaml --on snapshot.json --save after.json.gz
  topospread simulate -f app.yaml --on snapshot.json --orders 50
  topospread simulate --on snapshot.json --compare-kube-version 1.27
"""

_COMPARED = "Show only what another setting changes."
SAMPLING = click.Choice(["all", "kube"])


@click.command(cls=Explained, help=HELP)
@input_options
@access_options
@click.option("--scale", multiple=True, metavar="[NS/]KIND/NAME=N", help="Other replicas than the manifest says.")
@click.option("--autoscale", type=AUTOSCALE, default="keep", help="Autoscaled workloads: in their bounds, or at one.")
@click.option("--seed", type=int, metavar="N", help="Draw among equals where kube-scheduler does, repeatably.")
@click.option("--run-cron-job", "cron_jobs", multiple=True, metavar="NAME", help="Simulate one run of a CronJob.")
@click.option("--compare-config", metavar="FILE", help=_COMPARED)
@click.option(
    "--compare-kube-version",
    "compare_version",
    metavar="VERSION",
    help=_COMPARED,
)
@click.option("--sampling", type=SAMPLING, default="all", help="Score all nodes, or as many as kube-scheduler.")
@click.option("--compare-sampling", type=SAMPLING, help=_COMPARED)
@click.option("--orders", type=click.IntRange(min=1), metavar="N", help="Try N orders of the pods; show ranges.")
@click.option("--no-preemption", is_flag=True, help="Evict nothing for more important pods.")
@POOLS
@traffic_options
@page_options
@saved_option("Write the cluster with what was placed, as a snapshot.")
@namespace_options("Show")
@output_options("name")
def simulate(**given: Any) -> int:
    """Run the simulation; 1 when pods stay pending, or when a comparison leaves pods pending that were placed."""
    given["scale"] = parse_scale(given)
    given["cron_jobs"] = parse_cron_jobs(given)
    given["pools"] = given_pools(given)
    given["traffic"] = asked_traffic(given)
    check_outputs(given)
    check_html(given)
    by = read_control_plane(given)
    side = (by, read_configuration(given["config_path"], by.scheduler), given["sampling"])
    other = _other(given, side)
    if given["save"] and other is not None:
        raise UsageError("--save saves what one simulation leaves; a comparison has two")
    check_saved(given["save"])
    sides = [by, other[1][0]] if other else [by]
    from topospread.sources.needed_kinds import PLACEMENT, PLACEMENT_AND_RUNS

    needed = PLACEMENT_AND_RUNS if given["cron_jobs"] else PLACEMENT
    inventory = read_inventory(given, by=sides, needed=needed)
    if given["orders"] is not None:
        return _in_orders(given, inventory, side)
    result = _simulated(given, inventory, side)
    if other is None:
        write_saved(result.after, given, by)
        return _answered(result, given, inventory, side)
    from topospread.config.difference import differences
    from topospread.simulation.causes import to_watch, with_causes
    from topospread.simulation.comparison import compare

    names, other_side = other
    settings = differences(_in_force(side), _in_force(other_side))
    comparison = compare(result, _simulated(given, inventory, other_side), names, settings)
    watched = to_watch(comparison)
    if any(watched):
        again = [_simulated(given, inventory, *each) for each in zip((side, other_side), watched, strict=True)]
        comparison = with_causes(comparison, again[0], again[1])
    show(_comparison_text(comparison, given))
    return 1 if comparison.newly_pending or comparison.newly_gone else 0


def _as_given(given: dict[str, Any], side: Side) -> SimulationOptions:
    """Everything that the simulation was run with, for a report of it."""
    by, configuration, sampling = side
    return replace(
        options_of(by, configuration),
        scale=given["scale"],
        seed=given["seed"],
        run_cron_jobs=given["cron_jobs"],
        preemption=not given["no_preemption"],
        sampling=sampling,
        autoscale=given["autoscale"],
    )


def _in_orders(given: dict[str, Any], inventory: Inventory, side: Side) -> int:
    """Try several orders; 1 when pods stay pending in any.

    Raises:
        UsageError: it is to be compared, or shown in a way that has no ranges.
    """
    from topospread.answers.orders import orders_answer
    from topospread.simulation.orders import simulate_orders
    from topospread.simulation.run import SimulationOptions

    if given["compare_config"] or given["compare_version"] or given["compare_sampling"] or wants(given, "name"):
        raise UsageError("--orders gives ranges: no comparison and no -o name beside it")
    if given["traffic"] is not None:
        raise UsageError("--traffic is of one simulation: no --orders beside it")
    if given["pools"]:
        raise UsageError("--orders tries orders on the nodes that there are: no --pools beside it")
    by, config, sampling = side
    options = SimulationOptions(
        config,
        given["scale"],
        given["seed"],
        str(by.scheduler.kube_version),
        by.scheduler,
        given["cron_jobs"],
        not given["no_preemption"],
        sampling,
        by.apiserver,
        given["autoscale"],
    )
    with progress("placing") as bar:
        found = simulate_orders(inventory, given["orders"], options, bar)
    return write_answer(orders_answer(found, shown_namespace(given)), given)


def _in_force(side: Side) -> Configuration:
    """The configuration of a side, the version's own where none is given."""
    from topospread.config.load import default_configuration

    by, configuration, _ = side
    return configuration or default_configuration(by.scheduler.kube_version, by.scheduler)


def _simulated(given: dict[str, Any], inventory: Inventory, side: Side, watch: Collection[str] = ()) -> Simulation:
    import topospread

    by, config, sampling = side

    with progress("placing") as bar:
        return topospread.simulate(
            inventory,
            config=config,
            scale=given["scale"],
            seed=given["seed"],
            kube_version=str(by.scheduler.kube_version),
            gates=by.scheduler,
            apiserver_gates=by.apiserver,
            run_cron_jobs=given["cron_jobs"],
            preemption=not given["no_preemption"],
            sampling=sampling,
            autoscale=given["autoscale"],
            watch=watch,
            keep_after=given["save"] is not None or given["traffic"] is not None,
            pools=given["pools"],
            progress=bar,
        )


def _other(given: dict[str, Any], side: Side) -> tuple[tuple[str, str], Side] | None:
    """What to compare with, and the names of the two sides; ``None`` when nothing is asked for."""
    path, version, sampling = given["compare_config"], given["compare_version"], given["compare_sampling"]
    if path is None and version is None and sampling is None:
        return None
    if wants(given, "name", "md", "html", "svg") or any(path for _, path in given["outputs"]):
        raise UsageError("a comparison is printed as -o text, wide, json or yaml")
    if given["traffic"] is not None:
        raise UsageError("--traffic is of one simulation: no comparison beside it")
    by, configuration, own_sampling = side
    other_by = read_control_plane(given, version) if version else by
    names = []
    for kube_version, config, nodes in (
        (by.scheduler.kube_version, given["config_path"], own_sampling),
        (other_by.scheduler.kube_version, path, sampling),
    ):
        parts = [f"Kubernetes {kube_version}"] if version else []
        parts += [config or "the default configuration"] if path else []
        parts += ["all nodes scored" if nodes == "all" else "nodes sampled"] if sampling else []
        names.append(", ".join(parts))
    chosen = read_configuration(path or given["config_path"], other_by.scheduler) if path or version else configuration
    return (names[0], names[1]), (other_by, chosen, sampling or own_sampling)


def _comparison_text(comparison: Comparison, given: dict[str, Any]) -> str:
    from topospread.report.comparison import comparison_text

    namespace = shown_namespace(given)
    if wants(given, "json", "yaml"):
        return written(comparison.to_dict(namespace), given["outputs"][0][0])
    return comparison_text(comparison, layout(given["color"], wide=wants(given, "wide")), namespace)


def _answered(result: Simulation, given: dict[str, Any], inventory: Inventory, side: Side) -> int:
    """Write the answer in every format that is asked for; return the exit code."""
    from topospread.answers.simulation import names, simulation_answer
    from topospread.answers.traffic import traffic_of

    namespace = shown_namespace(given)
    if not prints_page(given):
        warn(result.warnings)
    if [name for name, _ in given["outputs"]] == ["name"] and not given["outputs"][0][1]:
        show(names(result, namespace))  # of 5,000 nodes the answer itself takes long
        return code_of(result.verdict, given)
    found = expected_traffic(result.after, given["traffic"], side[0])
    answer = simulation_answer(result, namespace, traffic=traffic_of(found) if found is not None else None)
    wish = ReportWish(inventory, _as_given(given, side), shown={"at": "1"})
    others = {"html": lambda: html_text(given, wish), "name": lambda: names(result, namespace)}
    return write_answer(answer, given, others)
