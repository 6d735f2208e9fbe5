"""The plugin for krew: krew's own check of its manifest, krew's own installation of it, and its first starts."""

from __future__ import annotations

import copy
import hashlib
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.release.pythons import DIST, EMPTY, INSTALLER, PROGRAMS, UV

MANIFEST = DIST / "topospread.yaml"
Json = dict[str, Any]


@pytest.fixture
def manifest() -> Json:
    loaded: Json = yaml.safe_load(MANIFEST.read_text())
    return loaded


@pytest.fixture(scope="module")
def archives() -> Iterator[str]:
    """The address of a server that has what a release has."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=DIST)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, release_programs: Path) -> str:
    """A search path on which ``kubectl krew`` is krew."""
    folder = tmp_path_factory.mktemp("kubectl")
    kubectl = folder / "kubectl"
    kubectl.write_text(f'#!/bin/sh\nshift\nexec "{release_programs}/krew" "$@"\n')
    kubectl.chmod(0o755)
    return f"{folder}:{EMPTY['PATH']}"


def asked(name: str, manifest: Json, folder: Path, *words: str, path: str = EMPTY["PATH"]) -> tuple[bool, str]:
    """Whether krew's check takes a manifest as ``NAME.yaml``, and what it said."""
    written = folder / f"{name}.yaml"
    written.write_text(yaml.safe_dump(manifest))
    command = [PROGRAMS / "validate-krew-manifest", "-manifest", written, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=EMPTY | {"PATH": path})
    return done.returncode == 0, done.stderr


def test_krew_takes_the_manifest_and_installs_it_on_each_platform(
    manifest: Json, archives: str, path: str, tmp_path: Path
) -> None:
    assert "${" not in MANIFEST.read_text()
    for platform in manifest["spec"]["platforms"]:
        platform["uri"] = f"{archives}/{platform['uri'].rpartition('/')[2]}"
    taken, said = asked("topospread", manifest, tmp_path, path=path)
    assert taken, said
    assert f"all {len(manifest['spec']['platforms'])} spec.platforms installed fine" in said


@pytest.mark.usefixtures("release_programs")
def test_krew_takes_the_manifest_as_it_is_released(manifest: Json, tmp_path: Path) -> None:
    taken, said = asked("topospread", manifest, tmp_path, "-skip-install")
    assert taken, said


@pytest.mark.usefixtures("release_programs")
@pytest.mark.parametrize("field", ["version", "shortDescription", "platforms"])
def test_the_check_can_fail(manifest: Json, field: str, tmp_path: Path) -> None:
    without = copy.deepcopy(manifest)
    del without["spec"][field]
    taken, said = asked("topospread", without, tmp_path, "-skip-install")
    assert not taken
    assert "plugin manifest validation error" in said


def test_fields_are_krews(manifest: Json) -> None:
    """krew passes over a field that it has not, so a name that is misspelt is not refused."""
    assert set(manifest) == {"apiVersion", "kind", "metadata", "spec"}
    fields = {"version", "homepage", "shortDescription", "description", "caveats", "platforms"}
    assert set(manifest["spec"]) <= fields
    assert all(set(each) <= {"uri", "sha256", "selector", "files", "bin"} for each in manifest["spec"]["platforms"])


def test_the_archive_has_a_licence_and_nothing_that_leads_elsewhere(manifest: dict[str, Any]) -> None:
    """Where the launcher is looked for, and what krew refuses to unpack."""
    (archive,) = DIST.glob("kubectl-topospread-*.tar.gz")
    with tarfile.open(archive) as opened:
        members = opened.getmembers()
    assert "LICENSE" in {each.name for each in members}
    assert all(each.isfile() and "/" not in each.name and each.name != ".." for each in members)
    assert {each["bin"] for each in manifest["spec"]["platforms"]} <= {each.name for each in members}


def test_the_sum_is_the_archives(manifest: dict[str, Any]) -> None:
    for platform in manifest["spec"]["platforms"]:
        archive = DIST / platform["uri"].rpartition("/")[2]
        assert platform["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where krew puts links to programs."""
    folder = tmp_path_factory.mktemp("krew")
    (archive,) = DIST.glob("kubectl-topospread-*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder / "store", filter="data")
    (folder / "bin").mkdir()
    for name in ("kubectl-topospread", "kubectl_complete-topospread"):
        (folder / "bin" / name).symlink_to(folder / "store" / "kubectl-topospread")
    return folder / "bin"


def test_the_first_start_installs_and_the_next_one_only_starts(linked: Path, tmp_path: Path) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    path = f"{UV.parent}:{Path(sys.executable).parent}:/usr/bin:/bin"
    first = started(linked, INSTALLER | cache | {"PATH": path})
    assert "installing topospread-" in first.stderr
    again = started(linked, EMPTY | cache)
    assert again.stderr == ""
    assert first.stdout == again.stdout
    complete = [linked / "kubectl_complete-topospread", "simu"]
    asked = subprocess.run(complete, env=EMPTY | cache, capture_output=True, text=True, check=True)
    assert asked.stdout.startswith("simulate\t")


def test_completion_installs_nothing(linked: Path, tmp_path: Path) -> None:
    variables = EMPTY | {"XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([linked / "kubectl_complete-topospread", ""], env=variables, capture_output=True, check=True)
    assert done.stdout + done.stderr == b""
    assert list(tmp_path.iterdir()) == []


def started(folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """``kubectl topospread --version``, as kubectl starts it."""
    words = [folder / "kubectl-topospread", "--version"]
    done = subprocess.run(words, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("topospread ")
    return done
