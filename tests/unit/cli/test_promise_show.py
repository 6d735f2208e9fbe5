"""``topospread promise show``: exit codes and formats."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from tests.answer_schema import schema_of
from tests.command import Done, forked

ROOT = Path(__file__).parents[3]
WEB = str(ROOT / "docs/how-to/describe/web.yaml")
SIX = ("--on", "zones=3,nodes=6,cpu=4")


def run(*words: str) -> Done:
    return forked("promise", "show", *words)


def test_json_has_the_documented_form_and_f_names_a_path() -> None:
    done = run("deploy/web", "-f", WEB, *SIX, "-o", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    jsonschema.validate(found, schema_of("PromiseShow"))
    assert found["verdict"] == "yes"


def test_one_zone_is_a_single_point_of_failure() -> None:
    done = run("deploy/web", "-f", WEB, "--on", "zones=1,nodes=6,cpu=4")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("no: a single loss can take all pods of shop/web\nwhy: ")


def test_a_workload_that_does_not_exist_is_refused() -> None:
    done = run("deploy/none", "-f", WEB, *SIX)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Deployment none not found" in done.stderr


def test_the_table_marks_what_is_not_decided_and_says_what_its_marks_mean() -> None:
    done = run("-n", "shop", "--on", str(ROOT / "docs/how-to/on-call/cluster.yaml"), "--states", "5")
    assert "NODE DRAIN" in done.stdout
    assert "0–2?" in done.stdout
    marks = done.stdout.partition("orders-db")[2]
    assert "?: between these numbers" in marks
    assert "stuck: the rollout may not end" in " ".join(marks.split())
    assert "blocked" not in marks


def test_a_selector_and_all_namespaces_choose_the_workloads() -> None:
    cluster = ("--on", str(ROOT / "docs/how-to/on-call/cluster.yaml"), "--states", "5")
    found = json.loads(run("-A", "-l", "app=search", *cluster, "-o", "json").stdout)
    assert [each["name"] for each in found["workloads"]] == ["search"]
    assert "-l app=nope selects no workload" in run("-l", "app=nope", *cluster).stderr
