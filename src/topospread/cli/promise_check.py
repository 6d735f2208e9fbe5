"""``topospread promise check``: what holds in every order of pods and every tie, or an order in which it does not."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from topospread.atomic_file import write_file
from topospread.errors import UsageError
from topospread.text import escape_control_characters

from .drill_many import INTERRUPTED
from .inputs import PATH, input_options, read_configuration, read_control_plane, read_inventory
from .live_options import access_options
from .terminal import layout, show, warn, written
from .usage import Explained

if TYPE_CHECKING:
    from topospread.guarantees import Guarantee

HELP = """\
Say whether something holds in every order in which pods may come, whichever of equal nodes kube-scheduler takes.

PATHs are as for simulate; without, the cluster is read that kubectl points at.
Controllers create pods side by side, and pods that fail wait for as long as it happens: no
single simulation is all that may come. Here what can be counted is counted; else orders are drawn at random, and then
all are looked at, states of the cluster that are alike once. The answer is always, never, or not always, with an order
in which it does not hold. Where there are more states than --states, or more than fits into --seconds, it is not
decided, and it says what was tried. Searching is for small questions: a few workloads on a few dozen nodes.

With --rollout everything is placed first, as a simulation would, and then the Deployment is rolled out: which of equal
old pods goes, who is faster, controllers, kube-scheduler or kubelets, and which of equal nodes is taken is all looked
at.

Nothing is evicted for pods; where that might happen it is not decided, either. Pods of DaemonSets are there first.

The exit code is 1 when anything does not always hold.

\b
Examples:
  topospread promise check -f app.yaml --on zones=3,nodes=6 --never-pending
  topospread promise check -f app.yaml --on cluster.json.gz --max-skew 2 -o json
  topospread promise check -f app.yaml --on cluster.yaml --survives zone --left deploy/web=2
  topospread promise check -f app.yaml --on zones=2,nodes=4 --never-pending --drill order.yaml
  topospread promise check -f app.yaml --on zones=3,nodes=6 --rollout deploy/web --max-skew 2
"""

FORMATS = click.Choice(["table", "wide", "json", "yaml"])


@click.command(cls=Explained, help=HELP)
@input_options
@access_options
@click.option("--never-pending", is_flag=True, help="Does every pod get a node?")
@click.option("--max-skew", type=click.IntRange(min=0), metavar="N", help="Has no constraint more skew than this?")
@click.option("--survives", type=click.Choice(["zone", "node"]), help="Does the loss of any one leave …")
@click.option("--left", multiple=True, metavar="[NS/]KIND/NAME=N", help="… so many pods of this workload?")
@click.option("--rollout", metavar="[NS/]deploy/NAME", help="Ask of every way that this rollout may go.")
@click.option("--states", type=click.IntRange(min=1), default=20_000, metavar="N", help="Look at so many (20000).")
@click.option("--seconds", type=click.FloatRange(min=0), default=60.0, metavar="S", help="For each question (60).")
@click.option("--drill", "drill", metavar="FILE", type=PATH, help="Write the first order that fails as a drill.")
@click.option(
    "-n", "--namespace", metavar="NAMESPACE", help="Where objects go that name none; of --left what names none."
)
@click.option("-o", "--output", type=FORMATS, default="table", help="How to show the answers.")
def check(**given: Any) -> int:
    """Show the answers; 1 when anything does not always hold."""
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    inventory = read_inventory(given, by=[by])
    if given["drill"] and getattr(inventory.read_from, "live", False):
        raise UsageError(
            "--drill names the cluster's file in the drill: write one with topospread dump, and ask with it"
        )
    import topospread

    namespace = given["namespace"]
    rollout = given["rollout"]
    if rollout and namespace and rollout.count("/") == 1:
        rollout = f"{namespace}/{rollout}"
    left = [f"{namespace}/{each}" if namespace and each.count("/") == 1 else each for each in given["left"]]
    from topospread.drills.interruption import Interrupted

    asked = partial(
        topospread.guarantee,
        inventory,
        never_pending=given["never_pending"],
        skew=given["max_skew"],
        survives=given["survives"],
        left=left,
        rollout=rollout,
        config=configuration,
        kube_version=str(by.scheduler.kube_version),
        gates=by.scheduler,
        apiserver_gates=by.apiserver,
        states=given["states"],
        seconds=given["seconds"],
        sources=_sources(given),
    )
    try:
        found = asked()
        code = 0 if found.holds else 1
    except Interrupted as interrupted:
        found, code = interrupted.finished, INTERRUPTED
    _write_drill(found, given["drill"])
    show(_text(found, given["output"], given["color"]))
    return code


def _sources(given: dict[str, Any]) -> dict[str, object]:
    """The cluster and the manifests, as seen from where the drill is written."""
    from topospread.sources.made_up import is_made_up

    folder = os.path.dirname(given["drill"] or "") or os.curdir
    cluster = given["cluster"]
    found: dict[str, object] = {}
    if cluster is not None:
        found["cluster"] = cluster if is_made_up(cluster) else os.path.relpath(cluster, folder)
    if given["paths"]:
        found["manifests"] = [os.path.relpath(each, folder) for each in given["paths"]]
    if given["namespace"]:
        found["namespace"] = given["namespace"]
    if given["kube_version"] != "1.37":
        found["kubeVersion"] = given["kube_version"]
    if given["config_path"]:
        found["config"] = os.path.relpath(given["config_path"], folder)
    return found | _gates(given) | _reading(given, folder)


def _gates(given: dict[str, Any]) -> dict[str, object]:
    """Feature gates, as a drill's file says them."""
    from topospread.config.gates import parse_gates

    options = ("feature", "apiserver_feature", "scheduler_feature")
    names = {"feature": "featureGates"} | {each: each.replace("_feature", "FeatureGates") for each in options[1:]}
    return {names[each]: parse_gates(given[f"{each}_gates"]) for each in options if given[f"{each}_gates"]}


def _reading(given: dict[str, Any], folder: str) -> dict[str, object]:
    """How manifests are read, as a drill's file says it."""
    helm = {
        "values": [os.path.relpath(each, folder) for each in given["helm_values"]],
        "set": list(given["helm_set"]),
        "release": given["helm_release"],
    }
    told = {name: value for name, value in helm.items() if value}
    flags = {"raw": "raw", "withHooks": "with_hooks", "strict": "strict"}
    return ({"helm": told} if told else {}) | {name: True for name, option in flags.items() if given[option]}


def _write_drill(found: Guarantee, path: str | None) -> None:
    """Write the first order that there is.

    Raises:
        InputError: the file cannot be written.
    """
    text = next((each.drill for each in found.answers if each.drill), "")
    if path is None:
        return
    if not text:
        warn([f"--drill {path}: not written, as there is no order that a drill can play"])
        return
    write_file(path, escape_control_characters(text))


def _text(found: Guarantee, output: str, color: str) -> str:
    if output in ("table", "wide"):
        from topospread.report.guarantee import guarantee_text

        return guarantee_text(found, layout(color, wide=output == "wide"))
    warn(found.warnings)
    return written(found.to_dict(), output)
