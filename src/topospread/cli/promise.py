"""``topospread promise``: what the loss of a zone or a node leaves of a workload: shown, checked, designed."""

from __future__ import annotations

import click

from .usage import LazyGroup

HELP = """\
Say what the loss of a zone, of a node, a drain or a rollout leaves of a workload.

\b
Examples:
  topospread promise show deploy/web --on cluster.json.gz
  topospread promise check -f app.yaml --on zones=3,nodes=6 --want never-waits
  topospread promise design deploy/web --on cluster.json.gz --survive zone --left 4
"""
COMMANDS = {
    "show": ("topospread.cli.promise_show:show_promises", "What do a workload's constraints promise here?"),
    "check": ("topospread.cli.promise_check:check", "What holds in every order, whatever is drawn?"),
    "design": ("topospread.cli.promise_design:design", "Which constraints promise what I want?"),
}


@click.group(cls=LazyGroup, table=COMMANDS, help=HELP)
def promise() -> None:
    """Hold the subcommands."""
