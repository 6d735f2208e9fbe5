"""``topospread promise design``: print constraints that keep the wanted promises, as YAML."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click
import msgspec
from click.core import ParameterSource

from topospread.api.inventory import key_of
from topospread.errors import InputError, Place, UsageError
from topospread.sources.atomic_file import write_file
from topospread.text import escape_all

from .inputs import PATH, POOLS, input_options, read_inventory, read_options, read_rendering
from .live_options import access_options
from .output import check_outputs, output_options, write_answer
from .targets import target_argument
from .terminal import progress, warn
from .usage import Explained

if TYPE_CHECKING:
    from topospread.answers.promise_design import PromiseDesign
    from topospread.lint.reading import Read

HELP = """\
Find the fewest constraints with which a Deployment or StatefulSet keeps the wanted promises.

Each design is checked in drills and for all orders of pods. Declared promises are wanted, too. Without promises, a
zone's loss may take only the zone's even share of the pods. Without TARGET, every workload of at least two pods gets a
design; with -f and --on, only those of -f.

\b
Examples:
  topospread promise design deploy/web -f app.yaml --on zones=3,nodes=6 --want "zone-loss>=4" --of 6
  topospread promise design deploy/web --on cluster.json.gz --want "zone-loss>=66% node-loss>=5" --out patches
  topospread promise design --all -f deploy/ --on cluster.json.gz --in-place
"""


class _Left(click.types.IntParamType):
    """A number of pods, or their share ``50%``, which stays text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number or the share."""
        return value if re.fullmatch("[0-9]{1,3}%", str(value)) else super().convert(value, param, ctx)


@click.command("design", cls=Explained, help=HELP)
@target_argument(required=False)
@input_options
@access_options
@click.option("--want", default="", metavar="PROMISES", help="Wanted promises: zone-loss>=4 drain>=66% skew<=1 …")
@click.option("--survive", multiple=True, metavar="zone|node|KEY", help="Kind of domain that may be lost; with --left.")
@click.option(
    "--left", multiple=True, type=_Left(), metavar="N|PERCENT", help="Pods that must remain; once for each --survive."
)
@click.option(
    "--of", "replicas", type=click.IntRange(min=1), metavar="COUNT", help="Replicas; by default the workload's."
)
@click.option(
    "--lose-node-unnoticed", "unnoticed", is_flag=True, help="A node loss takes at most one, replaceable pod."
)
@click.option("--tries", type=click.IntRange(min=1), default=60, show_default=True, metavar="COUNT",
              help="Maximum number of designs to check.")  # fmt: skip
@click.option("--states", type=click.IntRange(min=1), default=5_000, show_default=True, metavar="COUNT",
              help="Maximum cluster states to search.")  # fmt: skip
@POOLS
@click.option("--all", "every", is_flag=True, help="Design every workload of at least two pods.")
@click.option("--in-place", is_flag=True, help="Edit the files of -f; keep comments and layout.")
@click.option("--out", metavar="DIR", type=PATH, help="Write one YAML file per workload into this folder.")
@click.option("-n", "--namespace", metavar="NAMESPACE", help="Namespace of TARGET and objects that name none.")
@click.option("-A", "--all-namespaces", "whole", is_flag=True, help="Also design workloads that only --on has.")
@output_options()
def design_promises(**given: Any) -> int:
    """Write the answer and the files; return the verdict's exit code."""
    check_outputs(given)
    if given["every"] and given["targets"]:
        raise UsageError("--all cannot be combined with TARGET")
    if given["in_place"]:
        if not given["paths"]:
            raise UsageError("--in-place requires -f with the files to edit")
        files = _editable(given)
    options = read_options(given)
    inventory = read_inventory(given, by=[options])
    from topospread.answers.promise_design import promise_design
    from topospread.lint.settings import find_settings

    with progress("designing") as bar:
        found = promise_design(
            inventory,
            given["targets"],
            options,
            want=given["want"],
            declared=find_settings().promises,
            survive=given["survive"],
            left=given["left"],
            replicas=given["replicas"],
            unnoticed=given["unnoticed"],
            namespace=given["namespace"],
            among=() if given["whole"] else getattr(inventory.read_from, "own", ()),
            tries=given["tries"],
            states=given["states"],
            progress=bar,
        )
    if given["out"] or given["in_place"]:
        left = [f"{each.namespace}/{each.name}" for each in found.workloads if each.manifest and each.verdict != "yes"]
        found = msgspec.structs.replace(found, unwritten=tuple(left))
    if given["out"]:
        found = _write_files(found, given["out"], {each.source for each in inventory.places.values()})
    if given["in_place"]:
        found = _edit_files(found, files)
    is_written = given["out"] or given["in_place"]
    if is_written and not getattr(inventory.read_from, "live", False) and any(each.declare for each in found.workloads):
        found = msgspec.structs.replace(found, check=_check_words(given))
    return write_answer(found, given)


def _editable(given: dict[str, Any]) -> Read:
    """Return the manifests of ``-f``. Raise UsageError if no manifest of a workload to design can be edited."""
    from topospread.config.gates import gates_for
    from topospread.controllers.scale import the_workload
    from topospread.lint.reading import Question, read
    from topospread.promise.fresh import LISTS
    from topospread.sources.folders import look_into

    rendering, namespace = read_rendering(given, given["kube_version"]), given["namespace"]
    contents = [look_into(path, rendering) for path in given["paths"]]
    rendered = [source.name for each in contents for source in each.sources if source.unit is not None]
    if len(rendered) < sum(len(each.sources) for each in contents):
        question = Question(
            paths=given["paths"],
            kube_version=given["kube_version"],
            namespace=namespace or "default",
            rendering=rendering,
        )
        files = read(question, gates_for(given["kube_version"]), contents=contents)
        texts = {
            (each.kind, each.item.namespace, each.item.name): each.location.text
            for each in files.manifests
            if each.kind in LISTS
        }
        keys = [the_workload(each, texts, namespace) for each in given["targets"]] or texts
        if files.broken or any(texts[key].origins is None for key in keys):
            return files
        rendered = [texts[key].name for key in keys]
    if not rendered:
        raise UsageError("--in-place: the files of -f have no Deployment or StatefulSet; use --out DIR")
    raise UsageError(
        f"--in-place cannot edit {rendered[0]}, which is rendered; use --out DIR and copy the constraints into the "
        "chart's template or a kustomize patch"
    )


def _edit_files(found: PromiseDesign, files: Read) -> PromiseDesign:
    """Edit the designed workloads' manifests; return the answer with the file names."""
    from topospread.promise.in_place import edited
    from topospread.sources.text import Text
    from topospread.sources.yaml import read_documents

    designs = {
        key_of(each): [document.value for document in read_documents(Text(each.file, each.manifest.encode()))]
        for each in found.workloads
        if each.manifest and each.verdict == "yes"
    }
    paths = {(each.kind, each.item.namespace, each.item.name): each.location.text.name for each in files.manifests}
    twice = []
    for key, objects in tuple(designs.items()):
        new = {each["metadata"]["name"] for each in objects if each["kind"] == "PodDisruptionBudget"}
        others = _unread_budgets(paths[key], paths.values(), key[1]) if new and key in paths else ()
        for name, path in others:
            if name in new and key in designs:
                del designs[key]
                twice.append(f"{key[1]}/{key[2]}: {path} has PodDisruptionBudget {name}; add -f {path}")
    texts, left = edited(files, designs)
    left = [*twice, *left]
    for each in texts:
        each.write()
    if left and not texts:
        raise InputError(f"no file was edited: {left[0]}")
    warn([f"not edited: {each}" for each in left])
    return msgspec.structs.replace(found, edited=tuple(each.source.name for each in texts))


def _unread_budgets(path: str, read: Collection[str], namespace: str) -> Iterator[tuple[str, str]]:
    """Yield the name and file of each of the namespace's PodDisruptionBudgets in a file's folder that was not read."""
    from topospread.sources.files import Source, read_text
    from topospread.sources.roots import real_path
    from topospread.sources.yaml import read_documents

    folder, known = os.path.dirname(path), set(map(real_path, read))
    for name in sorted(os.listdir(folder or ".")) if os.path.isfile(path) else ():
        other = os.path.join(folder, name)
        if not name.endswith((".yaml", ".yml")) or real_path(other) in known or not os.path.isfile(other):
            continue
        with suppress(InputError):
            for document in read_documents(read_text(Source(other, None))):
                found: Any = document.value
                metadata = found.get("metadata") if isinstance(found, dict) else None
                if not isinstance(metadata, dict) or found.get("kind") != "PodDisruptionBudget":
                    continue
                if metadata.get("namespace", namespace) == namespace:
                    yield str(metadata.get("name")), other


def _check_words(given: dict[str, Any]) -> list[str]:
    """Return the words of ``promise check`` for the declared promises, with the typed options that both commands have.

    ``--want`` is left out: it would also ask for the promises of workloads that were not designed.
    """
    from .promise_check import check

    context, known = click.get_current_context(), {each.name for each in check.params} - {"outputs", "color", "want"}
    words = ["topospread", "promise", "check", *given["targets"]]
    for each in context.command.params:
        source = context.get_parameter_source(each.name or "")
        if not isinstance(each, click.Option) or each.name not in known or source is not ParameterSource.COMMANDLINE:
            continue
        name, value = min(each.opts, key=len), given[each.name]
        if each.is_flag:
            words.append(name)
        else:
            words += [word for one in (value if each.multiple else [value]) for word in (name, str(one))]
        if each.name == "paths" and given["out"]:
            words += [name, given["out"]]
    return words if given["paths"] or not given["out"] else [*words, "-f", given["out"]]


def _write_files(found: PromiseDesign, folder: str, read: Collection[str]) -> PromiseDesign:
    """Write a file for each workload that needs a change, over none that was read; return the answer with the files."""
    from topospread.sources.roots import check_inside_repository, real_path

    check_inside_repository(folder)
    inputs = set(map(real_path, read))
    designed = [each for each in found.workloads if each.manifest and each.verdict == "yes"]
    for path in (os.path.join(folder, each.file) for each in designed):
        if real_path(path) in inputs:
            raise InputError("the design would replace a manifest; name another folder for --out", Place(path))
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from None
    for each in designed:
        write_file(os.path.join(folder, each.file), escape_all(each.manifest))
    return msgspec.structs.replace(found, folder=folder if designed else "")
