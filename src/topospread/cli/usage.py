"""Help pages, examples, and error messages for old command lines. Imported only on demand."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from textwrap import wrap
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from topospread.errors import UsageError
from topospread.text import did_you_mean, one_line, shell_line

_PLAIN = "topospread"
VARIABLE = "_TOPOSPREAD_COMPLETE"
"""Environment variable with which a shell requests completions."""
BETWEEN_COLLECTIONS = (5_000, 100, 10)
"""`gc` thresholds.

Most objects live until the command ends, so old objects are scanned only after 500,000 new ones. The young generation
fits the processor's cache. Servers keep Python's default.
"""
_RUN_ON = ("serve", "mcp", "lsp", "scheduler", "exporter", "webhook", "extender")

OLD_COMMANDS = {
    "describe": "promise show",
    "guarantee": "promise check",
    "design": "promise design",
    "replay": "why",
    "fields": "explain",
    "rules": "explain rules",
    "export": "run exporter",
    "scheduler": "run scheduler",
    "webhook": "run webhook",
    "extender": "run extender",
}
"""Old command → new command. Delete this table with 1.1."""
SHARED = {
    "--filename": "Apply",
    "--on": "Cluster",
    "--namespace": "Show",
    "--all-namespaces": "Show",
    "--selector": "Show",
    "--context": "Cluster",
    "--kube-version": "Scheduler",
    "--config": "Scheduler",
    "--color": "Show",
    "--kubeconfig": "Cluster",
    "--as": "Cluster",
    "--as-group": "Cluster",
    "--as-uid": "Cluster",
    "--feature-gates": "Scheduler",
    "--no-preemption": "Scheduler",
    "--seed": "Scheduler",
    "--scale": "Other circumstances",
    "--autoscale": "Other circumstances",
    "--pools": "Other circumstances",
    "--traffic": "Traffic",
    "--clients": "Traffic",
    "--price": "Traffic",
    "--helm-values": "Apply",
    "--helm-set": "Apply",
    "--helm-release": "Apply",
    "--render": "Apply",
    "--render-helm": "Apply",
    "--render-network": "Apply",
    "--with-hooks": "Apply",
    "--strict": "Apply",
    "--save": "Written files",
    "--anonymous": "Written files",
    "--salt-file": "Written files",
    "--allow-empty": "Exit code",
    "--allow-unknown": "Exit code",
    "--exit-zero": "Exit code",
}
"""Options that several commands share, in the order of the help → heading in `explain options`."""
EXITS = "Exit codes      0 yes, 1 no, 2 bad input, 3 internal error, 4 unknown"
EXITS_WORKED = "Exit codes      0 it worked, 2 bad input, 3 internal error"
_COLUMNS = 80
_WIDEST = 24
"""Widest option, in columns, whose text starts on the same line."""
_LONGEST_LABEL = 70
OLD_OPTIONS = {
    "--raw": "--render never",
    "--apiserver-feature-gates": "--feature-gates apiserver:{value}",
    "--scheduler-feature-gates": "--feature-gates scheduler:{value}",
    "--cluster": "--on {value}",
    "--of": "topospread capacity {value}",
    "--hash-names": "--anonymous",
    "--html": "-o html={value}",
    "--graph": "-o svg={value}",
    "--headroom": "--more {value}",
    "--compare-config": "topospread plan --to-config {value}",
    "--compare-kube-version": "topospread plan --to-kube-version {value}",
    "--compare-sampling": "topospread plan --to-sampling {value}",
    "--explain": "topospread explain {value}",
    "--export-policy": "topospread policies --for {value}",
}
"""Old option → its replacement."""
_CLUSTER = ("--on", "no such option; a synthetic cluster is --on zones=3,nodes=6 (topospread explain clusters)")
_MEANT = {
    "--dry-run": ("--apply", "nothing is changed without --apply"),
    "--kill": ("--fail", "there is --fail"),
    "--lose": ("--fail", "there is --fail"),
    "--on": ("--from", "read a snapshot with --from FILE"),
    "--pending": ("--waiting", "there is --waiting"),
    "--cpu": _CLUSTER,
    "--label": _CLUSTER,
    "--memory": _CLUSTER,
    "--nodes": _CLUSTER,
    "--taint": _CLUSTER,
    "--zones": _CLUSTER,
    "--replicas": ("--scale", "write --scale deploy/web=12"),
}
"""Unknown option that users try → (option to use instead, message if the command has that option)."""
_FEW = 5
"""Largest number of commands that an error message names."""
_NEAR = 0.7
"""Minimum similarity of an option to be suggested."""


Command = TypeVar("Command", bound=Callable[..., Any])


def together(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return one decorator for several options. Help shows them in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class _Examples(click.Command):
    """A command whose examples use the program name that was typed."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help text and the examples."""
        given = self.help
        self.help = called(given or "", ctx)
        super().format_help_text(ctx, formatter)
        self.help = given


class Explained(_Examples):
    """A command with examples. It answers old words and misplaced files with the correct command line.

    Args:
        own: shared options whose meaning differs in this command; its help explains them.
        exits: help text on exit codes, for commands without a verdict.
    """

    def __init__(self, *args: Any, own: Sequence[str] = (), exits: str = EXITS, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.allow_extra_args = True
        self._own = own
        self._exits = exits

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, the names of shared options, and the exit codes.

        Options with the same help text share a row.
        """
        own: dict[str, list[click.Option]] = {}
        shared: list[str] = []
        for each in self.params:
            if not isinstance(each, click.Option):
                continue
            if each.opts[-1] in SHARED and each.opts[-1] not in self._own:
                shared.append(each.opts[0])
            else:
                own.setdefault(_text(each), []).append(each)
        formatter.write_paragraph()
        formatter.write("".join(f"{line}\n" for line in option_rows(own)))
        if shared:
            pointer = f"…  ({ctx.find_root().info_name or _PLAIN} explain options)"
            line = "Shared options "
            for name in sorted(shared, key=_order):
                if len(line) + len(name) + len(pointer) + 2 <= _COLUMNS:
                    line += f" {name}"
            formatter.write(f"{line} {pointer}\n")
        formatter.write(f"{self._exits}\n")

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context. The project file sets options that the command line and environment do not."""
        asks_cluster = any(each.name == "cluster" for each in self.params)
        # `plan` uses the old state's project file. `lint` uses none if --settings names other settings.
        own = args[: args.index("--")] if "--" in args else args
        elsewhere = self.name == "plan" or any(each.partition("=")[0] == "--settings" for each in own)
        if asks_cluster and not elsewhere and not extra.get("resilient_parsing") and not {"-h", "--help"} & set(own):
            from .project import project_defaults, project_settings

            settings = project_settings()
            extra.setdefault("default_map", project_defaults(settings))
            # In CI a stranger may have written the file, and readers of the log should know. The LSP has no parent.
            for each in () if parent is None or sys.stderr.isatty() else settings:
                click.echo(f"note: {one_line(f'{each.where}: {each.key} = {each.value}')}", err=True)
        return super().make_context(info_name, args, parent, **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command's arguments.

        Raises:
            UsageError: if a word is an old option, a misplaced file, or unexpected.
        """
        typed = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise _of_option(error, typed) from None
        if ctx.args:
            raise _of_word(ctx.args[0], ctx)
        chosen = ctx.get_parameter_source("cluster") in (ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP)
        if chosen and any(ctx.params.get(name) for name in ("context", "kubeconfig", "user")):
            ctx.params["cluster"] = None
        return rest


class ExplainedGroup(_Examples, click.Group):
    """A group of commands with examples."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments before the command.

        Raises:
            UsageError: if an option is before the command.
        """
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            names = self.list_commands(ctx)
            few = f": {', '.join(names)}" if len(names) <= _FEW else f"; {ctx.command_path} --help lists them"
            raise UsageError(f"{error.option_name}: write it after a command of {ctx.command_path}{few}") from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; the error for an old or misspelled name suggests the right one.

        Raises:
            UsageError: if there is no such command.
        """
        names = self.list_commands(ctx)
        word = args[0] if args else ""
        if word and word not in names and not word.startswith("-"):
            path = ctx.command_path
            if ctx.parent is None and word in OLD_COMMANDS:
                raise UsageError(f"{word} is now {OLD_COMMANDS[word]}: {path} {new_line(word, args[1:])}")
            hint = did_you_mean(word, names, f"commands: {', '.join(names)}")
            raise UsageError(f"unknown command '{word}'{hint}")
        return super().resolve_command(ctx, args)


class LazyGroup(ExplainedGroup):
    """A command group that imports commands on demand; ``table``: name → ``module:attribute``, one-line help."""

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name; None for an unknown name."""
        if cmd_name not in self.table:
            return None
        if cmd_name not in _RUN_ON:
            gc.set_threshold(*BETWEEN_COLLECTIONS)
        where, about = self.table[cmd_name]
        module, _, name = where.partition(":")
        command: click.Command = getattr(import_module(module), name)
        command.short_help = about
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self.table.items()])


def called(text: str, ctx: click.Context) -> str:
    """Return examples for the program name that was typed, such as ``kubectl topospread why``."""
    name = ctx.find_root().info_name or _PLAIN
    if name == _PLAIN:
        return text
    return text.replace(f"  {_PLAIN} ", f"  {name} ").replace(f"| {_PLAIN} ", f"| {name} ")


def option_rows(options: Mapping[str, Sequence[click.Option]]) -> Iterator[str]:
    """Yield the lines of a table of options."""
    labels = {text: _label(each) for text, each in options.items()}
    width = min(max(map(len, labels.values()), default=0), _WIDEST)
    for text, label in labels.items():
        if len(label) > width and len(label) + len(text) + 4 <= _COLUMNS:
            yield f"  {label}  {text}"
            continue
        if len(label) > width:
            yield f"  {label}"
            label = ""  # noqa: PLW2901 - it stands on a line of its own
        for line in wrap(text, _COLUMNS - width - 4):
            yield f"  {label:{width}}  {line}"
            label = ""  # noqa: PLW2901 - it is in the first line


def shared_options(group: click.Group, ctx: click.Context) -> dict[str, dict[str, list[click.Option]]]:
    """Return the options of several commands: heading → text → options."""
    found: dict[str, click.Option] = {}
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        for each in command.params if command else ():
            if isinstance(each, click.Option) and each.opts[-1] in SHARED:
                found.setdefault(each.opts[-1], each)
    headings: dict[str, dict[str, list[click.Option]]] = {heading: {} for heading in SHARED.values()}
    for name in (each for each in SHARED if each in found):
        headings[SHARED[name]].setdefault(_text(found[name]), []).append(found[name])
    return headings


def _text(option: click.Option) -> str:
    """Return an option's help with its default."""
    shown = option.show_default and option.default is not None
    return f"{option.help or ''}{f' [default: {option.default}]' if shown else ''}"


def _label(options: Sequence[click.Option]) -> str:
    """Return the label of options that share a row: ``--cordon, --drain NODES``."""
    metavar = "" if options[0].is_flag or options[0].count else f" {_metavar(options[0])}"
    if len(options) == 1:
        return ", ".join(options[0].opts) + metavar
    names = [each.opts[-1] for each in options]
    label = ", ".join(names) + metavar
    return f"{options[0].metavar or names[0]}" if len(label) > _LONGEST_LABEL else label


def _metavar(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    return "|".join(option.type.choices) if isinstance(option.type, click.Choice) else "N"


def _order(option: str) -> int:
    """Return a shared option's position in the help."""
    names = {"-f": "--filename", "-n": "--namespace", "-A": "--all-namespaces", "-l": "--selector"}
    return list(SHARED).index(names.get(option, option))


def is_named_file(word: str) -> bool:
    """Return whether a word looks like a file name rather than an object."""
    return word == "-" or word.endswith((".yaml", ".yml", ".json", ".gz", ".tgz"))


def is_file(word: str) -> bool:
    """Return whether a word names a file or a folder."""
    return is_named_file(word) or os.path.lexists(word)


def new_line(old: str, words: list[str]) -> str:
    """Return an old command line in the new syntax, as far as it can be derived."""
    found = OLD_COMMANDS[old].split()
    before = ""
    for word in words:
        if word == "--cluster" or word.startswith("--cluster="):
            found.append("--on" + word.removeprefix("--cluster"))
        elif is_file(word) and not before.startswith("-"):
            found += ["-f", word]
        else:
            found.append(word)
        before = word
    return shell_line(found)


def _of_option(error: click.NoSuchOption, args: list[str]) -> UsageError:
    """Return the error for an option that does not exist."""
    instead = OLD_OPTIONS.get(error.option_name)
    if instead is None:
        old = get_close_matches(error.option_name, OLD_OPTIONS, n=1, cutoff=0.8)
        names = {each.lstrip("-"): each for each in error.possibilities or ()}
        close = [names[each] for each in get_close_matches(error.option_name[2:], names, n=1, cutoff=_NEAR)]
        near = [OLD_OPTIONS[each].split()[0] for each in old] or close
        meant, words = _MEANT.get(error.option_name, ("", ""))
        own = {name for each in (error.ctx.command.params if error.ctx else ()) for name in each.opts}
        if meant in own:
            known = words
        elif near:
            known = f"no such option; did you mean {near[0]}?"
        else:
            known = _no_such_option(error.option_name, error.ctx) if error.ctx else ""
        return UsageError(f"{error.option_name}: {known}")
    given = next((each for each in args if each.split("=")[0] == error.option_name), error.option_name)
    _, equals, value = given.partition("=")
    after = args[args.index(given) + 1 :][:1] if not equals and given in args else []
    return UsageError(f"{error.option_name} is gone: write {instead.format(value=value or ''.join(after) or '…')}")


def _no_such_option(option: str, ctx: click.Context) -> str:
    root = ctx.find_root()
    names = list(_commands_with(option, root.command, root))
    path = ctx.command_path
    other = f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} it" if names else f"{path} --help lists its own"
    return f"{path} has no such option; {other}"


def _commands_with(option: str, group: click.Command, ctx: click.Context) -> Iterator[str]:
    for name in group.list_commands(ctx) if isinstance(group, click.Group) else ():
        command = group.get_command(ctx, name)  # type: ignore[attr-defined]
        if isinstance(command, click.Group):
            yield from (f"{name} {each}" for each in _commands_with(option, command, ctx))
        elif command and any(option in each.opts for each in command.params):
            yield name


def _of_word(word: str, ctx: click.Context) -> UsageError:
    """Return the error for an unexpected word."""
    path = ctx.command_path
    if is_file(word):
        return UsageError(f"{word} is a file: {path} -f {shell_line([word])}")
    chooses = any("--selector" in each.opts for each in ctx.command.params)
    hint = "choose workloads with -l or -n" if chooses else f"{path} --help shows what it takes"
    return UsageError(f"unexpected word '{word}'; {hint}")
