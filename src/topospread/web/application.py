"""The ASGI application: maps URLs to answers. `guard` checks access; `answers` computes the data."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from typing import Any, Final, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from topospread.errors import TopospreadError

from .answers import Answers, NotFoundError, PageQuestion
from .one_file import joined
from .pages import MAP_SCRIPT, STATIC, Pages, static_text
from .served import ServedCluster
from .timeline import StepError
from .trials import read_trial

_LOOK = 0.5
"""Seconds between two checks for a new state and for closed connections."""
_KEEP_ALIVE = 15.0


async def events_of(
    served: ServedCluster,
    state: Callable[[], dict[str, Any]],
    changes: Callable[[int], dict[str, Any] | None],
    is_gone: Callable[[], Awaitable[bool]],
) -> AsyncIterator[str]:
    """Yield the state now and after every change, with the changed parts of the picture, until the client leaves."""
    told, revision, quiet = -1, 0, 0.0
    while not await is_gone():
        if served.events != told:
            told, quiet, now = served.events, 0.0, state()
            if now["revision"] != revision:
                with suppress(TopospreadError):
                    now["changes"] = await run_in_threadpool(changes, revision)
                revision = now["revision"]
            yield f"event: state\ndata: {json.dumps(now)}\n\n"
        elif quiet >= _KEEP_ALIVE:
            quiet = 0.0
            yield f"event: age\ndata: {json.dumps(state())}\n\n"
        await asyncio.sleep(_LOOK)
        quiet += _LOOK


_NEVER_STORED = {"Cache-Control": "no-store"}

_QUESTIONS = ("trial", "workload", "node", "find", "why", "fixes", "pending", "rebalance", "promises", "findings")

MOST_AT_ONCE: Final = 16
"""Maximum number of concurrent requests, running or waiting."""
MOST_OF_ONE: Final = 12
"""Maximum number of concurrent requests from one address, so that other clients still get answers."""

Handler = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")


class BusyError(Exception):
    """Too many requests wait for the engine."""


async def worked_out(request: Request, what: Callable[..., T], *given: object) -> T:
    """Call the engine in a thread. Raise BusyError at `MOST_AT_ONCE` requests, or `MOST_OF_ONE` of one client."""
    state, client = request.app.state, request.client.host if request.client else ""
    if state.at_work.total() >= MOST_AT_ONCE or state.at_work[client] >= MOST_OF_ONE:
        raise BusyError
    state.at_work[client] += 1
    try:
        return await run_in_threadpool(what, *given)
    finally:
        state.at_work[client] -= 1


def application(
    served: ServedCluster, *, middleware: Sequence[Middleware] = (), routes: Sequence[BaseRoute] = ()
) -> Starlette:
    """Return the application.

    Args:
        routes: routes of other pages, which use ``served``, ``answers`` and ``pages`` of ``request.app.state``.
    """
    own: list[BaseRoute] = [
        Route("/", _page),
        Route("/api/state", _state),
        *(Route(f"/api/{each}", _answer(vars(Answers)[each])) for each in _QUESTIONS),
        Route("/api/picture", _picture),
        Route("/api/progress", _progress),
        Route("/drill", _drill),
        Route("/events", _events),
        Route("/script/{name}", _joined),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    made = Starlette(
        routes=[*routes, *own],
        middleware=[*middleware, Middleware(GZipMiddleware, compresslevel=5)],
        exception_handlers={TopospreadError: _refused, NotFoundError: _not_there, BusyError: _busy},
    )
    made.state.served = served
    made.state.at_work = Counter()
    made.state.pages = Pages(served)
    made.state.answers = Answers(served, made.state.pages)
    return made


def asked(request: Request) -> PageQuestion:
    """Parse a URL: the trial's steps, the frame, other parameters. Raise UsageError if a step or number is invalid."""
    words = request.query_params
    return PageQuestion(read_trial(words.getlist("step")), words.get("at", ""), dict(words))


async def _answered(request: Request, what: Callable[[Answers, PageQuestion], T]) -> T:
    """Answer the question in a request; a trial ends when the client leaves."""
    question = asked(request)

    async def watch() -> None:
        while not await request.is_disconnected():
            await asyncio.sleep(_LOOK / 10)
        question.abandoned.set()

    watching = asyncio.create_task(watch())
    try:
        return await worked_out(request, what, request.app.state.answers, question)
    finally:
        watching.cancel()


def _answer(what: Callable[[Answers, PageQuestion], object]) -> Handler:
    """Return a handler that computes an answer outside the event loop and sends it as JSON."""

    async def answer(request: Request) -> Response:
        return JSONResponse(await _answered(request, what), headers=_NEVER_STORED)

    return answer


async def _picture(request: Request) -> Response:
    packs = "gzip" in request.headers.get("accept-encoding", "")
    found = await _answered(request, Answers.packed if packs else Answers.picture)
    headers = _NEVER_STORED | {"Vary": "Accept-Encoding"} | ({"Content-Encoding": "gzip"} if packs else {})
    return Response(found, media_type="application/json", headers=headers)


@cache
def _script() -> tuple[str, str]:
    """Return the map's modules as one script, and its address, which contains a hash of the script."""
    text = joined(MAP_SCRIPT.removeprefix("/static/"), static_text)
    return f"/script/{sha256(text.encode()).hexdigest()[:16]}.js", text


async def _joined(request: Request) -> Response:
    address, text = _script()
    if request.url.path != address:
        raise NotFoundError("there is no such script")
    return Response(text, media_type="text/javascript", headers={"Cache-Control": "max-age=31536000, immutable"})


async def _page(request: Request) -> Response:
    plain = not {"step", "at"} & request.query_params.keys()
    page = request.app.state.pages.page("map.html", here="/", script=_script()[0], plain=plain)
    return HTMLResponse(page, headers=_NEVER_STORED)


async def _state(request: Request) -> Response:
    return JSONResponse(request.app.state.pages.state(), headers=_NEVER_STORED)


async def _drill(request: Request) -> Response:
    name, content = await _answered(request, Answers.drill_file)
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **_NEVER_STORED}
    kind = "application/zip" if name.endswith(".zip") else "application/yaml"
    return Response(content, media_type=kind, headers=headers)


async def _progress(request: Request) -> Response:
    return JSONResponse(request.app.state.answers.progress(asked(request)), headers=_NEVER_STORED)


async def _events(request: Request) -> Response:
    of = request.app.state
    stream = events_of(of.served, of.pages.state, of.answers.changes, request.is_disconnected)
    return StreamingResponse(stream, media_type="text/event-stream", headers=_NEVER_STORED)


async def _refused(_: Request, error: Exception) -> Response:
    """Answer 422 with the error and the step at fault."""
    step = error.number if isinstance(error, StepError) else None
    return JSONResponse({"error": str(error), "step": step}, status_code=422, headers=_NEVER_STORED)


async def _not_there(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, status_code=404, headers=_NEVER_STORED)


async def _busy(_: Request, __: Exception) -> Response:
    words = f"{MOST_OF_ONE} requests are being worked on already; try again"
    return JSONResponse({"error": words}, status_code=503, headers=_NEVER_STORED | {"Retry-After": "1"})
