"""Extenders that are called, and extenders whose answers are unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from conformance.generators.extenders import Stub, answering
from tests.unit.simulation.test_unknown import CLUSTER, deployment, manifest
from topospread.cli.simulate import simulate as command

IGNORED = {"ignoredByScheduler": True}


@pytest.mark.parametrize(
    ("extender", "cpu", "verdict"),
    [
        ({"filterVerb": "f"}, "1", "unknown"),
        ({"filterVerb": "f", "ignorable": True}, "1", "unknown"),
        ({"prioritizeVerb": "p", "weight": 1}, "1", "unknown"),
        ({"filterVerb": "f"}, "16", "no"),
        ({"bindVerb": "b"}, "1", "yes"),
        ({"preemptVerb": "v"}, "1", "yes"),
        ({"filterVerb": "f", "managedResources": [{"name": "example.com/gpu"}]}, "1", "yes"),
        ({"filterVerb": "f", "managedResources": [{"name": "example.com/fpga", **IGNORED}]}, "1", "unknown"),
    ],
)
def test_pods_that_an_extender_may_filter_or_score_are_unknown(
    tmp_path: Path, extender: dict[str, Any], cpu: str, verdict: str
) -> None:
    amounts = {"example.com/fpga": "1"}
    init = {"name": "i", "image": "i", "resources": {"requests": amounts, "limits": amounts}}
    asks = [init] if "ignoredByScheduler" in str(extender) else []
    app = manifest(tmp_path, deployment("web", 3, cpu, initContainers=asks))
    config = tmp_path / "config.yaml"
    with_extender(config, extender)
    words = ["-f", str(app), "--on", CLUSTER, "--config", str(config), "-o", "json"]
    answer = yaml.safe_load(CliRunner().invoke(command, words, standalone_mode=False).stdout)
    assert answer["verdict"] == verdict
    assert [each["what"] for each in answer["unjudged"]] == ["extenders"] * (verdict == "unknown")


@pytest.mark.parametrize(("extender", "verdict"), [({"preemptVerb": "v"}, "unknown"), ({"bindVerb": "b"}, "yes")])
def test_an_extender_that_chooses_victims_leaves_preemption_unknown(
    tmp_path: Path, extender: dict[str, Any], verdict: str
) -> None:
    config = tmp_path / "config.yaml"
    with_extender(config, extender)
    size = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": size}}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}
    low = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "low"},
        "spec": {"nodeName": "a", "containers": [container]},
    }
    important = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 10,
    }
    app = manifest(tmp_path, node, low, important, deployment("high", 1, "3", priorityClassName="high"))
    words = ["-f", str(app), "--config", str(config), "-o", "json"]
    answer = yaml.safe_load(CliRunner().invoke(command, words, standalone_mode=False).stdout)
    assert answer["verdict"] == verdict
    assert [each["what"] for each in answer["unjudged"]] == ["extenders"] * (verdict == "unknown")


@pytest.mark.parametrize(
    ("state", "verdict"), [("silent", "yes"), ("strange", "no"), ("nobody", "unknown"), (None, "unknown")]
)
def test_an_extender_is_asked_where_that_is_wanted(tmp_path: Path, state: str | None, verdict: str) -> None:
    config, app = tmp_path / "config.yaml", manifest(tmp_path, deployment("web", 3, "1"))
    words = ["-f", str(app), "--on", CLUSTER, "--config", str(config), "-o", "json"]
    verbs = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1, "nodeCacheCapable": True}
    with answering() as url:
        with_extender(config, {**verbs, "urlPrefix": f"{url}/{state}/5" if state != "nobody" else "http://127.0.0.1:9"})
        asks = [] if state is None else ["--call-extenders"]
        answer = yaml.safe_load(CliRunner().invoke(command, [*words, *asks], standalone_mode=False).stdout)
    assert answer["verdict"] == verdict, answer
    assert ("claims a filtered node" in str(answer["pending"])) == (verdict == "no")
    assert any("--call-extenders asks it" in each for each in answer["warnings"]) == (state is None)


@pytest.mark.parametrize("where", ["project", "nowhere"])
def test_nobody_is_asked_at_an_address_that_only_a_project_file_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with_extender(tmp_path / "config.yaml", {"filterVerb": "filter"})
    if where == "project":
        (tmp_path / "topospread.toml").write_text('config = "config.yaml"\n')
    app = manifest(tmp_path, deployment("web", 3, "1"))
    found = CliRunner().invoke(command, ["-f", str(app), "--on", CLUSTER, "--call-extenders"], standalone_mode=False)
    assert "requires --config FILE on the command line" in str(found.exception)


@pytest.mark.parametrize("name", ["caFile", "certFile", "keyFile"])
def test_a_configuration_in_a_repository_names_no_certificate_out_of_it(tmp_path: Path, name: str) -> None:
    """The address may be a stranger's, and the certificate the user's."""
    (tmp_path / ".git").mkdir()
    config, app = tmp_path / "config.yaml", manifest(tmp_path, deployment("web", 3, "1"))
    with_extender(config, {"filterVerb": "filter", "tlsConfig": {name: "/etc/hostname"}})
    words = ["-f", str(app), "--on", CLUSTER, "--config", str(config)]
    assert CliRunner().invoke(command, words, standalone_mode=False).exception is None
    found = CliRunner().invoke(command, [*words, "--call-extenders"], standalone_mode=False)
    assert f"extenders[0].tlsConfig.{name}: this file is outside the repository" in str(found.exception)


@pytest.mark.parametrize(
    ("filtered", "scored"),
    [
        (b"[]", b"[]"),
        (b"null", b"[]"),
        (b"[" * 100_000, b"[]"),
        (b'{"nodenames": 3}', b"[]"),
        (b'{"nodes": []}', b"[]"),
        (b'{"nodes": {"items": [3]}}', b"[]"),
        (b'{"nodenames": [], "failednodes": [1]}', b"[]"),
        (None, b"{}"),
        (None, b'[{"host": "a", "score": "x"}]'),
        (None, b'[{"host": "a", "score": 99999999999999999999}]'),
    ],
)
def test_an_extender_that_answers_nonsense_is_unknown(tmp_path: Path, filtered: bytes | None, scored: bytes) -> None:
    class Nonsense(Stub):
        def do_POST(self) -> None:  # noqa: N802 - http.server's own name
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()
            everything = json.dumps({"nodenames": asked["NodeNames"]}).encode()
            self.wfile.write(scored if self.path == "/prioritize" else filtered or everything)

    config, app = tmp_path / "config.yaml", manifest(tmp_path, deployment("web", 3, "1"))
    verbs = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1, "nodeCacheCapable": True}
    words = ["-f", str(app), "--on", CLUSTER, "--config", str(config), "-o", "json", "--call-extenders"]
    with answering(stub=Nonsense) as url:
        with_extender(config, {**verbs, "urlPrefix": url})
        answer = json.loads(CliRunner().invoke(command, words, standalone_mode=False).stdout)
    assert answer["verdict"] == "unknown"
    assert "its answer cannot be read" in str(answer)


def with_extender(config: Path, extender: dict[str, Any]) -> None:
    data = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [{"urlPrefix": "http://127.0.0.1:9", **extender}],
    }
    config.write_text(yaml.safe_dump(data))
