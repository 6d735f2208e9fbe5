"""``topospread promise check``: exit codes, formats, the drill that it writes, and Ctrl-C."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import click
import jsonschema
import pytest
from click.testing import CliRunner

from tests.answer_schema import schema_of
from tests.command import Done, forked
from tests.unit.drill.builders import nodes, workload
from topospread.cli.promise_check import check as command
from topospread.promise.proofs import Proof
from topospread.promise.questions import EndQuestion

ROOT = Path(__file__).parents[3]
SHOP = str(ROOT / "docs/how-to/guarantee/shop.yaml")
FOUR = ("--on", "zones=2,nodes=4,cpu=3")
SCANNED = ROOT / "tests/unit/render/sarif-2.1.0-subset.schema.json"


def run(*words: str) -> Done:
    return forked(*words)


def test_a_broken_promise_comes_first_and_wide_shows_the_order() -> None:
    words = "promise", "check", "-f", SHOP, *FOUR, "--want", "never-waits", "deploy/checkout"
    done = run(*words)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(
        "no: 1 of 1 promise is not kept\nwhy: shop/checkout never-waits: in one possible order,"
    )
    assert "shop/checkout is pending" not in done.stdout
    assert "7  a pod of shop/checkout is pending" in run(*words, "-o", "wide").stdout


def test_json_has_the_documented_form_and_exit_zero_hides_the_verdict() -> None:
    done = run("promise", "check", "-f", SHOP, *FOUR, "--want", "never-waits zone-loss>=1", "-o", "json", "--exit-zero")
    found = json.loads(done.stdout)
    jsonschema.validate(found, schema_of("PromiseCheck"))
    assert (done.returncode, found["verdict"]) == (0, "no")
    assert {each["workload"] for each in found["promises"]} == {"shop/Deployment/checkout", "shop/Deployment/web"}


def test_pipelines_see_each_promise_at_its_workload() -> None:
    words = "promise", "check", "-f", SHOP, *FOUR, "--want", "never-waits rollout>=1"
    suites = ElementTree.fromstring(run(*words, "-o", "junit").stdout)
    assert (suites.get("tests"), suites.get("failures")) == ("4", "2")
    warning, error = run(*words, "-o", "github").stdout.splitlines()
    assert warning.startswith("::warning file=")
    assert error.startswith("::error file=")
    assert "line=18" in error
    assert "promise never-waits is not kept" in error


def declaring(folder: Path) -> list[str]:
    """Two Deployments without spread in one file: an annotation declares the promise of one, the project the other."""
    web = workload("Deployment", "web", 4)
    text = json.dumps(workload("Deployment", "api", 4)) + "\n---\n" + json.dumps(web | {"metadata": None})
    annotated = "{name: web, namespace: shop,\n    annotations: {\n      topospread.dev/promise: zone-loss>=2}}"
    (folder / "app.yaml").write_text(text.replace("null", annotated))
    (folder / "topospread.toml").write_text('[lint]\n\n[[promises]]\nselect = "app=api"\nwant = "zone-loss>=2"\n')
    return ["promise", "check", "-f", "app.yaml", "--on", "zones=3,nodes=6"]


@pytest.mark.parametrize("form", ["github", "sarif", "junit"])
def test_pipelines_see_each_promise_at_its_declaration(form: str, tmp_path: Path) -> None:
    words = declaring(tmp_path)
    done = forked(*words, "-o", form, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    if form == "github":
        places = {(part["file"], int(part["line"])) for part in map(properties, done.stdout.splitlines())}
    elif form == "sarif":
        jsonschema.validate(json.loads(done.stdout), json.loads(SCANNED.read_text()))
        where = [each["locations"][0]["physicalLocation"] for each in json.loads(done.stdout)["runs"][0]["results"]]
        places = {(each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in where}
    else:
        texts = [each.text or "" for each in ElementTree.fromstring(done.stdout).iter("failure")]
        places = {(text.split(":")[0], int(text.split(":")[1])) for text in texts}
    assert places == {("app.yaml", 5), ("topospread.toml", 3)}


@pytest.mark.parametrize("labels", [{}, {"labels": {"app": "other"}}], ids=["annotation", "labels"])
def test_a_manifest_removes_no_promise_of_the_settings(labels: dict[str, object], tmp_path: Path) -> None:
    web = workload("Deployment", "web", 4)
    web["metadata"] |= labels or {"annotations": {"topospread.dev/promise": "zone-loss>=0"}}
    (tmp_path / "app.yaml").write_text(json.dumps(web))
    (tmp_path / "topospread.toml").write_text('[[promises]]\nselect = "app=web"\nwant = "zone-loss>=2"\n')
    done = forked("promise", "check", "-f", "app.yaml", "--on", "zones=3,nodes=6", "-o", "json", cwd=tmp_path)
    kept = {each["want"]: each["verdict"] for each in json.loads(done.stdout)["promises"]}
    assert (done.returncode, kept["zone-loss>=2"]) == (1, "no")
    assert len(kept) == 1 + (not labels)


def test_labels_of_the_workload_alone_choose_no_other_promise_of_the_settings(tmp_path: Path) -> None:
    web = workload("Deployment", "web", 4)
    web["metadata"]["labels"] = {"tier": "batch"}
    (tmp_path / "app.yaml").write_text(json.dumps(web))
    weak, strong = (
        f'[[promises]]\nselect = "{select}"\nwant = "{want}"\n'
        for select, want in (("tier=batch", "zone-loss>=0"), ("app=web", "zone-loss>=2"))
    )
    (tmp_path / "topospread.toml").write_text(weak + strong)
    assert forked("promise", "check", "-f", "app.yaml", "--on", "zones=3,nodes=6", cwd=tmp_path).returncode == 1


def properties(line: str) -> dict[str, str]:
    return dict(each.split("=", 1) for each in line.split("::")[1].partition(" ")[2].split(","))


def test_the_counterexample_is_written_as_a_drill_that_falls_short(tmp_path: Path) -> None:
    shutil.copy(SHOP, tmp_path)
    words = "--want", "never-waits", "deploy/checkout", "--save-drill", str(tmp_path / "order.yaml")
    assert run("promise", "check", "-f", str(tmp_path / "shop.yaml"), *FOUR, *words).returncode == 1
    done = run("drill", "--check", "-f", str(tmp_path / "order.yaml"))
    assert done.returncode == 1
    assert "1 pending at the end" in done.stdout


def test_no_file_is_written_without_a_counterexample(tmp_path: Path) -> None:
    done = run(
        "promise", "check", "-f", SHOP, *FOUR, "--want", "rollout>=1", "--save-drill", str(tmp_path / "order.yaml")
    )
    assert done.returncode == 0
    assert "not written" in done.stderr
    assert not (tmp_path / "order.yaml").exists()


def press_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C while that question is looked at, from 1."""
    prove, asked = Proof.of, []

    def pressed(self: Proof, question: EndQuestion) -> str:
        asked.append(question)
        if len(asked) == number:
            raise KeyboardInterrupt
        return prove(self, question)

    monkeypatch.setattr(Proof, "of", pressed)


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    objects = [*nodes("a", "b"), workload("ReplicaSet", "one", 2), workload("ReplicaSet", "two", 2)]
    (tmp_path / "all.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
    return ["-f", str(tmp_path / "all.yaml"), "--want", "never-waits"]


def test_promises_that_were_checked_before_ctrl_c_are_shown(two: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    press_at(2, monkeypatch)
    done = CliRunner().invoke(command, [*two, "-o", "json"], standalone_mode=False)
    found = json.loads(done.stdout)
    assert done.return_value == 130
    assert (found["verdict"], found["partial"], len(found["promises"])) == (
        "unknown",
        "interrupted in workload 2 of 2",
        1,
    )


def test_without_a_checked_promise_ctrl_c_shows_nothing(two: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    press_at(1, monkeypatch)
    with pytest.raises(click.Abort):
        CliRunner().invoke(command, two, standalone_mode=False, catch_exceptions=False)
