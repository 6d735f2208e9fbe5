"""Programs that render run with nothing of the caller's environment, and with limits."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from tests.unit.sources.fake_programs import FakePrograms, programs
from topospread.errors import InputError, Place
from topospread.sources import renderers
from topospread.sources.renderers import HELM, find_renderer, scrubbed_environment

__all__ = ["programs"]


def run(*, network: bool = False) -> bytes:
    with scrubbed_environment(network=network) as (_, environment):
        return find_renderer(HELM, Place("chart")).run([], Place("chart"), environment)


def variables(found: bytes) -> dict[str, str]:
    return dict(line.split("=", 1) for line in found.decode().splitlines())


def test_secrets_and_homes_of_the_caller_are_not_passed_on(
    programs: FakePrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "HELM_PLUGINS", "KUBECONFIG", "KUSTOMIZE_PLUGIN_HOME", "PYTHONPATH"):
        monkeypatch.setenv(name, "/secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:8080")
    programs.install("helm", before="env")
    found = variables(run())
    assert "/secret" not in found.values()
    for home in ("HOME", "HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"):
        assert "topospread-" in found[home]
    assert found["GIT_ALLOW_PROTOCOL"] == "none"
    assert "proxy" not in found["HTTPS_PROXY"], "without the network the proxy leads nowhere"
    found = variables(run(network=True))
    assert found["HTTPS_PROXY"] == "http://proxy:8080"
    # git asks with ssh keys of the caller whatever its HOME is: a base could be a private repository.
    assert found["GIT_ALLOW_PROTOCOL"] == "https:http"


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        ("http://me:hunter2@proxy:8080", "http://proxy:8080"),
        ("me:hunter2@proxy:8080", "proxy:8080"),
        ("socks5://me:hun@ter2@proxy", "socks5://proxy"),
        ("http://me:hunter2/://@proxy:8080/", "http://proxy:8080/"),
    ],
)
def test_the_password_of_a_proxy_is_not_passed_on(
    programs: FakePrograms, monkeypatch: pytest.MonkeyPatch, given: str, passed: str
) -> None:
    """Older kustomizes write a variable into a manifest whose file of settings names it."""
    monkeypatch.setenv("https_proxy", given)
    programs.install("helm", before="env")
    assert variables(run(network=True))["https_proxy"] == passed


def test_a_program_of_the_working_directory_is_not_found(
    programs: FakePrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs.install("helm")
    monkeypatch.chdir(programs.folder)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}")
    with pytest.raises(InputError, match="helm is not on the PATH"):
        run()


def test_output_without_end_is_refused(programs: FakePrograms, monkeypatch: pytest.MonkeyPatch) -> None:
    programs.install("helm", before="while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done")
    monkeypatch.setattr(renderers, "MAX_OUTPUT", 1 << 20)
    with pytest.raises(InputError, match="chart: `helm template` printed more than 1 MiB"):
        run()


@pytest.mark.skipif(sys.platform != "linux", reason="macOS has no such limit")
def test_memory_without_end_is_refused(programs: FakePrograms, monkeypatch: pytest.MonkeyPatch) -> None:
    needs = f"{sys.executable} -c 'import mmap; mmap.mmap(-1, 3 << 30)'"
    programs.install("helm", before=f"{needs} || {{ echo fatal error: out of memory >&2; exit 2; }}")
    run()
    monkeypatch.setattr(renderers, "MAX_MEMORY", 2 << 30)
    with pytest.raises(InputError, match="`helm template` needs more than 2 GiB of memory"):
        run()


def test_what_does_not_end_is_stopped_with_its_children(
    programs: FakePrograms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs.install("helm", before=f"(sleep 1.5; touch {tmp_path}/late) & sleep 60")
    monkeypatch.setattr(renderers, "TIMEOUT", 0.5)
    with pytest.raises(InputError, match="took longer than"):
        run()
    time.sleep(2)
    assert not (tmp_path / "late").exists()
