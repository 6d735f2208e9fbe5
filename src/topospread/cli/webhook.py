"""``topospread webhook``: answers the API server's admission requests by the linter's rules and a policy file."""

from __future__ import annotations

from typing import Any

import click

from topospread.errors import UsageError

from .inputs import PATH
from .usage import Explained

HELP = """\
Answer the API server's admission requests: the linter's findings as warnings, or as a denial by rule, and default
constraints for workloads that are created without any.

--policy is a small YAML file (docs/how-to/admission.md): which rules deny, which are left out, which constraints are
added. Without it every warning and error is told, nothing is denied and nothing changed. Rules that need more than one
object are not asked, kube-system is never touched, and what cannot be judged is let in with a warning.

The API server wants HTTPS: --tls-cert-file and --tls-private-key-file are read again when they change. It asks
/validate and /mutate; /healthz, /readyz and /metrics are there too. It runs until SIGTERM. This command needs the extra
'live': pip install 'topospread[live]'.

\b
Examples:
  topospread webhook --tls-cert-file tls.crt --tls-private-key-file tls.key
  topospread webhook --policy policy.yaml --tls-cert-file tls.crt --tls-private-key-file tls.key --port 9443
  topospread webhook --policy policy.yaml --host 127.0.0.1 --port 8080
"""


@click.command(cls=Explained, help=HELP)
@click.option("--policy", type=PATH, metavar="FILE", help="What is denied, left out and added.")
@click.option("--host", default="0.0.0.0", metavar="ADDRESS", help="The address to listen on.")
@click.option("--port", default=8443, type=click.IntRange(1, 65535), metavar="N", help="The port.")
@click.option("--tls-cert-file", type=PATH, metavar="FILE", help="The certificate to show; without one, plain HTTP.")
@click.option("--tls-private-key-file", type=PATH, metavar="FILE", help="… and its key.")
@click.option("-v", "--v", "verbosity", type=click.IntRange(0, 10), default=0, help="How much to log.")
@click.option("--logging-format", type=click.Choice(["text", "json"]), default="text", help="How to log.")
def webhook(**given: Any) -> int:
    """Serve until SIGTERM."""
    from topospread.live.extra import require_extra

    require_extra()
    certificate, key = given["tls_cert_file"], given["tls_private_key_file"]
    if bool(certificate) != bool(key):
        raise UsageError("--tls-cert-file and --tls-private-key-file belong together")
    import asyncio

    from topospread.live.certificate import Certificate
    from topospread.live.logs import set_up
    from topospread.webhook.admission_reviews import AdmissionJudge
    from topospread.webhook.policy import AdmissionPolicy, read_policy
    from topospread.webhook.serving import ServedAddress, serve_until_asked

    set_up(given["verbosity"], given["logging_format"])
    policy = AdmissionPolicy() if given["policy"] is None else read_policy(given["policy"])
    shown = None if certificate is None else Certificate(certificate, key)
    asyncio.run(serve_until_asked(AdmissionJudge(policy), ServedAddress(given["host"], given["port"], shown)))
    return 0
