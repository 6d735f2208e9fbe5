"""``topospread simulate``: where the pods land, how the workloads spread, and why some stay pending."""

from __future__ import annotations

import json
from typing import Any

import click

from topospread.report.json import simulation_json
from topospread.simulation import Simulation

from .inputs import input_options, parse_scale, read_configuration, read_gates, read_inventory
from .terminal import progress, style, width

HELP = """\
Place every pod that the manifests want, exactly as kube-scheduler would, and show where each lands.

PATHs are YAML or JSON files, folders, or - for standard input, applied in their order. They hold nodes (or use
--cluster), workloads, and whatever else decides: pods that are there, Services, PriorityClasses, volumes.

\b
Examples:
  topospread simulate nodes.yaml app.yaml
  topospread simulate app.yaml --cluster zones=3,nodes=12,cpu=8,memory=32Gi
  topospread simulate snapshot.json app.yaml --scale deploy/web=30 -o json
  topospread simulate snapshot.json app.yaml --config scheduler.yaml --seed 7
"""

FORMATS = click.Choice(["table", "wide", "json", "yaml", "name"])


def _epilog() -> str:
    from topospread.sources.made_up import GRAMMAR

    paragraphs = GRAMMAR.strip().split("\n\n")
    return "\n\n".join(f"\b\n{paragraph}" for paragraph in paragraphs)


@click.command(help=HELP, epilog=_epilog())
@input_options
@click.option("--scale", multiple=True, metavar="[NS/]KIND/NAME=N", help="Other replicas than the manifest says.")
@click.option("--seed", type=int, metavar="N", help="Draw among equal nodes as kube-scheduler does, repeatably.")
@click.option("--run-cron-job", "cron_jobs", multiple=True, metavar="[NS/]NAME", help="Simulate one run of a CronJob.")
@click.option("--no-preemption", is_flag=True, help="Evict nothing for more important pods.")
@click.option("-n", "--namespace", metavar="NAMESPACE", help="Show only this namespace (all are simulated).")
@click.option("-o", "--output", type=FORMATS, default="table", help="How to show the result.")
def simulate(**given: Any) -> int:
    """Run the simulation; 1 when pods stay pending."""
    import topospread

    replicas = parse_scale(given["scale"])
    gates = read_gates(given["kube_version"], given["feature_gates"])
    configuration = read_configuration(given["config_path"], gates)
    inventory = read_inventory(given["paths"], given["cluster"], strict=given["strict"])
    with progress("placing") as bar:
        result = topospread.simulate(
            inventory,
            config=configuration,
            scale=replicas,
            seed=given["seed"],
            kube_version=given["kube_version"],
            gates=gates,
            run_cron_jobs=given["cron_jobs"],
            preemption=not given["no_preemption"],
            progress=bar,
        )
    click.echo(_text(result, given["output"], given["namespace"], given["color"]), nl=False)
    return 0 if result.all_placed else 1


def _text(result: Simulation, output: str, namespace: str | None, color: str) -> str:
    match output:
        case "json":
            return json.dumps(simulation_json(result, namespace), indent=2, ensure_ascii=False) + "\n"
        case "yaml":
            from topospread.api.yaml_text import yaml_text

            return yaml_text(simulation_json(result, namespace))
        case "name":
            for warning in result.warnings:
                click.echo(f"warning: {warning}", err=True)
            shown = [each for each in result.placements if namespace in (None, each.namespace)]
            return "".join(f"pod/{each.name} {each.node or '<none>'}\n" for each in shown)
        case _:
            from topospread.report.table import Layout, table

            return table(result, Layout(width(), output == "wide", style(color)), namespace)
