"""``topospread extender``: answer kube-scheduler's filter and prioritize for pods that ask by annotations."""

from __future__ import annotations

from typing import Any

import click

from .inputs import PATH
from .live_options import access_options, read_access
from .scheduler import SECONDS, served_at
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

/filter, /prioritize, /healthz, /livez and /readyz are served without authentication, hence on 127.0.0.1 by default. It
runs until SIGTERM, and the exit code is 0 then; it is 2 when the API server does not answer or refuses.
This command needs the extra 'live': pip install 'topospread[live]'.

\b
Examples:
  topospread extender --kubeconfig ~/.kube/config
  topospread extender --bind-address 0.0.0.0 --port 8443 --tls-cert-file tls.crt --tls-private-key-file tls.key
"""


@click.command(cls=Explained, help=HELP)
@access_options
@click.option("--bind-address", default="127.0.0.1", metavar="IP", help="Where to serve.")
@click.option("--port", type=click.IntRange(1, 65535), default=8888, help="… on which port.")
@click.option("--tls-cert-file", type=PATH, metavar="FILE", help="Serve over HTTPS with this certificate.")
@click.option("--tls-private-key-file", type=PATH, metavar="FILE", help="… and its key.")
@click.option("--patience", type=SECONDS, default="2s", help="Await the binding of the pod before so long (2s).")
@click.option("-v", "--v", "verbosity", type=click.IntRange(0, 10), default=0, help="How much to log.")
@click.option("--logging-format", type=click.Choice(["text", "json"]), default="text", help="How to log.")
def extender(**given: Any) -> int:
    """Serve until SIGTERM (0)."""
    access = read_access(given)
    import asyncio

    from topospread.live.logs import set_up
    from topospread.live.run_extender import run_extender

    set_up(given["verbosity"], given["logging_format"])
    return asyncio.run(run_extender(access, served_at(given, given["port"]), given["patience"]))
