"""``topospread status``: pending pods, exceeded hard constraints, and the first fix."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

import click
from msgspec.structs import replace

from topospread.config.versions import NEWEST

from .fleet import ClustersOption, ask_each, named_clusters
from .inputs import (
    asked_traffic,
    expected_traffic,
    file_words,
    inputs_with,
    namespace_options,
    read_inventory,
    read_options,
    shown_namespace,
    traffic_options,
)
from .live_options import access_options, live_words
from .output import check_outputs, output_options, text_of, wants, write_answer
from .report_file import ReportWish, check_html, html_text, page_options
from .status_watch import check_watch, watch
from .targets import target_argument
from .terminal import progress, warn
from .usage import Explained

if TYPE_CHECKING:
    from topospread.answers.status import Status
    from topospread.api.inventory import Inventory
    from topospread.simulation.options import SimulationOptions

# Command-line words for the same input.

_WITH_VALUE: Final = {
    "cluster": "--on",
    "config_path": "--config",
    "namespace": "-n",
    "kube_version": "--kube-version",
    "helm_release": "--helm-release",
    "feature_gates": "--feature-gates",
    "render": "--render",
}
_FLAGS: Final = ("render_helm", "render_network", "with_hooks", "strict", "allow_empty")


def typed_words(given: Mapping[str, Any], *paths: str) -> list[str]:
    """Return command-line words with which another command reads the same input.

    Args:
        given: the options of `input_options` and ``-n``.
        paths: files to use instead of those on the command line.
    """
    words = [*file_words(*(paths or given["paths"])), *live_words(given)]
    for name, option in _WITH_VALUE.items():
        if given[name] and given[name] != {"kube_version": str(NEWEST), "render": "auto"}.get(name):
            words += [option, given[name]]
    for name, option in {"helm_values": "--helm-values", "helm_set": "--helm-set"}.items():
        words += [word for each in given[name] for word in (option, each)]
    return words + [f"--{name.replace('_', '-')}" for name in _FLAGS if given[name]]


HELP = """\
Show whether every pod has a node and every hard constraint (DoNotSchedule) holds.

Pending pods are grouped by cause. For each cause, changes are simulated, and the first that helps is shown; not with
--watch. Workloads are listed worst first. TARGET, -n, -l and --waiting limit the pods and workloads that are shown
and judged, but skew counts all pods. Several clusters have one row each, worst first.

\b
Examples:
  topospread status --context prod
  topospread status --contexts prod-a,prod-b
  topospread status --on prod-*.json.gz
  topospread status deploy/web --on cluster.json.gz
  topospread status -n shop --waiting --watch
  topospread status --on cluster.json.gz -n shop -l app=web -o wide
  kubectl get no,po,svc,rs,sts -A -o json | topospread status -f -
"""


@click.command(cls=Explained, help=HELP)
@target_argument(required=False, files=True)
@inputs_with(cls=ClustersOption, multiple=True)
@access_options
@click.option("--contexts", metavar="A,B,…", help="Show one row for each of these kubeconfig contexts.")
@namespace_options("Show workloads of")
@click.option("-l", "--selector", metavar="SELECTOR", help="Show workloads whose pods have these labels.")
@click.option("--key", "keys", multiple=True, metavar="KEY", help="Show only constraints with this key; repeatable.")
@click.option("--min-skew", type=click.IntRange(min=0), metavar="N", help="Show constraints of at least this skew.")
@click.option("--waiting", is_flag=True, help="Show and judge only pending pods, no constraints.")
@click.option("--watch", "-w", is_flag=True, help="Update the status when the live cluster changes.")
@traffic_options
@page_options
@output_options()
def status(**given: Any) -> int:
    """Print the status; return the exit code of its verdict."""
    from topospread.sources.needed_kinds import PLACEMENT

    check_outputs(given)
    option, clusters = named_clusters(given)
    if not clusters:
        check_html(given)
    asked_traffic(given)
    options = read_options(given)
    needed = PLACEMENT.under(options.in_force[0])
    if clusters:

        def ask(single: dict[str, Any]) -> Status:
            return _answer(read_inventory(single, by=[options], needed=needed), single, options)

        return ask_each(given, option, clusters, ask)
    if given["watch"]:
        check_watch(given)
        watch(given, needed, lambda inventory: text_of(_answer(inventory, given, options), given))
    inventory = read_inventory(given, by=[options], needed=needed)
    answer = _answer(inventory, given, options)
    if wants(given, "json", "yaml"):
        warn(answer.warnings)
    wish = ReportWish(inventory, options, shown={"at": "0"})
    return write_answer(answer, given, {"html": lambda: html_text(given, wish)})


def _answer(inventory: Inventory, given: dict[str, Any], options: SimulationOptions) -> Status:
    from topospread.answers.status import status as status_of
    from topospread.api.selector_text import parse_selector

    # A progress bar would flicker, because --watch draws the status repeatedly.
    with nullcontext() if given["watch"] else progress("looking") as bar:
        found = status_of(
            inventory,
            options,
            targets=given["targets"],
            waiting=given["waiting"],
            namespace=shown_namespace(given),
            selector=None if given["selector"] is None else parse_selector(given["selector"]),
            keys=given["keys"],
            allow_empty=given["allow_empty"] or given["watch"],
            suggest=not given["watch"],
            typed=typed_words(given),
            progress=bar,
        )
    traffic = expected_traffic(inventory, asked_traffic(given), options)
    found = found if given["min_skew"] is None else found.with_min_skew(given["min_skew"])
    return replace(found, traffic=traffic)
