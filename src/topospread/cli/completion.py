"""``topospread completion``: the script that makes a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

HELP = """\
Print the script that makes a shell complete topospread's commands and options.

\b
Examples:
  source <(topospread completion bash)
  topospread completion zsh > "${fpath[1]}/_topospread"
  topospread completion fish > ~/.config/fish/completions/topospread.fish
"""


@click.command(help=HELP)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the completion script."""
    from .main import topospread

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(topospread, {}, "topospread", "_TOPOSPREAD_COMPLETE").source())
    return 0
