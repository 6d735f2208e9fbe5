"""``topospread promise show``: exit codes and forms of output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema

ROOT = Path(__file__).parents[3]
WEB = str(ROOT / "docs/how-to/describe/web.yaml")
SIX = ("--on", "zones=3,nodes=6,cpu=4")
MAIN = "from topospread.cli.main import main; main()"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", MAIN, "promise", "show", *words], capture_output=True, text=True, check=False
    )


def test_json_has_the_documented_form_and_f_names_a_path() -> None:
    done = run("deploy/web", "-f", WEB, *SIX, "-o", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    jsonschema.validate(found, json.loads((ROOT / "docs/reference/description.schema.json").read_text()))
    assert {each["held"] for each in found["statements"]} == {"yes", "no"}
    assert all(WEB in each["command"] for each in found["statements"])


def test_a_workload_that_is_not_there_is_refused() -> None:
    done = run("deploy/none", "-f", WEB, *SIX)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no Deployment none" in done.stderr
