"""What the webhook serves: ``/validate``, ``/mutate``, health and metrics; it judges nothing itself."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec
from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from topospread.errors import InputError, Place
from topospread.live.certificate import Certificate

from .admission_reviews import AdmissionJudge, review
from .policy import Json

log = logging.getLogger(__name__)

MOST: Final = 8 << 20
"""Bytes of an AdmissionReview: an object of at most 1.5 MiB or so, its old state, and what is around them."""
_BUCKETS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0)
_END: Final = 10.0
"""Seconds that requests in flight have at the end."""


@dataclass(frozen=True, slots=True)
class ServedAddress:
    """Where to listen, and what to show there; without a certificate over plain HTTP, for trying it by hand."""

    host: str
    port: int
    certificate: Certificate | None


def application(judge: AdmissionJudge) -> web.Application:
    """What answers the paths."""
    served = _Served(judge)
    made = web.Application(client_max_size=MOST)
    made.router.add_post("/validate", served.validate)
    made.router.add_post("/mutate", served.mutate)
    made.router.add_get("/metrics", served.metrics)
    for path in ("/healthz", "/readyz", "/livez"):
        made.router.add_get(path, served.well)
    return made


async def serve_until_asked(judge: AdmissionJudge, listening: ServedAddress) -> None:
    """Serve until SIGTERM or SIGINT; requests in flight are answered.

    Raises:
        InputError: nobody can listen there.
    """
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, ended.set)
    judge.warm_up()
    gc.collect()
    gc.freeze()  # rules and tables live as long as this does, and need not be gone through while somebody waits
    certificate = listening.certificate
    runner = web.AppRunner(application(judge), access_log=None, handle_signals=False, shutdown_timeout=_END)
    await runner.setup()
    shown = f"{listening.host}:{listening.port}"
    context = None if certificate is None else certificate.context
    try:
        await web.TCPSite(runner, listening.host, listening.port, ssl_context=context).start()
    except OSError as error:
        await runner.cleanup()
        raise InputError(f"cannot listen on {shown}: {error.strerror}", Place("--port")) from None
    log.info("serving on %s://%s", "http" if certificate is None else "https", shown)
    following = None if certificate is None else asyncio.create_task(certificate.follow())
    try:
        await ended.wait()
        log.info("asked to stop: requests in flight are answered")
    finally:
        if following is not None:
            following.cancel()
        await runner.cleanup()


class _Served:
    """The answers."""

    def __init__(self, judge: AdmissionJudge) -> None:
        self._judge = judge
        self._registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self._registry)
        labels = ("webhook", "answer")
        name, about = "topospread_admission_requests", "Requests by what was answered."
        self._requests = Counter(name, about, labels, registry=self._registry)
        name, about = "topospread_admission_duration_seconds", "Time to judge one request."
        self._seconds = Histogram(name, about, ("webhook",), buckets=_BUCKETS, registry=self._registry)

    async def validate(self, request: web.Request) -> web.Response:
        """The linter's word."""
        return await self._answer(request, "validate", self._judge.validate)

    async def mutate(self, request: web.Request) -> web.Response:
        """The constraints that are added."""
        return await self._answer(request, "mutate", self._judge.mutate)

    async def metrics(self, request: web.Request) -> web.Response:
        """Prometheus' text."""
        return web.Response(body=generate_latest(self._registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def well(self, request: web.Request) -> web.Response:
        """It is there."""
        return web.Response(text="ok")

    async def _answer(self, request: web.Request, webhook: str, answer: Callable[[Json], Json]) -> web.Response:
        data = await request.read()
        begun = time.perf_counter()
        try:
            answered = review(data, answer)
        except ValueError as error:
            return web.Response(status=400, text=f"{error}\n")
        self._seconds.labels(webhook).observe(time.perf_counter() - begun)
        self._requests.labels(webhook, _kind_of(answered["response"])).inc()
        return web.Response(body=msgspec.json.encode(answered), content_type="application/json")


def _kind_of(response: Json) -> str:
    if not response["allowed"]:
        return "denied"
    if "patch" in response:
        return "changed"
    return "warned" if "warnings" in response else "allowed"
