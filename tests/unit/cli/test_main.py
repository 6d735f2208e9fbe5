from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from topospread.cli import main as command
from topospread.cli.completion import kubectl_complete
from topospread.cli.inputs import parse_cron_jobs, parse_scale
from topospread.cli.main import COMMANDS, GROUPS, topospread
from topospread.config.versions import NEWEST
from topospread.errors import UsageError

SHOP = str(Path(__file__).parent.parent.parent.parent / "docs/how-to/capacity/shop.yaml")


def commands(given: click.Command = topospread, name: str = "topospread") -> Iterator[tuple[str, click.Command]]:
    yield name, given
    if isinstance(given, click.Group):
        context = click.Context(given, info_name=name)
        for below in given.list_commands(context):
            found = given.get_command(context, below)
            assert found is not None
            yield from commands(found, f"{name} {below}")


def run(monkeypatch: pytest.MonkeyPatch, *words: str, program: str = "topospread") -> int:
    monkeypatch.setattr(sys, "argv", [program, *words])
    with pytest.raises(SystemExit) as exit_:
        command.main()
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


def test_every_command_that_is_listed_exists() -> None:
    assert {name.split()[1] for name, _ in commands() if " " in name} == set(COMMANDS)


@pytest.mark.parametrize(("name", "found"), list(commands()), ids=lambda value: value if isinstance(value, str) else "")
def test_every_command_shows_examples(name: str, found: click.Command) -> None:
    assert f"  {name}" in (found.help or "") if name != "topospread" else "  topospread simulate" in (found.help or "")


@pytest.mark.parametrize(("name", "found"), list(commands()), ids=lambda value: value if isinstance(value, str) else "")
def test_every_option_is_explained(name: str, found: click.Command) -> None:
    assert [each.name for each in found.params if isinstance(each, click.Option) and not each.help] == []


@pytest.mark.parametrize(("name", "found"), list(commands()), ids=lambda value: value if isinstance(value, str) else "")
def test_the_help_of_every_command_fits_a_screen_and_names_every_option(
    name: str, found: click.Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *name.split()[1:], "--help") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30
    assert [each for each in lines if len(each) > 80 and not each.startswith("    topospread ")] == []
    assert run(monkeypatch, "explain", "options") == 0
    shown = "\n".join([*lines, capsys.readouterr().out])
    missing = {each.opts[-1] for each in found.params if isinstance(each, click.Option) and each.opts[-1] not in shown}
    assert {each for each in missing if not each.startswith("--leader-elect-")} <= {"--version"}


def test_the_newest_version_is_the_default() -> None:
    options = [option for _, found in commands() for option in found.params if "--kube-version" in option.opts]
    # Lint takes the version from its settings first.
    assert {option.default for option in options if isinstance(option.default, str)} == {str(NEWEST)}


def test_alone_it_explains_itself_in_a_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert all(f"topospread {name} " in "\n".join(lines) for name in ("status", "why", "plan", "promise show", "serve"))


def test_the_help_names_every_command_in_a_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--help") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert {name for each in GROUPS.values() for name in each} | {"help", "version", "completion"} == set(COMMANDS)
    assert all(any(name in line for line in lines) for each in GROUPS.values() for name in each)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simulat"], "unknown command 'simulat'; did you mean simulate?"),
        (["frobnicate"], "commands: status, why, "),
        (["simulate", "--sclae", "deploy/web=3"], "--sclae: no such option; did you mean --scale?"),
        (["simulate", "-o", "jsn"], "-o jsn: did you mean json?"),
        (["simulate", "--seed", "x"], "'x' is not a valid integer"),
        (["completion", "tcsh"], "'bash'"),
        (["simulate"], "no cluster: add --on"),
        (["simulate", "-f", "a.yaml", "--scale", "web"], "[NAMESPACE/]KIND/NAME=REPLICAS"),
        (["explain", "minDomain"], "did you mean minDomains?"),
    ],
)
def test_usage_errors_say_what_would_do(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    assert said in shown.err


def failing(error: BaseException) -> click.Command:
    @click.command
    def fail() -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
        (click.FileError("x", "no"), 2, "error: Could not open file"),
        (
            ZeroDivisionError("oh"),
            3,
            "internal error, not caused by your input (ZeroDivisionError: oh)",
        ),
        (RecursionError(), 3, "(RecursionError)"),
    ],
)
def test_whatever_happens_there_is_no_traceback(
    error: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv(command.DEBUG, raising=False)
    monkeypatch.setattr(command, "topospread", failing(error))
    assert run(monkeypatch) == code
    shown = capsys.readouterr()
    assert said in shown.err
    assert "Traceback" not in shown.err


def test_a_fault_shows_where_on_request(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(command.DEBUG, "1")
    monkeypatch.setattr(command, "topospread", failing(ZeroDivisionError()))
    assert run(monkeypatch) == 3
    assert "Traceback" in capsys.readouterr().err


def test_as_a_kubectl_plugin_it_speaks_of_kubectl(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "explain", "--help", program="/usr/bin/kubectl-topospread") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Usage: kubectl topospread explain ")
    assert "  kubectl topospread explain topologySpreadConstraints.minDomains" in shown


def test_scale() -> None:
    given = {"scale": ("deploy/web=3", "shop/sts/db=0"), "namespace": None}
    assert parse_scale(given) == {"deploy/web": 3, "shop/sts/db": 0}
    assert parse_scale(given | {"namespace": "demo"}) == {"demo/deploy/web": 3, "shop/sts/db": 0}


def test_cron_jobs_without_a_namespace_are_of_the_one_that_is_given() -> None:
    given = {"cron_jobs": ("nightly", "cronjob/nightly", "shop/nightly", "shop/cj/nightly"), "namespace": "demo"}
    found = ["demo/nightly", "demo/cronjob/nightly", "shop/nightly", "shop/cj/nightly"]
    assert parse_cron_jobs(given) == found
    assert parse_cron_jobs(given | {"namespace": None}) == list(given["cron_jobs"])


@pytest.mark.parametrize("given", ["web", "deploy/web=", "deploy/web=-1", "deploy/web=three", "deploy/web=²"])
def test_scale_wants_a_number(given: str) -> None:
    with pytest.raises(UsageError, match="write it as"):
        parse_scale({"scale": (given,), "namespace": None})


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "completion", shell) == 0
    shown = capsys.readouterr()
    assert f"_TOPOSPREAD_COMPLETE={shell}_complete" in shown.out
    assert shown.err == ""


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("topospread si", "plain,simulate\n"),
        ("topospread explain topologySpreadConstraints.mi", "plain,topologySpreadConstraints.minDomains\n"),
    ],
)
def test_a_shell_is_answered(
    typed: str, answer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_TOPOSPREAD_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
    assert run(monkeypatch) == 0
    assert capsys.readouterr().out == answer


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["si"], ["simulate\tShow where the pods of manifests land", ":4"]),
        (["simulate", "-o", "j"], ["json", ":4"]),
        (["simulate", "--config", "x"], [":0"]),
        (["simulate", "-f", "x"], [":0"]),
        (["why", "-f", SHOP, "deploy/w"], ["deploy/web", ":4"]),
        (["why", "-f", SHOP, "shop/deployment/a"], ["shop/deployment/api", ":4"]),
        (["why", "-f", "nowhere.yaml", "deploy/w"], [":4"]),
        (["drill", "--on", "zones=2,nodes=2", "--fail", "zone="], ["zone=zone-a", "zone=zone-b", ":4"]),
        (["drill", "--on", "zones=2,nodes=2", "--drain", "node=node-1"], ["node=node-1", ":4"]),
        (["simulate", "--see"], ["--seed\tSeed of the choice between nodes with equal scores.", ":4"]),
    ],
)
def test_kubectl_is_answered(
    words: list[str], answer: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-topospread", *words])
    kubectl_complete()
    assert capsys.readouterr().out.splitlines() == answer


NAMES = """\
apiVersion: v1
kind: Node
metadata: {name: "a;touch$IFS/tmp/b", uid: a, labels: {topology.kubernetes.io/zone: "$(touch /tmp/b)", rack: r1}}
---
apiVersion: v1
kind: Pod
metadata: {name: "web;a", namespace: "$(a)", uid: a}
spec: {containers: [{name: a, image: a}]}
"""


def test_a_name_that_a_shell_would_run_is_not_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """bash puts a completion into the line as it is; names of stored objects are not validated."""
    (tmp_path / "a.yaml").write_text(NAMES)
    for words in (["drill", "--on", str(tmp_path / "a.yaml"), "--fail"], ["why", "-f", str(tmp_path / "a.yaml")]):
        monkeypatch.setattr(sys, "argv", ["kubectl_complete-topospread", *words, ""])
        kubectl_complete()
        assert capsys.readouterr().out.splitlines() in (["rack=r1", ":4"], [":4"])
