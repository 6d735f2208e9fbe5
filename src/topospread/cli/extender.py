"""``topospread run extender``: answer kube-scheduler's filter and prioritize for pods that ask by annotations."""

from __future__ import annotations

from typing import Any

import click

from topospread.errors import UsageError

from .live_options import access_options, read_access
from .scheduler import SECONDS
from .served_address import CLIENT_CA_OPTION, served_at, tls_options
from .usage import Explained

HELP = """\
Answer kube-scheduler as an HTTP extender, so that it can spread as it does not by itself: at most so many pods in a
domain, percentages (60/30/10), and level by level (over zones, then over the racks in each zone).

Pods ask for it by annotations, topospread.dev/max-per-domain, shares and hierarchy; pods without them pass. It watches
nodes and pods (rights: to list and watch both) and writes nothing. kube-scheduler's configuration names it:

\b
  extenders:
  - urlPrefix: http://127.0.0.1:8888
    filterVerb: filter
    prioritizeVerb: prioritize
    weight: 1
    nodeCacheCapable: true

/filter and /prioritize are on 127.0.0.1 by default. Any other address requires HTTPS and --client-ca-file, and
kube-scheduler has to show a certificate of that authority (tlsConfig.certFile). /healthz, /livez and /readyz require
none. A request has at most 8 MiB; set nodeCacheCapable, because whole nodes can be larger.

It runs until SIGTERM, and then exits with 0. It exits with 2 if the API server does not answer or denies access.
This command needs the extra 'live': pip install 'topospread[live]'.

\b
Examples:
  topospread run extender --kubeconfig ~/.kube/config
  topospread run extender --bind-address 0.0.0.0 --port 8443 --tls-cert-file tls.crt --tls-private-key-file tls.key \\
    --client-ca-file kube-scheduler-ca.crt
"""


@click.command(cls=Explained, help=HELP)
@access_options
@click.option("--bind-address", default="127.0.0.1", metavar="IP", help="Where to serve.")
@click.option("--port", type=click.IntRange(1, 65535), default=8888, help="… on which port.")
@tls_options
@CLIENT_CA_OPTION
@click.option("--patience", type=SECONDS, default="2s", help="Await the binding of the pod before so long (2s).")
@click.option("-v", "--v", "verbosity", type=click.IntRange(0, 10), default=0, help="How much to log.")
@click.option("--logging-format", type=click.Choice(["text", "json"]), default="text", help="How to log.")
def extender(**given: Any) -> int:
    """Serve until SIGTERM (0)."""
    access = read_access(given)
    address = served_at(given, given["port"], "--port")
    from topospread.live.loopback import is_loopback

    if not is_loopback(address.host) and not address.client_ca:
        raise UsageError(
            f"--bind-address {address.host} can be reached by others; it requires --client-ca-file, --tls-cert-file "
            "and --tls-private-key-file, so that only kube-scheduler gets answers"
        )
    import asyncio

    from topospread.live.logs import set_up
    from topospread.live.run_extender import run_extender

    set_up(given["verbosity"], given["logging_format"])
    return asyncio.run(run_extender(access, address, given["patience"]))
