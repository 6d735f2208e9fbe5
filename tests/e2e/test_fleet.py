"""`topospread status` about several clusters, as users run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.answer_schema import schema_of
from tests.e2e.test_status import ROOT, SHOP, run

Json = dict[str, Any]
ON_CALL = ROOT / "docs/how-to/on-call/cluster.yaml"


@pytest.fixture
def prod(tmp_path: Path) -> list[Path]:
    """Two clusters with different problems, one that differs from the first in a workload, and one without problems."""
    changed = json.loads(SHOP.read_text())
    for each in changed["items"]:
        if each["metadata"]["name"] == "web" and each["kind"] == "Deployment":
            each["spec"]["replicas"] = 7
            each["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["maxSkew"] = 3
    whole = {**changed, "items": [each for each in changed["items"] if each["kind"] == "Node"]}
    texts = {"a.json": SHOP.read_text(), "b.yaml": ON_CALL.read_text(), "c.json": json.dumps(changed)}
    for name, text in {**texts, "d.json": json.dumps(whole)}.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in (*texts, "d.json")]


def as_json(*words: str | Path) -> Json:
    found: Json = json.loads(run(*words, "-o", "json").stdout)
    jsonschema.Draft202012Validator(schema_of("Fleet")).validate(found)
    return found


@pytest.mark.parametrize("shell", [True, False], ids=["expanded", "repeated"])
def test_rows_are_the_single_answers_worst_first(prod: list[Path], *, shell: bool) -> None:
    words = ["--on", *prod] if shell else [word for each in prod for word in ("--on", each)]
    found = as_json(*words)
    assert [Path(each["cluster"]).name for each in found["clusters"]] == ["b.yaml", "a.json", "c.json", "d.json"]
    for row in found["clusters"]:
        single = json.loads(run("--on", row["cluster"], "-o", "json").stdout)
        for name in ("verdict", "says", "causes", "remedies", "unjudged", "nodes", "exceeded"):
            assert row[name] == single[name]
        assert row["workloads"] == len(single["workloads"])
    assert found["verdict"] == "no"
    drift = {(each["workload"], each["what"]): [one["value"] for one in each["values"]] for each in found["drift"]}
    assert drift["shop/Deployment/web", "replicas"] == ["6", "7"]
    assert "maxSkew 3" in drift["shop/Deployment/web", "constraints"][1]


def test_narrowing_reaches_every_cluster(prod: list[Path]) -> None:
    found = as_json("deploy/web", "--on", prod[0], prod[2])
    assert [each["workloads"] for each in found["clusters"]] == [1, 1]
    assert "every hard constraint" not in as_json("--waiting", "--on", prod[0], prod[3])["says"]
    assert run("--on", prod[0], prod[2], "-n", "other").returncode == 2


def test_one_unreadable_cluster_is_named_and_makes_a_whole_fleet_unknown(prod: list[Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"kind"')
    done = run("--on", prod[3], broken, tmp_path / "missing.json.gz")
    assert done.returncode == 4
    assert done.stdout.startswith("unknown: 2 of 3 clusters are not judged:")
    assert "broken.json:1:8: not JSON" in " ".join(done.stdout.split())
    assert run("--on", prod[3], broken, "--allow-unknown").returncode == 0
    done = run("--on", prod[0], broken)
    assert done.returncode == 1
    assert "1 of 2 clusters is not judged" in " ".join(done.stdout.split())


def test_nothing_readable_is_bad_input(tmp_path: Path) -> None:
    done = run("--on", tmp_path / "a.json", tmp_path / "b.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "none of 2 clusters is judged; " in done.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--contexts", "a,,b"), "names of contexts with commas"),
        (("--contexts", "a,b", "--on", "x.json"), "cannot be combined with --on"),
        (("--contexts", "a,b", "--context", "c"), "cannot be combined with --context"),
        (("--on", "a.json", "b.json", "--watch"), "--watch works with one cluster"),
        (("--on", "a.json", "b.json", "--traffic"), "--traffic works with one cluster"),
        (("--on", "a.json", "--on", "-"), "- can be read once"),
        (("a.json", "b.json"), "a.json is a file: topospread status -f a.json"),
        (("--contexts", "a,b"), "none of 2 clusters is judged; a: no cluster found"),
    ],
)
def test_what_cannot_be_combined_is_said(words: tuple[str, ...], problem: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_environment_names_one_cluster(prod: list[Path]) -> None:
    assert json.loads(run("-o", "json", TOPOSPREAD_ON=str(prod[3])).stdout)["kind"] == "Status"
    assert json.loads(run("-o", "json", "--on", prod[0], TOPOSPREAD_ON=str(prod[3])).stdout)["on"]["source"] == str(
        prod[0]
    )


def test_contexts_of_which_none_answers_and_kubectl_lines_name_theirs() -> None:
    from topospread.answer import Remedy, Tried
    from topospread.answers.status import Status
    from topospread.cli.fleet import _in_context

    tried = Tried(verdict="yes", places=1, of=1)
    fixes = (
        Remedy(code="uncordon", says="", command=("kubectl", "uncordon", "n"), tried=tried),
        Remedy(code="rebalance", says="", command=("topospread", "rebalance", "--context", "a"), tried=tried),
    )
    found = _in_context(Status(verdict="no", says="", remedies=fixes), "a")
    assert [each.command[1:3] for each in found.remedies] == [("--context", "a"), ("rebalance", "--context")]
