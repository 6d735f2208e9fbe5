"""``topospread why``: why a pod is pending and what would let it in, or why it is where it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import InputError, Place, UsageError

from .inputs import (
    AUTOSCALE,
    PATH,
    POOLS,
    given_pools,
    input_options,
    namespace_options,
    parse_scale,
    read_configuration,
    read_control_plane,
    read_inventory,
    shown_namespace,
)
from .live_options import access_options, read_access
from .output import check_outputs, output_options, write_answer
from .replay import replay
from .report_file import ReportWish, check_html, html_text, options_of, page_options
from .targets import one_target, target_argument
from .terminal import progress
from .usage import Explained

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.explanation import Explanation

HELP = """\
Explain one pod: why it is pending and what would let it in, or why it is where it is. With a log of the past: who
waited, and what began it.

TARGET is POD or KIND/NAME: web-0, deploy/web, shop/sts/db. Without TARGET it is the one pod or workload that -f
brings.

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
"""Kinds that a manifest may bring to be explained."""


@click.command(cls=Explained, help=HELP)
@target_argument(required=False)
@input_options
@access_options
@click.option("--scale", multiple=True, metavar="[NS/]KIND/NAME=N", help="Other replicas than the manifest says.")
@click.option("--autoscale", type=AUTOSCALE, default="keep", help="Autoscaled workloads: in their bounds, or at one.")
@click.option("--no-preemption", is_flag=True, help="Evict nothing for more important pods.")
@POOLS
@click.option("--no-suggestions", is_flag=True, help="Do not try what would let the pod in.")
@namespace_options("Look in")
@page_options
@click.option("--audit", metavar="FILE", type=PATH, help="Say what happened, by kube-apiserver's audit log.")
@click.option("--events", metavar="FILE", type=PATH, help="… by kubectl get events -A -o json.")
@click.option("--since", default="", metavar="TIME", help="… since a time (2026-11-22T16:42:12Z).")
@output_options()
def why(**given: Any) -> int:
    """Explain a pod; the exit code is that of the verdict."""
    check_outputs(given)
    if given["audit"] or given["events"]:
        return replay(given)
    check_html(given)
    target = one_target(given["targets"]) if given["targets"] else None
    if target is None and not given["paths"]:
        raise UsageError(
            "name a pod or a workload, for example web-0 or deploy/web, or give its manifest with -f; "
            "topospread status --waiting lists all pending pods"
        )
    scale = parse_scale(given)
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    from topospread.sources.needed_kinds import PLACEMENT

    inventory = read_inventory(given, by=[by], needed=PLACEMENT)
    from topospread.answers.asking import with_version
    from topospread.answers.why import why_answer
    from topospread.explanation.explain import explain

    with progress("placing") as bar:
        explanation = explain(
            inventory,
            target or _only_one(inventory, given["paths"]),
            namespace=shown_namespace(given),
            config=configuration,
            scale=scale,
            autoscale=given["autoscale"],
            kube_version=str(by.scheduler.kube_version),
            gates=by.scheduler,
            apiserver_gates=by.apiserver,
            preemption=not given["no_preemption"],
            another=target is None,
            suggest=not given["no_suggestions"],
            pools=given_pools(given),
            progress=bar,
        )
    explanation = _with_tries(explanation, inventory, given)
    options = replace(
        options_of(by, configuration),
        scale=scale,
        autoscale=given["autoscale"],
        preemption=not given["no_preemption"],
    )
    pod = f"{explanation.namespace}/{explanation.name}"
    wish = ReportWish(inventory, options, shown={"at": "1", "pod": pod})
    answer = with_version(why_answer(explanation), by.scheduler.kube_version)
    return write_answer(answer, given, {"html": lambda: html_text(given, wish)})


def _with_tries(explanation: Explanation, inventory: Inventory, given: dict[str, Any]) -> Explanation:
    """Of a pod that waits in a live cluster now, how often kube-scheduler tried it.

    Its events are asked for once it is known which pod is meant; where they may not be read, that is told.
    """
    if not getattr(inventory.read_from, "live", False):
        return explanation
    key = (explanation.namespace, explanation.name)
    pod = next((each for each in inventory.pods if (each.namespace, each.name) == key), None)
    if pod is None or pod.spec.node_name or not pod.metadata.uid:
        return explanation
    from topospread.explanation.tries import tries_of
    from topospread.live.pod_events import pod_events

    since = pod.metadata.creation_timestamp or ""
    try:
        return replace(explanation, tries=tries_of(since, pod_events(read_access(given), pod)))
    except InputError as error:
        return replace(explanation, notes=(f"how often it was tried is not known: {error.message}", *explanation.notes))


def _only_one(inventory: Inventory, manifests: tuple[str, ...]) -> str:
    """The one pod or workload that the manifests hold.

    Raises:
        UsageError: there is none, or several.
    """
    roots = tuple(manifests)
    found = [
        f"{namespace}/{kind.lower()}/{name}"
        for (kind, namespace, name), place in inventory.places.items()
        if kind in _KINDS and _is_of(place, roots)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        hint = (
            "; Helm's hooks are left out without --with-hooks"
            if any("Helm" in each for each in inventory.notes)
            else ""
        )
        raise UsageError(f"-f {' -f '.join(roots)}: there is no pod or workload in it{hint}")
    raise UsageError(f"-f {' -f '.join(roots)}: there are several; name one: {', '.join(found[:8])}")


def _is_of(place: Place, roots: tuple[str, ...]) -> bool:
    """Whether a place is in one of these files or folders."""
    return any(place.source == root or place.source.startswith(root.rstrip("/") + "/") for root in roots)
