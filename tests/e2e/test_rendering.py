"""Every command that reads paths renders charts and builds kustomizations, and says what is missing."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.command import Done, forked
from tests.unit.sources.fake_programs import FakePrograms, programs

__all__ = ["programs"]
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: one}\nstatus: {allocatable: {cpu: '4', memory: 8Gi, pods: '9'}}\n"
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: a, image: a}]}
"""
COMMANDS = {
    "simulate": ("simulate", "-f", "chart", "--on", "nodes=1"),
    "explain": ("why", "deploy/web", "-f", "chart", "--on", "nodes=1"),
    "explain -f": ("why", "-f", "chart", "--on", "nodes=1"),
    "status": ("status", "-f", "chart", "--on", "nodes=1"),
    "lint": ("lint", "chart"),
    "plan": ("plan", "chart", "chart", "--on", "nodes=1"),
    "--on": ("simulate", "--on", "chart"),
    "lint --on": ("lint", "app.yaml", "--on", "chart"),
}


@pytest.fixture
def folder(tmp_path: Path, programs: FakePrograms) -> Path:
    (tmp_path / "chart" / "templates").mkdir(parents=True)
    (tmp_path / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (tmp_path / "chart" / "templates" / "web.yaml").write_text("{{- if .Values.on }}\n" + WEB + "{{- end }}\n")
    (tmp_path / "app.yaml").write_text(WEB)
    return tmp_path


def run(folder: Path, *words: str) -> Done:
    return forked(*words, cwd=folder)


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_chart_is_rendered(folder: Path, programs: FakePrograms, words: tuple[str, ...]) -> None:
    programs.install("helm", f"---\n# Source: web/templates/web.yaml\n{WEB}---\n# Source: web/templates/n.yaml\n{NODE}")
    (folder / "v.yaml").write_text("")
    done = run(folder, *words, "--helm-values", "v.yaml", "--helm-set", "a=b", "-n", "demo", "--kube-version", "1.36")
    assert done.returncode in (0, 1), done.stderr
    given = ["--namespace=demo", "--values=v.yaml", "--set=a=b", "--kube-version=1.36"]
    calls = {tuple(word for word in each if not word.startswith("--api-versions=")) for each in programs.calls("helm")}
    assert calls == {("template", "web", *_named(programs), *given)}
    assert all("--api-versions=batch/v1/CronJob" in each for each in programs.calls("helm"))


def _named(programs: FakePrograms) -> tuple[str, ...]:
    """How the chart was named: the same in every call."""
    (name,) = {each[2] for each in programs.calls("helm")}
    assert Path(name).name == "chart"
    return (name,)


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_missing_program_is_bad_input_that_says_what_to_install(folder: Path, words: tuple[str, ...]) -> None:
    done = run(folder, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "chart: this chart is rendered with `helm template`, and helm is not on the PATH: install it" in done.stderr


def test_raw_tells_a_template_as_such(folder: Path) -> None:
    (folder / "chart" / "Chart.yaml").unlink()
    for words in COMMANDS["simulate"], COMMANDS["lint"]:
        done = run(folder, *words)
        assert done.returncode == 2
        assert "web.yaml:1:" in done.stderr
        assert "this looks like a template: render it first, or give the folder of its chart" in done.stderr


def test_raw_and_how_to_render_contradict_each_other(folder: Path) -> None:
    done = run(folder, "simulate", "-f", "chart", "--on", "nodes=1", "--render", "never", "--helm-set", "a=b")
    assert done.returncode == 2
    assert "cannot be combined with --render never" in done.stderr


def test_values_are_for_the_state_of_a_plan_that_has_a_chart(folder: Path, programs: FakePrograms) -> None:
    programs.install("helm", f"---\n# Source: web/templates/web.yaml\n{WEB}")
    words = ("plan", "app.yaml", "chart", "--on", "nodes=1", "--helm-set", "a=b")
    assert run(folder, *words).returncode in (0, 1)
    assert programs.calls("helm")
    refused = run(folder, "plan", "app.yaml", "app.yaml", "--on", "nodes=1", "--helm-set", "a=b")
    assert refused.returncode == 2
    assert refused.stderr.endswith("error: --helm-set: none of the paths is a chart\n")


@pytest.mark.parametrize("kind", ["plain", "chart", "overlay"])
def test_the_files_of_a_design_are_checked_with_the_command_that_it_prints(
    folder: Path, programs: FakePrograms, kind: str
) -> None:
    (folder / "plain").mkdir()
    (folder / "plain" / "web.yaml").write_text(WEB)
    (folder / "overlay").mkdir()
    (folder / "overlay" / "kustomization.yaml").write_text("resources: [web.yaml]\n")
    (folder / "overlay" / "web.yaml").write_text(WEB)
    programs.install("helm", f"---\n# Source: web/templates/web.yaml\n{WEB}")
    programs.install("kustomize", WEB)
    wanted = ["--on", "zones=3,nodes=3", "--want", "zone-loss>=1 drain>=1"]
    assert run(folder, "promise", "check", "-f", kind, *wanted).returncode == 1
    done = run(folder, "promise", "design", "--all", "-f", kind, *wanted, "--out", "patches")
    line = next(each for each in done.stdout.splitlines() if each.startswith("check: topospread "))
    checked = run(folder, *shlex.split(line)[2:])
    assert (checked.returncode, checked.stdout.splitlines()[0]) == (0, "yes: all of 2 declared promises are kept"), line
