"""``topospread promise``: show, check or design what workloads keep after the loss of a zone or a node."""

from __future__ import annotations

import click

from .usage import LazyGroup

HELP = """\
Say what the loss of a zone, of a node, a drain or a rollout leaves of a workload.

\b
Examples:
  topospread promise show deploy/web --on cluster.json.gz
  topospread promise check -f app.yaml --on zones=3,nodes=6 --want never-waits
  topospread promise design deploy/web --on cluster.json.gz --want "zone-loss>=4"
"""
COMMANDS = {
    "show": ("topospread.cli.promise_show:show_promises", "What does each loss leave of a workload?"),
    "check": ("topospread.cli.promise_check:check", "Are promises kept, whatever the order of pods?"),
    "design": ("topospread.cli.promise_design:design_promises", "Which constraints keep a promise?"),
}


@click.group(cls=LazyGroup, table=COMMANDS, help=HELP)
def promise() -> None:
    """The command group ``promise``."""
