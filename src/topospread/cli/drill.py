"""``topospread drill``: simulate node failures, drains, recoveries and scaling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from topospread.controllers.scale import in_namespace
from topospread.errors import UsageError
from topospread.whole_number import whole_number

from . import drill_many
from .inputs import (
    PATH,
    POOLS,
    asked_traffic,
    expected_traffic,
    input_options,
    namespace_options,
    read_inventory,
    read_options,
    shown_namespace,
    traffic_options,
)
from .live_options import access_options
from .object_names import nodes
from .output import check_outputs, output_options, prints_page, wants, write_answer
from .report_file import ReportWish, check_html, html_text, page_options
from .saved import check_saved, saved_option, write_saved
from .terminal import progress, warn
from .usage import Explained

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.drill.result import Drill
    from topospread.drill.steps import Step
    from topospread.rebalance.result import Rebalance
    from topospread.simulation.options import SimulationOptions

HELP = """\
Simulate failures and changes in steps, each until nothing changes any more.

NODES: KEY=VALUE, or node=, zone=, region=, pool=; several: zone=a,pool=x.

\b
Examples:
  topospread drill --fail zone=eu-west-1a --add-nodes 2 --like node-b1
  topospread drill --on cluster.json.gz --each zone
  topospread drill --check -f drills/ -o junit
"""

_NODES = "NODES"
_NODE_STEPS = "Apply to these nodes."
_SHARING = "Divide the drills of --each and --check."
_ADDING = "Add N nodes: --like NODE --zone ZONE."
_STEPS = (
    "fail",
    "recover",
    "cordon",
    "uncordon",
    "drain",
    "force-drain",
    "scale",
    "scale-down",
    "autoscale",
    "rollout",
    "wait",
    "add-nodes",
    "like",
    "zone",
    "apply",
)
"""Options that are steps of a drill. Their order on the command line matters."""


class _InOrder(Explained):
    """A command that stores the order of its steps in ``Context.meta``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Store the order of the steps and parse the options."""
        until = args.index("--") if "--" in args else len(args)
        given = (each.partition("=")[0] for each in args[:until] if each.startswith("--"))
        ctx.meta[__name__] = [name[2:] for name in given if name[2:] in _STEPS]
        return super().parse_args(ctx, args)


def _step(name: str, metavar: str, text: str) -> Callable[[Any], Any]:
    completed = nodes if metavar == _NODES else None
    return click.option(f"--{name}", multiple=True, metavar=metavar, help=text, shell_complete=completed)


@click.command(cls=_InOrder, help=HELP, own=("--scale", "--autoscale"))
@input_options
@access_options
@_step("fail", _NODES, _NODE_STEPS)
@_step("recover", _NODES, _NODE_STEPS)
@_step("cordon", _NODES, _NODE_STEPS)
@_step("uncordon", _NODES, _NODE_STEPS)
@_step("drain", _NODES, _NODE_STEPS)
@_step("force-drain", _NODES, "Drain despite budgets and missing controllers.")
@_step("scale", "KIND/NAME=N", "Set the replicas; --scale-down only fewer.")
@_step("scale-down", "KIND/NAME=N", "Set the replicas; --scale-down only fewer.")
@_step("autoscale", "hpa/NAME", "Scale from the HPA's minimum to its maximum.")
@_step("rollout", "KIND/NAME[=FILE]", "Roll out, unchanged or as in FILE.")
@_step("wait", "DURATION", "Wait this long before the next step, such as 5m.")
@_step("add-nodes", "N", _ADDING)
@_step("like", "NODE", _ADDING)
@_step("zone", "ZONE", _ADDING)
@click.option("--apply", multiple=True, metavar="FILE", type=PATH, help="Apply the manifests of this file.")
@click.option("--check", is_flag=True, help="Run the Drill files of -f and check expectations.")
@click.option("--each", type=click.Choice(["zone", "node", "deploy"]), help="Run one drill per zone, node or rollout.")
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help=_SHARING)
@click.option("--shard", metavar="INDEX/NUMBER", help=_SHARING)
@click.option("--merge", is_flag=True, help="Merge the JSON files of all shards, given with -f.")
@click.option("--dask", metavar="ADDRESS", help=_SHARING)
@click.option(
    "--runs", type=click.IntRange(min=1), metavar="N", help="Run N times with random choices (1; rollouts: 8)."
)
@click.option("--fallback", is_flag=True, help="Also simulate hard constraints as soft after a loss.")
@POOLS
@traffic_options
@page_options
@saved_option("Write the cluster after the steps as a snapshot.")
@click.option("--seed", type=int, metavar="N", help="Seed of the choice between nodes with equal scores.")
@click.option("--no-preemption", is_flag=True, help="Never preempt pods of lower priority.")
@namespace_options("Scale and judge workloads of")
@output_options("junit", "github")
@click.pass_context
def drill(context: click.Context, /, **given: Any) -> int:
    """Run the drill. Return 1 if pods are pending at the end, a budget is violated, or a drain leaves pods."""
    steps = read_steps(context.meta[__name__], given)
    check_outputs(given)
    check_html(given)
    check_saved(given["save"])
    asking = asked_traffic(given)
    if given["check"]:
        return drill_many.check(given, steps)
    _check_beside(given, steps)
    if given["merge"]:
        return drill_many.merge(given)
    options = read_options(given)
    from topospread.drill.steps import Apply
    from topospread.sources.needed_kinds import ALL, PLACEMENT

    # Objects in files that a step applies are not known yet.
    needed = ALL if any(isinstance(each, Apply) for each in steps) else PLACEMENT
    inventory = read_inventory(given, by=[options], needed=needed)
    if given["each"]:
        return drill_many.each(given, inventory, options)
    found, interrupted = _played(given, inventory, steps, options)
    if found.partial and given["save"]:
        warn([f"--save {given['save']}: not written, as the drill was ended before its end"])
    else:
        write_saved(found.steps[-1].after, given, options)
    moved = [told for each in found.steps if (told := expected_traffic(each.after, asking, options)) is not None]
    from topospread.answers.asked import about
    from topospread.answers.drill import drill_answer

    try:
        mending = _mending(found, given, options)
        answer = drill_answer(found, moved, mending, shown_namespace(given))
    except KeyboardInterrupt:
        answer = drill_answer(
            replace(found, partial="ended while fixes were tried"), moved, namespace=shown_namespace(given)
        )
        interrupted = True
    if not prints_page(given):
        warn(answer.warnings)
    wish = ReportWish(inventory, options, steps)
    code = write_answer(about(answer, inventory, options), given, {"html": lambda: html_text(given, wish)})
    return drill_many.INTERRUPTED if interrupted else code


def _check_beside(given: dict[str, Any], steps: list[Step]) -> None:
    """Raise UsageError if there is no step, or options cannot be combined."""
    if not given["merge"]:
        drill_many.check_formats(given)
    if given["merge"]:
        plays = ("each", "shard", "dask", "workers", "traffic", "save")
        beside = [f"--{name}" for name in plays if given[name]]
        if steps or beside:
            raise UsageError(f"--merge cannot be combined with {(beside or ['a step'])[0]}: it runs no drill")
        return
    if given["each"] and steps:
        raise UsageError(
            "--each cannot be combined with step options; run these with --save FILE, then --each --on FILE"
        )
    if given["each"] and wants(given, "html", "svg"):
        raise UsageError("-o html and -o svg cannot be combined with --each: they show the steps of one drill")
    if given["save"] and given["each"]:
        raise UsageError("--save cannot be combined with --each")
    if given["traffic"] and given["each"]:
        raise UsageError("--traffic cannot be combined with --each")
    if given["fallback"] and (given["each"] or given["merge"]):
        raise UsageError("--fallback cannot be combined with --each or --merge")
    for name in ("workers", "shard", "dask"):
        if given[name] and not given["each"]:
            raise UsageError(f"--{name} requires --each or --check")
    drill_many.check_sharing(given)
    if not steps and not given["each"]:
        raise UsageError("give at least one step, for example --fail zone=eu-west-1a or --drain node=node-1")


def _played(
    given: dict[str, Any], inventory: Inventory, steps: list[Step], options: SimulationOptions
) -> tuple[Drill, bool]:
    """Return the drill, and whether it was interrupted."""
    from topospread.drill.drill import drill as run
    from topospread.drill.interruption import Interrupted

    try:
        with progress("drilling") as bar:
            found = run(
                inventory,
                steps,
                options,
                namespace=given["namespace"],
                runs=given["runs"],
                keep_after=_keeps_after(given, inventory),
                fallback=given["fallback"],
                progress=bar,
            )
    except Interrupted as interrupted:
        return interrupted.finished, True
    return found, False


def _keeps_after(given: dict[str, Any], inventory: Inventory) -> bool:
    """Return whether output is requested that needs the cluster after each step."""
    if given["traffic"] or given["save"]:
        return True
    from topospread.rebalance.at_once import is_cheap

    return prints_page(given) and is_cheap(inventory)


def read_steps(order: list[str], given: dict[str, Any]) -> list[Step]:
    """Return the steps in command-line order. Raise UsageError if a step is malformed or --add-nodes lacks --like."""
    values = {name: iter(given[name.replace("-", "_")]) for name in _STEPS}
    words = iter([(name, next(values[name])) for name in order])
    return list(_steps(list(words), given["namespace"]))


def _steps(words: list[tuple[str, str]], namespace: str | None) -> Iterator[Step]:
    from topospread.drill import steps

    while words:
        name, value = words.pop(0)
        option = f"--{name}"
        if name in steps.NODE_STEPS:
            yield steps.NODE_STEPS[name](
                steps.NodeChoice("", value) if value and "=" not in value else steps.read_choice(value, option)
            )
        elif name in ("scale", "scale-down"):
            read = steps.read_scale if name == "scale" else steps.read_scale_down
            yield read(in_namespace(value, namespace), option)
        elif name == "autoscale":
            yield steps.read_autoscale(in_namespace(value, namespace), option)
        elif name == "rollout":
            target, *path = value.split("=", 1)
            yield steps.read_rollout("=".join([in_namespace(target, namespace), *path]), option)
        elif name == "wait":
            yield steps.read_wait(value, option)
        elif name == "apply":
            yield steps.Apply(value)
        elif name == "add-nodes":
            yield _add_nodes(value, words)
        else:
            raise UsageError(f"{option} {value} must follow --add-nodes N")


def _add_nodes(number: str, words: list[tuple[str, str]]) -> Step:
    from topospread.drill.steps import AddNodes

    said: dict[str, str] = {}
    while words and words[0][0] in ("like", "zone") and words[0][0] not in said:
        said.update([words.pop(0)])
    count = whole_number(number)
    if count is None or not 0 < count <= 100_000:
        raise UsageError(f"--add-nodes must be a number from 1 to 100000, got {number}")
    if "like" not in said:
        raise UsageError(f"--add-nodes {number} requires --like NODE after it")
    return AddNodes(count, said["like"], said.get("zone", ""))


def _mending(found: Drill, given: dict[str, Any], options: SimulationOptions) -> Rebalance | None:
    """Return evictions that remove the remaining skew, if the output shows them."""
    after = found.steps[-1].after
    if after is None or not prints_page(given) or found.pending or not any(each.is_skewed for each in found.workloads):
        return None
    from topospread.rebalance.at_once import moves_at_once

    mending = moves_at_once(after, options, given["namespace"])
    return mending if mending is not None and mending.mends_all else None
