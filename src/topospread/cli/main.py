"""The command ``topospread`` (and the kubectl plugin of the same name): finds its subcommand, turns errors into words.

Subcommands are imported when they are used, so that ``--help`` answers at once.
"""

from __future__ import annotations

import gc
import os
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
from click.shell_completion import shell_complete

from topospread.errors import TopospreadError, UsageError
from topospread.text import message_lines, one_line
from topospread.version import __version__

from .terminal import OutputError, safe_output
from .usage import VARIABLE, ExplainedGroup

COMMANDS = {
    "simulate": ("topospread.cli.simulate:simulate", "Where will my pods land?"),
    "explain": ("topospread.cli.explain:explain", "Why is this pod pending, or why there?"),
    "lint": ("topospread.cli.lint:lint", "Is this manifest right?"),
    "rules": ("topospread.cli.rules:rules", "List what lint looks for."),
    "plan": ("topospread.cli.plan:plan", "What does this change of manifests do?"),
    "status": ("topospread.cli.status:status", "What is skewed now, and what is at risk?"),
    "drill": ("topospread.cli.drill:drill", "What happens when a zone fails, a node is drained, …?"),
    "capacity": ("topospread.cli.capacity:capacity", "How many more replicas fit, and what ends it?"),
    "rebalance": ("topospread.cli.rebalance:rebalance", "Which few evictions mend what is skewed?"),
    "guarantee": ("topospread.cli.guarantee:guarantee", "What holds in every order, whatever is drawn?"),
    "serve": ("topospread.cli.serve:serve", "Show a page to look at the cluster and to try by hand."),
    "describe": ("topospread.cli.describe:describe", "What do a workload's constraints promise here?"),
    "design": ("topospread.cli.design:design", "Which constraints promise what I want?"),
    "replay": ("topospread.cli.replay:replay", "What happened, and which change of a node began it?"),
    "dump": ("topospread.cli.dump:dump", "Write a snapshot of the cluster that kubectl points at."),
    "export": ("topospread.cli.export:export", "Serve how pods are spread as metrics for Prometheus."),
    "scheduler": ("topospread.cli.scheduler:scheduler", "Schedule the pods of a real cluster."),
    "webhook": ("topospread.cli.webhook:webhook", "Answer the API server when objects are created."),
    "extender": ("topospread.cli.extender:extender", "Spread as kube-scheduler does not by itself."),
    "config": ("topospread.cli.config:config", "Check, convert and show scheduler configurations."),
    "fields": ("topospread.cli.fields:fields", "Explain the fields of topologySpreadConstraints."),
    "completion": ("topospread.cli.completion:completion", "Print the completion script of a shell."),
}
"""Name → where the command is, and what it answers."""
_IN_A_CLUSTER = ("scheduler", "extender", "export", "webhook")
_BESIDE = ("rules", "fields", "config", "completion")
"""Commands that share a line of the help each, so that all fit a screen."""

ABOUT = """\
\b
Kubernetes topology spread, decided as kube-scheduler decides it, explained.
  topospread simulate app.yaml --cluster zones=3,nodes=12,cpu=8,memory=32Gi
Exit codes: 0 yes, 1 no, 2 bad input, 4 unknown. COMMAND --help says more.
"""

BAD_INPUT = 2
FAULT = 3
INTERRUPTED = 130
PIPE_CLOSED = 141
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Modules and what is read stay until a command ends: looking for garbage as often as Python does is a twentieth of
a short command. What runs on is left as it is."""
_RUN_ON = ("scheduler", "extender", "serve", "export", "webhook")
DEBUG = "TOPOSPREAD_DEBUG"
"""Environment variable that makes a fault show its traceback."""


class LazyGroup(ExplainedGroup):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, ``None`` when there is none."""
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in _RUN_ON:
            gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
        where, about = COMMANDS[cmd_name]
        module, _, name = where.partition(":")
        command: click.Command = getattr(import_module(module), name)
        command.short_help = about
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands alone, so that all fit a screen: the few options stand above."""
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            rows = [(name, about) for name, (_, about) in COMMANDS.items() if name not in (*_IN_A_CLUSTER, *_BESIDE)]
            formatter.write_dl(rows)
            formatter.write_text(f"{', '.join(_IN_A_CLUSTER)}: what runs in a cluster.")
            formatter.write_text(f"{', '.join(_BESIDE)}, each with its own --help.")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a misspelt one is answered with the nearest."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(COMMANDS)}"
            ctx.fail(f"there is no command '{args[0]}'; {hint}")
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
    """Run a command; whatever goes wrong becomes a line on stderr and an exit code, never a traceback."""
    # Nothing here multiplies matrices, and numpy's library would start threads for that: a tenth of a short command.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with safe_output():
        code = _exit_code()
    sys.exit(code)


def _exit_code() -> int:
    try:
        code = _run()
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        code = exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = _say("interrupted", INTERRUPTED)
    except click.ClickException as error:
        code = _say(f"error: {_usage(error)}", BAD_INPUT)
    except TopospreadError as error:
        code = _say(f"error: {message_lines(str(error))}", BAD_INPUT)
    except BrokenPipeError:
        _discard_output()
        code = PIPE_CLOSED
    except OutputError as error:
        _discard_output()
        code = _fault(error, f"the output cannot be written: {error.strerror}")
    except OSError as error:
        code = _fault(error, _failed(error))
    except Exception as error:
        what = one_line(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
        code = _fault(error, f"a fault of topospread, not of what it was given ({what}); {DEBUG}=1 shows where")
    return code


def _run() -> int:
    """Answer a shell that completes, or run the command that was typed.

    Not click's own ``main``: it answers a closed pipe with exit code 1, which is an answer here.
    """
    name = program_name()
    asked = os.environ.get(VARIABLE)
    if asked:
        return shell_complete(topospread, {}, name, VARIABLE, asked)
    _refuse_files_as_options(sys.argv[1:])
    with topospread.make_context(name, sys.argv[1:]) as context:
        result: Any = topospread.invoke(context)
    return result if isinstance(result, int) else 0


def _discard_output() -> None:
    """Nobody takes the output: what is left in buffers goes nowhere, or Python would try once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: click.ClickException) -> str:
    message = message_lines(error.format_message())
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message}\nTry '{context.command_path} --help'." if context else message


def _failed(error: OSError) -> str:
    """Return what the operating system refused, and for which file or program."""
    names = [one_line(os.fsdecode(each)) for each in (error.filename, error.filename2) if isinstance(each, str | bytes)]
    why = error.strerror or one_line(str(error)) or type(error).__name__
    return f"{': '.join([*names, why])}; {DEBUG}=1 shows where"


def _fault(error: Exception, words: str) -> int:
    if os.environ.get(DEBUG):
        import traceback

        traceback.print_exception(error)
    return _say(f"error: {words}", FAULT)


def _say(text: str, code: int) -> int:
    click.echo(text, err=True)
    return code


def _refuse_files_as_options(words: list[str]) -> None:
    """Refuse an option that is also the name of a file here, unless ``--`` separates options from paths.

    A shell's ``*`` and programs such as pre-commit pass the names of files, and anybody may add a file ``--fix``.

    Raises:
        UsageError: if an option is a file, too.
    """
    for word in words[: words.index("--")] if "--" in words else words:
        if word.startswith("-") and word != "-" and os.path.lexists(word):
            from topospread.sources.text import shown_path

            raise UsageError(f"{shown_path(word)} is an option and a file here; write -- before paths")


def program_name() -> str:
    """What the user typed: ``topospread``, or ``kubectl topospread``."""
    name = os.path.basename(sys.argv[0])
    return "kubectl topospread" if name.startswith("kubectl-") else "topospread"
