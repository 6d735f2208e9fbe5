"""``topospread why``: explain why a pod is pending and which changes would help, or why it has its node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import InputError, UsageError

from .inputs import (
    AUTOSCALE,
    PATH,
    POOLS,
    input_options,
    namespace_options,
    parse_scale,
    read_inventory,
    read_options,
    shown_namespace,
)
from .live_options import access_options, read_access
from .output import check_outputs, output_options, write_answer
from .report_file import ReportWish, check_html, html_text, page_options
from .targets import one_target, target_argument
from .terminal import progress
from .usage import Explained

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.simulation.options import SimulationOptions
    from topospread.why.result import Explanation

# ``topospread why --audit``: replay an audit log or events on a snapshot.


def replay(given: dict[str, Any]) -> int:
    """Replay the log; return the exit code. Raise UsageError if options for a single pod are given as well."""
    if given["audit"] and given["events"]:
        raise UsageError("give either --audit FILE or --events FILE")
    of_one = [
        f"--{name.replace('_', '-')}"
        for name in ("anonymous", "each_node", "pools", "scale", "no_suggestions")
        if given[name]
    ]
    if given["targets"] or of_one:
        raise UsageError(f"--audit and --events cover all pods: leave out {(*given['targets'], *of_one)[0]}")
    if not given["paths"] and given["cluster"] is None:
        raise UsageError("--on FILE must be a snapshot from the time when the log begins; topospread dump writes one")
    options = read_options(given)
    inventory = read_inventory(given, by=[options])
    from topospread.answers.asked import about
    from topospread.answers.why_history import history_answer
    from topospread.replay.replay import replay as run

    found = run(
        inventory,
        given["audit"],
        options,
        events=given["events"],
        since=given["since"],
    )
    return write_answer(about(history_answer(found), inventory, options), given)


HELP = """\
Explain why a pod is pending and which changes help, or why it is on its node. With --audit or --events, show which
pods were pending and which event caused it.

TARGET is a pod or a workload: web-0, deploy/web or shop/sts/db. Without TARGET, the only pod or workload of -f is
explained. If there is none or several, every pending pod is explained.

\b
Examples:
  topospread why web-0 -n shop
  topospread why deploy/web --on cluster.json
  topospread why deploy/web -f app.yaml --on zones=3,nodes=12
  topospread why -f new.yaml --on cluster.json
  topospread why deploy/web --on cluster.json -o svg=web.svg
  topospread why --on before.json.gz --audit audit.jsonl
  topospread why --on before.json.gz --events events.json
"""

_KINDS = frozenset({"Pod", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"})
"""Kinds in manifests that can be explained."""


@click.command(cls=Explained, help=HELP)
@target_argument(required=False)
@input_options
@access_options
@click.option("--scale", multiple=True, metavar="[NS/]KIND/NAME=N", help="Replicas to use instead of the manifest's.")
@click.option(
    "--autoscale", type=AUTOSCALE, default="keep", help="HPA target's replicas: unchanged, minimum or maximum."
)
@click.option("--no-preemption", is_flag=True, help="Never preempt pods of lower priority.")
@POOLS
@click.option("--no-suggestions", is_flag=True, help="Do not search for changes that would help.")
@click.option("--each-node", is_flag=True, help="List every node: its score, or why it is rejected.")
@namespace_options("Look in")
@page_options
@click.option("--audit", metavar="FILE", type=PATH, help="Explain past events from kube-apiserver's audit log.")
@click.option("--events", metavar="FILE", type=PATH, help="Explain past events from kubectl get events -o json.")
@click.option("--since", default="", metavar="TIME", help="Explain only events since this time (2026-11-22T16:42:12Z).")
@output_options()
def why(**given: Any) -> int:
    """Explain a pod; return the exit code of the verdict."""
    check_outputs(given)
    if given["audit"] or given["events"]:
        return replay(given)
    check_html(given)
    named = one_target(given["targets"]) if given["targets"] else None
    scale = parse_scale(given)
    options = replace(read_options(given), scale=scale, autoscale=given["autoscale"])
    from topospread.sources.needed_kinds import PLACEMENT

    inventory = read_inventory(given, by=[options], needed=PLACEMENT.under(options.in_force[0]))
    target = named or _only_one(inventory, given["paths"])
    if target is None:
        if given["each_node"]:
            raise UsageError("--each-node lists the nodes for one pod: name it")
        return _pending(given, inventory, options)
    from topospread.answers.asked import about
    from topospread.answers.why import why_answer
    from topospread.why.explain import explain

    with progress("placing") as bar:
        explanation = explain(
            inventory,
            target,
            options,
            namespace=shown_namespace(given),
            another=named is None,
            suggest=not given["no_suggestions"],
            progress=bar,
        )
    explanation = _with_tries(explanation, inventory, given)
    pod = f"{explanation.namespace}/{explanation.name}"
    wish = ReportWish(inventory, replace(options, pools=()), shown={"at": "1", "pod": pod})
    answer = about(why_answer(explanation, each_node=given["each_node"]), inventory, options)
    return write_answer(answer, given, {"html": lambda: html_text(given, wish)})


def _pending(given: dict[str, Any], inventory: Inventory, options: SimulationOptions) -> int:
    from topospread.answers.why_pending import why_pending

    options = replace(options, pools=())
    with progress("placing") as bar:
        answer = why_pending(
            inventory,
            options,
            namespace=shown_namespace(given),
            suggest=not given["no_suggestions"],
            progress=bar,
        )
    wish = ReportWish(inventory, options, shown={"at": "1"})
    return write_answer(answer, given, {"html": lambda: html_text(given, wish)})


def _with_tries(explanation: Explanation, inventory: Inventory, given: dict[str, Any]) -> Explanation:
    """Add kube-scheduler's own attempts, from the pod's events. If these are forbidden, the explanation says so."""
    if not getattr(inventory.read_from, "live", False):
        return explanation
    key = (explanation.namespace, explanation.name)
    pod = next((each for each in inventory.pods if (each.namespace, each.name) == key), None)
    if pod is None or pod.spec.node_name or not pod.metadata.uid:
        return explanation
    from topospread.live.pod_events import pod_events
    from topospread.why.attempts import tries_of

    since = pod.metadata.creation_timestamp or ""
    try:
        return replace(explanation, tries=tries_of(since, pod_events(read_access(given), pod)))
    except InputError as error:
        return replace(explanation, notes=(f"how often it was tried is not known: {error.message}", *explanation.notes))


def _only_one(inventory: Inventory, manifests: tuple[str, ...]) -> str | None:
    """Return the only pod or workload in the manifests; None if there are several."""
    found = [
        f"{namespace}/{kind.lower()}/{name}"
        for (kind, namespace, name), place in inventory.places.items()
        if kind in _KINDS
        and any(place.source == root or place.source.startswith(root.rstrip("/") + "/") for root in manifests)
    ]
    return found[0] if len(found) == 1 else None
