"""``topospread rebalance``: exit codes, forms of output, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parents[3]
SHOP = str(ROOT / "docs/how-to/shop.json")
MAIN = "from topospread.cli.main import main; main()"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", MAIN, "rebalance", *words], capture_output=True, text=True, check=False
    )


def test_the_table_says_what_is_proved() -> None:
    done = run(SHOP)
    assert done.returncode == 0, done.stderr
    assert "eu-1a  3 → 2" in done.stdout
    assert done.stdout.endswith("1 eviction mends 1 constraint; fewer do not (by an integer program)\n")


def test_json_has_the_documented_form() -> None:
    done = run(SHOP, "--max-skew", "1", "-o", "json")
    found = json.loads(done.stdout)
    jsonschema.validate(found, json.loads((ROOT / "docs/reference/rebalance.schema.json").read_text()))
    assert len(found["evictions"]) == 2
    assert found["bound"] == {"evictions": 2, "by": "solver", "proved": True, "impossible": False}


def test_commands_evict_and_wait_and_never_delete() -> None:
    script = run(SHOP, "-o", "commands").stdout
    assert "evict shop web-5b8c7d9f6-2xk4p\n" in script
    assert "kubectl rollout status deployment/web -n shop --timeout=10m\n" in script
    assert "kubectl delete" not in script
    done = subprocess.run(["sh", "-n"], input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_nothing_to_do_is_said(tmp_path: Path) -> None:
    done = run(str(ROOT / "examples/demo/shop.yaml"), "--cluster", "zones=3,nodes=9")
    assert done.returncode == 0
    assert "nothing to do on 9 nodes" in done.stdout
    assert "# There is nothing to evict." in run(SHOP, "-l", "app=cache", "-o", "commands").stdout


def test_what_is_left_makes_the_exit_code_1(tmp_path: Path) -> None:
    objects = json.loads(Path(SHOP).read_text())
    budget = {"minAvailable": "100%", "selector": {"matchLabels": {"app": "web"}}}
    metadata = {"name": "web", "namespace": "shop"}
    objects["items"].append(
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": budget}
    )
    path = tmp_path / "closed.json"
    path.write_text(json.dumps(objects))
    done = run(str(path))
    assert done.returncode == 1
    assert "Not mended" in done.stdout
    found = json.loads(run(str(path), "-o", "json").stdout)
    jsonschema.validate(found, json.loads((ROOT / "docs/reference/rebalance.schema.json").read_text()))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((SHOP, "--max-skew", "0"), "--max-skew"),
        ((SHOP, "-n", "nowhere"), "no workload in the namespace"),
        ((SHOP, "-l", "a in"), "-l"),
        ((), "name files or folders to read"),
    ],
)
def test_what_cannot_be_is_refused(words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr or "selector" in done.stderr


def test_status_and_explain_name_the_command_to_type() -> None:
    def said(*words: str) -> str:
        done = subprocess.run([sys.executable, "-c", MAIN, *words], capture_output=True, text=True, check=False)
        return " ".join(done.stdout.split())

    status = said("status", SHOP).replace("- ", "-")
    assert f"topospread rebalance {SHOP} mends what is beyond maxSkew with 1 eviction" in status
    assert f"topospread drill {SHOP} --each zone plays the loss of each zone" in status
    found = said("explain", "web-5b8c7d9f6-2xk4p", SHOP, "-n", "shop")
    assert f"topospread rebalance {SHOP} -n shop mends the skew that is there with 1 eviction, and says which" in found
    assert f"topospread drill {SHOP} -n shop --rollout shop/deployment/web plays its next rollout" in found
    pending = str(ROOT / "docs/how-to/on-call/cluster.yaml")
    wanted = f"topospread capacity {pending} --of shop/deployment/checkout --buy says which new node"
    assert wanted in said("explain", "deploy/checkout", pending)
    assert wanted in said("status", pending)
    assert "topospread rebalance" not in said("status", SHOP, "-l", "app=cache")
