"""The driver, with small programs in the place of both judges."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.programs import ROOT

# Answers every case with its first node; `odd` is what it says about the third one.
JUDGE = """#!{python}
import json, sys
for number, line in enumerate(sys.stdin):
    case = json.loads(line)
    node = case["nodes"][0]["metadata"]["name"]
    verdicts = [dict(pod=pod["metadata"]["name"], feasible=[node]) for pod in case["incoming"]]
    if number == 2:
        {odd}
    print(json.dumps(dict(name=case["name"], verdicts=verdicts)))
"""


def program(path: Path, odd: str = "pass") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(JUDGE.format(python=sys.executable, odd=odd), encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def oracles(tmp_path: Path) -> Path:
    return program(tmp_path / "bin" / "oracle-1.37").parent


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "conformance.run", "--flavours", "spread", "--count", "5", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_agreement_ends_with_0_and_counts(tmp_path: Path, oracles: Path) -> None:
    judge = program(tmp_path / "judge.py")
    done = run("--oracle-bin", oracles, "--judge", judge, "--out", tmp_path / "out", "--seed", "42")
    assert done.returncode == 0, done.stderr
    assert "seed 42" in done.stdout
    assert "20 of 20 verdicts agree" in done.stdout


def test_a_difference_ends_with_1_and_is_shown_and_kept(tmp_path: Path, oracles: Path) -> None:
    judge = program(tmp_path / "judge.py", odd='verdicts[1]["feasible"] = ["elsewhere"]')
    done = run("--oracle-bin", oracles, "--judge", judge, "--out", tmp_path / "out", "--seed", "42")
    assert done.returncode == 1
    assert "19 of 20 verdicts agree" in done.stdout
    assert "verdicts[1].feasible" in done.stdout
    kept = json.loads((tmp_path / "out" / "spread.failed.json").read_text(encoding="utf-8"))
    assert kept["case"]["name"] == kept["topospread"]["name"] == kept["kube-scheduler"]["name"] == "spread-42-00002"


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ("raise RuntimeError('lost')", "RuntimeError: lost"),
        ("break", "2 answers to 5 cases"),
        ("print('{'); continue", "line 3 of the output of judge.py is not JSON"),
    ],
)
def test_a_judge_that_stops_ends_with_1(tmp_path: Path, oracles: Path, odd: str, said: str) -> None:
    judge = program(tmp_path / "judge.py", odd=odd)
    done = run("--oracle-bin", oracles, "--judge", judge, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert said in done.stdout
    assert "8 of 20 verdicts agree" in done.stdout


def test_a_missing_or_failing_oracle_ends_with_2(tmp_path: Path, oracles: Path) -> None:
    judge = program(tmp_path / "judge.py")
    missing = run("--oracle-bin", tmp_path, "--judge", judge, "--out", tmp_path / "out")
    assert (missing.returncode, "oracle-1.37 is not in" in missing.stderr) == (2, True)
    program(oracles / "oracle-1.37", odd="sys.exit('bad case')")
    failing = run("--oracle-bin", oracles, "--judge", judge, "--out", tmp_path / "out")
    assert (failing.returncode, "bad case" in failing.stderr) == (2, True)


def test_an_unknown_flavour_ends_with_2() -> None:
    done = run("--flavours", "spread,sweet")
    assert (done.returncode, "no such flavour: sweet" in done.stderr) == (2, True)


def test_each_run_draws_a_new_seed(tmp_path: Path, oracles: Path) -> None:
    judge = program(tmp_path / "judge.py")
    first, second = (run("--oracle-bin", oracles, "--judge", judge, "--out", tmp_path / "out") for _ in range(2))
    assert first.stdout.splitlines()[0] != second.stdout.splitlines()[0]


def test_stored_cases_need_no_oracle(tmp_path: Path) -> None:
    judge = program(tmp_path / "judge.py")
    done = run("--stored", "--flavours", "large", "--judge", judge, "--out", tmp_path / "out", "--oracle-bin", tmp_path)
    assert done.returncode == 1
    assert "8 of 8 cases differ" in done.stdout
    assert "0 of 64 verdicts agree" in done.stdout
