"""Names are completed from the current context: at once, from metadata alone, and without a word about errors."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete

from tests.answering_server import AnsweringServer, answering_server
from topospread.cli.main import topospread
from topospread.cli.usage import VARIABLE

Json = dict[str, Any]


def named(kind: str, name: str, **labels: str) -> Json:
    namespace = {} if kind == "Node" else {"namespace": "shop"}
    return {"kind": kind, "metadata": {"name": name, **namespace, "labels": labels}}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AnsweringServer]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with answering_server(tmp_path) as made:
        names = {"web": "Deployment", "api": "Deployment", "db": "StatefulSet", "web-0": "Pod"}
        node = named("Node", "n1", **{"topology.kubernetes.io/zone": "zone-a"})
        made.hold([node, *(named(kind, name) for name, kind in names.items())])
        made.answers["/apis/apps/v1/daemonsets"] = b'{"items": []}'
        monkeypatch.setenv("KUBECONFIG", str(made.kubeconfig))
        yield made


def completed(*words: str) -> list[str]:
    return [
        each.value
        for each in ShellComplete(topospread, {}, "topospread", VARIABLE).get_completions([*words[:-1]], words[-1])
    ]


def test_objects_and_zones_of_the_current_context(server: AnsweringServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topospread.live.object_names.SECONDS", 30.0)  # a test machine may be busy
    assert completed("why", "deploy/") == ["deploy/api", "deploy/web"]
    assert completed("drill", "--fail", "zone=") == ["zone=zone-a"]
    assert completed("why", "-n", "other", "deploy/") == []
    asked = [(path, dict(headers)) for path, _, headers in server.asked]
    assert all("PartialObjectMetadataList" in headers["Accept"] for _, headers in asked)
    assert len(asked) == 5, "kept for the second question"


def test_a_slow_server_is_given_up(server: AnsweringServer) -> None:
    server.held.add("/api/v1/pods")
    began = time.monotonic()
    assert completed("why", "deploy/") == []
    assert time.monotonic() - began < 5


def test_errors_are_silent(
    server: AnsweringServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    server.refusals["/api/v1/pods"] = (403, "Forbidden")
    assert completed("why", "deploy/") == []
    server.kubeconfig.write_text("{")
    assert completed("why", "deploy/") == []
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig.with_name("none")))
    assert completed("why", "deploy/") == []
    assert capfd.readouterr() == ("", "")


def test_no_program_is_run_and_a_typed_kubeconfig_is_not_read(server: AnsweringServer, tmp_path: Path) -> None:
    assert completed("why", "--kubeconfig", str(server.kubeconfig), "deploy/") == []
    config = json.loads(server.kubeconfig.read_text())
    ran = tmp_path / "ran"
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": [str(ran)]}
    config["users"][0]["user"] = {"exec": plugin}
    server.kubeconfig.write_text(json.dumps(config))
    assert completed("why", "deploy/") == []
    assert not ran.exists()
    assert server.asked == []
