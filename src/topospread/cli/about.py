"""``topospread`` alone, ``topospread help`` and ``topospread version``."""

from __future__ import annotations

import click

from topospread.version import __version__

from .live_options import current_context
from .usage import EXITS_WORKED, Explained

_START = """\
Where Kubernetes pods land, and why.
  {name} status            pending pods, skewed workloads, the first fix
  {name} why deploy/web    why it is pending, or why it has its node
  {name} plan main HEAD    what a change makes worse, before it is merged
  {name} promise show      pods of each workload after a zone or node loss
  {name} serve             the cluster as a web page
{asked}
All: {name} --help"""

HELP = """\
Show the help of a command.

\b
Examples:
  topospread help
  topospread help why
  topospread help promise show
"""
VERSION = """\
Show the version.

\b
Examples:
  topospread version
"""


def start_page(name: str) -> str:
    """Return the page for the command without arguments. No API server is contacted."""
    context = current_context()
    read = (
        f'All except plan read the context "{context}"; for another cluster add'
        if context
        else "No kubeconfig found; add"
    )
    asked = f"{read} --on FILE or --on zones=3,nodes=12."
    return _START.format(name=name, asked=asked)


@click.command("help", cls=Explained, exits=EXITS_WORKED, help=HELP)
@click.argument("command", nargs=-1)
@click.pass_context
def help_(context: click.Context, command: tuple[str, ...]) -> None:
    """Print the help of a command."""
    inner = context.find_root()
    for word in command:
        group = inner.command
        if not isinstance(group, click.Group):
            break
        _, found, _ = group.resolve_command(inner, [word])
        if found is not None:
            inner = click.Context(found, info_name=word, parent=inner, **found.context_settings)
    click.echo(inner.get_help())


@click.command(cls=Explained, exits=EXITS_WORKED, help=VERSION)
def version() -> None:
    """Print the version."""
    click.echo(f"topospread {__version__}")
