"""The option ``--save FILE``: write the resulting cluster as a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import UsageError
from topospread.text import one_line

from .anonymous_options import read_salt
from .inputs import PATH

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.simulation.options import SimulationOptions


def saved_option(text: str) -> Callable[[Any], Any]:
    """Return the option's decorator."""
    return click.option("--save", metavar="FILE", type=PATH, help=text)


def check_saved(path: str | None) -> None:
    """Check before any work that --save can write its file.

    Raises:
        UsageError: if the name is ``-``, or its ending is not that of a snapshot.
        InputError: if the folder does not exist, or the path is a folder.
    """
    from topospread.sources.snapshot_file import STANDARD_OUTPUT, check_path

    if path is None:
        return
    if path == STANDARD_OUTPUT:
        raise UsageError("--save requires a file: standard output has the report")
    check_path(path)


def write_saved(inventory: Inventory | None, given: Mapping[str, Any], options: SimulationOptions) -> None:
    """Write the resulting cluster to the file of ``--save``, and a summary to stderr."""
    path = given["save"]
    if path is None or inventory is None:
        return
    if given["anonymous"]:
        from topospread.sources.anonymous import anonymous

        inventory = anonymous(inventory, read_salt(given))
    from topospread.answers.words import counted
    from topospread.sources.snapshot_file import save

    facts = save(inventory, path, kube_version=options.kube_version, hashed=given["anonymous"])
    others = sum(facts.counts.values()) - facts.counts["Node"] - facts.counts["Pod"]
    nodes, pods = counted(facts.counts["Node"], "node"), counted(facts.counts["Pod"], "pod")
    click.echo(f"{one_line(path)}: {nodes}, {pods} and {counted(others, 'other object')}", err=True)
