"""``topospread why --audit``: what happened in a cluster, from a snapshot and an audit log, or its events."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from topospread.atomic_file import write_file
from topospread.errors import UsageError
from topospread.text import escape_control_characters

from .inputs import read_configuration, read_control_plane, read_inventory
from .terminal import layout, show, warn, written

if TYPE_CHECKING:
    from topospread.incidents import Incident


def replay(given: dict[str, Any]) -> int:
    """Show what happened; 1 when a pod was refused that had no node at the end of the log.

    Raises:
        UsageError: if options of one pod are given as well.
    """
    if given["audit"] and given["events"]:
        raise UsageError("name what is replayed: --audit FILE or --events FILE, one of them")
    of_one = [f"--{name.replace('_', '-')}" for name in ("html", "pools", "scale", "no_suggestions") if given[name]]
    if given["targets"] or of_one or given["output"] == "summary":
        beside = (*given["targets"], *of_one, "-o summary")[0]
        raise UsageError(f"--audit and --events cannot be combined with {beside}")
    if not given["paths"] and given["cluster"] is None:
        raise UsageError("--on FILE names the cluster as it was when the log begins; topospread dump writes one")
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
