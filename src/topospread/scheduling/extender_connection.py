"""HTTP connections to extenders, with the certificates that kube-scheduler's configuration names."""

from __future__ import annotations

import base64
import ssl
import tempfile
import urllib.request
from contextlib import ExitStack
from http import HTTPStatus
from http.client import HTTPException
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from topospread.config.profile import Extender

__all__ = ["HTTPException", "opener_of", "response_of"]

_LARGEST = 64 << 20


def response_of(
    opener: urllib.request.OpenerDirector, url: str, body: bytes, seconds: float
) -> tuple[int, bytes | None]:
    """Send a request. Return the HTTP status and the body.

    The body is empty if the status is not 200, and ``None`` if it is too large or did not arrive in time.

    Raises:
        OSError, HTTPException: if the extender does not answer.
    """
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    arrived: SimpleQueue[tuple[int, bytes | None] | Exception] = SimpleQueue()

    def ask() -> None:
        try:
            with opener.open(request, timeout=seconds) as response:
                text = response.read(_LARGEST + 1) if response.status == HTTPStatus.OK else b""
                arrived.put((response.status, text if len(text) <= _LARGEST else None))
        except Exception as error:
            arrived.put(error)

    # A socket's timeout restarts with each received byte, so a thread enforces the total time.
    Thread(target=ask, daemon=True).start()
    try:
        found = arrived.get(timeout=seconds)
    except Empty:
        return HTTPStatus.OK, None
    if isinstance(found, Exception):
        raise found
    return found


class _Named(ssl.SSLContext):
    """A TLS context that checks the certificate against ``server_name`` instead of the host's name."""

    server_name = ""

    def wrap_socket(self, sock: Any, *args: Any, **more: Any) -> ssl.SSLSocket:
        if self.server_name:
            more["server_hostname"] = self.server_name
        return super().wrap_socket(sock, *args, **more)


def opener_of(extender: Extender) -> urllib.request.OpenerDirector:
    """Return an opener for an extender's URLs, with its TLS settings."""
    tls = extender.tls
    context = _Named(ssl.PROTOCOL_TLS_CLIENT)
    context.server_name = tls.get("serverName") or ""
    authority = base64.b64decode(tls.get("caData") or "").decode() or None
    if tls.get("caFile") or authority:
        context.load_verify_locations(None if authority else tls["caFile"], cadata=authority)
    else:
        context.load_default_certs()
    if tls.get("insecure") or (extender.enable_https and not (tls.get("caFile") or authority)):
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with ExitStack() as stack:
        pair: list[Any] = []
        for name in ("cert", "key"):
            path = tls.get(f"{name}File")
            if data := tls.get(f"{name}Data"):
                file = stack.enter_context(tempfile.NamedTemporaryFile())
                file.write(base64.b64decode(data))
                file.flush()
                path = file.name
            pair.append(path)
        if pair[0]:
            context.load_cert_chain(*pair)
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=context),
    ):
        opener.add_handler(handler)
    return opener
