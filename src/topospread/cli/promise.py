"""``topospread promise``: show, check or design what workloads keep after the loss of a zone or a node."""

from __future__ import annotations

import click

from .usage import LazyGroup

HELP = """\
Show, check or design the number of pods that a workload keeps after a zone or node loss, in a drain or in a rollout.

\b
Examples:
  topospread promise show deploy/web --on cluster.json.gz
  topospread promise check -f app.yaml --on zones=3,nodes=6 --want never-waits
  topospread promise design deploy/web --on cluster.json.gz --want "zone-loss>=4"
"""
COMMANDS = {
    "show": ("topospread.cli.promise_show:show_promises", "Show how many pods each loss leaves"),
    "check": ("topospread.cli.promise_check:check", "Check promises for every order of pods"),
    "design": ("topospread.cli.promise_design:design_promises", "Find constraints that keep a promise"),
}


@click.group(cls=LazyGroup, table=COMMANDS, help=HELP)
def promise() -> None:
    """The command group ``promise``."""
