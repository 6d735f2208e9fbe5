"""``topospread completion``: print the shell's completion script, and answer kubectl's completion requests."""

from __future__ import annotations

import sys

import click
from click.shell_completion import ShellComplete, get_completion_class

from .usage import EXITS_WORKED, VARIABLE, Explained

HELP = """\
Print the shell script that completes commands and options of topospread.

\b
Examples:
  source <(topospread completion bash)
  topospread completion zsh > "${fpath[1]}/_topospread"
  topospread completion fish > ~/.config/fish/completions/topospread.fish

The kubectl plugin needs no script: kubectl's own completion calls kubectl_complete-topospread.
"""

_FILES = ":0"
_NO_FILES = ":4"
"""The cobra directive on the last line of completions that forbids file names."""


@click.command(cls=Explained, help=HELP, exits=EXITS_WORKED)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the completion script."""
    from .main import topospread

    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(topospread, {}, "topospread", VARIABLE)
    # made.source() would run the shell to find its version.
    click.echo(made.source_template % made.source_vars())
    return 0


def kubectl_complete() -> None:
    """Answer kubectl's completion request: the words after ``kubectl topospread``, the incomplete word last."""
    from .main import topospread

    words = sys.argv[1:] or [""]
    found = ShellComplete(topospread, {}, "kubectl topospread", VARIABLE).get_completions(words[:-1], words[-1])
    lines = [f"{each.value}\t{each.help}" if each.help else str(each.value) for each in found if each.type == "plain"]
    click.echo("\n".join([*lines, _FILES if len(lines) < len(found) else _NO_FILES]))
