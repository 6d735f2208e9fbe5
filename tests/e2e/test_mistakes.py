"""The mistakes that are made most often: what is answered, and that the exit code is 2."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: prod
contexts:
- {name: prod, context: {cluster: c, user: u}}
- {name: stage, context: {cluster: c, user: u}}
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
"""
ZONES = ("--on", "zones=3,nodes=6")
Command = Callable[..., tuple[object, str, str]]


@pytest.fixture
def command(in_process: Command, tmp_path: Path) -> Command:
    web = (ROOT / "docs/tutorial/app.yaml").read_text()
    shutil.copy(ROOT / "docs/how-to/capacity/shop.yaml", tmp_path / "web.yaml")
    (tmp_path / "empty.yaml").touch()
    (tmp_path / "bad.yaml").write_text("apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: a}\n")
    (tmp_path / "lower.yaml").write_text(web.replace("topologyKey", "topologykey"))
    (tmp_path / "v.yaml").write_text("a: b\n")
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    (tmp_path / "deploy").mkdir()
    shutil.copy(tmp_path / "web.yaml", tmp_path / "deploy")
    (tmp_path / "deploy" / "old.yaml").symlink_to("nowhere.yaml")
    (tmp_path / "deploy" / "package.json").write_text('{"name": "x", "version": "1"}')
    return in_process


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("explain", "deploy/web"), "explain is for fields and rules; for a pod: topospread why deploy/web"),
        (("simulate", "app.yaml"), "app.yaml is a file: topospread simulate -f app.yaml"),
        (("why", "app.yaml"), "app.yaml is a file: topospread why -f app.yaml"),
        (
            ("why", "deploy/wbe", "-f", "web.yaml", *ZONES),
            'Deployment "wbe" not found; did you mean shop/deployment/web?',
        ),
        (
            ("simulate", "-f", "web.yaml"),
            "no cluster: add --on zones=3,nodes=6, --on FILE, or --context NAME (no kubeconfig was found)",
        ),
        (
            ("plan", "web.yaml", "deploy/web.yaml"),
            "no cluster: add --on zones=3,nodes=6 or --on FILE",
        ),
        (
            ("simulate", "-f", "web.yaml", "--on", "zone=3"),
            "--on: zone=3: write zones=3 (topospread explain clusters)",
        ),
        (("simulate", "-f", "empty.yaml", *ZONES), "empty.yaml holds no object (--allow-empty accepts that)"),
        (("simulate", "-f", "bad.yaml", *ZONES), "bad.yaml:1: kind Deploymnet is unknown; did you mean Deployment?"),
        (("simulate", "-f", "lower.yaml", *ZONES), "lower.yaml:14:11: topologykey: write topologyKey"),
        (
            ("simulate", "-f", "web.yaml", *ZONES, "--helm-values", "v.yaml"),
            "--helm-values: none of the paths is a chart",
        ),
        (
            ("drill", "-f", "web.yaml", *ZONES, "--fail", "eu-1a"),
            "fail eu-1a: write KEY=VALUE, for example zone=zone-a, zone=zone-b, zone=zone-c",
        ),
        (
            ("status", "--kubeconfig", "kubeconfig", "--context", "nosuch"),
            'kubeconfig: context "nosuch" not found; contexts: prod, stage',
        ),
        (("status", "--custer", "x"), "--custer: no such option; did you mean --on?"),
        (("status", "--pending"), "--pending: there is --waiting"),
        (("simulate", "--replicas", "3"), "--replicas: write --scale deploy/web=12"),
        (("drill", "--lose", "zone=a"), "--lose: there is --fail"),
        (("dump", "--on", "a.json"), "--on: read a snapshot with --from FILE"),
        (
            ("simulate", "-f", "web.yaml", *ZONES, "--taint", "x"),
            "--taint: no such option; a synthetic cluster is --on zones=3,nodes=6 (topospread explain clusters)",
        ),
        (("drill", "--force"), "--force: topospread drill has no such option; topospread drill --help lists its own"),
        (
            ("rebalance", "-f", "web.yaml", *ZONES, "deploy/wep"),
            "deploy/wep: Deployment wep not found; did you mean shop/deployment/web?",
        ),
        (
            ("promise", "design", "-f", "web.yaml", *ZONES, "-n", "shp"),
            'no Deployment or StatefulSet in the namespace "shp"; did you mean shop?',
        ),
        (
            ("drill", "-f", "web.yaml", *ZONES, "--drain", "noda-1"),
            "drain noda-1: node noda-1 not found; did you mean node-1?",
        ),
        (("rebalance", "--dry-run"), "--dry-run: nothing is changed without --apply"),
        (("plan", "--from", "1.30"), "--from: topospread plan has no such option; dump has it"),
        (
            ("capacity", "--scale", "deploy/web=3"),
            "--scale: topospread capacity has no such option; why, simulate, plan, drill have it",
        ),
        (("promise", "-f", "web.yaml"), "-f: write it after a command of topospread promise: show, check, design"),
        (
            ("promise", "check", "-f", "web.yaml", *ZONES, "--want", "zone-loss"),
            'promise "zone-loss": write zone-loss>=N; in a shell, quote it, because ">" writes a file',
        ),
        (("simulate", "-f", "web.yaml", *ZONES, "-o", "jsn"), "-o jsn: did you mean json?"),
        (
            ("simulate", "-f", "web.yaml", "--on", "nowhere"),
            "--on nowhere: file not found; a synthetic cluster is written as zones=3,nodes=6 "
            "(topospread explain clusters)",
        ),
        (
            ("capacity", "-f", "web.yaml", *ZONES),
            "name the workload to scale up: shop/deployment/web, shop/deployment/api, --pod FILE",
        ),
        (
            ("plan", "a", "b"),
            "a: not a file or folder, and not a revision, because this folder is not in a git repository",
        ),
        (("policies",), "Missing option '--for'. Choose from: vap, kyverno"),
        (
            ("explain", "nonsense"),
            '"nonsense" is not a field, rule, cause or topic; list them with: '
            "topospread explain fields|rules|causes|options|clusters|pools",
        ),
        (("status", "--cluster", "a.json"), "--cluster is gone: write --on a.json"),
        (("simulate", "--raw"), "--raw is gone: write --render never"),
        (("describe", "deploy/web"), "describe is now promise show: topospread promise show deploy/web"),
        (
            ("guarantee", "web.yaml", "--cluster", "nodes=3"),
            "guarantee is now promise check: topospread promise check -f web.yaml --on nodes=3",
        ),
        (("export", "--port", "1"), "export is now run exporter: topospread run exporter --port 1"),
    ],
)
def test_a_mistake_is_answered_with_what_to_write(command: Command, words: tuple[str, ...], answer: str) -> None:
    code, out, err = command(*words)
    assert (code, out) == (2, "")
    assert err == f"error: {answer}\n"


def test_a_format_that_is_misspelt_is_answered_with_the_nearest(command: Command) -> None:
    code, out, err = command("plan", "a", "b", "-o", "jsn")
    assert (code, out) == (2, "")
    assert "-o jsn: did you mean json?" in err


def test_a_folder_is_read_in_spite_of_a_dangling_link_and_a_foreign_file(command: Command) -> None:
    code, out, _ = command("simulate", "-f", "deploy", *ZONES)
    assert code == 0
    assert "warning: deploy/old.yaml: link to nowhere, skipped" in out


def test_a_name_is_enough_where_there_is_one(command: Command) -> None:
    assert command("simulate", "-f", "web.yaml", *ZONES, "--scale", "web=3", "-o", "name")[0] == 0
    assert command("why", "web", "-f", "web.yaml", *ZONES)[0] == 0
    assert command("why", "deployment", "web", "-f", "web.yaml", *ZONES)[0] == 0
    code, out, _ = command("drill", "-f", "web.yaml", *ZONES, "--fail", "zone-a")
    assert code in (0, 1)
    assert "zone-a" in out


def test_a_name_of_two_workloads_is_not_enough(command: Command, tmp_path: Path) -> None:
    text = (tmp_path / "web.yaml").read_text().replace("kind: Deployment", "kind: StatefulSet")
    (tmp_path / "both.yaml").write_text(text)
    for words in (("simulate", "--scale", "web=3"), ("why", "web")):
        code, _, err = command(*words, "-f", "web.yaml", "-f", "both.yaml", *ZONES)
        assert code == 2
        assert "web is shop/" in err
        assert err.endswith(": say which\n")


def test_words_of_kubectl_work(command: Command) -> None:
    assert command("version")[1].startswith("topospread ")
    assert command("help", "why")[1].startswith("Usage: topospread why ")


def test_the_state_may_come_from_the_environment(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPOSPREAD_ON", "zones=3,nodes=6")
    monkeypatch.setenv("TOPOSPREAD_NAMESPACE", "shop")
    monkeypatch.setenv("TOPOSPREAD_OUTPUT", "json")
    code, out, _ = command("simulate", "-f", "web.yaml")
    assert code == 0
    assert out.startswith("{")
    assert command("simulate", "-f", "web.yaml", "--on", "zones=3,nodes=3", "-o", "name")[1].count("pod/") == 9
    monkeypatch.setenv("TOPOSPREAD_KUBE_VERSION", "1.4")
    assert "1.4" in command("simulate", "-f", "web.yaml")[2]
