"""``topospread run webhook``: answer the API server's admission requests with lint findings and a policy file."""

from __future__ import annotations

from typing import Any

import click

from topospread.errors import UsageError

from .inputs import PATH
from .served_address import CLIENT_CA_OPTION, METRICS_OPTION, served_at, tls_options
from .usage import EXITS_WORKED, Explained

HELP = """\
Serve an admission webhook until SIGTERM. It returns lint findings as warnings or denials, and adds default
constraints to new workloads.

Without --policy, warnings and errors of lint become warnings, and nothing is denied or changed. Changed certificate
files are read again. /metrics is served with --metrics-bind-address, or if --host is loopback.

\b
Examples:
  topospread run webhook --tls-cert-file tls.crt --tls-private-key-file tls.key
  topospread run webhook --policy policy.yaml --insecure-http --port 8080
"""


@click.command(cls=Explained, help=HELP, exits=EXITS_WORKED)
@click.option("--policy", type=PATH, metavar="FILE", help="File with rules to deny or ignore, and constraints to add.")
@click.option("--host", metavar="ADDRESS", help="Listen on this address [default: 0.0.0.0; 127.0.0.1 without TLS].")
@click.option("--port", default=8443, type=click.IntRange(1, 65535), metavar="N", help="Listen on this port (8443).")
@METRICS_OPTION
@tls_options
@CLIENT_CA_OPTION
@click.option("--insecure-http", is_flag=True, help="Serve HTTP without TLS.")
@click.option("-v", "--v", "verbosity", type=click.IntRange(0, 10), default=0, help="Log level and format.")
@click.option("--logging-format", type=click.Choice(["text", "json"]), default="text", help="Log level and format.")
def webhook(**given: Any) -> int:
    """Serve until SIGTERM."""
    from topospread.extras import require

    require("live")
    insecure = given["insecure_http"]
    address = served_at(
        given | {"bind_address": given["host"] or ("127.0.0.1" if insecure else "0.0.0.0")}, given["port"], "--port"
    )
    if insecure and address.certificate:
        raise UsageError("--insecure-http cannot be combined with --tls-cert-file")
    if not insecure and not address.certificate:
        raise UsageError(
            "--tls-cert-file and --tls-private-key-file are required: the API server calls webhooks over HTTPS only; "
            "--insecure-http serves plain HTTP"
        )
    import asyncio

    from topospread.live.logs import set_up
    from topospread.webhook.policy import AdmissionPolicy, read_policy
    from topospread.webhook.serving import serve_until_asked

    set_up(given["verbosity"], given["logging_format"])
    policy = AdmissionPolicy() if given["policy"] is None else read_policy(given["policy"])
    asyncio.run(serve_until_asked(policy, address))
    return 0
