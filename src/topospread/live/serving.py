"""Serve ``/metrics``, ``/healthz``, ``/livez``, ``/readyz`` and ``/configz`` over HTTP or HTTPS.

Source: cmd/kube-scheduler/app/server.go (``newEndpointsHandler``), apiserver/pkg/server/healthz/healthz.go.
kube-scheduler authenticates clients of ``/metrics`` and ``/configz``. Here these pages have no authentication and list
workloads, so they are only on a loopback address or on a separate address that the user configures.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from aiohttp import web

from topospread.errors import InputError, Place
from topospread.live.certificate import Certificate
from topospread.live.exposition import CollectedMetrics
from topospread.live.loopback import is_loopback

log = logging.getLogger(__name__)

MOST_CONNECTIONS: Final = 2000
MOST_STRANGERS: Final = 20
"""Maximum connections per client address without the required certificate; kubelet's health probes have none."""
HANDSHAKE_SECONDS: Final = 10.0
IDLE_SECONDS: Final = 120.0
"""Time limit for a request's headers to arrive. Go's clients close an idle connection after 90 seconds."""

Check = Callable[[], str]
"""Returns why a check fails; "" if it succeeds."""


@dataclass(frozen=True)
class ServedPages:
    """The content of the pages.

    Attributes:
        metrics: the content of ``/metrics``; receives the results of health checks.
        healthz, livez, readyz: name → check.
        configuration: the content of ``/configz``; None for no page.
        before_scrape: called before each answer with metrics, to update the values that are computed on demand.
    """

    metrics: CollectedMetrics
    healthz: Mapping[str, Check]
    livez: Mapping[str, Check]
    readyz: Mapping[str, Check]
    configuration: Mapping[str, Any] | None = None
    before_scrape: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server.

    Attributes:
        port: 0 for no server.
        certificate, key: PEM files for HTTPS, read again when they change; "" for HTTP.
        client_ca: PEM file with the CAs of client certificates; "" without client certificates.
        metrics: address and port of ``/metrics`` and ``/configz``. If ``None``, these pages are at `host` and `port` if
            `host` is loopback, and else nowhere.
    """

    host: str = "127.0.0.1"
    port: int = 10259
    certificate: str = ""
    key: str = ""
    option: str = "--secure-port"
    client_ca: str = ""
    metrics: tuple[str, int] | None = None

    @property
    def shows_metrics(self) -> bool:
        """True if `host` and `port` serve the metrics."""
        return is_loopback(self.host) if self.metrics is None else self.metrics == (self.host, self.port)

    @property
    def of_metrics(self) -> Address | None:
        """The separate address of the metrics; None without one."""
        if self.metrics is None or self.shows_metrics:
            return None
        host, port = self.metrics
        return replace(self, host=host, port=port, option="--metrics-bind-address", client_ca="")


async def serve(
    served: ServedPages, address: Address, application: web.Application | None = None
) -> list[web.AppRunner]:
    """Serve the pages, and an application's own paths. Serving ends when ``cleanup`` of each result is called.

    Raises:
        InputError: if a port is in use, an address is not one of this machine, or the certificate is unusable.
    """
    runners: list[web.AppRunner] = []
    if address.port:
        application = web.Application() if application is None else application
        for name in ("healthz", "livez", "readyz"):
            checks = {"ping": lambda: "", **getattr(served, name)}
            handler = _Health(name, checks, served.metrics)
            application.router.add_get(f"/{name}", handler.all)
            application.router.add_get(f"/{name}/{{check}}", handler.one)
        if address.shows_metrics:
            _add_metrics(application, served)
        runners.append(await listen(application, address))
    separate = address.of_metrics
    try:
        if separate is not None:
            only_metrics = web.Application()
            _add_metrics(only_metrics, served)
            runners.append(await listen(only_metrics, separate))
        elif address.port and not address.shows_metrics:
            log.info("/metrics is not served: %s is not a loopback address; see --metrics-bind-address", address.host)
    except InputError:
        await asyncio.gather(*(runner.cleanup() for runner in runners))
        raise
    return runners


async def listen(application: web.Application, address: Address) -> web.AppRunner:
    """Serve an application until ``cleanup`` of the result. Raise InputError like `serve`."""
    certificate = Certificate(address.certificate, address.key, address.client_ca) if address.certificate else None
    if certificate is not None:
        application.cleanup_ctx.append(_followed(certificate))
    listening: list[asyncio.Server] = []

    async def close(_: web.Application) -> None:
        for each in listening:
            each.close()

    application.on_shutdown.append(close)
    runner = web.AppRunner(application, handle_signals=False)
    await runner.setup()
    assert runner.server is not None
    shown, loop = f"{address.host}:{address.port}", asyncio.get_running_loop()
    try:
        listening.append(
            await loop.create_server(
                partial(_Connection, runner.server, bool(address.client_ca)),
                address.host,
                address.port,
                ssl=certificate.context if certificate else None,
                ssl_handshake_timeout=HANDSHAKE_SECONDS if certificate else None,
            )
        )
    except OSError as error:
        await runner.cleanup()
        none = ", 0 none" if address.option.endswith("port") else ""
        hint = f"; {address.option} takes another{none}" if "in use" in str(error) else ""
        raise InputError(f"cannot listen on {shown}: {error.strerror}{hint}", Place(source=address.option)) from None
    log.info("serving on %s://%s", "https" if address.certificate else "http", shown)
    return runner


class _Connection(web.RequestHandler):
    """A client's connection, closed at once if there are too many connections, and later if the client is idle.

    Args:
        certified: whether clients without a certificate may only ask for the server's health.
    """

    def __init__(self, server: web.Server, certified: bool) -> None:
        # No client compresses its requests. A small compressed body takes much memory.
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type] # None is no log
            auto_decompress=False,
            keepalive_timeout=IDLE_SECONDS,
        )
        self._server = server
        self._certified = certified

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        super().connection_made(transport)
        others = self._server.connections
        strangers = [
            each
            for each in others
            if self._certified and not _is_certified(each.transport) and _host(each.transport) == _host(transport)
        ]
        if len(others) > MOST_CONNECTIONS or (len(strangers) > MOST_STRANGERS and not _is_certified(transport)):
            self.force_close()


def _is_certified(transport: asyncio.BaseTransport | None) -> bool:
    return transport is not None and bool(transport.get_extra_info("peercert"))


def _host(transport: asyncio.BaseTransport | None) -> str | None:
    peer = transport.get_extra_info("peername") if transport is not None else None
    return peer[0] if peer else None


def has_client_certificate(request: web.Request) -> bool:
    """Return whether the client presented a certificate from the address's `client_ca`."""
    return _is_certified(request.transport)


def _followed(certificate: Certificate) -> Callable[[web.Application], AsyncIterator[None]]:
    async def during(_: web.Application) -> AsyncIterator[None]:
        following = asyncio.create_task(certificate.follow())
        yield
        following.cancel()

    return during


def _add_metrics(application: web.Application, served: ServedPages) -> None:
    pages = _Pages(served)
    application.router.add_get("/metrics", pages.metrics)
    if served.configuration is not None:
        application.router.add_get("/configz", pages.configz)


class _Pages:
    def __init__(self, served: ServedPages) -> None:
        self._served = served

    async def metrics(self, request: web.Request) -> web.Response:
        """Return Prometheus' text format, or OpenMetrics if the client accepts it."""
        self._served.before_scrape()
        body, content_type = self._served.metrics.exposition(",".join(request.headers.getall("Accept", [])))
        return web.Response(body=body, headers={"Content-Type": content_type})

    async def configz(self, request: web.Request) -> web.Response:
        """Return the configuration in force."""
        text = json.dumps({"componentconfig": self._served.configuration})
        return web.Response(text=text, content_type="application/json")


class _Health:
    def __init__(self, name: str, checks: Mapping[str, Check], metrics: CollectedMetrics) -> None:
        self._name = name
        self._checks = checks
        self._metrics = metrics

    async def one(self, request: web.Request) -> web.Response:
        """Run a single check."""
        check = self._checks.get(request.match_info["check"])
        if check is None:
            return web.Response(status=404, text="404 page not found\n")
        why = check()
        if why:
            return web.Response(status=500, text=f"internal server error: {why}\n")
        return web.Response(text="ok")

    async def all(self, request: web.Request) -> web.Response:
        """Run all checks except those in ``exclude``; ``verbose`` lists them."""
        excluded = set(request.query.getall("exclude", []))
        lines, failed = [], []
        for name, check in self._checks.items():
            if name in excluded:
                excluded.discard(name)
                lines.append(f"[+]{name} excluded: ok\n")
                continue
            why = check()
            self._metrics.checked([(name, self._name, not why)])
            if why:
                failed.append(f"{name}: {why}")
                lines.append(f"[-]{name} failed: reason withheld\n")
            else:
                lines.append(f"[+]{name} ok\n")
        if excluded:
            listed = ",".join(f'"{each}"' for each in sorted(excluded))
            lines.append(f"warn: some health checks cannot be excluded: no matches for {listed}\n")
        if failed:
            log.info("%s check failed: %s", self._name, ", ".join(failed))
            return web.Response(status=500, text="".join(lines) + f"{self._name} check failed\n")
        if "verbose" not in request.query:
            return web.Response(text="ok")
        return web.Response(text="".join(lines) + f"{self._name} check passed\n")
