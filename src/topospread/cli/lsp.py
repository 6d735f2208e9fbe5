"""``topospread lsp``: a language server that shows lint findings in an editor."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from .absolute_environment import restart_without_relative_paths
from .usage import EXITS_WORKED, Explained

if TYPE_CHECKING:
    from topospread.lint.reading import Question

HELP = """\
Run a language server (LSP) for an editor on standard input and output. While you type a manifest, it shows lint
findings and fixes, explains fields, and completes topology keys of the cluster.

The editor's open folder is the working directory. Its project file applies, as for `topospread lint`.
Charts and kustomizations are not rendered.

\b
Examples:
  topospread lsp
"""


@click.command(cls=Explained, help=HELP, exits=EXITS_WORKED)
@click.option("--stdio", is_flag=True, expose_value=False, help="Use standard input and output (default).")
def lsp() -> int:
    """Serve until the editor ends it."""
    from topospread.extras import require

    require("lsp")
    restart_without_relative_paths()
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
