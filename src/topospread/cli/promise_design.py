"""``topospread promise design``: print constraints that keep the wanted promises, as YAML."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click
import msgspec
from click.core import ParameterSource

from topospread.errors import InputError, UsageError
from topospread.sources.atomic_file import write_file
from topospread.text import escape_all

from .inputs import PATH, POOLS, input_options, read_inventory, read_options, read_rendering
from .output import check_outputs, output_options, write_answer
from .targets import target_argument
from .terminal import progress, warn
from .usage import Explained

if TYPE_CHECKING:
    from topospread.answers.promise_design import PromiseDesign
    from topospread.lint.reading import Read

HELP = """\
Search for the fewest constraints that keep what is wanted of a Deployment or StatefulSet.

Every design is checked in drills and over all orders of pods. What is not needed is left out. Without --want, the loss
of a zone may take its share of the pods only. Without TARGET, all workloads of two pods or more are designed for.

\b
Examples:
  topospread promise design deploy/web -f app.yaml --on zones=3,nodes=6 --want "zone-loss>=4" --of 6
  topospread promise design deploy/web --on cluster.json.gz --want "zone-loss>=66% node-loss>=5" --out patches
  topospread promise design --all -f deploy/ --on cluster.json.gz --in-place
"""


@click.command("design", cls=Explained, help=HELP)
@target_argument(required=False)
@input_options
@click.option("--want", default="", metavar="PROMISES", help="As declared: zone-loss>=4 drain>=66% skew<=1 …")
@click.option("--survive", multiple=True, metavar="zone|node|KEY", help="Topology key whose domains may be lost.")
@click.option("--left", multiple=True, type=int, metavar="COUNT", help="Pods to be left; one for each --survive.")
@click.option("--of", "replicas", type=click.IntRange(min=1), metavar="COUNT", help="Replicas [default: as it says].")
@click.option("--lose-node-unnoticed", "unnoticed", is_flag=True, help="A node takes one pod, which comes back.")
@click.option("--tries", type=click.IntRange(min=1), default=60, show_default=True, metavar="COUNT",
              help="Designs to check.")  # fmt: skip
@click.option("--states", type=click.IntRange(min=1), default=5_000, show_default=True, metavar="COUNT",
              help="Most cluster states to search.")  # fmt: skip
@POOLS
@click.option("--all", "every", is_flag=True, help="All workloads of two pods or more.")
@click.option("--in-place", is_flag=True, help="Edit the files of -f; comments and layout stay.")
@click.option("--out", metavar="DIR", type=PATH, help="Write the YAML of each workload into this folder.")
@click.option("-n", "--namespace", metavar="NAMESPACE", help="Namespace of TARGET and objects that name none.")
@output_options()
def design_promises(**given: Any) -> int:
    """Write the answer and the files; return the verdict's exit code."""
    check_outputs(given)
    if given["every"] and given["targets"]:
        raise UsageError("--all is for all workloads: leave out TARGET")
    if given["in_place"]:
        if not given["paths"]:
            raise UsageError("--in-place edits files of -f: name them")
        files = _editable(given)
    options = read_options(given)
    inventory = read_inventory(given, by=[options])
    from topospread.answers.promise_design import promise_design

    with progress("designing") as bar:
        found = promise_design(
            inventory,
            given["targets"],
            options,
            want=given["want"],
            survive=given["survive"],
            left=given["left"],
            replicas=given["replicas"],
            unnoticed=given["unnoticed"],
            namespace=given["namespace"],
            tries=given["tries"],
            states=given["states"],
            progress=bar,
        )
    if given["out"]:
        found = _write_files(found, given["out"])
        is_live = getattr(inventory.read_from, "live", False)
        found = msgspec.structs.replace(found, check=() if is_live else _check_words(given))
    if given["in_place"]:
        found = _edit_files(found, files)
    return write_answer(found, given)


def _editable(given: dict[str, Any]) -> Read:
    """Return the manifests of ``-f``.

    Raises:
        InputError: if a path cannot be read.
        UsageError: if no manifest of a workload to design can be edited.
    """
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
        raise UsageError("--in-place edits files of -f, and no Deployment or StatefulSet is in them; use --out")
    raise UsageError(f"--in-place edits files, and {rendered[0]} is rendered; use --out")


def _edit_files(found: PromiseDesign, files: Read) -> PromiseDesign:
    """Edit the designed workloads' manifests; return the answer with the file names.

    Raises:
        InputError: if a file cannot be read or written.
    """
    from topospread.promise.in_place import edited
    from topospread.sources.text import Text
    from topospread.sources.yaml import read_documents

    designs = {
        (each.kind, each.namespace, each.name): [
            document.value for document in read_documents(Text(each.file, each.manifest.encode()))
        ]
        for each in found.workloads
        if each.manifest
    }
    texts, left = edited(files, designs)
    for each in texts:
        each.write()
    if left and not texts:
        raise InputError(f"no file was edited: {left[0]}")
    warn([f"not edited: {each}" for each in left])
    return msgspec.structs.replace(found, edited=tuple(each.source.name for each in texts))


def _check_words(given: dict[str, Any]) -> list[str]:
    """Return the command that checks the written files: with the options of this one that it has, too."""
    from .promise_check import check

    context, known = click.get_current_context(), {each.name for each in check.params} - {"outputs", "color"}
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
        if each.name == "paths":
            words += [name, given["out"]]
    return words if given["paths"] else [*words, "-f", given["out"]]


def _write_files(found: PromiseDesign, folder: str) -> PromiseDesign:
    """Write a file for each workload that needs a change; return the answer with the folder of the files.

    Raises:
        InputError: if the folder or a file cannot be written.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from None
    for each in found.workloads:
        if each.manifest:
            write_file(os.path.join(folder, each.file), escape_all(each.manifest))
    return msgspec.structs.replace(found, folder=folder if any(each.manifest for each in found.workloads) else "")
