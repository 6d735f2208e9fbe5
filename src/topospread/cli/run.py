"""``topospread run``: the long-running servers and controllers."""

from __future__ import annotations

import click

from .usage import LazyGroup

HELP = """\
Run what answers a cluster until it is ended.

\b
Examples:
  topospread run scheduler --config scheduler.yaml --dry-run
  topospread run exporter --context prod
  topospread run webhook --tls-cert-file tls.crt --tls-private-key-file tls.key
"""
COMMANDS = {
    "scheduler": ("topospread.cli.scheduler:scheduler", "Schedule the pods of a real cluster"),
    "exporter": ("topospread.cli.exporter:exporter", "Serve how pods are spread as metrics for Prometheus"),
    "webhook": ("topospread.cli.webhook:webhook", "Answer the API server when objects are created"),
    "scale-in-keeper": (
        "topospread.cli.scale_in_keeper:scale_in_keeper",
        "Let scale-ins remove pods of the fullest domain first",
    ),
    "extender": ("topospread.cli.extender:extender", "Spread pods in ways that kube-scheduler alone cannot"),
}


@click.group(cls=LazyGroup, table=COMMANDS, help=HELP)
def run() -> None:
    """The command group ``run``."""
