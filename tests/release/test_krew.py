"""The plugin for krew: its manifest by krew's rules, its archive unpacked and linked as krew does it.

krew's module is not served by every Go proxy, so its rules are written here once more: ``ValidatePlugin`` of
internal/index/validation/validate.go, and that a platform's file names lead nowhere else (internal/pathutil).
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.release.pythons import DIST, EMPTY, INSTALLER, UV

MANIFEST = DIST / "topospread.yaml"


def faults(name: str, plugin: dict[str, Any]) -> list[str]:
    """What ``ValidatePlugin`` refuses in a manifest."""
    spec, found = plugin.get("spec", {}), []
    if plugin.get("apiVersion") != "krew.googlecontainertools.github.com/v1alpha2" or plugin.get("kind") != "Plugin":
        found.append("apiVersion or kind")
    if not re.fullmatch(r"[\w-]+", name) or plugin.get("metadata", {}).get("name") != name:
        found.append("name")
    short = spec.get("shortDescription", "")
    if not short or re.search(r"[\r\n]", short):
        found.append("shortDescription")
    # internal/installation/semver: the v is asked for.
    if not re.fullmatch(
        r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?", spec["version"]
    ):
        found.append("version")
    if not spec.get("platforms"):
        found.append("platforms")
    return found + [fault for platform in spec.get("platforms", []) for fault in platform_faults(platform)]


def platform_faults(platform: dict[str, Any]) -> list[str]:
    """What ``validatePlatform`` refuses."""
    found = [field for field in ("uri", "sha256", "bin") if not platform.get(field)]
    if not re.fullmatch(r"[a-f0-9]{64}", platform.get("sha256", "")):
        found.append("sha256")
    if "files" in platform and not all(each.get("from") and each.get("to") for each in platform["files"] or [{}]):
        found.append("files")
    selector = platform.get("selector") or {}
    keys = [*selector.get("matchLabels", {}), *(each["key"] for each in selector.get("matchExpressions", []))]
    if not keys or not set(keys) <= {"os", "arch"}:
        found.append("selector")
    return found


@pytest.fixture
def manifest() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(MANIFEST.read_text())
    return loaded


def test_krew_takes_the_manifest(manifest: dict[str, Any]) -> None:
    assert set(manifest) == {"apiVersion", "kind", "metadata", "spec"}
    fields = {"version", "homepage", "shortDescription", "description", "caveats", "platforms"}
    assert set(manifest["spec"]) <= fields
    assert all(set(each) <= {"uri", "sha256", "selector", "files", "bin"} for each in manifest["spec"]["platforms"])
    assert faults("topospread", manifest) == []
    # What the index asks for besides: docs/PLUGIN_NAMING_GUIDE, shortDescription of at most 50 characters is advice.
    assert "${" not in MANIFEST.read_text()


@pytest.mark.parametrize("field", ["version", "shortDescription"])
def test_the_rules_refuse(manifest: dict[str, Any], field: str) -> None:
    manifest["spec"][field] = "\n"
    assert faults("topospread", manifest) == [field]


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
