"""``topospread run extender``: answer kube-scheduler's filter and prioritize calls for pods with spread annotations."""

from __future__ import annotations

from typing import Any

import click

from topospread.errors import UsageError

from .live_options import access_options, read_access
from .scheduler import SECONDS
from .served_address import CLIENT_CA_OPTION, served_at, tls_options
from .usage import EXITS_WORKED, Explained

HELP = """\
Serve an HTTP extender of kube-scheduler until SIGTERM. It adds spread rules: a maximum of pods per domain, shares of
domains, and a hierarchy of domains.

Pods opt in with annotations (topospread.dev/max-per-domain, shares and hierarchy). Any address but 127.0.0.1
requires HTTPS and --client-ca-file.

\b
Examples:
  topospread run extender --kubeconfig ~/.kube/config
  topospread run extender --context prod --port 8889
"""


@click.command(cls=Explained, help=HELP, exits=EXITS_WORKED)
@access_options
@click.option("--bind-address", default="127.0.0.1", metavar="IP", help="Address to serve on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8888, help="Port to serve on.")
@tls_options
@CLIENT_CA_OPTION
@click.option("--patience", type=SECONDS, default="2s", help="Time to wait until the previous pod is bound (2s).")
@click.option("-v", "--v", "verbosity", type=click.IntRange(0, 10), default=0, help="Log level and format.")
@click.option("--logging-format", type=click.Choice(["text", "json"]), default="text", help="Log level and format.")
def extender(**given: Any) -> int:
    """Serve until SIGTERM (0)."""
    access = read_access(given)
    address = served_at(given, given["port"], "--port")
    from topospread.live.loopback import is_loopback

    if not is_loopback(address.host) and not address.client_ca:
        raise UsageError(
            f"--bind-address {address.host} requires --client-ca-file, --tls-cert-file and "
            "--tls-private-key-file, because other hosts can reach this address"
        )
    import asyncio

    from topospread.live.logs import set_up
    from topospread.live.run_extender import run_extender

    set_up(given["verbosity"], given["logging_format"])
    return asyncio.run(run_extender(access, address, given["patience"]))
