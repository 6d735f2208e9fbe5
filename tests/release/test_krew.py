"""The plugin for krew: its manifest by krew's rules, its archive unpacked and linked as krew does it.

krew's module is not served by every Go proxy, so its rules are written once more (``krew_rules``) and held to what krew
itself answered (``krew_cases``).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.release.krew_cases import CASES, NAMES, changed
from tests.release.krew_rules import faults
from tests.release.pythons import DIST, EMPTY, INSTALLER, UV

MANIFEST = DIST / "topospread.yaml"


def takes(name: str, plugin: dict[str, Any], folder: Path) -> bool:
    """Whether the rules take ``NAME.yaml``; krew's own program, where there is one, has to say the same."""
    taken = faults(name, plugin) == []
    program = os.environ.get("KREW_VALIDATION")
    if program:
        path = folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(plugin))
        asked = [program, "-manifest", path, "-skip-install"]
        assert taken == (subprocess.run(asked, capture_output=True, check=False).returncode == 0)
    return taken


@pytest.fixture
def manifest() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(MANIFEST.read_text())
    return loaded


def test_krew_takes_the_manifest(manifest: dict[str, Any], tmp_path: Path) -> None:
    assert set(manifest) == {"apiVersion", "kind", "metadata", "spec"}
    fields = {"version", "homepage", "shortDescription", "description", "caveats", "platforms"}
    assert set(manifest["spec"]) <= fields
    assert all(set(each) <= {"uri", "sha256", "selector", "files", "bin"} for each in manifest["spec"]["platforms"])
    assert "${" not in MANIFEST.read_text()
    assert takes("topospread", manifest, tmp_path)


@pytest.mark.parametrize("case", CASES)
def test_the_rules_take_what_krew_takes_and_refuse_what_it_refuses(
    manifest: dict[str, Any], case: str, tmp_path: Path
) -> None:
    change, taken = CASES[case]
    assert takes("topospread", changed(manifest, change), tmp_path) == taken, faults("topospread", manifest)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_krews(manifest: dict[str, Any], name: str, tmp_path: Path) -> None:
    named = {**manifest, "metadata": {"name": name}}
    assert takes(name, named, tmp_path) == NAMES[name]


def test_the_archive_has_a_licence_and_nothing_that_leads_elsewhere(manifest: dict[str, Any]) -> None:
    """What ``validate-krew-manifest`` looks for when it installs, and what krew refuses to unpack."""
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
