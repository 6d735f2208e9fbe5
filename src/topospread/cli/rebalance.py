"""``topospread rebalance``: find the fewest evictions that restore the spread, and carry them out with --apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from topospread.text import counted, one_line

from .drill_many import INTERRUPTED
from .inputs import (
    input_options,
    namespace_options,
    read_inventory,
    read_options,
    shown_namespace,
)
from .live_options import NOBODY, access_options, read_access
from .output import check_outputs, output_options, prints_page, write_answer
from .targets import target_argument
from .terminal import progress, warn
from .usage import Explained

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.rebalance.result import Applied, Rebalance
    from topospread.simulation.options import SimulationOptions

HELP = """\
Find the fewest evictions that restore the spread. kube-scheduler places the replacement pods so that the constraints
hold again. A lower bound on the number of evictions is shown, too.

Hard constraints (DoNotSchedule) are restored, and with --max-skew also soft constraints. No PodDisruptionBudget is
violated, no pod stays pending, and no constraint gets worse.

\b
Examples:
  topospread rebalance --on cluster.json.gz
  topospread rebalance --on cluster.json.gz -n shop --max-skew 1
  topospread rebalance deploy/web --on cluster.json.gz -o commands > move.sh
  topospread rebalance -n shop --apply --context prod
"""


@click.command(cls=Explained, help=HELP)
@target_argument(required=False)
@input_options
@access_options
@namespace_options("Mend workloads of")
@click.option("-l", "--selector", metavar="SELECTOR", help="Rebalance workloads whose pods have these labels.")
@click.option(
    "--max-skew", type=click.IntRange(min=1), metavar="N", help="Also reduce the skew of soft constraints to N."
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=10.0,
    metavar="S",
    help="Seconds to search for fewer evictions (10).",
)
@click.option("--apply", is_flag=True, help="Evict the pods in the cluster.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=600.0,
    metavar="S",
    help="Time limit of --apply for each step of an eviction (600).",
)
@output_options("commands")
def rebalance(**given: Any) -> int:
    """Show the evictions, and carry them out if requested; return the verdict's exit code."""
    check_outputs(given)
    if given["apply"]:
        read_access(given)
    options = read_options(given)
    from topospread.sources.needed_kinds import PLACEMENT

    # With --apply and a snapshot, the options name the cluster for evictions, and the snapshot is examined.
    inventory = read_inventory(
        {**given, **NOBODY} if given["apply"] and given["paths"] else given, by=[options], needed=PLACEMENT
    )
    found, interrupted = _found(given, inventory, options)
    applied = None
    if given["apply"] and interrupted:
        warn(["nothing was evicted: the search for evictions was ended before its end"])
    elif given["apply"] and found.moves:
        applied, interrupted = _applied(given, found, inventory)
    from topospread.answers.asked import about
    from topospread.answers.rebalance import rebalance_answer
    from topospread.render.rebalance_commands import rebalance_commands

    answer = about(rebalance_answer(found, applied), inventory, options)
    if not prints_page(given):
        warn(answer.warnings)
    code = write_answer(answer, given, {"commands": lambda: rebalance_commands(answer)})
    if applied is not None and applied.surprise:
        warn(
            [f"stopped: {applied.surprise}; {len(applied.done)} of {counted(len(found.moves), 'eviction')} carried out"]
        )
    return INTERRUPTED if interrupted else code


def _found(given: dict[str, Any], inventory: Inventory, options: SimulationOptions) -> tuple[Rebalance, bool]:
    """Return the planned evictions, and whether the search was interrupted."""
    from topospread.api.selector_text import parse_selector
    from topospread.drill.interruption import Interrupted
    from topospread.rebalance.rebalance import rebalance as plan_of_evictions

    try:
        with progress("rebalancing") as bar:
            found = plan_of_evictions(
                inventory,
                options,
                targets=given["targets"],
                namespace=shown_namespace(given),
                selector=None if given["selector"] is None else parse_selector(given["selector"]),
                max_skew=given["max_skew"],
                seconds=given["seconds"],
                allow_empty=given["allow_empty"],
                progress=bar,
            )
    except Interrupted as interrupted:
        return interrupted.finished, True
    return found, False


def _applied(given: dict[str, Any], found: Rebalance, inventory: Inventory) -> tuple[Applied, bool]:
    """Evict the pods, and print each on stderr. Return the evictions, and whether they were interrupted."""
    import asyncio

    from topospread.drill.interruption import Interrupted
    from topospread.live.client import ApiClient
    from topospread.rebalance.applying import apply_moves
    from topospread.rebalance.result import Applied, AppliedMove

    labels = {each.name: each.labels for each in inventory.nodes}

    over: list[AppliedMove] = []

    def told(done: AppliedMove) -> None:
        over.append(done)
        move = done.move
        words = f"evicted {move.namespace}/{move.name} on {move.node}; {done.created} is on {done.node}"
        click.echo(one_line(words), err=True)

    async def evict() -> Applied:
        async with ApiClient(await read_access(given).connect()) as client:
            where = lambda node, key: labels.get(node, {}).get(key, "")  # noqa: E731 - passed on once
            return await apply_moves(client, found, where, given["timeout"], told)

    try:
        applied = asyncio.run(evict())
    except Interrupted as interrupted:
        return interrupted.finished, True
    except KeyboardInterrupt:  # before the first eviction, or a second Ctrl-C
        return Applied(over, partial=f"ended in eviction {len(over) + 1} of {len(found.moves)}"), True
    return applied, False
