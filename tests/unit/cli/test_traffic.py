"""``--traffic`` of simulate and status: text, JSON of the documented form, and options that mean nothing alone."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from tests.answer_schema import schema_of
from tests.command import Done, forked

ROOT = Path(__file__).parents[3]
SHOP = str(ROOT / "docs/how-to/traffic/shop.yaml")
SIX = ["--on", "zones=3,nodes=6"]


def run(*words: str) -> Done:
    return forked(*words)


def test_a_simulation_tells_what_crosses_zones() -> None:
    done = run("simulate", "-f", SHOP, *SIX, "--traffic", "--clients", "deploy/web", "--price", "0.02", "-o", "json")
    found = json.loads(done.stdout)
    jsonschema.validate(found, schema_of("Simulation"))
    shares = {each["name"]: each["crossing"] for each in found["traffic"]["services"]}
    assert shares == {"api": 0.666667, "api-close": 0}
    assert json.loads(run("simulate", "-f", SHOP, *SIX, "-o", "json").stdout)["traffic"] is None
    text = run("simulate", "-f", SHOP, *SIX, "--traffic", "--price", "0.02").stdout
    assert "shop/api 67% 13.33 0% 3 1.00× mean Cluster, clients" in " ".join(text.split())


def test_a_status_tells_it_of_pods_as_they_are(tmp_path: Path) -> None:
    saved = tmp_path / "after.json"
    assert run("simulate", "-f", SHOP, *SIX, "--save", str(saved)).returncode == 0
    text = run("status", "-f", str(saved), "--traffic").stdout
    assert "shop/api " in text
    assert " 67% " in text
    found = json.loads(run("status", "-f", str(saved), "--traffic", "-o", "json").stdout)
    jsonschema.validate(found, schema_of("Status"))
    assert len(found["traffic"]["services"]) == 2


def test_clients_say_nothing_without_traffic() -> None:
    done = run("simulate", "-f", SHOP, *SIX, "--clients", "deploy/web")
    assert (done.returncode, done.stdout) == (2, "")
    assert run("simulate", "-f", SHOP, *SIX, "--traffic", "--orders", "2").returncode == 2
    assert run("simulate", "-f", SHOP, *SIX, "--traffic", "--clients", "deploy/nobody").returncode == 2


def test_a_drill_tells_it_after_each_step() -> None:
    words = [
        "drill",
        "-f",
        SHOP,
        *SIX,
        "--fail",
        "zone=zone-a",
        "--scale",
        "deploy/api=0",
        "--traffic",
        "--price",
        "0.02",
    ]
    done = run(*words, "-o", "json")
    found = json.loads(done.stdout)
    jsonschema.validate(found, schema_of("DrillResult"))
    told = [{each["name"]: each for each in step["traffic"]["services"]} for step in found["steps"]]
    assert [round(each["api"]["crossing"], 2) if each else None for each in told] == [0.67, 0.5, None]
    assert [zone["clients"] for zone in told[1]["api"]["zones"]] == [0.5, 0.5], "a zone that is down asks nothing"
    text = run(*words).stdout
    assert "after 1 50% 10.00 0% 3" in " ".join(text.split())
    assert "after 2" in text
    assert max(map(len, text.splitlines())) <= 80
    plain = json.loads(run("drill", "-f", SHOP, *SIX, "--wait", "1s", "-o", "json").stdout)
    assert plain["steps"][0]["traffic"] is None


def test_only_one_drill_tells_of_traffic() -> None:
    for words in (["--each", "zone", "--traffic"], ["--check", "--traffic"], ["--merge", "--traffic"]):
        assert run("drill", "-f", SHOP, *SIX, *words).returncode == 2
    assert run("drill", "-f", SHOP, *SIX, "--wait", "1s", "--price", "1").returncode == 2
