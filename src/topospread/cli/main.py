"""The command ``topospread`` (and the kubectl plugin of the same name): runs subcommands and prints errors.

Subcommands are imported on demand to keep ``--help`` fast.
"""

from __future__ import annotations

import gc
import os
import sys
from itertools import zip_longest
from typing import Any

import click
from click.shell_completion import shell_complete

from topospread.errors import TopospreadError, UsageError
from topospread.text import message_lines, one_line
from topospread.version import __version__

from .terminal import OutputError, safe_output
from .usage import VARIABLE, LazyGroup

GROUPS = {
    "Look": ("status", "why", "serve", "dump"),
    "Try": ("simulate", "plan", "drill", "capacity"),
    "Keep": ("promise", "rebalance"),
    "Check": ("lint", "lsp", "policies", "explain", "config"),
    "Run": ("run", "mcp"),
}
"""Group → its commands, in the order of the help."""
COMMANDS = {
    "status": ("topospread.cli.status:status", "Show pending pods, skewed workloads and the first fix"),
    "why": ("topospread.cli.why:why", "Explain why a pod is pending, or why it is on its node"),
    "serve": ("topospread.cli.serve:serve", "Show the cluster as a web page and simulate changes there"),
    "dump": ("topospread.cli.dump:dump", "Save a snapshot of the cluster (--anonymous to share it)"),
    "simulate": ("topospread.cli.simulate:simulate", "Show where the pods of manifests land"),
    "plan": ("topospread.cli.plan:plan", "Show what a change of manifests makes worse"),
    "drill": ("topospread.cli.drill:drill", "Simulate a zone failure, a drain or a rollout"),
    "capacity": ("topospread.cli.capacity:capacity", "Show how many more replicas fit, and what limits them"),
    "promise": ("topospread.cli.promise:promise", "Show, check or design how many pods survive a loss"),
    "rebalance": ("topospread.cli.rebalance:rebalance", "Find the fewest evictions that restore the spread"),
    "lint": ("topospread.cli.lint:lint", "Find mistakes in manifests"),
    "lsp": ("topospread.cli.lsp:lsp", "Show lint findings in an editor"),
    "policies": ("topospread.cli.policies:policies", "Print lint rules as admission policies"),
    "explain": ("topospread.cli.explain:explain", "Explain a field, a lint rule, a cause or the options"),
    "config": ("topospread.cli.config:config", "Check, convert and show scheduler configurations"),
    "run": ("topospread.cli.run:run", "Run a scheduler, exporter, webhook or extender"),
    "mcp": ("topospread.cli.mcp:mcp", "Give an AI assistant read-only tools (MCP)"),
    "completion": ("topospread.cli.completion:completion", "Print the completion script of a shell"),
    "help": ("topospread.cli.about:help_", "Show the help of a command"),
    "version": ("topospread.cli.about:version", "Show the version"),
}
"""Command → its function, and its one-line help."""

ABOUT = """\
Show where kube-scheduler places pods, and why.

\b
  topospread simulate -f app.yaml --on zones=3,nodes=12,cpu=8,memory=32Gi
"""
EVERYWHERE = """\
Shared options  -f FILE  --on CLUSTER  -n NAMESPACE  -A  -o FORMAT
                (topospread explain options)
Exit codes      0 yes, 1 no, 2 bad input, 3 internal error, 4 unknown"""

BAD_INPUT = 2
FAULT = 3
INTERRUPTED = 130
PIPE_CLOSED = 141
DEBUG = "TOPOSPREAD_DEBUG"
"""Environment variable that prints the traceback of an internal error."""


class Commands(LazyGroup):
    """The root command, which lists commands by group."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write only the commands, so that they fit on one screen."""
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands below the headings of their groups."""
        formatter.write_paragraph()
        for group, names in GROUPS.items():
            for head, name in zip_longest((group,), names, fillvalue=""):
                formatter.write(f"{head:6} {name:10} {COMMANDS[name][1]}\n")
        formatter.write(EVERYWHERE + "\n")


@click.command(
    cls=Commands,
    table=COMMANDS,
    help=ABOUT,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="topospread %(version)s")
@click.pass_context
def topospread(ctx: click.Context) -> None:
    """Show the start page when no command is given."""
    if ctx.invoked_subcommand is None:
        from .about import start_page

        click.echo(start_page(ctx.info_name or "topospread"))


def main() -> None:
    """Run a command. Every error becomes one line on stderr and an exit code, never a traceback."""
    # No command needs BLAS threads, and starting them takes a tenth of a short command's time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with safe_output():
        code = _exit_code()
    # Skip the last garbage collection: it takes a fifth of a long command's time.
    gc.freeze()
    sys.exit(code)


def _exit_code() -> int:
    try:
        code = _run()
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        code = exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = _say("interrupted", INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        code = _say(error.format_message(), BAD_INPUT)
    except click.ClickException as error:
        code = _say(f"error: {_usage(error)}", BAD_INPUT)
    except TopospreadError as error:
        code = _say(f"error: {message_lines(str(error), getattr(error, '__notes__', ()))}", BAD_INPUT)
    except BrokenPipeError:
        _discard_output()
        code = PIPE_CLOSED
    except OutputError as error:
        _discard_output()
        code = _fault(error, f"the output cannot be written: {error.strerror}")
    except OSError as error:
        names = [
            one_line(os.fsdecode(each)) for each in (error.filename, error.filename2) if isinstance(each, str | bytes)
        ]
        why = error.strerror or one_line(str(error)) or type(error).__name__
        code = _fault(error, f"{': '.join([*names, why])}; {DEBUG}=1 shows where")
    except Exception as error:
        what = one_line(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
        code = _fault(error, f"internal error, not caused by your input ({what}); {DEBUG}=1 shows where")
    return code


def _run() -> int:
    """Answer a completion request, or run the command.

    click's own ``main`` is not used: it exits with 1 for a closed pipe, but here 1 means the verdict no.
    """
    name = program_name()
    asked = os.environ.get(VARIABLE)
    if asked:
        return shell_complete(topospread, {}, name, VARIABLE, asked)
    # A shell's ``*`` and tools such as pre-commit pass file names, and a stranger may add a file named ``--fix``.
    words = sys.argv[1:]
    for word in words[: words.index("--")] if "--" in words else words:
        if word.startswith("-") and word != "-" and os.path.lexists(word):
            from topospread.sources.text import shown_path

            raise UsageError(f"{shown_path(word)} is an option and a file here; write -- before paths")
    with topospread.make_context(name, sys.argv[1:]) as context:
        result: Any = topospread.invoke(context)
    return result if isinstance(result, int) else 0


def _discard_output() -> None:
    """Discard buffered output after a closed pipe. Otherwise Python tries to write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: click.ClickException) -> str:
    """Return click's message as one line."""
    own = isinstance(error, click.BadParameter) and error.message[:2] in ("--", "-o")
    return one_line(" ".join((error.message if own else error.format_message()).split()))


def _fault(error: Exception, words: str) -> int:
    if os.environ.get(DEBUG):
        import traceback

        traceback.print_exception(error)
    return _say(f"error: {words}", FAULT)


def _say(text: str, code: int) -> int:
    click.echo(text, err=True)
    return code


def program_name() -> str:
    """Return the name as typed: ``topospread``, or ``kubectl topospread``."""
    name = os.path.basename(sys.argv[0])
    return "kubectl topospread" if name.startswith("kubectl-") else "topospread"
