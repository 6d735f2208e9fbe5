"""``topospread status`` for several clusters. Each cluster is examined in its own process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from msgspec.structs import replace

from topospread.errors import TopospreadError, UsageError

from .inputs import STANDARD_INPUT
from .live_options import named_options
from .output import prints_page, write_answer
from .targets import file_error
from .terminal import progress, warn
from .usage import is_named_file

if TYPE_CHECKING:
    from topospread.answers.fleet import Member
    from topospread.answers.status import Status

INTERRUPTED = 130


_ALL = "topospread.clusters"


class ClustersOption(click.Option):
    """``--on``, which can be repeated. The environment and the project file can name only one cluster.

    Its value is the first cluster; `named_clusters` returns all of them.
    """

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """Return the variable unchanged; click would split it at colons."""
        return self.resolve_envvar_value(ctx)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the first cluster."""
        ctx.meta[_ALL] = super().process_value(ctx, (value,) if isinstance(value, str) else value) or ()
        return next(iter(ctx.meta[_ALL]), None)


def named_clusters(given: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the option that names several clusters (``cluster`` or ``context``), and their names; [] for one cluster.

    A shell expands ``--on prod-*.json.gz`` so that further files become targets. They are moved from
    ``given["targets"]`` to the clusters.

    Raises:
        UsageError: if a file is not a cluster, or an option cannot be combined with several clusters.
    """
    files = [word for word in given["targets"] if is_named_file(word)]
    given["targets"] = tuple(word for word in given["targets"] if word not in files)
    context = click.get_current_context()
    on = [*(context.meta[_ALL] if given["cluster"] else ()), *files]
    if files and context.get_parameter_source("cluster") is not ParameterSource.COMMANDLINE:
        raise file_error(files[0], context)
    contexts = given.pop("contexts")
    if contexts is not None:
        names = [each.strip() for each in contexts.split(",")]
        beside = [f"--{each}" for each in named_options(given) if each == "context"]
        beside += ["--on"] if context.get_parameter_source("cluster") is ParameterSource.COMMANDLINE else []
        if "" in names:
            raise UsageError(f"--contexts {contexts}: separate the names of contexts with commas")
        if beside:
            raise UsageError(f"--contexts cannot be combined with {beside[0]}")
        given["cluster"] = None
        option, clusters = "context", list(dict.fromkeys(names))
    else:
        option, clusters = "cluster", list(dict.fromkeys(on))
        if len(clusters) < 2:
            return option, []
    _check(given, option, clusters)
    return option, clusters


def _check(given: Mapping[str, Any], option: str, clusters: Sequence[str]) -> None:
    """Raise UsageError if an option does not work with several clusters."""
    for name in ("watch", "traffic", "anonymous"):
        if given[name]:
            raise UsageError(f"--{name} works with one cluster, got {len(clusters)}")
    if STANDARD_INPUT in (*clusters, *given["paths"]):
        raise UsageError("- can be read once, and several clusters are named: write it to a file")
    if option == "context":
        from .live_options import read_access

        read_access(given)


def ask_each(
    given: dict[str, Any], option: str, clusters: Sequence[str], ask: Callable[[dict[str, Any]], Status]
) -> int:
    """Run the question on each cluster and print one combined answer.

    Args:
        option: the option that names one cluster, ``cluster`` or ``context``.

    Raises:
        UsageError: if no cluster can be read.
    """
    from topospread.answers.fleet import fleet, member, unreadable
    from topospread.drill.forked import answers, can_fork, cores
    from topospread.drill.interruption import Interrupted

    def asked(name: str) -> Member:
        try:
            found = ask({**given, option: name})
        except TopospreadError as error:
            return unreadable(name, str(error))
        return member(name, _in_context(found, name) if option == "context" else found)

    code, partial = None, ""
    with progress("looking") as bar:
        try:
            members = answers(asked, clusters, cores(), bar) if can_fork() else list(map(asked, clusters))
        except Interrupted as interrupted:
            members, code = interrupted.finished, INTERRUPTED
            if not members:
                raise
            partial = f"ended after {len(members)} of {len(clusters)} clusters"
    if members and all(each.row.problem for each in members):
        first = members[0].row
        raise UsageError(f"none of {len(members)} clusters is judged; {first.cluster}: {first.problem}")
    answer = fleet(members, partial)
    if not prints_page(given):
        warn(answer.warnings)
    written = write_answer(answer, given)
    return written if code is None else code


def _in_context(found: Status, name: str) -> Status:
    """Return a status whose suggested kubectl commands include the cluster's context."""
    return replace(
        found,
        remedies=tuple(
            replace(each, command=("kubectl", "--context", name, *each.command[1:]))
            if each.command[:1] == ("kubectl",)
            else each
            for each in found.remedies
        ),
    )
