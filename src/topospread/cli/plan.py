"""``topospread plan``: the effects of a change of manifests on a cluster's pods, before it is merged."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import InputError, Place, UsageError
from topospread.text import one_line

from .inputs import (
    PATH,
    input_options,
    namespace_options,
    parse_scale,
    read_inventory,
    read_options,
    read_rendering,
    shown_namespace,
)
from .output import check_outputs, output_options, write_answer
from .terminal import progress
from .usage import Explained

if TYPE_CHECKING:
    from topospread.answers.plan import Plan
    from topospread.api.inventory import Inventory
    from topospread.lint.reading import Read
    from topospread.lint.rule import Finding
    from topospread.lint.settings import Settings
    from topospread.simulation.options import SimulationOptions
    from topospread.sources.revisions import State

SAMPLING = click.Choice(["all", "kube"])


HELP = """\
Show how a change of manifests affects pods, and what gets worse.

OLD and NEW are folders, files or git revisions; write path:NAME or rev:NAME if a name is both. -f limits both to these
paths. Settings are read from OLD. NEW is worse if fewer pods may survive a zone or node loss, if a pod is newly pending
or not recreated after an eviction, if a skew grows beyond maxSkew, or if lint has a new warning or error.

With --to-… instead of OLD and NEW, two control planes are compared with the same objects. All pods are placed again,
except for a preview version or with --no-as-if-rolled-out.

\b
Examples:
  topospread plan HEAD~1 HEAD --on cluster.json.gz
  topospread plan origin/main HEAD --on cluster.json.gz -o md
  topospread plan --kube-version 1.34 --to-kube-version 1.37 --on cluster.json.gz
"""


@click.command(cls=Explained, help=HELP)
@click.argument("old", required=False)
@click.argument("new", required=False)
@input_options
@click.option("--scale", multiple=True, metavar="[NS/]KIND/NAME=N", help="Replicas to use instead of the manifest's.")
@click.option("--to-config", type=PATH, metavar="FILE", help="Compare with this configuration of kube-scheduler.")
@click.option("--to-kube-version", metavar="VERSION", help="Compare with this Kubernetes version.")
@click.option("--to-sampling", type=SAMPLING, help="Compare with this --sampling (see simulate).")
@click.option(
    "--as-if-rolled-out/--no-as-if-rolled-out", default=None, help="With --to-…, place all pods again (default)."
)
@click.option("--no-lint", is_flag=True, help="Do not lint the manifests.")
@namespace_options("Show")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=5.0,
    metavar="S",
    help="Seconds to search each zone or node loss (5).",
)
@output_options("github")
def plan(**given: Any) -> int:
    """Compare the two states; return the exit code of the verdict."""
    check_outputs(given)
    from .project import project_settings, with_project

    if given["to_config"] or given["to_kube_version"] or given["to_sampling"]:
        given = with_project(given, project_settings())
        return _written(_other_control_plane(given), given)
    if given["new"] is None:
        raise UsageError("name the OLD and the NEW state, or give --to-config, --to-kube-version or --to-sampling")
    if "-" in (given["old"], given["new"], given["cluster"], *given["paths"]):
        raise UsageError("plan reads everything twice, and standard input can be read only once: name files")
    from topospread.sources.revisions import state_of
    from topospread.sources.roots import real_path

    with ExitStack() as stack:
        states = [stack.enter_context(state_of(given[name])) for name in ("old", "new")]
        if real_path(states[0].folder) == real_path(states[1].folder):
            same = f"OLD and NEW are the same state, {states[0].name}"
            click.echo(
                f"warning: {one_line(same)}; nothing differs, because options such as --helm-values apply to both",
                err=True,
            )
        old = states[0].folder
        with _told_of(states[0]):
            given = with_project(given, project_settings(old if os.path.isdir(old) else os.path.dirname(old) or "."))
        given, changed = _from_old(given, *states)
        given["scale"] = parse_scale(given)
        paths = [_paths_of(state, given["paths"]) for state in states]
        if not any(paths):
            raise InputError("not found in OLD and not in NEW; check the path", Place(", ".join(given["paths"])))
        answer = _answer(given, states, paths, changed)
    return _written(answer, given)


def _written(answer: Plan, given: dict[str, Any]) -> int:
    from topospread.answers.plan import problems_of
    from topospread.render.github import github

    return write_answer(answer, given, {"github": lambda: github(problems_of(answer))})


def _other_control_plane(given: dict[str, Any]) -> Plan:
    """Return the effects of another configuration, version or sampling on the same objects."""
    if given["old"] is not None:
        raise UsageError(f"--to-… compares the same objects; name them with -f and --on: {given['old']}")
    from topospread.answers.plan import plan as compared
    from topospread.config.gates import with_preview
    from topospread.config.versions import NEWEST

    scale = parse_scale(given)
    old = replace(read_options(given), scale=scale)
    version, preview = given["to_kube_version"], ""
    if version and version.startswith("preview:"):
        version, preview = str(NEWEST), version
    new = read_options(given, version, given["to_config"])
    if preview and new.gates is not None:
        new = replace(new, gates=with_preview(new.gates, preview))
    new = replace(
        new,
        scale=scale,
        sampling=given["to_sampling"] or "all",
    )
    inventory = read_inventory(given, by=(old, new))
    with progress("placing") as bar:
        return compared(
            (inventory, inventory),
            (old, new),
            namespace=shown_namespace(given),
            rolled_out=not preview if given["as_if_rolled_out"] is None else given["as_if_rolled_out"],
            progress=bar,
        )


def _paths_of(state: State, paths: Sequence[str]) -> list[str]:
    """Return the paths that exist in a state. Paths that exist only in the other state are left out."""
    from topospread.sources.roots import check_inside_repository

    inside = _named(state, paths)
    with _told_of(state):
        for path in inside:
            check_inside_repository(path)
    return [path for path in inside if os.path.exists(path)]


def _named(state: State, paths: Sequence[str]) -> list[str]:
    return [os.path.normpath(os.path.join(state.folder, path)) for path in paths] or [state.folder]


def _from_old(given: dict[str, Any], old: State, new: State) -> tuple[dict[str, Any], dict[str, bool]]:
    """Use OLD's copies of the repository's files that --config and --on name: a stranger may have written NEW.

    Returns:
        The options, and file → whether it is the configuration, for each such file that differs in NEW.
    """
    changed: dict[str, bool] = {}

    def own(path: str, *, decides: bool = False) -> str:
        was, now = old.own(path), new.own(path) if new.root else path
        if old.root and (was or (new.root and now)) and not (was and now and _are_equal(was, now)):
            changed[path] = decides
        return was or path

    cluster = given["cluster"] and own(given["cluster"])
    config = given["config_path"] and own(given["config_path"], decides=True)
    return {**given, "cluster": cluster, "config_path": config}, changed


def _are_equal(was: str, now: str) -> bool:
    return all(map(os.path.isfile, (was, now))) and filecmp.cmp(was, now, shallow=False)


def _values_of(given: dict[str, Any], state: State, states: Sequence[State]) -> tuple[str, ...]:
    """Return a state's copies of the values files. OLD may lack files that NEW has."""
    found = []
    for path in given["helm_values"]:
        copies = [each.own(path) for each in states]
        own = copies[states.index(state)]
        if own is None and state.root and any(copies):
            if state is states[1]:
                raise InputError("only OLD has this file; add it to NEW, or leave it out", Place(path))
            continue
        found.append(own or path)
    return tuple(found)


def _answer(
    given: dict[str, Any], states: Sequence[State], paths: Sequence[Sequence[str]], changed: Mapping[str, bool]
) -> Plan:
    from topospread.answers.plan import plan as compared
    from topospread.plan.changed_lines import ChangedLines
    from topospread.plan.review import only_in

    given = {**given, "settings_from": states[0].folder}
    side = replace(read_options(given), scale=given["scale"])
    options = [
        {
            **_options_for({**given, "helm_values": _values_of(given, state, states)}, each, paths),
            "is_old": each is paths[0],
        }
        for state, each in zip(states, paths, strict=True)
    ]
    inventories = [_read(own, state, each, side) for own, state, each in zip(options, states, paths, strict=True)]
    settings = [_settings(states[0], each) for each in states]
    reports = [_linted(*each) for each in zip(options, settings, states, paths, strict=True)]
    names = (states[0].name, states[1].name)
    with progress("placing") as bar:
        return compared(
            (inventories[0], inventories[1]),
            (side, side),
            names,
            namespace=shown_namespace(given),
            findings=(reports[0][0], reports[1][0]),
            left_out=reports[1][2],
            ignored=len(only_in(reports[1][3], reports[0][3])),
            changed=changed,
            declared=[replace(each, where=_shown(states[0], each.where)) for each in settings[0].promises],
            lines=ChangedLines(states, [read for _, read, *_ in reports]),
            seconds=given["seconds"],
            source=" → ".join(names) + (f", {given['cluster']}" if given["cluster"] else ""),
            progress=bar,
        )


def _options_for(given: dict[str, Any], paths: Sequence[str], every: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return the options for one state. Helm's options apply only to a state with a chart."""
    from topospread.sources.folders import has_chart
    from topospread.sources.rendering import NO_CHART_OPTIONS, chart_options

    rendering = read_rendering(given, given["kube_version"])
    if (
        not chart_options(rendering)
        or has_chart(paths, rendering)
        or not any(has_chart(each, rendering) for each in every)
    ):
        return given
    return {**given, **NO_CHART_OPTIONS}


def _read(given: dict[str, Any], state: State, paths: Sequence[str], by: SimulationOptions) -> Inventory:
    """Return the objects of a state, applied to the cluster. Error messages name the files of a revision."""
    from topospread.sources.roots import lies_in, real_path
    from topospread.sources.text import shown_path

    with _told_of(state):
        inventory = read_inventory({**given, "paths": tuple(paths)}, by=[by])
    named = [real_path(each) for each in _named(state, given["paths"])]
    for path, commit in state.submodules.items():
        submodule = os.path.join(state.root, path)
        if any(lies_in(submodule, each) or lies_in(each, submodule) for each in named):
            inventory.notes.append(f"{shown_path(path)}: a submodule, at {commit[:12]}, whose files are not read")
    inventory.declared = {key: _shown(state, place) for key, place in inventory.declared.items()}
    for said in (inventory.warnings, inventory.notes):
        said[:] = [_without_root(state, each) for each in said]
    return inventory


def _shown(state: State, place: Place) -> Place:
    """Return a place with the name of its file in messages, REVISION:FILE."""
    from topospread.sources.roots import real_path

    if not state.root or not place.source:
        return place
    return replace(place, source=f"{state.name}:{state.shown(real_path(place.source))}")


@contextmanager
def _told_of(state: State) -> Iterator[None]:
    """Make errors name a revision and its file instead of the temporary folder."""
    from topospread.sources.files import NO_FILE

    try:
        yield
    except InputError as error:
        if not state.root:
            raise
        root = os.path.relpath(state.root) + os.sep
        place = str(error).removesuffix(f": {error.message}")
        where = f"{place}{os.sep}".removeprefix(state.root + os.sep).removeprefix(root).rstrip(os.sep)
        message = _without_root(state, error.message)
        if where:
            raise InputError(message, Place(f"{state.name}: {where}")) from None
        hint = "; --allow-empty accepts a state without objects" if message.startswith(NO_FILE) else ""
        raise InputError(message + hint, Place(state.name)) from None


def _without_root(state: State, text: str) -> str:
    """Return a message without the temporary folder of a revision."""
    if not state.root:
        return text
    for root in (state.root, os.path.relpath(state.root)):
        text = text.replace(root + os.sep, "").replace(root, state.name)
        text = text.replace(os.path.dirname(root), "a folder")
    return text


def _settings(old: State, state: State) -> Settings:
    """Return the settings of the old state, adapted to the files of a state."""
    from topospread.lint.settings_of_revision import settings_of

    with _told_of(old):
        return settings_of(old, state.folder if os.path.isdir(state.folder) else os.path.dirname(state.folder))


def _linted(
    given: dict[str, Any], settings: Settings, state: State, paths: Sequence[str]
) -> tuple[list[Finding], Read, tuple[str, ...], Sequence[Finding]]:
    """Return lint's findings, the manifests as read, the workloads that lint did not place, and the ignored findings.

    Findings have the paths that the user knows, not those of temporary folders.
    """
    from topospread.config.gates import gates_for
    from topospread.lint.reading import Question, Read, read
    from topospread.lint.run import run

    if not paths:
        return [], Read(gates_for(given["kube_version"])), (), ()
    question = Question(
        paths=paths,
        cluster=given["cluster"],
        config=given["config_path"],
        kube_version=given["kube_version"],
        namespace=given["namespace"] or settings.namespace or "default",
        settings=settings,
        rendering=read_rendering(given, given["kube_version"]),
    )
    if given["no_lint"]:
        return [], read(question, gates_for(given["kube_version"])), (), ()
    with progress("linting") as bar:
        outcome = run(question, progress=bar)
    findings = [
        replace(each, place=replace(each.place, source=state.shown(each.place.source))) for each in outcome.findings
    ]
    return findings, outcome.read, tuple(outcome.given.effort.left_out), outcome.ignored
