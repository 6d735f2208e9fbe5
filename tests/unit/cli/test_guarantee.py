"""``topospread promise check``: exit codes, forms of output, the drill that it writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parents[3]
SHOP = str(ROOT / "docs/how-to/guarantee/shop.yaml")
FOUR = ("--on", "zones=2,nodes=4,cpu=3")
MAIN = "from topospread.cli.main import main; main()"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", MAIN, *words], capture_output=True, text=True, check=False)


def test_the_table_shows_the_order_and_the_exit_code_is_1() -> None:
    done = run("promise", "check", "-f", SHOP, *FOUR, "--never-pending", "--survives", "zone", "--left", "deploy/web=2")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("not always: no pod stays pending  (")
    assert "always: the loss of any zone leaves 2 of shop/web" in done.stdout
    assert "shop/checkout stays pending" in done.stdout


def test_what_always_holds_gives_0() -> None:
    assert run("promise", "check", "-f", SHOP, *FOUR, "--max-skew", "1").returncode == 0


def test_json_has_the_documented_form() -> None:
    done = run("promise", "check", "-f", SHOP, *FOUR, "--never-pending", "--max-skew", "1", "-o", "json")
    found = json.loads(done.stdout)
    jsonschema.validate(found, json.loads((ROOT / "docs/reference/guarantee.schema.json").read_text()))
    assert [each["answer"] for each in found["answers"]] == ["not always", "always"]


def test_the_drill_plays_again(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(Path(SHOP).read_text())
    path = str(tmp_path / "order.yaml")
    assert (
        run("promise", "check", "-f", str(tmp_path / "shop.yaml"), *FOUR, "--never-pending", "--drill", path).returncode
        == 1
    )
    done = run("drill", "--check", "-f", path)
    assert done.returncode == 1
    assert "1 pending at the end, at most 0 expected" in done.stdout


def test_no_drill_is_written_where_there_is_no_order(tmp_path: Path) -> None:
    path = tmp_path / "order.yaml"
    done = run("promise", "check", "-f", SHOP, *FOUR, "--max-skew", "1", "--drill", str(path))
    assert "not written" in done.stderr
    assert not path.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "ask something"),
        (("--survives", "rack"), "--survives"),
        (("--never-pending", "--drill", "/nowhere/order.yaml"), "/nowhere/order.yaml: cannot be written"),
        (("--survives", "zone", "--left", "deploy/none=1"), "there is no such workload"),
    ],
)
def test_what_cannot_be_is_refused(words: tuple[str, ...], said: str) -> None:
    done = run("promise", "check", "-f", SHOP, *FOUR, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
