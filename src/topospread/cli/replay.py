"""``topospread why --audit``: what happened in a cluster, from a snapshot and an audit log, or its events."""

from __future__ import annotations

from typing import Any

import click

from topospread.errors import UsageError

from .inputs import PATH, input_options, read_configuration, read_control_plane, read_inventory
from .output import check_outputs, output_options, write_answer
from .usage import Explained

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
  topospread why --on before.json.gz --audit audit.jsonl
  topospread why --on before.json.gz --audit audit.jsonl -o html=incident.html
  topospread why --on before.json.gz --audit audit.jsonl -o json
  topospread why --on before.json.gz --events events.json --since 2026-11-22T16:42:12Z
"""


@click.command(cls=Explained, help=HELP)
@input_options
@click.option("--audit", metavar="FILE", type=PATH, help="The audit log.")
@click.option("--events", metavar="FILE", type=PATH, help="The cluster's events, in place of an audit log.")
@click.option("--since", default="", metavar="TIME", help="Leave out what is older (2026-11-22T16:42:12Z, in UTC).")
@click.option("-n", "--namespace", metavar="NAMESPACE", help="Where objects go that name none.")
@output_options()
def replay(**given: Any) -> int:
    """Show what happened; the exit code is that of the verdict."""
    check_outputs(given)
    if bool(given["audit"]) == bool(given["events"]):
        raise UsageError("name what is replayed: --audit FILE or --events FILE, one of them")
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    inventory = read_inventory(given, by=[by])
    from topospread.answers.asking import with_version
    from topospread.answers.why_history import history_answer
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
    answer = with_version(history_answer(found), by.scheduler.kube_version)
    return write_answer(answer, given)
