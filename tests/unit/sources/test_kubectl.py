"""kubectl's failures in words; that a real one fails so is held by `tests/live`."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.errors import InputError
from topospread.sources.kubectl import Kubectl, RefusedError


def fake(folder: Path, body: str) -> Kubectl:
    program = folder / "kubectl"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return Kubectl(str(program), ("--context=prod",))


def test_the_options_and_the_path_are_passed_on(tmp_path: Path) -> None:
    assert (
        fake(tmp_path, 'echo "$@"').get_raw("/api/v1/pods?limit=5")
        == b"--context=prod get --raw /api/v1/pods?limit=5\n"
    )


def test_what_the_server_refuses_has_a_reason(tmp_path: Path) -> None:
    words = 'Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods"'
    with pytest.raises(RefusedError, match='pods is forbidden: User "jane"') as caught:
        fake(tmp_path, f"echo '{words}' >&2; exit 1").get_raw("/api/v1/pods?limit=5&continue=secret")
    assert caught.value.reason == "Forbidden"
    assert str(caught.value).startswith("kubectl get --raw /api/v1/pods?limit=5: ")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('error: context "nope" does not exist', 'context "nope" does not exist'),
        ("The connection to the server x was refused\n - did you\n   specify it?", "refused - did you specify it?"),
        ("", "kubectl failed and did not say why"),
    ],
)
def test_what_kubectl_itself_says_is_on_one_line(written: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        fake(tmp_path, f"cat >&2 <<'END'\n{written}\nEND\nexit 1").get_raw("/api/v1/pods")
    assert not isinstance(caught.value, RefusedError)
    assert caught.value.message.endswith(said)
    assert "\n" not in caught.value.message
    assert not caught.value.message.startswith("error:")


@pytest.mark.parametrize(
    "body",
    [
        'printf "Please enter Username: "; echo "error: EOF" >&2; exit 1',
        'printf "Please enter Username: " >&2; echo "error: EOF" >&2; exit 1',
        'echo "error: EOF" >&2; exit 1',
    ],
)
def test_credentials_that_are_missing_are_said(body: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="kubectl has no credentials for this cluster") as caught:
        fake(tmp_path, body).get_raw("/version")
    assert "EOF" not in str(caught.value)


def test_a_kubectl_that_cannot_be_run_or_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="cannot be run: No such file"):
        Kubectl(str(tmp_path / "nope")).get_raw("/version")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="kubectl is not on the PATH"):
        Kubectl.found()
    fake(tmp_path, "true")
    assert Kubectl.found("prod", "/k").options == ("--context=prod", "--kubeconfig=/k")


def test_it_asks_as_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    fake(tmp_path, "true")
    asking = Kubectl.found(user="system:serviceaccount:ops:reader", groups=["a", "b"], uid="7")
    assert asking.options == (
        "--as=system:serviceaccount:ops:reader",
        "--as-uid=7",
        "--as-group=a",
        "--as-group=b",
    )
