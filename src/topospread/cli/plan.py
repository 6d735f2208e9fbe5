"""``topospread plan``: what a change of manifests does to the pods of a cluster, before it is merged."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import InputError, Place, UsageError

from .inputs import (
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
    from topospread.config.profile import Configuration
    from topospread.linting.rule import Finding
    from topospread.simulation import Simulation
    from topospread.simulation.comparison import Comparison
    from topospread.sources.revisions import State
    from topospread.workloads.control_plane import ControlPlane

HELP = """\
Say what a change of manifests does to the pods of a cluster: what moves and why, what becomes pending, which skew
grows, which findings are new.

OLD and NEW are folders or files, or git revisions of the repository that the working directory is in; of a revision it
is the working directory as it was then. A name that is both a path and a revision is an error: write path:NAME or
rev:NAME. Settings are those of OLD. PATHs are looked at in both, by default all. Charts and kustomizations are
rendered as for simulate. Both states are placed on the cluster of --on as if the other had never been: objects
that NEW no longer has are still there when the cluster has them.

The answer is no when it gets worse: the loss of a zone or node may leave fewer pods of a workload, by what filters
force; a pod is pending or evicted for good that was not; a skew grows beyond its maxSkew; a warning or error is new.

\b
Examples:
  topospread plan HEAD~1 HEAD --on cluster.json.gz
  topospread plan main . -f overlays/prod --on zones=3,nodes=12,cpu=8,memory=32Gi
  topospread plan old/ new/ --on cluster.json.gz -o json
  topospread plan rev:origin/main rev:HEAD --on cluster.json.gz -o md > comment.md
"""


@click.command(cls=Explained, help=HELP)
@click.argument("old")
@click.argument("new")
@input_options
@click.option("--scale", multiple=True, metavar="[NS/]KIND/NAME=N", help="Other replicas than the manifests say.")
@click.option("--no-lint", is_flag=True, help="Do not look for findings.")
@namespace_options("Show")
@click.option(
    "--seconds", type=click.FloatRange(min=0), default=5.0, metavar="S", help="Time for what each loss leaves (5)."
)
@output_options()
def plan(**given: Any) -> int:
    """Compare the two states; the exit code is that of the verdict."""
    check_outputs(given)
    if "-" in (given["old"], given["new"], given["cluster"], *given["paths"]):
        raise UsageError("plan reads everything twice, and standard input can be read once: name files")
    from topospread.sources.revisions import state_of

    given["scale"] = parse_scale(given)
    with ExitStack() as stack:
        states = [stack.enter_context(state_of(given[name])) for name in ("old", "new")]
        paths = [_paths_of(state, given["paths"]) for state in states]
        if not any(paths):
            raise InputError("neither state has it", Place(", ".join(given["paths"])))
        answer = _answer(given, states, paths)
    return write_answer(answer, given)


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
    from topospread.guarantees.orders import SearchBudget
    from topospread.promises.compared import promise_changes
    from topospread.report.comparison import restricted
    from topospread.review.review import Review, only_in
    from topospread.simulation.run import SimulationOptions

    given = {**given, "settings_from": states[0].folder}
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    options = [_options_for(given, each, paths) for each in paths]
    inventories = [_read(own, state, each, by) for own, state, each in zip(options, states, paths, strict=True)]
    comparison = _compared(given, inventories, by, configuration, (states[0].name, states[1].name))
    findings: list[list[Finding]] = [[], []]
    if not given["no_lint"]:
        findings = [
            _linted(own, states[0], state, each) for own, state, each in zip(options, states, paths, strict=True)
        ]
    namespace = shown_namespace(given)
    review = Review(
        replace(comparison if namespace is None else restricted(comparison, namespace), counts_new=True),
        only_in(findings[1], findings[0]),
        only_in(findings[0], findings[1]),
    )
    judged_by = SimulationOptions.of_version(str(by.scheduler.kube_version), configuration, by.scheduler, by.apiserver)
    with progress("judging losses"):
        changes = [
            each
            for each in promise_changes(
                inventories[0], inventories[1], judged_by, SearchBudget(seconds=given["seconds"])
            )
            if namespace in (None, each.key[1])
        ]
    is_same = [*inventories[0].objects()] == [*inventories[1].objects()]
    return with_version(plan_answer(review, changes, is_same_input=is_same), by.scheduler.kube_version)


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
    by: ControlPlane,
    configuration: Configuration | None,
    names: tuple[str, str],
) -> Comparison:
    """Both states placed, and why pods move."""
    import topospread
    from topospread.simulation.causes import to_watch, with_causes
    from topospread.simulation.comparison import compare

    def placed(inventory: Inventory, watch: Collection[str] = ()) -> Simulation:
        with progress("placing") as bar:
            return topospread.simulate(
                inventory,
                config=configuration,
                scale=given["scale"],
                kube_version=str(by.scheduler.kube_version),
                gates=by.scheduler,
                apiserver_gates=by.apiserver,
                watch=watch,
                progress=bar,
            )

    before, after = (placed(each) for each in inventories)
    comparison = compare(before, after, names)
    watched = to_watch(comparison)
    if not any(watched):
        return comparison
    again = [placed(inventory, each) for inventory, each in zip(inventories, watched, strict=True)]
    return with_causes(comparison, again[0], again[1])


def _linted(given: dict[str, Any], old: State, state: State, paths: Sequence[str]) -> list[Finding]:
    """Return the findings of lint in a state, with paths as a person knows them, by the settings of the old state."""
    from dataclasses import replace

    from topospread.linting.reading import Question
    from topospread.linting.run import run
    from topospread.linting.settings_of_revision import settings_of

    if not paths:
        return []
    folder = state.folder if os.path.isdir(state.folder) else os.path.dirname(state.folder)
    with _told_of(old):
        settings = settings_of(old, folder)
    question = Question(
        paths=paths,
        cluster=given["cluster"],
        config=given["config_path"],
        kube_version=given["kube_version"],
        namespace=given["namespace"] or settings.namespace or "default",
        settings=settings,
        rendering=read_rendering(given, given["kube_version"]),
    )
    with progress("linting") as bar:
        outcome = run(question, progress=bar)
    return [
        replace(each, place=replace(each.place, source=state.shown(each.place.source))) for each in outcome.findings
    ]
