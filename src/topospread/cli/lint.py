"""``topospread lint``: what is wrong with manifests, or probably not meant, before they ship."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import ConfigError, Place, UsageError

from .inputs import ALLOW_EMPTY, COLOUR, PATH, POOLS, checked_namespace, given_pools, read_rendering, rendering_options
from .live_options import access_options, is_meant, is_named, read_access, read_live
from .output import check_outputs, output_options, write_answer
from .terminal import layout, progress, show, warn, written
from .usage import Explained

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.linting.fixing import Mended
    from topospread.linting.reading import Question, Read
    from topospread.linting.run import ClusterReading, LintReport
    from topospread.linting.settings import Settings

HELP = """\
Say what is wrong with manifests, or probably not meant: selectors that count nothing, constraints that never hold or
that no rollout survives, fields that the API server refuses, nodes and scheduler configurations that do not fit.

PATHs are YAML or JSON files, folders, or - for standard input; the working directory when none is named. Folders that
are Helm charts or kustomizations are rendered, with helm and kustomize or kubectl; --raw reads files as they are. What
is no object of Kubernetes is left out. With nodes, among the PATHs or as --cluster, more can be found; --cluster live
is the cluster that kubectl points at.

Each finding has a rule: `topospread rules` lists them, --explain tells why. A comment `# topospread: ignore RULE
reason`, on the line or above it, keeps one from being reported. The exit code is 1 when there are warnings or errors.

\b
Examples:
  topospread lint app.yaml
  topospread lint deploy/ --cluster snapshot.json --kube-version 1.32
  topospread lint app.yaml --diff
  topospread lint deploy/ -o sarif > topospread.sarif
  topospread lint chart/ --helm-values prod.yaml
  topospread lint --explain rollout-counts-old-pods
  topospread lint --export-policy --level warning | kubectl apply -f -
"""

LEVELS = click.Choice(["error", "warning", "hint"])


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The rules that a word may become, behind those that stand before a comma."""
    from topospread.linting.rules import BY_ID

    before, comma, begin = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in BY_ID if name.startswith(begin)]


@click.command(cls=Explained, help=HELP)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=PATH)
@click.option(
    "--cluster", type=PATH, metavar="SPEC|FILE|live", help="Hold the manifests against a cluster, as in simulate."
)
@access_options
@click.option("--config", type=PATH, metavar="FILE", help="kube-scheduler's configuration: used, and linted as well.")
@click.option("--kube-version", metavar="VERSION", help="The Kubernetes version they are for (1.18 … 1.37).")
@click.option(
    "-n",
    "--namespace",
    metavar="NAMESPACE",
    callback=checked_namespace,
    help="Where objects go that name no namespace.",
)
@rendering_options
@POOLS
@click.option("--whole", is_flag=True, help="Lint the charts and kustomizations that named files are part of.")
@click.option("--select", multiple=True, metavar="RULE,…", shell_complete=_completed, help="Ask only these rules.")
@click.option("--ignore", multiple=True, metavar="RULE,…", shell_complete=_completed, help="Do not ask these rules.")
@click.option("--level", type=LEVELS, default="hint", help="Show only findings that are at least so bad.")
@click.option(
    "--settings", type=PATH, metavar="FILE|rev:REV", help="Settings in place of the nearest .topospread.yaml."
)
@click.option("--fix", is_flag=True, help="Make the fixes that take no decision, in the files.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--explain", metavar="RULE", shell_complete=_completed, help="Explain a rule.")
@click.option(
    "--export-policy",
    type=click.Choice(["vap", "kyverno"]),
    is_flag=False,
    flag_value="vap",
    help="Print the rules that CEL can say as ValidatingAdmissionPolicies (vap) or for Kyverno.",
)
@ALLOW_EMPTY
@output_options("line", "sarif", "junit", "github")
@click.option("--color", type=COLOUR, default="auto", help="Colours: on a terminal, always or never.")
def lint(**given: Any) -> int:
    """Lint; 1 when there are warnings or errors (with --diff: fixes), 2 when something could not be read."""
    check_outputs(given)
    if given["explain"] is not None:
        return _explain(given["explain"], given["color"])
    if given["export_policy"] is not None:
        return _export_policy(given)
    from topospread.linting.fixing import mend
    from topospread.linting.run import run

    cluster = _live_cluster(given)
    question = _question(given)
    stdin = sys.stdin.buffer if sys.stdin is not None else None
    mended: list[Mended] = []
    if given["fix"] or given["diff"]:
        if given["fix"] and "-" in question.paths:
            raise UsageError("--fix changes files, and - is none; --diff shows the changes")
        outcome, mended = mend(question, stdin, given["level"], cluster)
    else:
        with progress("linting") as bar:
            outcome = run(question, stdin, cluster=cluster, progress=bar).at_least(given["level"])
    _say_what_was_not_linted(outcome, question, allow_empty=given["allow_empty"])
    if given["diff"]:
        show("".join(each.diff() for each in mended))
        return 2 if outcome.read.broken else int(bool(mended))
    for each in mended:
        each.write()
        click.echo(f"fixed: {each.source.name}", err=True)
    code = _written(outcome.limited(), given)
    return 2 if outcome.read.broken else code


def _live_cluster(given: dict[str, Any]) -> ClusterReading | None:
    """Reads of the live cluster what manifests are held against; ``None`` where it is not meant by name.

    Raises:
        UsageError: another cluster is named, too.
    """
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


def _export_policy(given: dict[str, Any]) -> int:
    """Print policies, and on stderr how many rules are not in them.

    Raises:
        UsageError: something to be linted is named as well, or no rule that is asked can be said in CEL.
    """
    from topospread.linting.policies.cel import EXPRESSED
    from topospread.linting.policies.policies import exported, left_out, policies
    from topospread.report.lint_policies import policies_text

    if given["paths"]:
        raise UsageError("--export-policy prints rules, and lints nothing: it takes no PATH")
    settings = _settings(given)
    rules, missing = exported(settings, given["level"]), left_out(settings)
    for rule, why in missing if settings.select is not None else ():
        click.echo(f"note: {rule} is in no policy: {why}", err=True)
    if not rules:
        raise UsageError("none of these rules can be said in CEL")
    notes = [(rule.id, EXPRESSED[rule.id].note) for rule, _ in rules if EXPRESSED[rule.id].note]
    show(policies_text(policies(rules, given["export_policy"]), notes, missing))
    are = "rule is a policy" if len(rules) == 1 else "rules are policies"
    click.echo(f"note: {len(rules)} {are}, {len(missing)} cannot be; why stands in the comments", err=True)
    return 0


def _question(given: dict[str, Any]) -> Question:
    """What is asked for: the command line first, then the settings."""
    from topospread.config.versions import NEWEST
    from topospread.linting.reading import Question

    settings = _settings(given)
    paths = list(given["paths"]) or ([] if given["config"] else ["."])
    rendering = read_rendering(given, given["kube_version"] or settings.kube_version or "")
    if given["whole"]:
        from topospread.sources.folders import wholes_of

        paths = wholes_of(paths, rendering)
    return Question(
        paths=paths,
        cluster=None if is_named(given) else given["cluster"] or settings.cluster,
        config=given["config"] or settings.config,
        kube_version=given["kube_version"] or settings.kube_version or NEWEST,
        namespace=given["namespace"] or settings.namespace or _live_namespace(given),
        settings=settings,
        rendering=rendering,
        pools=given_pools(given),
    )


def _live_namespace(given: dict[str, Any]) -> str:
    return read_access(given).namespace() if is_named(given) else "default"


def _settings(given: dict[str, Any]) -> Settings:
    from dataclasses import replace

    from topospread.linting.settings import find_settings, read_settings
    from topospread.linting.settings_of_revision import settings_at
    from topospread.sources.revisions import REVISION

    path, settings = given["settings"], None
    if path is None:
        settings = find_settings()
    elif path.startswith(REVISION):
        settings = settings_at(path.removeprefix(REVISION))
    else:
        settings = read_settings(path)
    if settings is None:
        raise ConfigError("this file has no [tool.topospread]", Place(path))
    selected, ignored = (_rules(given[name], f"--{name}") for name in ("select", "ignore"))
    return replace(
        settings,
        select=(frozenset(selected) - frozenset(ignored)) if selected else settings.select,
        ignore=frozenset(ignored) if selected else settings.ignore | frozenset(ignored),
    )


def _rules(given: tuple[str, ...], option: str) -> list[str]:
    """Rules separated by commas.

    Raises:
        UsageError: there is no such rule.
    """
    from topospread.linting.settings import unknown_rule

    names = [name.strip() for each in given for name in each.split(",") if name.strip()]
    for name in names:
        problem = unknown_rule(name)
        if problem:
            raise UsageError(f"{option}: {problem}")
    return names


def _say_what_was_not_linted(outcome: LintReport, question: Question, *, allow_empty: bool) -> None:
    """Name on stderr what could not be read or is nothing of Kubernetes.

    Raises:
        InputError: nothing was linted at all, and that was not expected.
    """
    from topospread.report.lint_left_out import left_out
    from topospread.sources.files import no_object

    for error in outcome.read.broken:
        click.echo(f"error: {error}", err=True)
    for note in left_out(outcome.read):
        click.echo(f"note: {note}", err=True)
    for note in _namesakes(outcome):
        click.echo(f"note: {note}", err=True)
    if not outcome.read.subjects and not outcome.read.broken and not allow_empty:
        raise no_object(question.paths)


def _namesakes(outcome: LintReport) -> Iterable[str]:
    """Of manifests without a namespace, what the cluster has elsewhere."""
    from topospread.sources.namesakes import notes_on_namesakes

    given = outcome.given
    placed = {
        (each.kind, each.item.namespace, each.item.name): None
        for each in given.manifests
        if each.item.namespace and not each.stored and not (each.value.get("metadata") or {}).get("namespace")
    }
    return notes_on_namesakes(given.cluster.objects() if given.cluster is not None else (), placed)


def _written(report: LintReport, given: dict[str, Any]) -> int:
    """Write the answer in every format that is asked for; return its exit code."""
    from topospread.answers.lint import cases, lint_answer
    from topospread.render.github import github
    from topospread.render.junit import junit
    from topospread.render.lint_sarif import lint_sarif

    answer = lint_answer(report)
    return write_answer(
        answer,
        given,
        {
            "line": lambda: "".join(f"{each}\n" for each in answer.findings),
            "sarif": lambda: written(lint_sarif(report), "json"),
            "junit": lambda: junit("topospread lint", cases(report)),
            "github": lambda: github(answer.findings),
        },
    )


def _explain(name: str, color: str) -> int:
    from topospread.linting.rules import BY_ID
    from topospread.linting.settings import unknown_rule
    from topospread.report.lint_rule import rule_text

    if name not in BY_ID:
        raise UsageError(unknown_rule(name))
    show(rule_text(BY_ID[name], layout(color)))
    return 0
