"""``topospread drill``: steps in the order of the command line, exit codes, forms of output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from tests.answer_schema import schema_of
from tests.command import Done, forked
from topospread.cli.drill import drill, read_steps
from topospread.drill.steps import AddNodes, Cordon, Fail, Recover, Scale, Step, Wait
from topospread.errors import UsageError

ROOT = Path(__file__).parents[3]
SHOP = str(ROOT / "docs/how-to/zone-loss/shop.yaml")
MAIN = "from topospread.cli.main import main; main()"
SIX = ["--on", "zones=3,nodes=6"]


def run(*words: str) -> Done:
    return forked("drill", "-f", SHOP, *SIX, *words)


def steps(*words: str) -> list[Step]:
    with drill.make_context("drill", list(words)) as context:
        return read_steps(context.meta["topospread.cli.drill"], context.params)


def test_steps_come_in_the_order_of_the_command_line() -> None:
    found = steps("--recover=zone=b", "--fail", "zone=a", "-o", "json", "--wait", "90s", "--recover", "zone=a")
    assert [type(each) for each in found] == [Recover, Fail, Wait, Recover]
    assert str(found[2]) == "wait 1m30s"


def test_scaling_down_is_a_step_of_its_own() -> None:
    (found,) = steps("-n", "shop", "--scale-down", "deploy/web=3")
    assert (found, str(found)) == (Scale("shop/deploy/web", 3, down=True), "scale-down shop/deploy/web=3")


def test_a_namespace_is_where_workloads_are_scaled() -> None:
    found = steps("-n", "shop", "--scale", "deploy/web=3", "--scale", "other/deploy/web=4")
    assert found == [Scale("shop/deploy/web", 3), Scale("other/deploy/web", 4)]


def test_a_changed_template_that_no_step_rolls_out_is_said(tmp_path: Path) -> None:
    shop = ROOT / "docs/how-to/shop.json"
    named = {(each["kind"], each["metadata"]["name"]): each for each in json.loads(shop.read_text())["items"]}
    web = named["Deployment", "web"]
    web["metadata"] = {"name": "web", "namespace": "shop"}
    web["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/web:2"
    path = tmp_path / "web.json"
    path.write_text(json.dumps(web))

    def warnings(*words: str) -> list[str]:
        done = forked("drill", "--on", str(shop), "-o", "json", *words)
        return list(json.loads(done.stdout)["warnings"])

    (said,) = warnings("-f", str(path), "--cordon", "node-a1")
    assert said.startswith("shop/web: the template changed: 6 existing pods stay of the old revision")
    assert said.endswith("; --rollout shop/deployment/web rolls it out")
    assert not warnings("-f", str(path), "--rollout", "shop/deploy/web")
    assert not warnings("--cordon", "node-a1")


def test_nodes_are_like_what_stands_behind() -> None:
    found = steps(
        "--add-nodes", "2", "--zone", "b", "--like", "n1", "--cordon", "node=n1", "--add-nodes=1", "--like=n2"
    )
    assert found[0] == AddNodes(2, "n1", "b")
    assert isinstance(found[1], Cordon)
    assert found[2] == AddNodes(1, "n2")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--fail", "zone="], "write KEY=VALUE"),
        (["--scale", "deploy/web"], "REPLICAS"),
        (["--wait", "5"], "whole seconds"),
        (["--wait", "5ms"], "whole seconds"),
        (["--like", "n1"], "must follow --add-nodes"),
        (["--add-nodes", "0", "--like", "n1"], "from 1"),
        (["--add-nodes", "9" * 5000, "--like", "n1"], "from 1"),
        (["--scale", "deploy/web=" + "9" * 5000], "KIND/NAME=REPLICAS"),
        (["--add-nodes", "1"], "--like NODE"),
    ],
)
def test_steps_of_another_form_are_refused(words: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        steps(*words)


def test_the_exit_code_says_whether_it_holds() -> None:
    assert run("--fail", "zone=zone-a").returncode == 1
    assert run("--fail", "zone=zone-a", "--recover", "zone=zone-a").returncode == 0
    no_step = run()
    assert no_step.returncode == 2
    assert "at least one step" in no_step.stderr
    wrong = run("--fail", "zone=zone_a")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean zone-a?" in wrong.stderr


def test_json_has_the_documented_form() -> None:
    done = run("--fail", "zone=zone-a", "--drain", "node=node-2", "-o", "json")
    found: dict[str, Any] = json.loads(done.stdout)
    jsonschema.validate(found, schema_of("DrillResult"))
    assert [each["step"] for each in found["steps"]] == ["", "fail zone=zone-a", "drain node=node-2"]
    assert found["steps"][1]["pending"][0]["constraints"][0]["minimum"] == 0
    evicted = [each["pods"] for each in found["steps"][2]["events"] if each["kind"] == "evicted"]
    assert {"namespace": "shop", "workload": "StatefulSet/db", "nodes": {"db-1": "node-2"}} in evicted[0]


@pytest.mark.parametrize(("words", "name"), [(["--each", "zone"], "DrillEach"), (["--check"], "DrillCheck")])
def test_json_of_many_drills_has_the_documented_form(words: list[str], name: str) -> None:
    given = (
        ["-f", str(ROOT / "docs/how-to/zone-loss")] if words == ["--check"] else ["-f", SHOP, "--on", "zones=3,nodes=6"]
    )
    done = forked("drill", *given, *words, "-o", "json")
    jsonschema.validate(json.loads(done.stdout), schema_of(name))
    assert json.loads(done.stdout)["verdict"] == "no"


def test_the_timeline_is_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "drill.svg"
    assert run("--fail", "zone=zone-a", "-o", f"svg={picture}").returncode == 1
    assert picture.read_text().startswith("<svg ")
    missing = run("--fail", "zone=zone-a", "-o", f"svg={tmp_path / 'no' / 'drill.svg'}")
    assert (missing.returncode, "cannot be written" in missing.stderr) == (2, True)
    assert "combined with --each" in run("--each", "zone", "-o", f"svg={picture}").stderr


def test_parts_are_put_together(tmp_path: Path) -> None:
    for index in range(2):
        part = run("--each", "zone", "--shard", f"{index}/2", "-o", "json")
        (tmp_path / f"{index}.json").write_text(part.stdout)
    done = forked("drill", "--merge", "-f", tmp_path / "1.json", "-f", tmp_path / "0.json")
    whole = run("--each", "zone")
    assert (done.stdout, done.returncode) == (whole.stdout, whole.returncode)
    assert run("--each", "zone", "--shard", "2/2").returncode == 2


def test_ctrl_c_shows_what_is_over_and_exits_with_130() -> None:
    press = (
        "from topospread.drill.drill_run import DrillRun; whole = DrillRun._do; done = []\n"
        "def pressed(self, step):\n"
        "    done.append(step)\n"
        "    if len(done) == 2: raise KeyboardInterrupt\n"
        "    return whole(self, step)\n"
        "DrillRun._do = pressed\n"
    )
    words = [sys.executable, "-c", press + MAIN, "drill", "-f", SHOP, "--on", "zones=3,nodes=6"]
    steps = ["--fail", "zone=zone-a", "--recover", "zone=zone-a"]
    done = subprocess.run([*words, *steps, "-o", "json"], capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    assert (done.returncode, found["partial"]) == (130, "ended in step 2 of 2")
    assert [each["step"] for each in found["steps"]] == ["", "fail zone=zone-a"]


def test_what_a_drill_leaves_is_saved_and_mended_by_what_follows(tmp_path: Path) -> None:
    """Drill → the cluster afterwards → rebalance, which finds what the drill foretold, and then nothing."""
    after = tmp_path / "after.json.gz"
    words = ["drill", "-f", str(ROOT / "docs/how-to/zone-loss/honor.yaml"), *SIX, "--fail", "zone=zone-a"]
    words += ["--recover", "zone=zone-a", "--save", str(after)]
    done = forked(*words)
    assert done.stderr == f"{after}: 6 nodes, 9 pods and 6 other objects\n"
    foretold = " ".join(done.stdout[done.stdout.index("the remaining skew, in this order") :].split())
    found = forked("rebalance", "-f", after, "-o", "json")
    moves = json.loads(found.stdout)["evictions"]
    assert moves
    assert all(f"{each['namespace']}/{each['name']} {each['node']}" in foretold for each in moves)
    status = forked("status", "-f", after)
    assert f"fix: topospread rebalance -f {after}\n" in status.stdout


def test_ctrl_c_while_evictions_are_looked_for_shows_the_drill() -> None:
    press = (
        "import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from topospread.rebalance import rebalance as module\n"
        "def pressed(trials, found, progress): os.kill(os.getpid(), signal.SIGINT)\n"
        "module.plan_of = pressed\n"
    )
    words = ["drill", "-f", str(ROOT / "docs/how-to/zone-loss/honor.yaml"), *SIX, "--fail", "zone=zone-a"]
    words += ["--recover", "zone=zone-a"]
    done = subprocess.run([sys.executable, "-c", press + MAIN, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")
    assert "the remaining skew, in this order" not in done.stdout
    assert "; partial: ended while fixes were tried\n" in done.stdout.replace("\n  ", " ")


def test_what_was_ended_is_not_saved(tmp_path: Path) -> None:
    after = tmp_path / "after.json.gz"
    press = (
        "import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from topospread.drill.drill_run import DrillRun; whole = DrillRun._do\n"
        "def pressed(self, step):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return whole(self, step)\n"
        "DrillRun._do = pressed\n"
    )
    words = [sys.executable, "-c", press + MAIN, "drill", "-f", SHOP, "--on", "zones=3,nodes=6"]
    words += ["--fail", "zone=zone-a", "--save", str(after)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert f"warning: --save {after}: not written, as the drill was ended before its end\n" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--fail", "zone=zone-a", "--save", "-"), "--save requires a file"),
        (("--fail", "zone=zone-a", "--save", "after.yaml"), "ends in .json.gz"),
        (("--each", "zone", "--save", "after.json"), "--save cannot be combined with --each"),
        (("--check", "--save", "after.json"), "--check cannot be combined with --save"),
        (("--merge", "--save", "after.json"), "--merge cannot be combined with --save: it runs no drill"),
    ],
)
def test_what_cannot_be_saved_is_refused(words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_table_fits_its_width() -> None:
    for words in (
        ["--fail", "zone=zone-a"],
        ["--drain", "zone=zone-b", "-o", "wide"],
        ["--scale", "shop/deploy/web=90"],
    ):
        lines = run(*words).stdout.splitlines()
        to_copy = ("run: kubectl", "  [{")
        assert max(len(each) for each in lines if not each.startswith(to_copy)) <= 80


def test_many_events_are_told_together() -> None:
    done = forked("drill", "-f", SHOP, "--on", "zones=2,nodes=40", "--fail", "zone=zone-a")
    assert "20 nodes tainted unreachable:NoExecute" in done.stdout
    assert len(done.stdout.splitlines()) < 60


def test_the_help_has_every_step() -> None:
    with click.Context(drill, info_name="drill", help_option_names=["-h", "--help"]) as context:
        text = drill.get_help(context)
    for each in (
        "--fail",
        "--recover",
        "--cordon",
        "--uncordon",
        "--drain",
        "--scale",
        "--wait",
        "--add-nodes",
        "--apply",
    ):
        assert each in text


def test_drills_of_files_are_checked() -> None:
    words = ["drill", "--check", "-f", str(ROOT / "docs/how-to/zone-loss")]
    done = forked(*words)
    assert done.returncode == 1
    assert "no: 1 of 2 drills misses expectations" in done.stdout
    beside = forked(*words, "--fail", "zone=a")
    assert beside.returncode == 2
    assert "a step" in beside.stderr


def test_drills_of_files_are_shared_out(tmp_path: Path) -> None:
    def check(*words: str) -> tuple[str, int]:
        done = forked("drill", *words, cwd=ROOT)
        return done.stdout, done.returncode

    for form in ("json", "junit", "github", "text"):
        whole = check("--check", "docs/how-to/zone-loss", "-o", form, "--workers", "1")
        assert check("--check", "docs/how-to/zone-loss", "-o", form, "--workers", "2") == whole
        for index in range(2):
            part, _ = check("--check", "docs/how-to/zone-loss", "--shard", f"{index}/2", "-o", "json")
            (tmp_path / f"{index}.json").write_text(part)
        assert check("--merge", *(str(tmp_path / f"{index}.json") for index in (1, 0)), "-o", form) == whole


def test_skew_that_stays_is_shown_with_the_evictions_that_mend_it() -> None:
    honor = str(ROOT / "docs/how-to/zone-loss/honor.yaml")
    words = ["drill", "-f", honor, *SIX, "--fail", "zone=zone-a", "--recover", "zone=zone-a"]
    done = forked(*words)
    assert "shop/web (skew 3, maxSkew 1) stays skewed: nothing moves pods" in " ".join(done.stdout.split())
    assert "2 evictions remove the remaining skew, in this order:" in done.stdout
    even = forked(*words[:-2], "-o", "wide")
    assert "is removed by" not in even.stdout


def test_fallback_shows_the_gain_beside_the_drill() -> None:
    done = run("--fail", "zone=zone-a", "--fallback")
    assert done.returncode == 1
    assert "0 pods of shop/web instead of 2 would be pending after step 1" in " ".join(done.stdout.split())
    assert "If hard constraints become soft while a domain is lost:" in done.stdout
    refused = run("--each", "zone", "--fallback")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--fallback" in refused.stderr
