"""``topospread replay``: what happened in a cluster, from a snapshot and an audit log, or its events."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from topospread.atomic_file import write_file
from topospread.errors import UsageError
from topospread.text import escape_control_characters

from .inputs import PATH, input_options, read_configuration, read_control_plane, read_inventory
from .terminal import layout, show, warn, written
from .usage import Explained

if TYPE_CHECKING:
    from topospread.incidents import Incident

HELP = """\
Rebuild what happened in a cluster: which pod was refused when, by which sums, and which change of a node began it.

PATHs are the cluster as it was when the log begins, or at --since, as for simulate; `topospread dump` writes one.

--audit is an audit log of kube-apiserver, JSON lines. What it logs of nodes, pods, pods/binding, pods/status and events
at level RequestResponse is replayed on the cluster; of level Metadata it is only counted, as it does not say what
changed.

--events is what `kubectl get events -A -o json` prints, which an API server keeps for an hour. Events say that pods
were refused, placed, made and deleted, and that nodes were cordoned, not ready, removed; not what a new node looks
like, nor labels and taints. New pods are made of the templates in the snapshot.

Each refusal that kube-scheduler wrote (an event, or the pod's condition) is judged on the cluster as it was then. What
began it is the last change of a node without which the pod would have found a node.

\b
Examples:
  topospread replay before.json.gz --audit audit.jsonl
  topospread replay before.json.gz --audit audit.jsonl --graph incident.html
  topospread replay before.json.gz --audit audit.jsonl -o json
  topospread replay before.json.gz --events events.json --since 2026-11-22T16:42:12Z
"""

FORMATS = click.Choice(["table", "wide", "json", "yaml"])


@click.command(cls=Explained, help=HELP)
@input_options
@click.option("--audit", metavar="FILE", type=PATH, help="The audit log.")
@click.option("--events", metavar="FILE", type=PATH, help="The cluster's events, in place of an audit log.")
@click.option("--since", default="", metavar="TIME", help="Leave out what is older (2026-11-22T16:42:12Z, in UTC).")
@click.option("--graph", metavar="FILE", type=PATH, help="Write the timeline as a picture: .svg, or .html.")
@click.option("-n", "--namespace", metavar="NAMESPACE", help="Where objects go that name none.")
@click.option("-o", "--output", type=FORMATS, default="table", help="How to show what happened.")
def replay(**given: Any) -> int:
    """Show what happened; 1 when a pod was refused that had no node at the end of the log."""
    if bool(given["audit"]) == bool(given["events"]):
        raise UsageError("name what is replayed: --audit FILE or --events FILE, one of them")
    ending = os.path.splitext(given["graph"] or "")[1].lower()
    if given["graph"] and ending not in (".svg", ".html"):
        raise UsageError(f"--graph {given['graph']}: timelines are SVG or HTML; name a file that ends in .svg or .html")
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    inventory = read_inventory(given, by=[by])
    from topospread.incidents.replay import replay as run

    found = run(
        inventory,
        given["audit"],
        events=given["events"],
        since=given["since"],
        namespace=given["namespace"],
        config=configuration,
        kube_version=str(by.scheduler.kube_version),
        gates=by.scheduler,
        apiserver_gates=by.apiserver,
    )
    if given["graph"]:
        write_file(given["graph"], escape_control_characters(_picture(found, html=ending == ".html")))
    show(_text(found, given["output"], given["color"]))
    return 1 if any(not each.placed_on for each in found.refusals) else 0


def _picture(found: Incident, *, html: bool) -> str:
    from topospread.report.incident import incident_text
    from topospread.report.incident_timeline import incident_html, incident_svg
    from topospread.report.layout import Layout

    return incident_html(found, incident_text(found, Layout(width=120))) if html else incident_svg(found)


def _text(found: Incident, output: str, color: str) -> str:
    if output in ("table", "wide"):
        from topospread.report.incident import incident_text

        return incident_text(found, layout(color, wide=output == "wide"))
    warn(found.warnings)
    return written(found.to_dict(), output)
