"""``topospread promise show``: the pods that workloads keep after losses, drains, rollouts and scaling."""

from __future__ import annotations

from typing import Any

import click

from .inputs import input_options, namespace_options, read_inventory, read_options, shown_namespace
from .live_options import access_options
from .output import check_outputs, output_options, write_answer
from .status import typed_words
from .targets import target_argument
from .usage import Explained

HELP = """\
Show how many pods a workload keeps after a zone or node loss, in a drain, in a rollout and when it is scaled down.

Counts right after a loss are proved: they hold for every order of pods and every feasible node. Recovery, drains and
rollouts are simulated. The answer is no if a single loss can take all pods, the quorum of a StatefulSet, or more than
the workload's promise allows. Without TARGET, each workload has a row.

\b
Examples:
  topospread promise show deploy/web --on cluster.json.gz
  topospread promise show shop/deploy/web -f app.yaml --on zones=3,nodes=6
  topospread promise show sts/db --on cluster.json.gz -n shop -o json
"""


@click.command("show", cls=Explained, help=HELP)
@target_argument(required=False)
@input_options
@access_options
@click.option("--most", type=click.IntRange(min=1), metavar="COUNT",
              help="Domains and nodes to lose, fullest first [default: 20; several workloads: 1].")  # fmt: skip
@click.option("--states", type=click.IntRange(min=1), default=2_000, show_default=True, metavar="COUNT",
              help="Maximum cluster states to search.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(min=0), default=3.0, show_default=True, metavar="SECONDS",
              help="Time limit of each search.")  # fmt: skip
@namespace_options("Workloads of")
@click.option("-l", "--selector", metavar="SELECTOR", help="Workloads whose pods have these labels.")
@output_options()
def show_promises(**given: Any) -> int:
    """Run the command; return the verdict's exit code."""
    check_outputs(given)
    options = read_options(given)
    inventory = read_inventory(given, by=[options])
    from topospread.answers.promise_show import promise_show
    from topospread.lint.settings import find_settings

    found = promise_show(
        inventory,
        given["targets"],
        options,
        namespace=shown_namespace(given),
        selector=given["selector"],
        declared=find_settings().promises,
        most=given["most"],
        states=given["states"],
        seconds=given["seconds"],
        typed=typed_words(given),
    )
    return write_answer(found, given)
