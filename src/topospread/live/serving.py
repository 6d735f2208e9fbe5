"""What a live scheduler serves: ``/metrics``, ``/healthz``, ``/livez``, ``/readyz``, ``/configz``; it changes nothing.

Source: cmd/kube-scheduler/app/server.go (``newEndpointsHandler``), apiserver/pkg/server/healthz/healthz.go. Without
authentication, unlike kube-scheduler: hence on loopback unless told otherwise.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from topospread.errors import InputError, Place
from topospread.live.certificate import Certificate
from topospread.live.exposition import Exposed

log = logging.getLogger(__name__)

Check = Callable[[], str]
"""Why something is not well, "" when it is."""


@dataclass(frozen=True)
class ServedPages:
    """What is served.

    Attributes:
        metrics: asked for ``/metrics``, and told of the checks.
        healthz, livez, readyz: name → check.
        configuration: shown by ``/configz``.
        before_scrape: called before the metrics are shown, for what is counted only then.
    """

    metrics: Exposed
    healthz: Mapping[str, Check]
    livez: Mapping[str, Check]
    readyz: Mapping[str, Check]
    configuration: Mapping[str, Any]
    before_scrape: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen: port 0 for nowhere, certificate and key for HTTPS, read anew when their files change."""

    host: str = "127.0.0.1"
    port: int = 10259
    certificate: str = ""
    key: str = ""
    option: str = "--secure-port"
    """What the port was given with."""


async def serve(served: ServedPages, address: Address) -> web.AppRunner | None:
    """Serve until ``cleanup`` of what is returned; ``None`` where nothing is to be served.

    Raises:
        InputError: the port is taken, the address is not one of this machine, the certificate cannot be used.
    """
    return None if address.port == 0 else await listen(_application(served), address)


async def listen(application: web.Application, address: Address) -> web.AppRunner:
    """Serve an application until ``cleanup`` of what is returned.

    Raises:
        InputError: as `serve`.
    """
    certificate = Certificate(address.certificate, address.key) if address.certificate else None
    if certificate is not None:
        application.cleanup_ctx.append(_followed(certificate))
    runner = web.AppRunner(application, access_log=None, handle_signals=False)
    await runner.setup()
    shown = f"{address.host}:{address.port}"
    try:
        context = certificate.context if certificate is not None else None
        await web.TCPSite(runner, address.host, address.port, ssl_context=context).start()
    except OSError as error:
        await runner.cleanup()
        hint = f"; {address.option} takes another, 0 none" if "in use" in str(error) else ""
        raise InputError(f"cannot listen on {shown}: {error.strerror}{hint}", Place(source=address.option)) from None
    log.info("serving on %s://%s", "https" if address.certificate else "http", shown)
    return runner


def _followed(certificate: Certificate) -> Callable[[web.Application], AsyncIterator[None]]:
    """The certificate is read anew when its files change, for as long as the application is there."""

    async def during(_: web.Application) -> AsyncIterator[None]:
        following = asyncio.create_task(certificate.follow())
        yield
        following.cancel()

    return during


def _application(served: ServedPages) -> web.Application:
    application = web.Application()
    pages = _Pages(served)
    application.router.add_get("/metrics", pages.metrics)
    application.router.add_get("/configz", pages.configz)
    for name in ("healthz", "livez", "readyz"):
        checks = {"ping": _well, **getattr(served, name)}
        handler = _Health(name, checks, served.metrics)
        application.router.add_get(f"/{name}", handler.all)
        application.router.add_get(f"/{name}/{{check}}", handler.one)
    return application


def _well() -> str:
    return ""


class _Pages:
    """The answers that check nothing."""

    def __init__(self, served: ServedPages) -> None:
        self._served = served

    async def metrics(self, request: web.Request) -> web.Response:
        """Prometheus' text, or OpenMetrics where that is accepted."""
        self._served.before_scrape()
        body, content_type = self._served.metrics.exposition(",".join(request.headers.getall("Accept", [])))
        return web.Response(body=body, headers={"Content-Type": content_type})

    async def configz(self, request: web.Request) -> web.Response:
        """The configuration in force."""
        text = json.dumps({"componentconfig": self._served.configuration})
        return web.Response(text=text, content_type="application/json")


class _Health:
    """The answers of one health endpoint."""

    def __init__(self, name: str, checks: Mapping[str, Check], metrics: Exposed) -> None:
        self._name = name
        self._checks = checks
        self._metrics = metrics

    async def one(self, request: web.Request) -> web.Response:
        """A single check."""
        check = self._checks.get(request.match_info["check"])
        if check is None:
            return web.Response(status=404, text="404 page not found\n")
        why = check()
        if why:
            return web.Response(status=500, text=f"internal server error: {why}\n")
        return web.Response(text="ok")

    async def all(self, request: web.Request) -> web.Response:
        """All checks but those that ``exclude`` names; ``verbose`` lists them."""
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
