"""``topospread run``: the long-running servers and controllers."""

from __future__ import annotations

import click

from .usage import LazyGroup

HELP = """\
Run a server or controller for a cluster until SIGTERM.

\b
Examples:
  topospread run scheduler --config scheduler.yaml --dry-run
  topospread run exporter --context prod
  topospread run webhook --tls-cert-file tls.crt --tls-private-key-file tls.key
"""
COMMANDS = {
    "scheduler": ("topospread.cli.scheduler:scheduler", "Schedule the pods of a real cluster"),
    "exporter": ("topospread.cli.exporter:exporter", "Serve Prometheus metrics of how pods are spread"),
    "webhook": ("topospread.cli.webhook:webhook", "Serve an admission webhook with lint findings"),
    "scale-in-keeper": (
        "topospread.cli.scale_in_keeper:scale_in_keeper",
        "Make scale-ins remove pods of the fullest domain first",
    ),
    "extender": ("topospread.cli.extender:extender", "Serve a kube-scheduler extender with more spread rules"),
}


@click.group(cls=LazyGroup, table=COMMANDS, help=HELP)
def run() -> None:
    """The command group ``run``."""
