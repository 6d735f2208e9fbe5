"""Routes of the editor's page; `editing` computes the answers."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import State
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from topospread.errors import UsageError

from .application import worked_out
from .editing import MOST_NODES, SYNTHETIC, examples, judge_draft
from .picture import picture
from .timeline import begin

ADDRESS = "/editor"


def editor_routes() -> list[Route]:
    """Return the routes of the editor."""
    return [Route(ADDRESS, _page), Route("/api/example", _example), Route("/api/draft", _draft, methods=["POST"])]


async def _page(request: Request) -> Response:
    pages = request.app.state.pages
    return HTMLResponse(pages.page("editor.html", examples=examples().values(), synthetic=SYNTHETIC, here=ADDRESS))


async def _example(request: Request) -> Response:
    found = examples().get(request.query_params.get("name", ""))
    if found is None:
        return JSONResponse({"error": "there is no example of this name"}, status_code=404)
    return JSONResponse({"why": found.why, "manifest": found.manifest})


async def _draft(request: Request) -> Response:
    state, cluster = request.app.state, request.query_params.get("cluster", "")
    return JSONResponse(await worked_out(request, _judged, await request.body(), cluster, state))


def _judged(text: bytes, cluster: str, state: State) -> dict[str, Any]:
    """Return the data for the editor, with the map if the cluster is small enough to redraw at every keystroke."""
    served = state.served
    with state.answers.trials.explaining:
        try:
            found = judge_draft(text, cluster, lambda: served.reading.inventory, served.options)
        except UsageError as error:
            return {"findings": [], "problems": [{"message": str(error), "line": None}], "simulation": None}
        told = found.to_dict()
        if told["simulation"] is not None:
            told["landing"] = state.pages.page("landing.html", simulation=told["simulation"])
        if found.whole is not None and len(found.whole.nodes) <= MOST_NODES:
            told["picture"] = picture(begin(found.whole, served.options).frames[-1].snapshot)
        return told
