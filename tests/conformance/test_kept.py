"""Builds are kept for all clones: found by their sources, command and Go's version, and removed after a month."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from conformance.kept import kept

BUILD = 'echo built >> "$1/../count"; cp "$0" "$1/program"; [ "$2" != fails ]'


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of kept builds, and a go that says its version."""
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text("#!/bin/sh\necho go1.26\n")
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{go.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TOPOSPREAD_PROGRAMS", str(tmp_path / "kept"))
    (tmp_path / "main.go").write_text("one")
    return tmp_path / "kept"


def build(folder: Path, clone: str = "clone", word: str = "") -> str:
    kept("name", folder / clone, [folder / "main.go"], ["sh", "-c", BUILD, folder / "main.go", "{}", word])
    return (folder / clone / "program").read_text()


def builds(programs: Path) -> int:
    return len((programs / "count").read_text().split())


def test_every_clone_gets_what_was_built_once(tmp_path: Path, programs: Path) -> None:
    assert build(tmp_path) == build(tmp_path, "other") == build(tmp_path) == "one"
    assert builds(programs) == 1
    assert [each.name for each in (tmp_path / "clone").iterdir()] == ["program"]


def test_other_sources_and_another_go_are_other_builds(tmp_path: Path, programs: Path) -> None:
    build(tmp_path)
    (tmp_path / "main.go").write_text("two")
    assert build(tmp_path) == "two"
    (tmp_path / "bin" / "go").write_text("#!/bin/sh\necho go1.27\n")
    assert build(tmp_path) == "two"
    assert builds(programs) == 3
    (tmp_path / "main.go").write_text("one")
    (tmp_path / "bin" / "go").write_text("#!/bin/sh\necho go1.26\n")
    assert build(tmp_path) == "one"
    assert builds(programs) == 3


def test_of_a_build_that_fails_nothing_is_kept(tmp_path: Path, programs: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        build(tmp_path, word="fails")
    assert [each.name for each in programs.iterdir()] == ["count"]


def test_a_build_that_nobody_used_for_a_month_is_removed(tmp_path: Path, programs: Path) -> None:
    build(tmp_path)
    (old,) = (each for each in programs.iterdir() if each.is_dir())
    (tmp_path / "main.go").write_text("two")
    for days, left in ((29, True), (31, False)):
        os.utime(old, (time.time() - days * 86400,) * 2)
        build(tmp_path)
        assert old.exists() == left
