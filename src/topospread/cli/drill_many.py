"""``topospread drill`` with ``--each``, ``--merge`` or ``--check``: many drills in one command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topospread.errors import UsageError

from .inputs import shown_namespace
from .output import code_of, prints_page, wants, write_answer
from .terminal import progress, show_commands, warn

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.drill.checking import DrillCheck
    from topospread.drill.each import EachDrill
    from topospread.drill.steps import Step
    from topospread.render.junit import Case
    from topospread.simulation.options import SimulationOptions

INTERRUPTED = 130
OF_CHECKS = ("junit", "github")
"""Output formats that only --check has."""


def each(given: dict[str, Any], inventory: Inventory, options: SimulationOptions) -> int:
    """Run one drill for each zone, node or Deployment. Return 1 if any does harm.

    Raises:
        UsageError: if there is no such object or shard, or no Dask scheduler answers.
    """
    from topospread.drill.each import drill_each
    from topospread.drill.interruption import Interrupted
    from topospread.drill.shards import read_shard

    shard = read_shard(given["shard"], "--shard") if given["shard"] else None
    namespace = shown_namespace(given)
    try:
        with progress("drilling") as bar:
            if given["dask"]:
                from topospread.drill.dask_workers import SharedEach, drill_each_on_dask

                work = SharedEach(inventory, given["each"], options, namespace=namespace)
                found = drill_each_on_dask(work, given["dask"], bar)
            else:
                found = drill_each(
                    inventory,
                    given["each"],
                    options,
                    given["workers"],
                    progress=bar,
                    shard=shard,
                    namespace=namespace,
                )
    except Interrupted as interrupted:
        _show_each(interrupted.finished, given, (inventory, options))
        return INTERRUPTED
    return _show_each(found, given, (inventory, options))


def check_formats(given: dict[str, Any]) -> None:
    """Raise UsageError if formats of --check are used without --check."""
    for name in OF_CHECKS:
        if wants(given, name):
            raise UsageError(f"-o {name} requires --check")


def check_sharing(given: dict[str, Any]) -> None:
    """Raise UsageError if several options distribute the drills."""
    if given["dask"] and (given["shard"] or given["workers"]):
        raise UsageError("--dask distributes the drills itself: leave out --shard and --workers")


def merge(given: dict[str, Any]) -> int:
    """Merge the shards of many drills. Return 1 if any drill does harm.

    Raises:
        InputError: if a file cannot be read.
        UsageError: if the files are not all shards of one run.
    """
    from topospread.drill.checking import merged_checks
    from topospread.drill.each import merged
    from topospread.drill.saved import is_check, read_check, read_each

    paths = given["paths"]
    if paths and is_check(paths[0]):
        return _show_check(merged_checks([(path, read_check(path)) for path in paths]), given)
    check_formats(given)
    return _show_each(merged([(path, read_each(path)) for path in paths]), given)


def _show_each(
    found: EachDrill, given: dict[str, Any], asked: tuple[Inventory, SimulationOptions] | None = None
) -> int:
    from topospread.answers.asked import about
    from topospread.answers.drill_many import each_answer

    if not prints_page(given):
        warn(found.warnings)
    answer = each_answer(found)
    return write_answer(answer if asked is None else about(answer, *asked), given)


def check(given: dict[str, Any], steps: list[Step]) -> int:
    """Run the Drill files. Return 1 if an expectation is not met.

    Raises:
        UsageError: if an option is given that Drill files set themselves, or no Dask scheduler answers.
    """
    from topospread.drill.checking import check_drills
    from topospread.drill.drill_file import find_drills
    from topospread.drill.interruption import Interrupted
    from topospread.drill.shards import read_shard

    own = {
        "config_path": "--config",
        "namespace": "-n",
        "seed": "--seed",
        "no_preemption": "--no-preemption",
        "runs": "--runs",
        "save": "--save",
        "traffic": "--traffic",
        "each": "--each",
        "fallback": "--fallback",
    }
    check_sharing(given)
    beside = [option for name, option in own.items() if given[name]]
    if steps or beside:
        raise UsageError(f"--check cannot be combined with {(beside or ['a step'])[0]}: Drill files set it themselves")
    if not given["paths"]:
        raise UsageError("--check requires Drill files, or folders with them: add -f FILE")
    files = find_drills(given["paths"], helm_in_kustomizations=given["render_helm"], network=given["render_network"])
    shard = read_shard(given["shard"], "--shard") if given["shard"] else None
    try:
        with progress("drilling") as bar:
            if given["dask"]:
                from topospread.drill.dask_workers import check_drills_on_dask

                found = check_drills_on_dask(files, given["cluster"], given["dask"], bar)
            else:
                found = check_drills(files, given["cluster"], bar, workers=given["workers"], shard=shard)
    except Interrupted as interrupted:
        _show_check(interrupted.finished, given)
        return INTERRUPTED
    return _show_check(found, given)


def _show_check(found: DrillCheck, given: dict[str, Any]) -> int:
    from topospread.answers.drill_many import check_answer
    from topospread.render.github import github
    from topospread.render.junit import junit

    answer = check_answer(found)
    cases: dict[str, list[Case]] = {}
    for each in answer.drills:
        cases.setdefault(each.file, []).append((each.name, answer.findings(each)))
    commands = github(one for suite in cases.values() for _, findings in suite for one in findings)
    if given["outputs"] == (("github", ""),):
        show_commands(commands)  # unescaped: no other text can contain workflow commands
        return code_of(answer.verdict, given)
    return write_answer(answer, given, {"junit": lambda: junit("topospread drill", cases), "github": lambda: commands})
