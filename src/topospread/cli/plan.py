"""``topospread plan``: what a change of manifests does to the pods of a cluster, before it is merged."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from topospread.errors import InputError, Place, UsageError

from .inputs import (
    PATH,
    input_options,
    namespace_options,
    parse_scale,
    read_configuration,
    read_control_plane,
    read_inventory,
    read_rendering,
    shown_namespace,
)
from .output import check_outputs, output_options, write_answer
from .terminal import progress
from .usage import Explained

if TYPE_CHECKING:
    from topospread.answers.plan import Plan
    from topospread.api.inventory import Inventory
    from topospread.config.difference import Difference
    from topospread.config.profile import Configuration
    from topospread.linting.reading import Read
    from topospread.linting.rule import Finding
    from topospread.linting.settings import Settings
    from topospread.simulation import Simulation
    from topospread.simulation.comparison import Comparison
    from topospread.sources.revisions import State
    from topospread.workloads.control_plane import ControlPlane

SAMPLING = click.Choice(["all", "kube"])


@dataclass(frozen=True, slots=True)
class ControlSide:
    """The control plane that one side of the comparison is placed with."""

    by: ControlPlane
    configuration: Configuration | None
    sampling: Literal["all", "kube"] = "all"


HELP = """\
Say what a change of manifests does to the pods of a cluster; does it get worse?

OLD and NEW are folders, files, or git revisions of this repository (path:NAME and rev:NAME say which). -f narrows
both to these paths. Settings are OLD's. The answer is no if the loss of a zone or node may leave fewer pods, if a pod
is newly pending or evicted for good, if a skew grows beyond its maxSkew, or if a warning or error is new.

--to-config, --to-kube-version and --to-sampling compare, in place of OLD and NEW, the same objects under another
control plane: all pods are placed again on both sides.

\b
Examples:
  topospread plan HEAD~1 HEAD --on cluster.json.gz
  topospread plan origin/main HEAD --on cluster.json.gz -o md
  topospread plan --to-config other.yaml --on cluster.json.gz
  topospread plan --to-kube-version 1.37 --kube-version 1.34 --on cluster.json.gz
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
    default=True,
    help="With --to-…: place all pods again.  [default: yes]",
)
@click.option("--no-lint", is_flag=True, help="Do not look for findings.")
@namespace_options("Show")
@click.option(
    "--seconds", type=click.FloatRange(min=0), default=5.0, metavar="S", help="Time for what each loss leaves (5)."
)
@output_options()
def plan(**given: Any) -> int:
    """Compare the two states; the exit code is that of the verdict."""
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
    """Return what another configuration, version or sampling does to the same objects.

    Raises:
        UsageError: if states are named as well.
    """
    if given["old"] is not None:
        raise UsageError(f"--to-… compares the same objects; name them with -f and --on: {given['old']}")
    from topospread.answers.asking import with_version
    from topospread.answers.plan import plan_answer
    from topospread.config.difference import differences
    from topospread.config.load import default_configuration
    from topospread.promises.fresh import without_placed_pods
    from topospread.review.review import Review
    from topospread.simulation.comparison import restricted

    given["scale"] = parse_scale(given)
    by = read_control_plane(given)
    other = read_control_plane(given, given["to_kube_version"]) if given["to_kube_version"] else by
    configuration = read_configuration(given["config_path"], by.scheduler)
    other_configuration = read_configuration(given["to_config"] or given["config_path"], other.scheduler)
    sides = (
        ControlSide(by, configuration),
        ControlSide(other, other_configuration, given["to_sampling"] or "all"),
    )
    inventory = read_inventory(given, by=[by, other])
    if given["as_if_rolled_out"]:
        inventory = without_placed_pods(inventory)
    names = _names_of_sides(given, sides)
    settings = differences(
        *(
            each.configuration or default_configuration(each.by.scheduler.kube_version, each.by.scheduler)
            for each in sides
        )
    )
    comparison = _compared(given, (inventory, inventory), sides, names, settings)
    namespace = shown_namespace(given)
    review = Review(comparison if namespace is None else restricted(comparison, namespace))
    return with_version(plan_answer(review, is_same_input=True), other.scheduler.kube_version)


def _names_of_sides(given: dict[str, Any], sides: Sequence[ControlSide]) -> tuple[str, str]:
    names = []
    for side, config in zip(sides, (given["config_path"], given["to_config"]), strict=True):
        parts = [f"Kubernetes {side.by.scheduler.kube_version}"] if given["to_kube_version"] else []
        parts += [config or "the default configuration"] if given["to_config"] else []
        parts += ["all nodes scored" if side.sampling == "all" else "nodes sampled"] if given["to_sampling"] else []
        names.append(", ".join(parts))
    return names[0], names[1]


def _paths_of(state: State, paths: Sequence[str]) -> list[str]:
    """What is read of a state; what only the other one has is left out."""
    if not paths:
        return [state.folder]
    inside = [os.path.normpath(os.path.join(state.folder, path)) for path in paths]
    return [path for path in inside if os.path.exists(path)]


def _answer(given: dict[str, Any], states: Sequence[State], paths: Sequence[Sequence[str]]) -> Plan:
    from dataclasses import replace

    from topospread.answers.asking import with_version
    from topospread.answers.plan import plan_answer
    from topospread.answers.promise_check import declared_wants
    from topospread.guarantees.orders import SearchBudget
    from topospread.promises.compared import promise_changes
    from topospread.review.changed_lines import ChangedLines
    from topospread.review.review import Review, only_in
    from topospread.simulation.comparison import restricted
    from topospread.simulation.run import SimulationOptions

    given = {**given, "settings_from": states[0].folder}
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    options = [_options_for(given, each, paths) for each in paths]
    inventories = [_read(own, state, each, by) for own, state, each in zip(options, states, paths, strict=True)]
    side = ControlSide(by, configuration)
    comparison = _compared(given, inventories, (side, side), (states[0].name, states[1].name))
    settings = [_settings(states[0], each) for each in states]
    reports = [_linted(*each, given["no_lint"]) for each in zip(options, settings, states, paths, strict=True)]
    findings = [found for found, _, _ in reports]
    namespace = shown_namespace(given)
    review = Review(
        replace(comparison if namespace is None else restricted(comparison, namespace), counts_new=True),
        only_in(findings[1], findings[0]),
        only_in(findings[0], findings[1]),
        left_out=reports[1][2],
    )
    judged_by = SimulationOptions.of_version(str(by.scheduler.kube_version), configuration, by.scheduler, by.apiserver)
    with progress("judging losses"):
        changes = [
            each
            for each in promise_changes(
                inventories[0],
                inventories[1],
                judged_by,
                SearchBudget(seconds=given["seconds"]),
                lambda workload, inventory: declared_wants(inventory, workload, settings[0].promises)[0],
            )
            if namespace in (None, each.key[1])
        ]
    read = [each for _, each, _ in reports]
    lines = None if None in read else ChangedLines(states, [each for each in read if each is not None])
    is_same = [*inventories[0].objects()] == [*inventories[1].objects()]
    return with_version(plan_answer(review, changes, lines=lines, is_same_input=is_same), by.scheduler.kube_version)


def _options_for(given: dict[str, Any], paths: Sequence[str], every: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return the options for one state: Helm's options apply to the state that has a chart."""
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


def _read(given: dict[str, Any], state: State, paths: Sequence[str], by: ControlPlane) -> Inventory:
    """Return the objects of a state and of the cluster, with messages that name the files of a revision."""
    with _told_of(state):
        inventory = read_inventory({**given, "paths": tuple(paths)}, by=[by])
    for said in (inventory.warnings, inventory.notes):
        said[:] = [each.replace(state.root + os.sep, "") if state.root else each for each in said]
    return inventory


@contextmanager
def _told_of(state: State) -> Iterator[None]:
    """Name a revision and the file in it in errors, not the temporary folder."""
    try:
        yield
    except InputError as error:
        if not state.root:
            raise
        root = os.path.relpath(state.root) + os.sep
        place = str(error).removesuffix(f": {error.message}")
        raise InputError(error.message, Place(f"{state.name}: {state.shown(place).removeprefix(root)}")) from None


def _compared(
    given: dict[str, Any],
    inventories: Sequence[Inventory],
    sides: Sequence[ControlSide],
    names: tuple[str, str],
    settings: Iterable[Difference] = (),
) -> Comparison:
    """Return the difference between both sides when they are placed, and why pods move."""
    from topospread.simulation.causes import to_watch, with_causes
    from topospread.simulation.comparison import compare
    from topospread.simulation.simulate import simulate

    def placed(inventory: Inventory, side: ControlSide, watch: Collection[str] = ()) -> Simulation:
        with progress("placing") as bar:
            return simulate(
                inventory,
                config=side.configuration,
                scale=given["scale"],
                kube_version=str(side.by.scheduler.kube_version),
                gates=side.by.scheduler,
                apiserver_gates=side.by.apiserver,
                sampling=side.sampling,
                watch=watch,
                progress=bar,
            )

    before, after = map(placed, inventories, sides)
    comparison = compare(before, after, names, settings)
    watched = to_watch(comparison)
    if not any(watched):
        return comparison
    again = list(map(placed, inventories, sides, watched))
    return with_causes(comparison, again[0], again[1])


def _settings(old: State, state: State) -> Settings:
    """Return the settings of the old state, for the files of a state."""
    from topospread.linting.settings_of_revision import settings_of

    with _told_of(old):
        return settings_of(old, state.folder if os.path.isdir(state.folder) else os.path.dirname(state.folder))


def _linted(
    given: dict[str, Any], settings: Settings, state: State, paths: Sequence[str], no_lint: bool
) -> tuple[list[Finding], Read | None, tuple[str, ...]]:
    """Return the findings of lint in a state, with paths as a person knows them, the manifests as they are written,
    and the workloads that lint did not place.

    Args:
        given: the options for the state.
        settings: those of the old state.
        state: the state.
        paths: its files.
        no_lint: whether manifests are read only.
    """
    from dataclasses import replace

    from topospread.config.gates import gates_for
    from topospread.linting.reading import Question, read
    from topospread.linting.run import run

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
    if no_lint:
        return [], read(question, gates_for(given["kube_version"])), ()
    with progress("linting") as bar:
        outcome = run(question, progress=bar)
    findings = [
        replace(each, place=replace(each.place, source=state.shown(each.place.source))) for each in outcome.findings
    ]
    return findings, outcome.read, tuple(outcome.given.effort.left_out)
