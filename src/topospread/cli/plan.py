"""``topospread plan``: the effects of a change of manifests on a cluster's pods, before it is merged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import InputError, Place, UsageError

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
Say what a change of manifests does to the pods of a cluster; does it get worse?

OLD and NEW are folders, files, or git revisions of this repository (path:NAME and rev:NAME say which). -f narrows
both to these paths. Settings are OLD's. The answer is no if the loss of a zone or node may leave fewer pods, if a pod
is newly pending or evicted for good, if a skew grows beyond its maxSkew, or if a warning or error is new.

--to-config, --to-kube-version and --to-sampling compare, in place of OLD and NEW, the same objects under another
control plane: all pods are placed again on both sides, but for a preview.

\b
Examples:
  topospread plan HEAD~1 HEAD --on cluster.json.gz
  topospread plan origin/main HEAD --on cluster.json.gz -o md
  topospread plan --kube-version 1.34 --to-kube-version 1.37 --on cluster.json.gz
  topospread plan --to-kube-version preview:KEP-5980 --on cluster.json.gz
"""


@click.command(cls=Explained, help=HELP)
@click.argument("old", required=False)
@click.argument("new", required=False)
@input_options
@click.option("--scale", multiple=True, metavar="[NS/]KIND/NAME=N", help="Other replicas than the manifests say.")
@click.option("--to-config", type=PATH, metavar="FILE", help="In place of OLD and NEW.")
@click.option("--to-kube-version", metavar="VERSION", help="In place of OLD and NEW.")
@click.option("--to-sampling", type=SAMPLING, help="In place of OLD and NEW.")
@click.option(
    "--as-if-rolled-out/--no-as-if-rolled-out",
    default=None,
    help="With --to-…: place all pods again.  [default: yes]",
)
@click.option("--no-lint", is_flag=True, help="Do not look for findings.")
@namespace_options("Show")
@click.option(
    "--seconds", type=click.FloatRange(min=0), default=5.0, metavar="S", help="Time for what each loss leaves (5)."
)
@output_options()
def plan(**given: Any) -> int:
    """Compare the two states; return the exit code of the verdict."""
    check_outputs(given)
    from .project import project_settings, with_project

    if given["to_config"] or given["to_kube_version"] or given["to_sampling"]:
        given = with_project(given, project_settings())
        return write_answer(_other_control_plane(given), given)
    if given["new"] is None:
        raise UsageError("name the OLD and the NEW state, or give --to-config, --to-kube-version or --to-sampling")
    if "-" in (given["old"], given["new"], given["cluster"], *given["paths"]):
        raise UsageError("plan reads everything twice, and standard input can be read once: name files")
    from topospread.sources.revisions import state_of

    with ExitStack() as stack:
        states = [stack.enter_context(state_of(given[name])) for name in ("old", "new")]
        old = states[0].folder
        with _told_of(states[0]):
            given = with_project(given, project_settings(old if os.path.isdir(old) else os.path.dirname(old) or "."))
        given["scale"] = parse_scale(given)
        paths = [_paths_of(state, given["paths"]) for state in states]
        if not any(paths):
            raise InputError("neither state has it", Place(", ".join(given["paths"])))
        answer = _answer(given, states, paths)
    return write_answer(answer, given)


def _other_control_plane(given: dict[str, Any]) -> Plan:
    """Return the effects of another configuration, version or sampling on the same objects.

    Raises:
        UsageError: if states are named as well.
    """
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
    if not paths:
        return [state.folder]
    inside = [os.path.normpath(os.path.join(state.folder, path)) for path in paths]
    return [path for path in inside if os.path.exists(path)]


def _answer(given: dict[str, Any], states: Sequence[State], paths: Sequence[Sequence[str]]) -> Plan:
    from topospread.answers.plan import plan as compared
    from topospread.plan.changed_lines import ChangedLines

    given = {**given, "settings_from": states[0].folder}
    side = replace(read_options(given), scale=given["scale"])
    options = [_options_for(given, each, paths) for each in paths]
    inventories = [_read(own, state, each, side) for own, state, each in zip(options, states, paths, strict=True)]
    settings = [_settings(states[0], each) for each in states]
    reports = [_linted(*each) for each in zip(options, settings, states, paths, strict=True)]
    read = [each for _, each, _ in reports]
    names = (states[0].name, states[1].name)
    with progress("placing") as bar:
        return compared(
            (inventories[0], inventories[1]),
            (side, side),
            names,
            namespace=shown_namespace(given),
            findings=(reports[0][0], reports[1][0]),
            left_out=reports[1][2],
            declared=settings[0].promises,
            lines=None if None in read else ChangedLines(states, [each for each in read if each is not None]),
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
    from topospread.sources.roots import lies_in
    from topospread.sources.text import shown_path

    with _told_of(state):
        inventory = read_inventory({**given, "paths": tuple(paths)}, by=[by])
    for path, commit in state.submodules.items():
        if any(lies_in(os.path.join(state.root, path), each) for each in paths):
            inventory.notes.append(f"{shown_path(path)}: a submodule, at {commit[:12]}, whose files are not read")
    for said in (inventory.warnings, inventory.notes):
        said[:] = [each.replace(state.root + os.sep, "") if state.root else each for each in said]
    return inventory


@contextmanager
def _told_of(state: State) -> Iterator[None]:
    """Make errors name a revision and its file instead of the temporary folder."""
    try:
        yield
    except InputError as error:
        if not state.root:
            raise
        root = os.path.relpath(state.root) + os.sep
        place = str(error).removesuffix(f": {error.message}")
        where = f"{place}{os.sep}".removeprefix(state.root + os.sep).removeprefix(root).rstrip(os.sep)
        if where:
            raise InputError(error.message, Place(f"{state.name}: {where}")) from None
        raise InputError(f"{error.message}; --allow-empty accepts a state without objects", Place(state.name)) from None


def _settings(old: State, state: State) -> Settings:
    """Return the settings of the old state, adapted to the files of a state."""
    from topospread.lint.settings_of_revision import settings_of

    with _told_of(old):
        return settings_of(old, state.folder if os.path.isdir(state.folder) else os.path.dirname(state.folder))


def _linted(
    given: dict[str, Any], settings: Settings, state: State, paths: Sequence[str]
) -> tuple[list[Finding], Read | None, tuple[str, ...]]:
    """Return lint's findings in a state, the manifests as read, and the workloads that lint did not place.

    Paths in findings are those that the user knows.

    Args:
        given: the options for the state.
        settings: settings of the old state.
        state: the state.
        paths: its files.
    """
    from topospread.config.gates import gates_for
    from topospread.lint.reading import Question, read
    from topospread.lint.run import run

    if not paths:
        return [], None, ()
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
        return [], read(question, gates_for(given["kube_version"])), ()
    with progress("linting") as bar:
        outcome = run(question, progress=bar)
    findings = [
        replace(each, place=replace(each.place, source=state.shown(each.place.source))) for each in outcome.findings
    ]
    return findings, outcome.read, tuple(outcome.given.effort.left_out)
