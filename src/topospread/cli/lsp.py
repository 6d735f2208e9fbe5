"""``topospread lsp``: a language server that shows lint findings in an editor."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from .usage import EXITS_WORKED, Explained

if TYPE_CHECKING:
    from topospread.lint.reading import Question

HELP = """\
Answer an editor over standard input and output (Language Server Protocol): the findings of lint and their fixes while
a manifest is typed, explanations of fields, and topology keys of the cluster.

The folder that the editor has open is the working directory, and its project file sets what `topospread lint` would
read there. Charts and kustomizations are not rendered.

\b
Examples:
  topospread lsp
"""


@click.command(cls=Explained, help=HELP, exits=EXITS_WORKED)
@click.option("--stdio", is_flag=True, expose_value=False, help="The default, which some editors name.")
def lsp() -> int:
    """Serve until the editor ends it."""
    from topospread.extras import require

    require("lsp")
    from topospread.lsp.server import Server

    # pygls closes its output file, but the command writes to standard output at its end: use a duplicate.
    with open(os.dup(sys.stdout.fileno()), "wb") as out:
        Server(_asked).start_io(stdout=out)
    return 0


def _asked() -> Question:
    """Return the lint options of the working directory."""
    from .lint import lint, question_of

    with lint.make_context("lint", []) as context:
        return question_of(context.params)
