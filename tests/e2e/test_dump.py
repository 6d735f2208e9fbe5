"""`topospread dump` as users run it, with a kubectl that answers from files; `tests/live` has a real one."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
TOPOSPREAD = Path(sys.executable).parent / "topospread"
KUBECTL = """#!/bin/sh
for word in "$@"; do path=$word; done
file="{folder}/$(echo "${{path%%\\?*}}" | tr / _)"
if [ -f "$file" ]; then exec cat "$file"; fi
echo "Error from server (NotFound): the server could not find the requested resource" >&2
exit 1
"""


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """A folder with a kubectl, and what it answers: the shop of the documentation."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "kubectl").write_text(KUBECTL.format(folder=folder))
    (folder / "kubectl").chmod(0o755)
    items = json.loads((ROOT / "docs/how-to/shop.json").read_text())["items"]
    paths = {"Node": "_api_v1_nodes", "Pod": "_api_v1_pods", "ReplicaSet": "_apis_apps_v1_replicasets"}
    for kind, name in paths.items():
        listed: dict[str, Any] = {"kind": f"{kind}List", "apiVersion": "apps/v1" if "apps" in name else "v1"}
        (folder / name).write_text(json.dumps(listed | {"items": [each for each in items if each["kind"] == kind]}))
    return folder


def run(answers: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TOPOSPREAD, *words],
        cwd=answers.parent,
        env={"PATH": f"{answers}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_name_it_is_the_one_that_the_help_says(answers: Path) -> None:
    done = run(answers, "dump")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("cluster.json.gz: 6 nodes, 11 pods and 2 other objects, ")
    assert run(answers, "status", "cluster.json.gz").returncode == 0


def test_standard_output_is_the_snapshot_alone(answers: Path) -> None:
    done = run(answers, "dump", "-")
    assert len(json.loads(done.stdout)["items"]) == 19
    assert done.stderr == "6 nodes, 11 pods and 2 other objects\n"


def test_two_snapshots_have_the_same_words_with_the_same_salt_only(answers: Path) -> None:
    for name, words in (("a", ["--salt", "12345678"]), ("b", ["--salt", "12345678"]), ("c", [])):
        assert run(answers, "dump", f"{name}.json.gz", "--hash-names", *words).returncode == 0

    def items(name: str) -> Any:
        return json.loads(gzip.decompress((answers.parent / f"{name}.json.gz").read_bytes()))["items"]

    assert items("a") == items("b") != items("c")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cluster.yaml"], "cluster.yaml: name a file that ends in .json.gz or .json, or - for standard output"),
        (["--salt", "12345678"], "--salt takes a text of at least 8 characters, together with --hash-names"),
        (["--hash-names", "--salt", "short"], "--salt takes a text of at least 8 characters"),
        (["nowhere/c.json"], "nowhere: there is no such folder"),
        (["--chunk-size", "-1"], "--chunk-size"),
    ],
)
def test_usage(words: list[str], said: str, answers: Path) -> None:
    done = run(answers, "dump", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_an_answer_that_is_no_list_is_said(answers: Path) -> None:
    (answers / "_api_v1_nodes").write_text("<html>please log in</html>")
    done = run(answers, "dump")
    assert done.returncode == 2
    assert "the answer is no list of objects: '<html>please log in" in done.stderr
    assert sorted(path.name for path in answers.parent.iterdir()) == ["bin"]
