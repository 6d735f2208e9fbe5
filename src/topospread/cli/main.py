"""The command ``topospread`` (and the kubectl plugin of the same name): finds its subcommand, turns errors into words.

Subcommands are imported when they are used, so that ``--help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from topospread.version import __version__

COMMANDS = {
    "simulate": ("topospread.cli.simulate:simulate", "Where will my pods land?"),
    "config": ("topospread.cli.config:config", "Check, convert and show scheduler configurations."),
    "fields": ("topospread.cli.fields:fields", "Explain the fields of topologySpreadConstraints."),
    "completion": ("topospread.cli.completion:completion", "Print the completion script of a shell."),
}
"""Name → where the command is, and what it answers."""

ABOUT = """\
Kubernetes topology spread, decided exactly as kube-scheduler decides it, and explained.

\b
  topospread simulate nodes.yaml app.yaml           where will my pods land?
  topospread simulate app.yaml --cluster zones=3,nodes=12,cpu=8,memory=32Gi
  kubectl get nodes,pods,deploy,rs,sts,svc -A -o json | topospread simulate - app.yaml
  topospread fields topologySpreadConstraints.minDomains

Exit codes: 0 the answer is yes, 1 the answer is no (pods stay pending), 2 bad input or usage.
"""

INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, ``None`` when there is none."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a misspelt one is answered with the nearest."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Is {close[0]!r} meant?" if close else f" There are: {', '.join(COMMANDS)}."
            ctx.fail(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.command(
    cls=LazyGroup, help=ABOUT, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, message="topospread %(version)s")
@click.pass_context
def topospread(ctx: click.Context) -> None:
    """Explain itself when no command is given."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Run a command; errors become one line on stderr and exit code 2."""
    from topospread.errors import TopospreadError

    try:
        code = _run()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = INTERRUPTED
    except TopospreadError as error:
        click.echo(f"error: {error}", err=True)
        code = 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)


def _run() -> int:
    result: Any = topospread(prog_name=program_name(), standalone_mode=False)
    sys.stdout.flush()
    return result if isinstance(result, int) else 0


def program_name() -> str:
    """What the user typed: ``topospread``, or ``kubectl topospread``."""
    name = os.path.basename(sys.argv[0])
    return "kubectl topospread" if name.startswith("kubectl-") else "topospread"
