"""Designs made in manifests: the lines that change, the lines that stay, and manifests that cannot be edited."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from tests.unit.drill.builders import budget, workload
from tests.unit.sources.fake_programs import FakePrograms
from topospread.cli.main import topospread as command

WEB = """\
# The shop.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web   # the front
spec:
  replicas: 6
  selector: {matchLabels: {app.kubernetes.io/name: web}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: web}
    spec:
      # All else is the default.
      topologySpreadConstraints:
      - maxSkew: 5   # loose
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels:
            app.kubernetes.io/name: web
      containers:
      - name: c
        image: nginx
"""
BUDGET = """\
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: front}
spec:
  maxUnavailable: 6  # too many
  selector: {matchLabels: {app.kubernetes.io/name: web}}
"""


def designed(*words: str) -> Result:
    given = ["promise", "design", "--all", "--on", "zones=3,nodes=6,cpu=8", "--in-place", *words]
    return CliRunner().invoke(command, given, standalone_mode=False)


def checked(path: Path, want: str) -> int:
    words = ["promise", "check", "-f", str(path), "--on", "zones=3,nodes=6,cpu=8", "--want", want]
    return int(CliRunner().invoke(command, words, standalone_mode=False).return_value)


def test_comments_and_layout_stay_and_a_budget_is_added(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(WEB)
    done = designed("-f", str(path), "--want", "zone-loss>=4")
    assert (done.return_value, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert "with 4 added lines, 1 of them by choice" in text
    assert "nodeTaintsPolicy: Honor by choice: after the loss of zone" in text
    assert "choice: default/web: with nodeTaintsPolicy: Honor, pods of a lost zone stay elsewhere" in text
    before, after = WEB.splitlines(), path.read_text().splitlines()
    assert [line for line in before if line not in after] == ["      - maxSkew: 5   # loose"]
    new = [line for line in after[: after.index("---")] if line not in before]
    assert new[:2] == ["  annotations:", '    topospread.dev/promise: "zone-loss>=4"']
    assert new[2] == "      - maxSkew: 1   # loose"
    assert sorted(new[3:]) == ["        matchLabelKeys: [pod-template-hash]", "        nodeTaintsPolicy: Honor"]
    added = list(yaml.safe_load_all(path.read_text()))[1]
    assert (added["kind"], added["metadata"], added["spec"]["minAvailable"]) == (
        "PodDisruptionBudget",
        {"name": "web"},
        4,
    )
    assert checked(path, "zone-loss>=4") == 0


KEPT = """\
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        nodeTaintsPolicy: Honor
        matchLabelKeys: [pod-template-hash]
        labelSelector: {matchLabels: {app.kubernetes.io/name: web}}
      containers:
"""
"""Constraints of WEB to which a design adds nothing but its annotation."""


@pytest.mark.parametrize("wants", [[], ["--want", "zone-loss>=4"]])
@pytest.mark.parametrize("kept", [False, True])
def test_the_printed_check_asks_for_what_was_designed_and_nothing_else(
    tmp_path: Path, wants: list[str], kept: bool
) -> None:
    path, one = tmp_path / "app.yaml", WEB.replace("web", "one").replace("replicas: 6", "replicas: 1")
    web = re.sub("      - maxSkew(.|\n)*containers:\n", KEPT, WEB) + BUDGET.replace("6", "2") if kept else WEB
    path.write_text(f"{web}---\n{one}")
    for way in (["--out", str(tmp_path / "out")], ["--in-place"]):
        words = ["promise", "design", "--on", "zones=3,nodes=6,cpu=8", "-f", str(path), *way, *wants]
        done = CliRunner().invoke(command, words, standalone_mode=False)
        line = next(line for line in done.stdout.splitlines() if line.startswith("check: topospread "))
        check = CliRunner().invoke(command, [*shlex.split(line)[2:], "-o", "json"], standalone_mode=False)
        assert check.return_value == 0
        assert [(each["workload"], each["want"]) for each in json.loads(check.stdout)["promises"]] == [
            ("default/Deployment/web", "zone-loss>=4")
        ]


def test_each_line_says_whether_a_wanted_promise_needs_it(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(WEB)
    words = ["promise", "design", "-f", str(path), "--on", "zones=3,nodes=3,cpu=8", "--want", "zone-loss>=4"]
    (found,) = json.loads(CliRunner().invoke(command, [*words, "-o", "json"], standalone_mode=False).stdout)[
        "workloads"
    ]
    assert {each["line"]: each["wanted"] for each in found["lines"]} == {
        "topologySpreadConstraints: topology.kubernetes.io/zone, maxSkew 1": True,
        "nodeTaintsPolicy: Honor": False,
        "matchLabelKeys: [pod-template-hash]": True,
        "PodDisruptionBudget: minAvailable 4": True,
    }


def test_a_workloads_own_budget_is_changed_and_no_second_one_added(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(WEB + BUDGET)
    assert designed("-f", str(path), "--want", "zone-loss>=4").return_value == 0
    assert "  maxUnavailable: 2  # too many\n" in path.read_text()
    kinds = [each["kind"] for each in yaml.safe_load_all(path.read_text())]
    assert kinds == ["Deployment", "PodDisruptionBudget"]


def test_every_file_of_a_folder_is_edited_in_its_own_form(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(WEB)
    api = workload("Deployment", "api", 3)
    (tmp_path / "api.json").write_text(json.dumps(api, indent=2) + "\n")
    done = designed("-f", str(tmp_path))
    assert (done.return_value, done.stderr) == (0, "")
    found = (tmp_path / "api.json").read_text()
    first, end = json.JSONDecoder().raw_decode(found)
    assert first["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert json.loads(found[end:])["kind"] == "PodDisruptionBudget"
    assert checked(tmp_path, "zone-loss>=2") == 0


def test_a_text_that_cannot_be_edited_is_left_alone(tmp_path: Path) -> None:
    text = WEB.replace("maxSkew: 5", "maxSkew: !!int 5")
    (tmp_path / "app.yaml").write_text(text)
    done = designed("-f", str(tmp_path / "app.yaml"), "--want", "zone-loss>=4")
    assert "no file was edited: default/web: its text cannot be edited" in f"{done.exception}{done.stderr}"
    assert (tmp_path / "app.yaml").read_text() == text


def test_a_workload_of_the_cluster_has_no_file_to_edit(tmp_path: Path) -> None:
    objects: list[dict[str, Any]] = [workload("Deployment", "api", 3), budget("api", minAvailable=1)]
    (tmp_path / "there.json").write_text("\n".join(map(json.dumps, objects)))
    (tmp_path / "web.yaml").write_text(WEB)
    (tmp_path / "nodes.json").write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "List",
                "items": [
                    *objects,
                    *(
                        {
                            "apiVersion": "v1",
                            "kind": "Node",
                            "metadata": {
                                "name": f"n{i}",
                                "labels": {"topology.kubernetes.io/zone": f"z{i}", "kubernetes.io/hostname": f"n{i}"},
                            },
                            "status": {"allocatable": {"cpu": "20", "memory": "64Gi", "pods": "110"}},
                        }
                        for i in range(3)
                    ),
                ],
            }
        )
    )
    words = ["promise", "design", "--all", "--on", str(tmp_path / "nodes.json"), "--in-place", "-A"]
    done = CliRunner().invoke(command, [*words, "-f", str(tmp_path / "web.yaml")], standalone_mode=False)
    assert "not edited: shop/api: no manifest of -f holds the Deployment" in done.stderr
    assert "maxSkew: 5" not in (tmp_path / "web.yaml").read_text()


def test_a_chart_is_refused_before_the_search(tmp_path: Path) -> None:
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    words = ["promise", "design", "--all", "--on", "zones=3,nodes=6", "--in-place", "-f", str(tmp_path)]
    done = CliRunner().invoke(command, words, standalone_mode=False)
    assert "which is rendered; use --out" in str(done.exception)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--all"], "have no Deployment or StatefulSet"),
        (["deploy/web"], "Deployment web not found"),
    ],
)
def test_files_without_the_workload_are_refused_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.delattr("topospread.answers.promise_design.promise_design")
    (tmp_path / "budget.yaml").write_text(BUDGET)
    given = ["promise", "design", *words, "--on", "zones=3,nodes=6", "--in-place", "-f", str(tmp_path)]
    assert said in str(CliRunner().invoke(command, given, standalone_mode=False).exception)


def test_a_target_in_a_chart_is_refused_before_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("topospread.answers.promise_design.promise_design")
    programs = FakePrograms(tmp_path / "bin", monkeypatch)
    programs.install("helm", f"---\n# Source: web/templates/web.yaml\n{WEB}")
    (tmp_path / "chart").mkdir()
    (tmp_path / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (tmp_path / "api.yaml").write_text(WEB.replace("name: web ", "name: api "))
    words = ["deploy/web", "-f", str(tmp_path / "chart"), "-f", str(tmp_path / "api.yaml")]
    given = ["promise", "design", *words, "--on", "zones=3,nodes=6", "--in-place"]
    done = CliRunner().invoke(command, given, standalone_mode=False)
    assert "which is rendered; use --out" in str(done.exception)


@pytest.mark.parametrize(
    ("words", "said"),
    [(["deploy/web"], "--all cannot be combined with TARGET"), ([], "--in-place requires -f")],
)
def test_what_cannot_be_edited_is_said(words: list[str], said: str) -> None:
    done = designed(*words)
    assert said in str(done.exception)


CART = (
    WEB.replace("name: web ", "name: cart ")
    .replace("io/name: web", "io/name: cart")
    .replace("maxSkew: 5 ", "maxSkew: 1 ")
)
BY_NODE = """\
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels:
            app.kubernetes.io/name: cart
      containers:
"""


@pytest.mark.parametrize("way", [["--in-place"], ["--out", "out"]])
def test_an_undecided_design_is_not_written_and_every_replaced_value_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    selector = re.compile("        labelSelector:\n.*\n.*: web\n")
    web = selector.sub("        labelSelector: {matchLabels: {app: wbe}}\n", WEB).replace("maxSkew: 5", "maxSkew: 2")
    cart = CART.replace("      containers:\n", BY_NODE)
    Path("web.yaml").write_text(web)
    Path("cart.yaml").write_text(cart)
    words = ["--all", "-f", "web.yaml", "-f", "cart.yaml", "--on", "zones=3,nodes=6,cpu=8", "--states", "1", *way]
    words = ["promise", "design", *words, "--want", "zone-loss>=3"]
    done = CliRunner().invoke(command, words, standalone_mode=False)
    assert (done.return_value, done.stderr) == (4, "")
    assert "not written: default/cart: the design is not decided\n" in done.stdout
    lines = " ".join(done.stdout.split())
    assert "default/cart not judged" in lines
    assert "changes: default/web: topologySpreadConstraints[0].maxSkew: 2 → 1 changes: " in lines
    labels = '{"matchLabels":{"app":"wbe"}} → {"matchLabels":{"app.kubernetes.io/name":"web"}}'
    assert f"changes: default/web: topologySpreadConstraints[0].labelSelector: {labels}" in lines
    assert Path("cart.yaml").read_text() == cart
    assert (Path("web.yaml").read_text() == web) == ("--out" in way)
    assert [each.name for each in Path("out").iterdir()] == ["default-web.yaml"] if "--out" in way else True
