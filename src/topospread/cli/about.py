"""``topospread`` alone, ``topospread help`` and ``topospread version``."""

from __future__ import annotations

import click

from topospread.version import __version__

from .live_options import current_context
from .usage import EXITS_WORKED, Explained

_START = """\
Where Kubernetes pods land, and why.
  {name} status            what waits or is skewed, and the first fix
  {name} why deploy/web    why it waits, or why it is there
  {name} plan main HEAD    what a change makes worse, before it is merged
  {name} promise show      what losing a zone or node leaves of each
  {name} serve             the same as a page
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
    others = "--on FILE or --on zones=3,nodes=12 asks others."
    asked = f'It would ask the context "{context}"; {others}' if context else f"No kubeconfig was found; {others}"
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
