"""``topospread promise design``: constraints that keep what is wanted of workloads, as YAML."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import InputError
from topospread.sources.atomic_file import write_file
from topospread.text import escape_all

from .inputs import PATH, POOLS, input_options, read_inventory, read_options
from .output import check_outputs, output_options, write_answer
from .targets import target_argument
from .terminal import progress
from .usage import Explained

if TYPE_CHECKING:
    from topospread.answers.promise_design import PromiseDesign

HELP = """\
Search for the fewest constraints that keep what is wanted of a Deployment or StatefulSet.

Every design is checked in drills and over all orders of pods. What is not needed is left out. Without --want, the loss
of a zone may take its share of the pods only. Without TARGET, all workloads of two pods or more are designed for.

\b
Examples:
  topospread promise design deploy/web -f app.yaml --on zones=3,nodes=6 --want "zone-loss>=4" --of 6
  topospread promise design deploy/web --on cluster.json.gz --want "zone-loss>=66% node-loss>=5" --out patches
  topospread promise design deploy/web --on cluster.json.gz --lose-node-unnoticed -o json
"""


@click.command("design", cls=Explained, help=HELP)
@target_argument(required=False)
@input_options
@click.option("--want", default="", metavar="PROMISES", help="zone-loss>=N, node-loss>=N or %, quorum.")
@click.option("--survive", multiple=True, metavar="zone|node|KEY", help="Topology key whose domains may be lost.")
@click.option("--left", multiple=True, type=int, metavar="COUNT", help="Pods to be left; one for each --survive.")
@click.option("--of", "replicas", type=click.IntRange(min=1), metavar="COUNT", help="Replicas [default: as it says].")
@click.option("--lose-node-unnoticed", "unnoticed", is_flag=True, help="A node takes one pod, which comes back.")
@click.option("--tries", type=click.IntRange(min=1), default=60, show_default=True, metavar="COUNT",
              help="Designs to check.")  # fmt: skip
@click.option("--states", type=click.IntRange(min=1), default=5_000, show_default=True, metavar="COUNT",
              help="States to search for each design.")  # fmt: skip
@POOLS
@click.option("--out", metavar="DIR", type=PATH, help="Write the YAML of each workload into this folder.")
@click.option("-n", "--namespace", metavar="NAMESPACE", help="Namespace of TARGET and objects that name none.")
@output_options()
def design_promises(**given: Any) -> int:
    """Write the answer and the files; return the verdict's exit code."""
    check_outputs(given)
    options = read_options(given)
    inventory = read_inventory(given, by=[options])
    from topospread.answers.promise_design import promise_design

    with progress("designing") as bar:
        found = promise_design(
            inventory,
            given["targets"],
            options,
            want=given["want"],
            survive=given["survive"],
            left=given["left"],
            replicas=given["replicas"],
            unnoticed=given["unnoticed"],
            namespace=given["namespace"],
            tries=given["tries"],
            states=given["states"],
            progress=bar,
        )
    if given["out"]:
        _write_files(found, given["out"])
    return write_answer(found, given)


def _write_files(found: PromiseDesign, folder: str) -> None:
    """Write one file for each workload that gets lines.

    Raises:
        InputError: if the folder or a file cannot be written.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from None
    for each in found.workloads:
        if each.manifest:
            write_file(os.path.join(folder, each.file), escape_all(each.manifest))
