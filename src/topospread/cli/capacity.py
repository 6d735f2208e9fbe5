"""``topospread capacity``: print how many more replicas fit, the limit, and the node that would help most."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from topospread.errors import UsageError

from .drill_many import INTERRUPTED
from .inputs import PATH, POOLS, input_options, namespace_options, read_inventory, read_options
from .live_options import access_options
from .output import check_outputs, output_options, write_answer
from .targets import target_argument
from .terminal import progress
from .usage import Explained

HELP = """\
Show how many more replicas of a workload fit, and what limits them.

The answer is yes if --more replicas and the TARGETs' pending pods fit without evictions. If it is no, one more node
is tried in each zone. Then the fewest nodes to add are searched for, or with --pools the cheapest. TARGET
deploy/web=2,deploy/api=1 adds two web replicas and one api replica in each round.

\b
Examples:
  topospread capacity deploy/web --on cluster.json.gz --more 20
  topospread capacity deploy/web --on cluster.json.gz --more 20 --pools pools.yaml
  topospread capacity deploy/web=2,deploy/api=1 --on cluster.json.gz
  topospread capacity --on cluster.json.gz --pod pod.yaml -o json
  topospread capacity deploy/web --on cluster.json.gz --each zone --more 20%
  topospread capacity deploy/web --on cluster.json.gz --node-shape cpu=8,memory=32Gi
"""


@click.command(cls=Explained, help=HELP)
@target_argument(required=False)
@input_options
@access_options
@click.option("--pod", metavar="FILE", type=PATH, help="File with a pod, instead of TARGET.")
@click.option("--more", default="1", metavar="N|PERCENT", help="Additional replicas that must fit (1).")
@click.option("--each", type=click.Choice(["zone"]), help="The replicas must also fit after any zone's loss.")
@click.option(
    "--node-shape", "shapes", multiple=True, metavar="SPEC", help="Count again with one more node (cpu=8,memory=32Gi)."
)
@POOLS
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=10.0,
    metavar="S",
    help="Seconds to search for nodes to add (10).",
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=10_000, metavar="N", help="Stop after N replicas per TARGET (10000)."
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Number of processes (one per core).")
@click.option("--seed", type=int, metavar="N", help="Seed of the choice between nodes with equal scores.")
@namespace_options("Workloads of")
@output_options()
def capacity(**given: Any) -> int:
    """Run the command; return the exit code of the verdict."""
    check_outputs(given)
    if given["targets"] and given["pod"] is not None:
        raise UsageError("TARGET and --pod exclude each other; give one")
    source = click.get_current_context().get_parameter_source("pools")
    if (given["each"] or given["shapes"]) and source is not ParameterSource.COMMANDLINE:
        given["pools"] = ()  # The project file's pools are for other commands.
    options = read_options(given)
    from topospread.sources.needed_kinds import PLACEMENT

    # The claims of a pod from a file are not known yet.
    needed = PLACEMENT if given["pod"] is None else PLACEMENT.with_volumes
    inventory = read_inventory(given, by=[options], needed=needed.under(options.in_force[0]))
    from topospread.answers.asked import about, input_words
    from topospread.answers.capacity import capacity_answer
    from topospread.capacity.capacity import capacity as ask
    from topospread.drill.interruption import Interrupted

    code = 0
    try:
        with progress("placing") as bar:
            found = ask(
                inventory,
                *given["targets"],
                options=options,
                pod=given["pod"],
                namespace=given["namespace"],
                more=given["more"],
                each_zone=given["each"] is not None,
                shapes=given["shapes"],
                limit=given["limit"],
                workers=given["workers"],
                seconds=given["seconds"],
                progress=bar,
            )
    except Interrupted as interrupted:
        found, code = interrupted.finished, INTERRUPTED
    verdict = write_answer(
        about(capacity_answer(found, input_words(inventory), given["pools"]), inventory, options), given
    )
    return code or verdict
