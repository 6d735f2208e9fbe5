"""Commands that read the cluster of the kubeconfig, as users run them; `tests/live` has a real API server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.answering_server import AnsweringServer, answering_server
from tests.command import Done, forked

ROOT = Path(__file__).parent.parent.parent
SHOP = ROOT / "docs/how-to/shop.json"
APP = """\
apiVersion: v1
kind: Pod
metadata: {name: new, labels: {app: new}}
spec: {containers: [{name: c, image: i}]}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnsweringServer]:
    """An API server with the shop of the documentation, whose context names a namespace."""
    with answering_server(tmp_path_factory.mktemp("server")) as made:
        made.hold(json.loads(SHOP.read_text())["items"])
        config = json.loads(made.kubeconfig.read_text())
        config["contexts"][0]["context"]["namespace"] = "staging"
        made.kubeconfig.write_text(json.dumps(config))
        yield made


def run(server: AnsweringServer | None, *words: str, stdin: str | None = None) -> Done:
    config = {"KUBECONFIG": str(server.kubeconfig if server else "/nowhere/kubeconfig")}
    return forked(*words, env={"PATH": "/usr/bin:/bin"} | config, stdin=stdin)


def plain(text: str) -> Any:
    """A JSON answer without what says where it was read."""
    found = json.loads(text)
    for each in found.get("remedies", ()):
        each["command"] = [word for word in each["command"] if word not in ("-f", str(SHOP))]
    return {key: value for key, value in found.items() if key not in ("notes", "warnings", "on")}


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("why", "shop/deploy/web"),
        ("simulate", "--scale", "shop/deploy/web=9"),
        ("capacity", "shop/deploy/web"),
        ("drill", "--fail", "zone=eu-1a"),
        ("rebalance",),
        ("promise", "show", "shop/deploy/web"),
        ("promise", "design", "shop/deploy/web", "--tries", "3"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_without_a_path_the_cluster_is_read_and_answered_as_from_a_file(
    words: tuple[str, ...], server: AnsweringServer
) -> None:
    from_file = run(None, *words, "-f", str(SHOP), "-o", "json")
    live = run(server, *words, "-o", "json")
    assert live.returncode == from_file.returncode, live.stderr
    assert plain(live.stdout) == plain(from_file.stdout)


def test_manifests_alone_are_applied_to_the_cluster_in_the_namespace_of_the_context(
    server: AnsweringServer, tmp_path: Path
) -> None:
    (tmp_path / "app.yaml").write_text(APP)
    done = run(server, "simulate", "-f", str(tmp_path / "app.yaml"), "-o", "json")
    placed = {(each["namespace"], each["name"]): each["node"] for each in json.loads(done.stdout)["placements"]}
    assert placed["staging", "new"]
    piped = run(server, "simulate", "-f", "-", "-o", "json", "-n", "shop", stdin=APP)
    assert ("shop", "new") in {(each["namespace"], each["name"]) for each in json.loads(piped.stdout)["placements"]}
    nowhere = run(None, "simulate", "-f", str(tmp_path / "app.yaml"))
    assert (nowhere.returncode, nowhere.stdout) == (2, "")
    assert "no cluster: add --on" in nowhere.stderr


def test_what_is_piped_in_is_read_and_an_empty_pipe_is_not(server: AnsweringServer) -> None:
    piped = run(server, "status", "-o", "json", stdin=json.dumps({"kind": "List", "apiVersion": "v1", "items": []}))
    assert (piped.returncode, piped.stdout) == (2, "")
    assert "standard input holds no object" in piped.stderr
    assert run(server, "status", "-o", "json", "--exit-zero", stdin="").returncode == 0
    named = run(server, "status", "--context", "shop", "-o", "json", "--exit-zero", stdin="no list")
    assert named.returncode == 0, named.stderr


def test_lint_reads_it_only_when_asked_to(server: AnsweringServer, tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(APP.replace("name: new, ", "name: checkout-new, namespace: shop, "))
    before = len(server.asked)
    assert run(server, "lint", str(path)).returncode in (0, 1)
    assert len(server.asked) == before
    assert run(server, "lint", str(path), "--on", "live").returncode in (0, 1)
    assert len(server.asked) > before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("status", "--context", "nope"), 'context "nope" not found; contexts: shop'),
        (("status", "--context", "shop", "--on", "zones=3,nodes=3"), "--context names a live cluster"),
        (("status", "--as-group", "ops"), "--as-group and --as-uid require --as"),
        (("status", "--kubeconfig", "/nowhere/config"), "this kubeconfig does not exist"),
    ],
)
def test_what_does_not_go_together_is_said(words: tuple[str, ...], said: str, server: AnsweringServer) -> None:
    done = run(server, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("status", "reason", "said"),
    [
        (401, "Unauthorized", "does not accept these credentials (401 Unauthorized): log in again"),
        (403, "Forbidden", "pods is refused (Forbidden); the answer needs this right"),
    ],
)
def test_refusals_are_said_with_what_to_do(status: int, reason: str, said: str, tmp_path: Path) -> None:
    with answering_server(tmp_path) as server:
        server.hold(json.loads(SHOP.read_text())["items"])
        server.refusals["/api/v1/pods"] = (status, reason)
        done = run(server, "status")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    away = run(server, "status")
    assert away.returncode == 2
    assert "cannot be reached: the connection was refused" in away.stderr


def test_one_namespace_is_read_where_no_more_may_be_and_the_reader_is_warned(tmp_path: Path) -> None:
    with answering_server(tmp_path) as server:
        server.hold(json.loads(SHOP.read_text())["items"])
        server.answers["/api/v1/namespaces/shop/pods"] = server.answers["/api/v1/pods"]
        server.refusals["/api/v1/pods"] = (403, "Forbidden")
        server.refusals["/api/v1/services"] = (403, "Forbidden")
        server.refusals["/api/v1/namespaces/shop/services"] = (403, "Forbidden")
        done = run(server, "status", "-n", "shop", "-o", "json", "--exit-zero")
    assert done.returncode == 0, done.stderr
    assert 'holds the namespace "shop" alone: nodes look emptier' in done.stderr
    assert "lacks Service objects (Forbidden)" in done.stderr


@pytest.mark.parametrize("own", [True, False], ids=["its-own", "none"])
def test_services_of_one_namespace_are_no_reason_to_doubt_the_pods_of_all(tmp_path: Path, own: bool) -> None:
    with answering_server(tmp_path) as server:
        server.hold(json.loads(SHOP.read_text())["items"])
        server.answers["/api/v1/namespaces/shop/services"] = server.answers["/api/v1/services"]
        server.refusals["/api/v1/services"] = (403, "Forbidden")
        if not own:
            server.refusals["/api/v1/namespaces/shop/services"] = (403, "Forbidden")
        done = run(server, "status", "-n", "shop", "-o", "json", "--exit-zero")
    assert done.returncode == 0, done.stderr
    assert "nodes look emptier" not in done.stderr
    why = 'Forbidden outside the namespace "shop"' if own else "Forbidden"
    assert f"lacks Service objects ({why}): cluster-level default constraints" in done.stderr


def test_all_kinds_that_may_not_be_read_are_named_by_one_warning(tmp_path: Path) -> None:
    with answering_server(tmp_path) as server:
        server.hold(json.loads(SHOP.read_text())["items"])
        for path in ("/api/v1/services", "/apis/apps/v1/statefulsets", "/apis/apps/v1/daemonsets"):
            server.refusals[path] = (403, "Forbidden")
        done, drawn = run(server, "status", "-o", "json"), run(server, "status")
    said = done.stderr.partition("lacks ")[2]
    assert said.startswith(
        "objects of 3 kinds (Forbidden): "
        "StatefulSet, Service: cluster-level default constraints do not apply to the pods that only they select "
        "or own; "
        "DaemonSet: no pods are created for new nodes\n"
    )
    assert done.stderr.count("warning: ") == 1
    assert "; DaemonSet: no pods are created for new nodes" in " ".join(drawn.stdout.split())


def test_without_any_cluster_it_is_said_what_to_give() -> None:
    done = run(None, "status")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no cluster: add --on" in done.stderr
    assert "no kubeconfig was found" in done.stderr


def test_several_contexts_are_asked_and_one_that_does_not_answer_is_named(
    server: AnsweringServer, tmp_path: Path
) -> None:
    config = json.loads(server.kubeconfig.read_text())
    (first,) = config["contexts"]
    config["clusters"].append({"name": "gone", "cluster": {"server": "http://127.0.0.1:1"}})
    config["contexts"] = [
        {**first, "name": "a"},
        {**first, "name": "b"},
        {"name": "gone", "context": {**first["context"], "cluster": "gone"}},
    ]
    several = tmp_path / "several"
    several.write_text(json.dumps(config))
    done = run(None, "status", "--kubeconfig", str(several), "--contexts", "a,b,gone", "-o", "json")
    found = json.loads(done.stdout)
    assert [each["cluster"] for each in found["clusters"]] == ["a", "b", "gone"]
    single = json.loads(run(None, "status", "--kubeconfig", str(several), "--context", "a", "-o", "json").stdout)
    assert [each["says"] for each in found["clusters"][:2]] == [single["says"]] * 2
    assert found["clusters"][0]["remedies"] == single["remedies"]
    assert "127.0.0.1:1" in found["clusters"][2]["problem"]
    assert (done.returncode, found["drift"]) == (1, [])
