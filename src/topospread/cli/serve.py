"""``topospread serve``: a web page to explore a cluster and try changes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from topospread.config.versions import NEWEST
from topospread.errors import UsageError
from topospread.sources.atomic_file import write_file
from topospread.text import escape_control_characters, one_line

from .anonymous_options import anonymous_options, read_salt
from .inputs import (
    PATH,
    file_words,
    input_options,
    namespace_options,
    read_inventory,
    read_options,
)
from .live_options import LIVE, NOBODY, access_options, is_meant, live_words, named_options, read_access
from .report_file import ReportWish, html_text
from .standard_input import is_piped
from .usage import EXITS_WORKED, Explained

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from topospread.simulation.options import SimulationOptions
    from topospread.web.timeline import Frame

HELP = """\
Serve a web page that maps the cluster, explains pods and simulates changes. It is updated when a live cluster
changes. Nothing is written to the cluster.

Only this machine can connect, unless --host is another address. Each request needs the token in the printed URL.

\b
Examples:
  topospread serve --context prod
  topospread serve --on cluster.json.gz
  topospread serve -f app.yaml --on zones=3,nodes=12,cpu=8,memory=32Gi
  topospread serve --on cluster.json.gz --baseline yesterday.json.gz
  topospread serve --on cluster.json.gz --export report.html --anonymous
  topospread serve --on cluster.json.gz --host 0.0.0.0 --known-as desk.example
"""

_TOKEN_AT_LEAST = 16


@click.command(cls=Explained, help=HELP, exits=EXITS_WORKED)
@input_options
@access_options
@namespace_options("Put objects in")
@click.option("--baseline", metavar="FILE", type=PATH, help="Earlier snapshot with which to compare the cluster.")
@click.option("--export", "html", metavar="FILE", type=PATH, help="Write the page to one file instead of serving it.")
@anonymous_options("Replace private names in the file of --export.")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Address to listen on.")
@click.option(
    "--known-as", multiple=True, metavar="NAME", help="Additional host name that is allowed in the page's URL."
)
@click.option("--token", metavar="TEXT", envvar="TOPOSPREAD_TOKEN", help="Access token to use instead of a random one.")
@click.option(
    "--port", default=8375, type=click.IntRange(0, 65535), metavar="N", help="Port to listen on; 0 for a free port."
)
def serve(**given: Any) -> int:
    """Serve the page until Ctrl-C."""
    from topospread.extras import require

    require("web")
    token = _token(given["token"])
    read_salt(given)
    if given["anonymous"] and not given["html"]:
        raise UsageError("--anonymous requires --export")
    if given["baseline"] and given["html"]:
        raise UsageError("--baseline cannot be combined with --export")
    options = read_options(given)
    from topospread.web.guard import AccessPolicy, Guard
    from topospread.web.serving import listen, run

    if given["html"]:
        wish = ReportWish(read_inventory(given, by=[options]), options)
        write_file(given["html"], escape_control_characters(html_text(given, wish)))
        return 0
    policy = AccessPolicy.listening_on(given["host"], given["known_as"], token)
    with _application(given, options) as made:
        listening = listen(given["host"], given["port"])
        url = policy.url(given["host"], listening.port)
        click.echo(f"topospread serves {one_line(made.state.served.input.name)} at {url} (Ctrl-C ends it)", err=True)
        run(Guard(made, policy), listening)
    return 0


@contextmanager
def _application(given: dict[str, Any], options: SimulationOptions) -> Iterator[Starlette]:
    """Create the web application for the input. A live cluster is watched until the block ends."""
    from topospread.web.application import application
    from topospread.web.editor import editor_routes
    from topospread.web.served import ServedCluster

    earlier = _earlier(given, options)
    if not _is_followed(given):
        served = ServedCluster.begin(read_inventory(given, by=[options]), options, _words(given), earlier)
        made = application(served, routes=editor_routes())
        made.state.answers.warm_up()
        gc.freeze()  # what it computed lives as long as the process: a garbage collection would delay an answer
        yield made
        return
    access = read_access(given)
    from topospread.web.contact_metrics import metrics_route, page_contact
    from topospread.web.snapshot_refresher import first_state, kept_up

    click.echo("reading the cluster", err=True)
    contact = page_contact()
    with first_state(access, watching=contact) as followed:
        served = ServedCluster.begin(followed.inventory(), options, _live_words(given), earlier)
        routes = [*editor_routes(), metrics_route(contact, options.kube_version)]
        made = application(served, routes=routes)
        made.state.answers.warm_up()
        with kept_up(served, followed, made.state.answers.warm_up):
            yield made


def _earlier(given: dict[str, Any], options: SimulationOptions) -> Frame | None:
    """Return the snapshot of --baseline as the page shows it."""
    from topospread.web.timeline import begin

    if not given["baseline"]:
        return None
    alone = {**given, **NOBODY, "paths": (), "cluster": given["baseline"]}
    found = begin(read_inventory(alone, by=[options]), options)
    return replace(found.frames[found.first_shown], label=given["baseline"].rpartition("/")[2])


def _is_followed(given: dict[str, Any]) -> bool:
    """Return whether a live cluster is shown without manifests applied, so that it can be watched."""
    if given["paths"] or given["cluster"] not in (None, LIVE):
        return False
    if given["cluster"] is None and not named_options(given) and is_piped():
        return False
    return is_meant(given, ())


def _live_words(given: dict[str, Any]) -> Any:
    """Return the options that name the live cluster. Suggested drills run on the output of `topospread dump`."""
    from topospread.web.served import InputWords

    name = f"context {given['context']}" if given["context"] else "the cluster that kubectl points at"
    return InputWords(name, tuple(live_words(given)), ("cluster.json.gz",), live=True)


def _token(given: str | None) -> str | None:
    """Return the chosen access token. Raise UsageError if it is too easy to guess."""
    if given is not None and len(given) < _TOKEN_AT_LEAST:
        raise UsageError(f"--token takes a text of at least {_TOKEN_AT_LEAST} characters")
    return given


def _words(given: dict[str, Any]) -> Any:
    """Return the command-line words for the input."""
    from topospread.web.served import InputWords

    paths = tuple(given["paths"])
    words = file_words(*paths)
    for option, name in (("--on", "cluster"), ("--config", "config_path"), ("-n", "namespace")):
        words += [option, given[name]] if given[name] else []
    words += ["--kube-version", given["kube_version"]] if given["kube_version"] != str(NEWEST) else []
    words += ["--feature-gates", given["feature_gates"]] if given["feature_gates"] else []
    shown = [path.rstrip("/").rpartition("/")[2] or path for path in paths if path != "-"]
    name = ", ".join([*shown, *(["standard input"] if "-" in paths else []), given["cluster"] or ""]).strip(", ")
    return InputWords(name, tuple(words), tuple(path for path in paths if path != "-"), given["cluster"] or "")
