"""The workflow of a tag, as far as it goes without GitHub: each of its commands runs here, and nothing is published.

``git push`` goes to a folder, ``gh`` is a stand-in that notes its words, and actions of others are not run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from release.metadata import version_faults
from tests.release.pythons import DIST, ROOT
from topospread.version import __version__

TAG = f"v{__version__}"
JOBS: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text())["jobs"]
CI = ".ci/run"
SITE = "make playground site"
"""Commands that are not run here: `make release-check` has built the site before."""


def commands(job: str) -> list[str]:
    """Return the shell commands of a job."""
    return [each["run"] for each in JOBS[job]["steps"] if "run" in each]


@pytest.fixture
def told(tmp_path: Path) -> dict[str, str]:
    """What GitHub tells a step, with the built files where the workflow downloads them."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gh").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/gh.words\n')
    (tmp_path / "bin/gh").chmod(0o755)
    address = "https://x-access-token:secret@github.test/OWNER/topospread"
    return os.environ | {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_REF_NAME": TAG,
        "GITHUB_REPOSITORY": "OWNER/topospread",
        "GITHUB_SERVER_URL": "https://github.test",
        "GH_TOKEN": "secret",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{tmp_path / 'pages.git'}.insteadOf",
        "GIT_CONFIG_VALUE_0": address,
    }


def run(command: str, folder: Path, told: dict[str, str]) -> None:
    subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=folder, env=told, check=True)


def test_the_tag_asks_for_this_version_and_the_change_log_has_it() -> None:
    assert version_faults(__version__, (ROOT / "CHANGELOG.md").read_text(), TAG) == []
    assert commands("check") == [CI]


def test_the_bill_of_materials_is_found(tmp_path: Path, told: dict[str, str]) -> None:
    shutil.copytree(DIST, tmp_path / "dist")
    (command,) = commands("attest")
    run(command, tmp_path, told)
    assert (tmp_path / "output").read_text() == f"path=dist/topospread-{__version__}.cdx.json\n"


def test_the_package_index_gets_the_wheel_and_its_source_alone(tmp_path: Path, told: dict[str, str]) -> None:
    shutil.copytree(DIST, tmp_path / "files")
    (command,) = commands("package")
    run(command, tmp_path, told)
    files = sorted(path.name for path in (tmp_path / "dist").iterdir())
    assert files == [f"topospread-{__version__}-py3-none-any.whl", f"topospread-{__version__}.tar.gz"]


def test_the_site_is_pushed(tmp_path: Path, told: dict[str, str]) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "pages.git"], check=True)
    build, push = commands("site")
    assert build == SITE
    run(push, ROOT, told)
    words = ["git", f"--git-dir={tmp_path / 'pages.git'}", "ls-tree", "--name-only", "gh-pages"]
    there = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    assert {"index.html", "latest", "versions.json", __version__.rpartition(".")[0]} <= {*there}


def test_the_release_has_every_file(tmp_path: Path, told: dict[str, str]) -> None:
    shutil.copytree(DIST, tmp_path / "dist")
    (command,) = commands("files")
    run(command, tmp_path, told)
    words = (tmp_path / "gh.words").read_text().split()
    assert words[:3] == ["release", "create", TAG]
    assert {each for each in words if each.startswith("dist/")} == {f"dist/{path.name}" for path in DIST.iterdir()}


def test_no_other_job_has_commands() -> None:
    assert {job for job in JOBS if commands(job)} == {"check", "attest", "package", "site", "files"}
