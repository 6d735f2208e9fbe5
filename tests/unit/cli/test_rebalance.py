"""``topospread rebalance``: exit codes, forms of output, what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.answer_schema import schema_of
from tests.answering_server import answering_server
from tests.command import Done, forked
from topospread.answers.rebalance import rebalance_answer
from topospread.rebalance.result import ConstraintChange, PodMove, Rebalance

ROOT = Path(__file__).parents[3]
SHOP = str(ROOT / "docs/how-to/shop.json")
MAIN = "from topospread.cli.main import main; main()"


def run(*words: str) -> Done:
    return forked("rebalance", *words)


def test_the_table_says_what_is_proved() -> None:
    done = run("-f", SHOP)
    assert done.returncode == 0, done.stderr
    assert "fixes: shop/web over zones: eu-1a 3 → 2, eu-1b 2, eu-1c 1 → 2; skew 2 → 0" in done.stdout
    assert "budgets: allow the eviction\n" in done.stdout
    assert done.stdout.startswith(
        "yes: 1 eviction restores 1 constraint; fewer are not enough (proved by an\n  integer program)\n"
    )


def test_targets_choose_the_workloads() -> None:
    def constraints(*words: str) -> list[str]:
        return [
            each["name"]
            for each in json.loads(run("-f", SHOP, "--max-skew", "1", *words, "-o", "json").stdout)["constraints"]
        ]

    assert constraints() == ["web", "payments"]
    assert constraints("deploy/web") == constraints("shop/deploy/web") == ["web"]
    assert constraints("deploy", "payments") == ["payments"]


def test_json_has_the_documented_form() -> None:
    done = run("-f", SHOP, "--max-skew", "1", "-o", "json")
    found = json.loads(done.stdout)
    jsonschema.validate(found, schema_of("Rebalance"))
    assert len(found["evictions"]) == 2
    assert found["bound"] == {"evictions": 2, "by": "solver", "proved": True, "impossible": False}


def test_commands_evict_and_wait_and_never_delete() -> None:
    script = run("-f", SHOP, "-o", "commands").stdout
    assert "evict shop web-5b8c7d9f6-2xk4p\n" in script
    assert "kubectl rollout status deployment/web -n shop --timeout=10m\n" in script
    assert "kubectl delete" not in script
    assert "ready_again" not in script
    done = subprocess.run(["sh", "-n"], input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_workload_with_a_pod_on_a_lost_node_comes_last_and_is_not_awaited_whole(tmp_path: Path) -> None:
    """Its rollout status would fail after 10 minutes and stop the script."""
    objects = json.loads(Path(SHOP).read_text())
    (lost,) = (each for each in objects["items"] if each["metadata"]["name"] == "node-b1")
    lost["spec"]["taints"] = [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]
    lost["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    path = tmp_path / "shop.json"
    path.write_text(json.dumps(objects))
    script = run("-f", str(path), "--max-skew", "1", "-o", "commands").stdout
    assert script.index("rollout status deployment/payments") < script.index("evict shop web-")
    assert 'ready_again shop deployment/web "$before"' in script
    assert "rollout status deployment/web" not in script
    assert "so it does not become complete" in script
    kubectl = tmp_path / "kubectl"
    kubectl.write_text('#!/bin/sh\necho "$@" >&2\n[ "$1" != get ] || echo 5\n[ "$1" != create ] || cat > /dev/null\n')
    kubectl.chmod(0o755)
    path_with_it = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["sh"], input=script, capture_output=True, text=True, check=False, env=path_with_it)
    assert done.returncode == 0, done.stderr
    assert [each.split()[0] for each in done.stderr.splitlines()] == [
        *("create", "wait", "rollout"),
        *("get", "create", "wait", "get"),
    ]


def test_nothing_to_do_is_said(tmp_path: Path) -> None:
    done = run("-f", str(ROOT / "examples/demo/shop.yaml"), "--on", "zones=3,nodes=9")
    assert done.returncode == 0
    assert done.stdout.startswith("yes: every checked constraint holds, so no pod has to move\n")
    assert "# There is nothing to evict." in run("-f", SHOP, "-l", "app=cache", "-o", "commands").stdout


def test_what_is_left_makes_the_exit_code_1(tmp_path: Path) -> None:
    objects = json.loads(Path(SHOP).read_text())
    budget = {"minAvailable": "100%", "selector": {"matchLabels": {"app": "web"}}}
    metadata = {"name": "web", "namespace": "shop"}
    objects["items"].append(
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": budget}
    )
    path = tmp_path / "closed.json"
    path.write_text(json.dumps(objects))
    done = run("-f", str(path))
    assert done.returncode == 1
    assert done.stdout.startswith("no: no evictions help: 1 constraint is not restored")
    found = json.loads(run("-f", str(path), "-o", "json").stdout)
    jsonschema.validate(found, schema_of("Rebalance"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-f", SHOP, "--max-skew", "0"), "--max-skew"),
        (("-f", SHOP, "-n", "nowhere"), "no workload found in namespace"),
        (("-f", SHOP, "-l", "a in"), "-l"),
        ((), "no cluster: add --on"),
    ],
)
def test_what_cannot_be_is_refused(words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr or "selector" in done.stderr


def test_status_names_the_command_to_type() -> None:
    def said(*words: str) -> str:
        return " ".join(forked(*words).stdout.split())

    assert f"fix: topospread rebalance -f {SHOP} tried: after 1 eviction every hard" in said("status", "-f", SHOP)
    assert "topospread rebalance" not in said("status", "-f", SHOP, "-l", "app=cache")


LISTENS = "import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""Ctrl-C also where who started the tests has SIGINT ignored."""
PRESS = """
from topospread.rebalance import {module} as module
whole, calls = module.{function}, []
def pressed(*given, **named):
    calls.append(given)
    if len(calls) == {number}: os.kill(os.getpid(), signal.SIGINT)
    return whole(*given, **named)
module.{function} = pressed
"""
"""Ctrl-C when a function is called for the n-th time, as a signal, which a terminal sends, too."""
SCHEMA = schema_of("Rebalance")


def ended(module: str, function: str, number: int, *words: str) -> Done:
    press = LISTENS + PRESS.format(module=module, function=function, number=number)
    command = [sys.executable, "-c", press + MAIN, "rebalance", "-f", SHOP, "--max-skew", "1", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("at", "moves", "by", "said"),
    [
        (("rebalance", "bound_of", 1), 0, "counts", "the bound was worked out"),
        (("search", "_best_step", 1), 0, "solver", "evictions were looked for"),
        (("search", "_best_step", 2), 1, "solver", "evictions were looked for"),
        (("rebalance", "unmet_of", 1), 2, "solver", "it was looked at why constraints are left"),
        (("rebalance", "carry_out", 1), 2, "solver", "the evictions were carried out in a drill"),
    ],
)
def test_ctrl_c_shows_the_evictions_that_were_found(at: tuple[str, str, int], moves: int, by: str, said: str) -> None:
    done = ended(*at, "-o", "json")
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    assert (done.returncode, found["partial"]) == (130, f"ended while {said}")
    assert (len(found["evictions"]), found["bound"]["evictions"], found["bound"]["by"]) == (moves, 2, by)
    assert [each["skewBefore"] for each in found["constraints"]] == [2, 2]
    assert sum(each["skew"] <= each["highest"] for each in found["constraints"]) == moves
    assert found["verdict"] == ("yes" if moves == 2 else "unknown")


def test_a_partial_plan_is_said_to_be_one_in_every_form() -> None:
    at = ("search", "_best_step", 2)
    table = " ".join(ended(*at).stdout.split())
    assert table.count("fixes:") == 1
    assert table.startswith(
        "unknown: 1 eviction restores 1 constraint, 1 is not yet restored; at least 2 are needed to restore all "
        "(proved by an integer program); ended while evictions were looked for"
    )
    script = ended(*at, "-o", "commands").stdout
    assert "# partial: ended while evictions were looked for; these are the evictions that were found.\n" in script
    assert script.count("\nevict ") == 1
    nothing = ended("rebalance", "bound_of", 1, "-o", "commands").stdout
    assert nothing == "#!/bin/sh\n# Nothing to evict was found: ended while the bound was worked out.\n"


def test_evictions_that_mend_nothing_whole_are_said_to_bring_it_nearer() -> None:
    zone = "topology.kubernetes.io/zone"
    moves = tuple(PodMove("shop", f"web-{i}", "ReplicaSet/web", "a1", "new", "b1", {zone: ("a", "b")}) for i in "12")
    counts = {"a": 8, "b": 0}, {"a": 6, "b": 2}
    change = ConstraintChange("ReplicaSet", "shop", "web", zone, "DoNotSchedule", 1, 1, *counts, 8, 4, 4)
    found = Rebalance(2, moves, (change,), (), 4, "counts", partial="ended while evictions were looked for")
    assert rebalance_answer(found).says == (
        "2 evictions bring 1 constraint nearer to maxSkew, but none is restored; at least 4 are needed to restore all "
        "(proved by the counts of each constraint); ended while evictions were looked for"
    )


def test_a_second_ctrl_c_ends_at_once() -> None:
    twice = ended("rebalance", "carry_out", 1, "-o", "json")
    assert json.loads(twice.stdout)["evictions"]
    press = PRESS.replace("== {number}", "<= 2").format(module="rebalance", function="carry_out")
    command = [sys.executable, "-c", LISTENS + press + MAIN, "rebalance", "-f", SHOP, "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_nothing_is_evicted_for_a_search_that_was_ended(tmp_path: Path) -> None:
    with answering_server(tmp_path) as server:
        done = ended("search", "_best_step", 2, "--apply", "--kubeconfig", str(server.kubeconfig))
        assert server.asked == []
    assert (done.returncode, done.stderr) == (
        130,
        "warning: nothing was evicted: the search for evictions was ended before its end\n",
    )


def test_ctrl_c_while_evictions_are_carried_out_says_which_were(tmp_path: Path) -> None:
    items: list[dict[str, Any]] = json.loads(Path(SHOP).read_text())["items"]
    pods = [each for each in items if each["kind"] == "Pod"]
    path = "/api/v1/namespaces/shop/pods"
    with answering_server(tmp_path) as server:
        server.answers[path] = json.dumps({"items": pods}).encode()
        command = [
            sys.executable,
            "-c",
            LISTENS + MAIN,
            "rebalance",
            "-f",
            SHOP,
            "--max-skew",
            "1",
            "-o",
            "json",
            "--apply",
        ]
        running = subprocess.Popen(
            [*command, "--kubeconfig", str(server.kubeconfig)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

        def evicted(namespace: str, name: str) -> None:
            if not name.startswith("web"):  # its new pod never comes
                os.kill(running.pid, signal.SIGINT)
                return
            gone = next(each for each in pods if each["metadata"]["name"] == name)
            new = gone | {
                "metadata": gone["metadata"] | {"name": "web-new", "uid": "new"},
                "spec": gone["spec"] | {"nodeName": "node-c1"},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
            }
            server.answers[path] = json.dumps({"items": [*(each for each in pods if each is not gone), new]}).encode()

        server.evicted = evicted
        said, told = running.communicate(timeout=120)
    found = json.loads(said)
    jsonschema.validate(found, SCHEMA)
    assert running.returncode == 130, told
    assert [(each["move"]["name"], each["created"]) for each in found["applied"]["evictions"]] == [
        ("web-5b8c7d9f6-2xk4p", "web-new")
    ]
    assert (found["applied"]["partial"], found["applied"]["surprise"]) == ("ended in eviction 2 of 2", "")
    assert found["applied"]["begun"] == "shop/payments-6f7d8c5b4-2xk4p"
    assert told.startswith("evicted shop/web-5b8c7d9f6-2xk4p on node-a1; web-new is on node-c1\n")
