"""``topospread fields``: the documentation of spread constraints, field by field, as ``kubectl explain`` shows it."""

from __future__ import annotations

import click

from .terminal import width
from .usage import Explained

HELP = """\
Explain topologySpreadConstraints and its fields, as kubectl explain does, without a cluster.

\b
Examples:
  topospread fields
  topospread fields topologySpreadConstraints.minDomains
  topospread fields pod.spec.topologySpreadConstraints.labelSelector
"""


def _paths_from(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """What a shell may complete a path to."""
    from topospread.api.fields import paths

    return [path for path in paths() if path.startswith(incomplete)]


@click.command(cls=Explained, help=HELP)
@click.argument("field", default="", metavar="[FIELD]", shell_complete=_paths_from)
def fields(field: str) -> int:
    """Print the documentation of a field."""
    from topospread.api.fields import explain

    click.echo(explain(field, width=width()), nl=False)
    return 0
