"""``--save FILE`` of commands that leave a cluster: whether it can be written, and writing it as a snapshot."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import UsageError

from .inputs import PATH

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.workloads.control_plane import ControlPlane


def saved_option(text: str) -> Callable[[Any], Any]:
    """The option, with its help."""
    return click.option("--save", metavar="FILE", type=PATH, help=text)


def check_saved(path: str | None) -> None:
    """Whether a cluster could be saved there, before there is one.

    Raises:
        UsageError: it could not.
        InputError: there is no such folder.
    """
    from topospread.sources.snapshot_file import STANDARD_OUTPUT, check_path

    if path is None:
        return
    if path == STANDARD_OUTPUT:
        raise UsageError("--save names a file: the report goes to standard output")
    check_path(path)


def write_saved(inventory: Inventory | None, path: str | None, by: ControlPlane) -> None:
    """Write what is there, where that was asked for and there is something, and say on stderr how much it is."""
    if path is None or inventory is None:
        return
    from topospread.report.paragraphs import counted
    from topospread.sources.snapshot_save import save

    facts = save(inventory, path, kube_version=str(by.scheduler.kube_version))
    others = sum(facts.counts.values()) - facts.counts["Node"] - facts.counts["Pod"]
    nodes, pods = counted(facts.counts["Node"], "node"), counted(facts.counts["Pod"], "pod")
    click.echo(f"{path}: {nodes}, {pods} and {counted(others, 'other object')}", err=True)
