"""``topospread capacity``: exit codes and forms of output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.answer_schema import schema_of
from tests.command import Done, forked

ROOT = Path(__file__).parents[3]
SHOP = str(ROOT / "docs/how-to/zone-loss/shop.yaml")
MAIN = "from topospread.cli.main import main; main()"


def run(*words: str) -> Done:
    return forked("capacity", "-f", SHOP, "--on", "zones=3,nodes=6", *words)


def test_the_json_has_the_documented_form() -> None:
    done = run("deploy/web", "--each", "zone", "--node-shape", "cpu=4", "--more", "20%", "-o", "json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    jsonschema.validate(found, schema_of("Capacity"))
    assert (found["room"]["rounds"], found["verdict"]) == ({"least": 15, "most": 15}, "no")
    assert (len(found["losses"]), len(found["purchases"])) == (3, 3)
    assert found["room"]["ends"][0]["code"] == "cpu-short"


def test_the_exit_code_is_about_how_many_are_asked_for() -> None:
    assert run("deploy/web").returncode == 0
    assert run("deploy/web", "--more", "250%").returncode == 0
    assert run("deploy/web", "--more", "251%").returncode == 1
    assert run("deploy/web", "--more", "16", "--exit-zero").returncode == 0


def test_the_losses_stand_before_the_nodes_that_were_tried() -> None:
    words = ("deploy/web", "--each", "zone", "--node-shape", "cpu=4")
    heads = [line.split("  ")[0] for line in run(*words, "-o", "wide").stdout.splitlines() if line]
    assert heads.index("ZONE LOST") < heads.index("ONE MORE NODE") < heads.index("ZONE")
    assert "ONE MORE NODE" not in run(*words).stdout, "one table, if it is not wide"


def test_bad_input_is_a_sentence() -> None:
    done = run("deploy/wep")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Deployment wep not found" in done.stderr
    assert run().returncode == 2
    assert run("deploy/web", "--pod", "pod.yaml").returncode == 2


def ended(press: str, *words: str) -> Done:
    """The command with Ctrl-C at a point: a signal, as a terminal sends it, wherever who runs this ignores it."""
    begin = (
        "import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def press(): os.kill(os.getpid(), signal.SIGINT)\n"
    )
    command = [sys.executable, "-c", begin + press + MAIN, "capacity", "-f", SHOP, "--on", "zones=3,nodes=6", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


IN_ROUND_3 = """
from topospread.capacity import filling
place = filling._place
def pressed(filled, wanted, pods, grow):
    if filled.rounds == 2 and wanted is filled.wanted[-1]:
        place(filled, wanted, pods[:1], grow)
        press()
    return place(filled, wanted, pods, grow)
filling._place = pressed
"""
AFTER_ITEM_2 = """
from topospread.capacity.filling import ParallelRun
ask = ParallelRun.answers
def pressed(self, asked, items):
    return ask(type(self)(1, lambda done, of: press() if done == 2 else None), asked, items)
ParallelRun.answers = pressed
"""


def test_ctrl_c_shows_the_rounds_that_were_placed_whole() -> None:
    words = ("deploy/web=2",)
    done = ended(IN_ROUND_3, *words, "-o", "json")
    found = json.loads(done.stdout)
    jsonschema.validate(found, schema_of("Capacity"))
    assert (done.returncode, found["verdict"], found["room"]["limited"]) == (130, "unknown", True)
    assert (found["room"]["rounds"]["least"], found["partial"]) == (2, "ended in round 3")
    assert [(each["more"]["least"], each["placed"]) for each in found["room"]["targets"]] == [(4, 4)]
    assert sum(domain["more"] for domain in found["room"]["keys"][0]["domains"]) == 4, "none of the round under way"
    said = " ".join(ended(IN_ROUND_3, *words).stdout.split())
    said = said.removeprefix("unknown: at least ")
    assert said.startswith("4 more replicas of shop/web fit besides its 6 (10 in all); ended in round 3")


def test_ctrl_c_leaves_nothing_of_a_round_of_several_workloads() -> None:
    done = ended(IN_ROUND_3, "deploy/web=2,sts/db=1", "-o", "json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["partial"]) == (130, "ended in round 3")
    assert [(each["more"]["least"], each["placed"]) for each in found["room"]["targets"]] == [(4, 4), (2, 2)]


@pytest.mark.parametrize(
    ("module", "words", "said"),
    [
        (
            "losses",
            ("--each", "zone", "--more", "20%"),
            "ended after 2 of 3 losses",
        ),
        ("purchases", ("--more", "16"), "ended after 2 of 3 purchases"),
    ],
)
def test_ctrl_c_shows_the_losses_and_purchases_that_were_there(module: str, words: tuple[str, ...], said: str) -> None:
    done = ended(AFTER_ITEM_2, "deploy/web", *words)
    assert (done.returncode, done.stderr) == (130, "")
    assert said in " ".join(done.stdout.split())
    found = json.loads(ended(AFTER_ITEM_2, "deploy/web", *words, "-o", "json").stdout)
    jsonschema.validate(found, schema_of("Capacity"))
    assert (len(found[module]), found["verdict"]) == (2, "no")
    assert found["room"]["rounds"]["least"] == 15, "how much fits now is whole"


def test_ctrl_c_before_anything_is_known_shows_nothing() -> None:
    press = "from topospread.capacity import capacity\ncapacity.place_all = lambda run, progress: press()\n"
    done = ended(press, "deploy/web", "-o", "json")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_the_command_to_run_next_names_the_file_of_pools() -> None:
    pools = str(ROOT / "docs/how-to/capacity/pools.yaml")
    done = run("deploy/web", "--more", "20", "--pools", pools)
    assert f"run: topospread drill --each zone -f {SHOP} --on zones=3,nodes=6 --pools {pools}\n" in done.stdout


def test_an_example_of_pools_is_explained() -> None:
    done = forked("explain", "pools")
    assert (done.returncode, done.stdout.splitlines()[1]) == (0, "kind: Pools")
