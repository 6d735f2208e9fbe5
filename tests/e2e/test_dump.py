"""`topospread dump` as users run it, on a server that answers from memory; `tests/live` has a real API server."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.answering_server import AnsweringServer, answering_server
from tests.command import Done, forked

PATIENCE = 60.0
LISTENS_TO_SIGINT = """
import signal
from topospread.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
"""The command also where who started the tests has SIGINT ignored."""
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[AnsweringServer]:
    """An API server with the shop of the documentation."""
    folder = tmp_path / "server"
    folder.mkdir()
    with answering_server(folder) as server:
        server.hold(json.loads((ROOT / "docs/how-to/shop.json").read_text())["items"])
        yield server


def environment(answers: AnsweringServer) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return kept | {"PATH": "/usr/bin:/bin", "KUBECONFIG": str(answers.kubeconfig)}


def run(answers: AnsweringServer, *words: str, more: Mapping[str, str] | None = None) -> Done:
    return forked(*words, cwd=answers.kubeconfig.parent.parent, env=environment(answers) | dict(more or {}))


def test_without_a_name_it_is_the_one_that_the_help_says(answers: AnsweringServer) -> None:
    done = run(answers, "dump")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("cluster.json.gz: 6 nodes, 11 pods and 9 other objects, ")
    assert done.stdout.endswith(" kB\n")
    assert run(answers, "status", "-f", "cluster.json.gz", "--exit-zero").returncode == 0


def test_standard_output_is_the_snapshot_alone(answers: AnsweringServer) -> None:
    done = run(answers, "dump", "-")
    assert len(json.loads(done.stdout)["items"]) == 26
    assert done.stderr == "6 nodes, 11 pods and 9 other objects\n"


def items_of(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))["items"]


def test_two_snapshots_have_the_same_words_with_the_same_salt_only(answers: AnsweringServer) -> None:
    folder = answers.kubeconfig.parent.parent
    (folder / "salt").write_text("0123456789abcdef\n")
    for name, words in (("a", ["--salt-file", "salt"]), ("b", ["--salt-file", "salt"]), ("c", [])):
        assert run(answers, "dump", f"{name}.json.gz", "--anonymous", *words).returncode == 0
    salted = {"TOPOSPREAD_SALT": "0123456789abcdef"}
    assert run(answers, "dump", "d.json.gz", "--anonymous", more=salted).returncode == 0
    a, b, c, d = (items_of(folder / f"{name}.json.gz") for name in "abcd")
    assert a == b == d != c


def test_a_file_becomes_anonymous_as_its_cluster_does(answers: AnsweringServer) -> None:
    folder = answers.kubeconfig.parent.parent
    salted = {"TOPOSPREAD_SALT": "0123456789abcdef"}
    assert run(answers, "dump", "plain.json.gz").returncode == 0
    assert run(answers, "dump", "live.json.gz", "--anonymous", more=salted).returncode == 0
    done = run(answers, "dump", "file.json.gz", "--from", "plain.json.gz", "--anonymous", more=salted)
    assert (done.returncode, done.stderr) == (0, "")
    assert items_of(folder / "file.json.gz") == items_of(folder / "live.json.gz")
    saved = run(answers, "simulate", "-f", "plain.json.gz", "--save", "saved.json.gz", "--anonymous", more=salted)
    assert saved.returncode in (0, 1), saved.stderr
    for name in ("file", "saved"):
        text = gzip.decompress((folder / f"{name}.json.gz").read_bytes()).decode()
        assert '"hashed":true' in text
        assert "shop" not in text
        assert (folder / f"{name}.json.gz").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cluster.yaml"], "cluster.yaml: name a file that ends in .json.gz or .json, or - for standard output"),
        (["--salt-file", "salt"], "--salt-file requires --anonymous"),
        (["--anonymous", "--salt-file", "/dev/null"], "/dev/null: the salt must have at least 16 bytes, got 0"),
        (["--anonymous", "--salt-file", "none"], "none: cannot be read: No such file or directory"),
        (["--from", "a.json", "--context", "prod"], "--from cannot be combined with options of a live cluster"),
        (["--hash-names"], "--hash-names is gone: write --anonymous"),
        (["--anonymous", "--salt", "0123456789abcdef"], "--salt"),
        (["nowhere/c.json"], "nowhere: folder not found"),
        (["--chunk-size", "-1"], "--chunk-size"),
    ],
)
def test_usage(words: list[str], said: str, answers: AnsweringServer) -> None:
    done = run(answers, "dump", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_an_answer_that_is_no_list_is_said(answers: AnsweringServer) -> None:
    answers.answers["/api/v1/nodes"] = b"<html>please log in</html>"
    done = run(answers, "dump")
    assert done.returncode == 2
    assert "the answer is not a list of objects: '<html>please log in" in done.stderr
    assert sorted(path.name for path in answers.kubeconfig.parent.parent.iterdir()) == ["server"]


def test_who_to_act_as_is_sent_whole_and_no_program_is_run(answers: AnsweringServer) -> None:
    done = run(answers, "dump", "-", "--as", "jane", "--as-group", "ops", "--as-group", "on, call", "--as-uid", "7")
    assert done.returncode == 0, done.stderr
    for _, _, headers in answers.asked:
        sent = [(name.lower(), value) for name, value in headers if name.lower().startswith(("imp", "auth"))]
        assert sorted(sent) == [
            ("authorization", "Bearer secret-token"),
            ("impersonate-group", "on, call"),
            ("impersonate-group", "ops"),
            ("impersonate-uid", "7"),
            ("impersonate-user", "jane"),
        ]
    groups = run(answers, "dump", "--as-group", "ops")
    assert (groups.returncode, groups.stdout) == (2, "")
    assert "--as-group and --as-uid require --as" in groups.stderr


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=lambda sent: sent.name)
def test_an_interrupt_leaves_the_older_snapshot(sent: signal.Signals, answers: AnsweringServer) -> None:
    answers.held.add("/api/v1/services")
    older = answers.kubeconfig.parent.parent / "c.json.gz"
    older.write_bytes(b"older")
    running = subprocess.Popen(
        [sys.executable, "-c", LISTENS_TO_SIGINT, "dump", str(older)],
        env=environment(answers),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + PATIENCE
    while not any(path == "/api/v1/services" for path, _, _ in answers.asked):
        assert time.monotonic() < until
        time.sleep(0.05)
    os.killpg(running.pid, sent)
    _, said = running.communicate(timeout=PATIENCE)
    assert (running.returncode, said) == (130, "interrupted\n")
    assert older.read_bytes() == b"older"
    assert sorted(os.listdir(older.parent)) == ["c.json.gz", "server"]
