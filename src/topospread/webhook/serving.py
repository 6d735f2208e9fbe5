"""Serve ``/validate``, ``/mutate``, health and metrics over HTTPS; `judging_pool` judges the requests."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import msgspec
from aiohttp import web
from prometheus_client import Counter, Histogram

from topospread.config.durations import parse_duration
from topospread.live.exposition import CollectedMetrics
from topospread.live.serving import Address, ServedPages, has_client_certificate, serve

from .admission_reviews import read_head, tenant_of, uid_of, unjudged
from .fair_queue import Asker
from .judging_pool import JudgingPool, NotJudgedError
from .policy import AdmissionPolicy

log = logging.getLogger(__name__)

MOST: Final = 8 << 20
"""Maximum bytes of a judged AdmissionReview: an object and its old state of 1.5 MiB each (etcd's limit), as JSON.

JSON escapes ``<`` with six bytes, and an API server may store more. A larger review is answered by the policy.
"""
_LATE: Final = "the request did not arrive in time"
_LARGE: Final = f"the request is larger than {MOST >> 20} MiB"
_STATUS: Final = {_LATE: 408, _LARGE: 413}
TIMEOUT: Final = 5.0
"""Seconds that the API server waits by default: the chart's webhook.timeoutSeconds."""
SHARE: Final = 0.6
"""Share of the API server's timeout for judging a request; the rest is for the network."""
_BUCKETS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0)


class WebhookMetrics(CollectedMetrics):
    """The webhook's own metrics."""

    def __init__(self) -> None:
        super().__init__()
        labels = ("webhook", "answer")
        name, about = "topospread_admission_requests", "Requests by answer."
        self.requests = Counter(name, about, labels, registry=self._registry)
        name, about = "topospread_admission_duration_seconds", "Time to answer one request."
        self.seconds = Histogram(name, about, ("webhook",), buckets=_BUCKETS, registry=self._registry)


def application(
    pool: JudgingPool, policy: AdmissionPolicy, metrics: WebhookMetrics, *, needs_certificate: bool
) -> web.Application:
    """Return the application that answers the API server, if ``needs_certificate`` only with a client certificate."""
    made = web.Application()
    made.router.add_post("/{path:validate|mutate}", _ReviewAnswers(pool, policy, metrics, needs_certificate).review)
    return made


async def serve_until_asked(policy: AdmissionPolicy, address: Address) -> None:
    """Serve until SIGTERM or SIGINT, and answer the requests in flight. Raise InputError if the address is unusable."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, ended.set)
    metrics = WebhookMetrics()
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(_judging(policy))
        made = application(pool, policy, metrics, needs_certificate=bool(address.client_ca))
        for runner in await serve(ServedPages(metrics, {}, {}, {}), address, made):
            stack.push_async_callback(runner.cleanup)
        await ended.wait()
        log.info("stopping: answering the requests in flight")


@asynccontextmanager
async def _judging(policy: AdmissionPolicy) -> AsyncIterator[JudgingPool]:
    pool = JudgingPool(policy)
    try:
        await pool.start()
        yield pool
    finally:
        await pool.close()


class _ReviewAnswers:
    def __init__(
        self, pool: JudgingPool, policy: AdmissionPolicy, metrics: WebhookMetrics, needs_certificate: bool
    ) -> None:
        self._pool = pool
        self._policy = policy
        self._metrics = metrics
        self._needs_certificate = needs_certificate

    async def review(self, request: web.Request) -> web.Response:
        """Answer an AdmissionReview before the API server's timeout passes."""
        if self._needs_certificate and not has_client_certificate(request):
            raise web.HTTPUnauthorized(text="a client certificate is required\n")
        path, begun = request.match_info["path"], time.monotonic()
        until = asyncio.get_running_loop().time() + SHARE * _timeout(request)
        data, problem = await _body(request, until)
        try:
            if problem:
                raise ValueError(problem)
            head = read_head(data)
        except ValueError as error:
            uid = uid_of(data)
            if uid is None:
                return web.Response(status=_STATUS.get(problem, 400), text=f"{error}\n")
            body, result = self._unjudged(path, uid, error)
        else:
            try:
                judgement = await self._pool.judge(path, Asker(tenant_of(head), head.namespace), data, until)
                body, result = judgement.body, judgement.result
            except NotJudgedError as error:
                body, result = self._unjudged(path, head.uid, error)
        self._metrics.seconds.labels(path).observe(time.monotonic() - begun)
        self._metrics.requests.labels(path, result).inc()
        return web.Response(body=body, content_type="application/json")

    def _unjudged(self, path: str, uid: str, error: Exception) -> tuple[bytes, str]:
        log.warning("a request to /%s was not judged: %s", path, error)
        return msgspec.json.encode(unjudged(uid, str(error), self._policy)), "unjudged"


async def _body(request: web.Request, until: float) -> tuple[bytes, str]:
    """Return the body, or its first bytes and why the rest is missing.

    A body that is too large is still read to its end, because a client that is sending does not read the answer.
    """
    chunks, size = [], 0
    try:
        async with asyncio.timeout_at(until):
            async for chunk in request.content.iter_any():
                if size <= MOST:
                    chunks.append(chunk)
                size += len(chunk)
    except TimeoutError:
        return b"".join(chunks), _LATE
    return b"".join(chunks), _LARGE if size > MOST else ""


def _timeout(request: web.Request) -> float:
    """Return the seconds that the API server waits, from its query parameter ``timeout=5s``."""
    given = parse_duration(request.query.get("timeout", ""))
    return TIMEOUT if given is None or given <= 0 else min(given / 1e9, 30.0)
