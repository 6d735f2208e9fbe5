"""``topospread promise check``: prove that promises are kept in every order of pods, or print a counterexample."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from topospread.config.versions import NEWEST
from topospread.errors import UsageError
from topospread.sources.atomic_file import write_file
from topospread.text import escape_all

from .drill_many import INTERRUPTED
from .inputs import PATH, input_options, namespace_options, read_inventory, read_options, shown_namespace
from .live_options import access_options
from .output import check_outputs, output_options, write_answer
from .targets import target_argument
from .terminal import warn, written
from .usage import Explained

if TYPE_CHECKING:
    from topospread.answers.promise_check import PromiseCheck

HELP = """\
Prove, whatever the scores, that workloads keep their promises, or show an order of pods that breaks one. An
undecided promise exits with 4; with --allow-unknown with 0.

Without --want, the annotation topospread.dev/promise and the settings declare promises. If none are declared, no loss
of a zone or node may take all pods of a workload, or the quorum of a StatefulSet.

\b
Promises:
  zone-loss>=4  node-loss>=66%  pods left after any zone or node loss
  quorum                        more than half of the pods left after any loss
  drain>=4  rollout>=80%        pods that stay ready
  skew<=1                       skew of each constraint with all pods placed
  never-waits                   no pod stays pending

\b
Examples:
  topospread promise check -f app.yaml --on zones=3,nodes=6 --want never-waits
  topospread promise check deploy/web --on cluster.json.gz --want "skew<=2"
"""


@click.command(cls=Explained, help=HELP)
@input_options
@access_options
@target_argument(required=False)
@click.option("--want", default="", metavar="PROMISES", help='Promises to check, such as "zone-loss>=4 quorum".')
@click.option("--states", type=click.IntRange(min=1), default=20_000, show_default=True, metavar="COUNT",
              help="Maximum cluster states to search.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(min=0), default=10.0, show_default=True, metavar="SECONDS",
              help="Time limit of each search.")  # fmt: skip
@click.option(
    "--save-drill", "drill", metavar="FILE", type=PATH, help="Write the first counterexample as a Drill file."
)
@namespace_options("Workloads of")
@click.option("-l", "--selector", metavar="SELECTOR", help="Workloads whose pods have these labels.")
@output_options("junit", "github", "sarif")
def check(**given: Any) -> int:
    """Run the command; return the verdict's exit code."""
    check_outputs(given)
    options = read_options(given)
    inventory = read_inventory(given, by=[options])
    if given["drill"] and getattr(inventory.read_from, "live", False):
        raise UsageError("--save-drill requires a file of the cluster: write one with topospread dump")
    from topospread.answers.promise_check import promise_check
    from topospread.drill.interruption import Interrupted
    from topospread.lint.settings import find_settings

    try:
        found = promise_check(
            inventory,
            given["targets"],
            options,
            want=given["want"],
            namespace=shown_namespace(given),
            selector=given["selector"],
            states=given["states"],
            seconds=given["seconds"],
            sources=_sources(given),
            declared=find_settings().promises,
        )
    except Interrupted as interrupted:
        _written(interrupted.finished, given)
        return INTERRUPTED
    _write_drill(found, given["drill"])
    return _written(found, given)


def _written(found: PromiseCheck, given: dict[str, Any]) -> int:
    from topospread.answers.promise_check import cases, finding_of
    from topospread.render.github import github
    from topospread.render.junit import junit
    from topospread.render.sarif import promise_sarif

    findings = [finding for each in found.promises if (finding := finding_of(each)) is not None]
    return write_answer(
        found,
        given,
        {
            "junit": lambda: junit("topospread promise check", cases(found)),
            "github": lambda: github(findings),
            "sarif": lambda: written(promise_sarif(findings), "json"),
        },
    )


def _sources(given: dict[str, Any]) -> dict[str, object]:
    """Return the cluster and the manifests, relative to the folder of the written drill."""
    from topospread.sources.synthetic_cluster import is_synthetic

    folder = os.path.dirname(given["drill"] or "") or os.curdir
    cluster = given["cluster"]
    found: dict[str, object] = {}
    if cluster is not None:
        found["cluster"] = cluster if is_synthetic(cluster) else os.path.relpath(cluster, folder)
    if given["paths"]:
        found["manifests"] = [os.path.relpath(each, folder) for each in given["paths"]]
    if given["namespace"]:
        found["namespace"] = given["namespace"]
    if given["kube_version"] != str(NEWEST):
        found["kubeVersion"] = given["kube_version"]
    if given["config_path"]:
        found["config"] = os.path.relpath(given["config_path"], folder)
    return found | _gates(given) | _reading(given, folder)


def _gates(given: dict[str, Any]) -> dict[str, object]:
    """Return feature gates in the form of a Drill file."""
    from topospread.config.gates import parse_gates, parted_gates

    names = {"": "featureGates", "apiserver": "apiserverFeatureGates", "scheduler": "schedulerFeatureGates"}
    parts = parted_gates(given["feature_gates"], *names)
    return {name: parse_gates(part) for name, part in zip(names.values(), parts, strict=True) if part}


def _reading(given: dict[str, Any], folder: str) -> dict[str, object]:
    """Return the options for reading manifests in the form of a Drill file."""
    helm = {
        "values": [os.path.relpath(each, folder) for each in given["helm_values"]],
        "set": list(given["helm_set"]),
        "release": given["helm_release"],
    }
    told = {name: value for name, value in helm.items() if value}
    flags = {"raw": given["render"] == "never", "withHooks": given["with_hooks"], "strict": given["strict"]}
    return ({"helm": told} if told else {}) | {name: True for name, is_set in flags.items() if is_set}


def _write_drill(found: PromiseCheck, path: str | None) -> None:
    """Write the first counterexample that can be a Drill file."""
    text = next((each.drill for each in found.promises if each.drill), "")
    if path is None:
        return
    if not text:
        warn([f"--save-drill {path}: not written, as no counterexample can be written as a drill"])
        return
    write_file(path, escape_all(text))
