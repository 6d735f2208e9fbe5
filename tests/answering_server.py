"""An HTTP server that answers as an API server does, from what a test puts there, and a kubeconfig that names it."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]
PATHS = {
    "Node": "/api/v1/nodes",
    "Pod": "/api/v1/pods",
    "Service": "/api/v1/services",
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "Deployment": "/apis/apps/v1/deployments",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "Namespace": "/api/v1/namespaces",
}


class AnsweringServer:
    """What it answers, and what it was asked.

    Attributes:
        answers: path → body; other paths are not found.
        refusals: path → HTTP status and reason.
        held: paths that are answered only when the server ends.
        evicted: called with namespace and name of a pod whose eviction is asked for, before it is answered.
        asked: path, query and headers of every request.
    """

    def __init__(self, folder: Path) -> None:
        self.answers: dict[str, bytes] = {}
        self.refusals: dict[str, tuple[int, str]] = {}
        self.held: set[str] = set()
        self.evicted: Callable[[str, str], None] = lambda namespace, name: None
        self.ending = threading.Event()
        self.asked: list[tuple[str, str, list[tuple[str, str]]]] = []
        self.kubeconfig = folder / "kubeconfig"

    def hold(self, items: Iterable[Json]) -> None:
        """Answer lists of these objects."""
        every = list(items)
        for kind, path in PATHS.items():
            version = "apps/v1" if "apps" in path else "v1"
            listed = {"kind": f"{kind}List", "apiVersion": version, "metadata": {"resourceVersion": "1"}}
            self.answers[path] = json.dumps(
                listed | {"items": [each for each in every if each["kind"] == kind]}
            ).encode()

    def answer(self, path: str) -> tuple[int, bytes]:
        """Status and body."""
        status, reason = self.refusals.get(path, (404, "NotFound"))
        if path in self.refusals or path not in self.answers:
            message = f"{path.rpartition('/')[2]} is refused ({reason})"
            told = {"kind": "Status", "code": status, "reason": reason, "message": message}
            return status, json.dumps(told).encode()
        return 200, self.answers[path]


@contextmanager
def answering_server(folder: Path, context: str = "shop") -> Iterator[AnsweringServer]:
    """One that listens on loopback; its kubeconfig is in ``folder``."""
    made = AnsweringServer(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            made.asked.append((parts.path, parts.query, list(self.headers.items())))
            if parts.path in made.held:
                made.ending.wait()
                return
            status, body = made.answer(parts.path)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            made.asked.append((self.path, "", list(self.headers.items())))
            _, _, _, _, namespace, _, name, eviction = self.path.split("/")
            assert eviction == "eviction", self.path
            made.evicted(namespace, name)
            self.send_response(201)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's own name
            """Nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Print no error about a client that hung up: tests look at what the client prints."""
            if not isinstance(sys.exception(), ConnectionError):
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    made.kubeconfig.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
                "users": [{"name": "u", "user": {"token": "secret-token"}}],
                "contexts": [{"name": context, "context": {"cluster": "c", "user": "u"}}],
                "current-context": context,
            }
        )
    )
    try:
        yield made
    finally:
        made.ending.set()
        server.shutdown()
        server.server_close()
        thread.join()
