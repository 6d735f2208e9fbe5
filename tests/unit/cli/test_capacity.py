"""``topospread capacity``: exit codes and forms of output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema

ROOT = Path(__file__).parents[3]
SHOP = str(ROOT / "docs/how-to/zone-loss/shop.yaml")
MAIN = "from topospread.cli.main import main; main()"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", MAIN, "capacity", SHOP, "--cluster", "zones=3,nodes=6", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_json_has_the_documented_form() -> None:
    done = run("--of", "deploy/web", "--each", "zone", "--buy", "--headroom", "20%", "-o", "json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    jsonschema.validate(found, json.loads((ROOT / "docs/reference/capacity.schema.json").read_text()))
    assert (found["rounds"], found["holds"], len(found["losses"]), len(found["purchases"])) == (15, False, 3, 3)
    assert found["pending"]["rejections"][0]["plugin"] == "NodeResourcesFit"


def test_the_exit_code_is_about_headroom() -> None:
    assert run("--of", "deploy/web").returncode == 0
    assert run("--of", "deploy/web", "--headroom", "250%").returncode == 0
    assert run("--of", "deploy/web", "--headroom", "251%").returncode == 1


def test_bad_input_is_a_sentence() -> None:
    done = run("--of", "deploy/wep")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no Deployment wep" in done.stderr
    assert run().returncode == 2
    assert run("--of", "deploy/web", "--pod", "pod.yaml").returncode == 2
