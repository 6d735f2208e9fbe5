"""``topospread lint``: find problems in manifests before they are applied."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from topospread.errors import UsageError
from topospread.text import listed, one_line

from .inputs import ALLOW_EMPTY, COLOUR, PATH, POOLS, checked_namespace, given_pools, read_rendering, rendering_options
from .live_options import access_options, is_meant, is_named, read_access, read_live
from .output import check_outputs, output_options, prints_page, write_answer
from .rule_options import read_settings, rule_options
from .terminal import progress, show, warn, written
from .usage import Explained

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.lint.fixing import FixedText
    from topospread.lint.reading import Question, Read, WhyNotRead
    from topospread.lint.run import ClusterReading, LintReport

_FILES_NAMED: Final = 3
_LEFT_OUT: Final[dict[WhyNotRead, str]] = {
    "other": "not a Kubernetes object, skipped",
    "template": "a chart's template, skipped: lint the chart's folder",
    "patch": "a kustomization's patch, skipped: lint the kustomization's folder",
    "base": "not validated, a kustomization changes it: lint the kustomization's folder",
}
"""Reason why files were not linted → words of the note."""

HELP = """\
Find errors and likely mistakes in manifests: selectors that match no pod, constraints that can never hold, fields that
the API server rejects.

PATHs are files, folders, charts, kustomizations or -; by default the working directory. --on enables more rules. The
comment `# topospread: ignore RULE reason` suppresses a finding. `topospread explain RULE` explains a rule.

\b
Examples:
  topospread lint app.yaml
  topospread lint deploy/ --on snapshot.json --kube-version 1.32
  topospread lint app.yaml --diff
  topospread lint deploy/ -o sarif > topospread.sarif
"""


@click.command(cls=Explained, help=HELP)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=PATH)
@click.option(
    "-f", "--filename", "filenames", multiple=True, metavar="FILE", type=PATH, help="Lint this PATH, as in simulate."
)
@click.option(
    "--on", "cluster", type=PATH, metavar="CLUSTER", help="Compare the manifests with a cluster, as in simulate."
)
@access_options
@click.option(
    "--config",
    "config_path",
    type=PATH,
    metavar="FILE",
    help="kube-scheduler's configuration: used, and linted as well.",
)
@click.option("--kube-version", metavar="VERSION", help="Kubernetes version of the manifests (1.18 … 1.37).")
@click.option(
    "-n",
    "--namespace",
    metavar="NAMESPACE",
    callback=checked_namespace,
    help="Namespace of objects that name none.",
)
@rendering_options
@POOLS
@click.option("--whole", is_flag=True, help="Lint the whole chart or kustomization of each file.")
@rule_options
@click.option("--fix", is_flag=True, help="Edit the files: make fixes that need no decision.")
@click.option("--diff", is_flag=True, help="Show the edits of --fix without making them.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also edits that may not be intended.")
@ALLOW_EMPTY
@output_options("line", "sarif", "junit", "github")
@click.option("--color", type=COLOUR, default="auto", help="Use colours: on a terminal, always or never.")
def lint(**given: Any) -> int:
    """Run the command. Return 1 for warnings or errors (with --diff: for fixes), 2 for unreadable input."""
    check_outputs(given)
    from topospread.lint.fixing import mend
    from topospread.lint.run import run

    cluster = _live_cluster(given)
    question = question_of(given)
    stdin = sys.stdin.buffer if sys.stdin is not None else None
    mended: list[FixedText] = []
    if given["fix"] or given["diff"]:
        if given["fix"] and "-" in question.paths:
            raise UsageError("--fix cannot change standard input; --diff shows the changes")
        outcome, mended = mend(question, stdin, given["level"], cluster, unsafe=given["unsafe_fixes"])
    elif given["unsafe_fixes"]:
        raise UsageError("--unsafe-fixes requires --fix or --diff")
    else:
        with progress("linting") as bar:
            outcome = run(question, stdin, cluster=cluster, progress=bar).at_least(given["level"])
    _say_what_was_not_linted(outcome, question, allow_empty=given["allow_empty"])
    if given["diff"]:
        show("".join(each.diff() for each in mended))
        return 2 if outcome.read.broken else int(bool(mended))
    for each in mended:
        each.write()
        # A message says after "--fix" what is added, and why.
        rules = dict.fromkeys(f"{rule}{says.partition('; --fix')[2]}" for rule, says in each.rules)
        click.echo(f"fixed: {one_line(each.source.name)}: {one_line('; '.join(rules))}", err=True)
    code = _written(outcome.limited(), given)
    return 2 if outcome.read.broken else code


def _live_cluster(given: dict[str, Any]) -> ClusterReading | None:
    """Return the reader of the live cluster to compare with; None without one. No other cluster may be named."""
    if not is_named(given):
        return None
    is_meant(given, ())
    from topospread.sources.load import load
    from topospread.sources.needed_kinds import lint_needs
    from topospread.sources.snapshot_facts import warnings_of

    def reading(found: Read) -> Inventory:
        live = read_live(given, lint_needs(each.item for each in found.manifests))
        warn(warnings_of(live.facts))
        return load((), live=live)

    return reading


def question_of(given: dict[str, Any]) -> Question:
    """Return the lint options: the command line overrides the settings."""
    from topospread.config.versions import NEWEST
    from topospread.lint.reading import Question

    settings = read_settings(given)
    typed = click.get_current_context().get_parameter_source("config_path") is ParameterSource.COMMANDLINE
    paths = [*given["paths"], *given["filenames"]] or ([] if typed else ["."])
    kube_version = _chosen(given, "kube_version", settings.kube_version)
    rendering = read_rendering(given, kube_version or "")
    if given["whole"]:
        from topospread.sources.files import listed_paths
        from topospread.sources.folders import wholes_of

        paths, left_out = wholes_of(paths, rendering)
        if left_out:
            words = f"{listed_paths(left_out)}: not read, no chart or kustomization is made of it"
            click.echo(f"note: {one_line(words)}", err=True)
    return Question(
        paths=paths,
        cluster=None if is_named(given) else _chosen(given, "cluster", settings.cluster),
        config=_chosen(given, "config_path", settings.config),
        kube_version=kube_version or NEWEST,
        namespace=_chosen(given, "namespace", settings.namespace)
        or (read_access(given).namespace() if is_named(given) else "default"),
        settings=settings,
        rendering=rendering,
        pools=given_pools(given),
    )


def _chosen(given: dict[str, Any], name: str, own: str | None) -> str | None:
    """Return an option's value: command line, else lint settings, else project settings."""
    source = click.get_current_context().get_parameter_source(name)
    values = (own, given[name]) if source is ParameterSource.DEFAULT_MAP else (given[name], own)
    return values[0] or values[1]


def _say_what_was_not_linted(outcome: LintReport, question: Question, *, allow_empty: bool) -> None:
    """Name unreadable files and files without Kubernetes objects on stderr. Raise InputError if nothing was linted."""
    from topospread.sources.duplicate_names import notes_on_namesakes
    from topospread.sources.files import no_object

    for error in outcome.read.broken:
        click.echo(f"error: {one_line(str(error))}", err=True)
    for note in left_out(outcome.read, question.paths):
        click.echo(f"note: {one_line(note)}", err=True)
    given = outcome.given
    placed = {
        (each.kind, each.item.namespace, each.item.name): None
        for each in given.manifests
        if each.item.namespace and not each.stored and not (each.value.get("metadata") or {}).get("namespace")
    }
    for note in notes_on_namesakes(given.cluster.objects() if given.cluster is not None else (), placed):
        click.echo(f"note: {one_line(note)}", err=True)
    if not outcome.read.subjects and not outcome.read.broken and not allow_empty:
        raise no_object(question.paths)


def left_out(read: Read, paths: Sequence[str] = ()) -> list[str]:
    """Return a note for each reason why files were not linted, with the names of all such files among the paths."""
    from topospread.sources.deliveries import note_of_deliveries

    lines, named = [], frozenset(paths)
    for why, words in _LEFT_OUT.items():
        names = sorted(name for name, reason in read.left_out.items() if reason == why)
        given = sum(name in named for name in names)
        if names:
            names.sort(key=lambda name: name not in named)
            lines.append(f"{listed(names, max(_FILES_NAMED, given))}: {words}")
    return [*read.notes, *lines, *note_of_deliveries(read.deliveries)]


def _written(report: LintReport, given: dict[str, Any]) -> int:
    from topospread.answers.lint import cases, lint_answer
    from topospread.render.github import github, workflow_command
    from topospread.render.junit import junit
    from topospread.render.sarif import lint_sarif

    answer = lint_answer(report)
    for each in () if prints_page(given) else answer.unjudged:
        click.echo(f"not judged: {one_line(each.because)}", err=True)
    return write_answer(
        answer,
        given,
        {
            "line": lambda: "".join(f"{each}\n" for each in answer.findings),
            "sarif": lambda: written(lint_sarif(report), "json"),
            "junit": lambda: junit("topospread lint", cases(report), report.read.broken),
            "github": lambda: (
                github(answer.findings)
                + "".join(
                    workflow_command("error", each.place, "unreadable", each.message) for each in report.read.broken
                )
            ),
        },
    )
