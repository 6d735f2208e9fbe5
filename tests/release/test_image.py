"""The image, judged where no image can be built: BuildKit's checks of the Dockerfile, its steps run in a folder."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.release.pythons import INSTALLER, ROOT, supported, wheel

DOCKERFILE = ROOT / "Dockerfile"
PROGRAMS = ROOT / "build" / "release" / "programs"
SOURCES = ROOT / "release" / "programs"
NOBODY = 65532


@pytest.fixture(scope="module")
def dockerfile() -> Path:
    """BuildKit's check of Dockerfiles."""
    subprocess.run([SOURCES / "build.sh", PROGRAMS], check=True)
    return PROGRAMS / "dockerfile"


def image(program: Path, text: str) -> dict[str, Any]:
    """The configuration of the image that a Dockerfile describes."""
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = json.loads(done.stdout)["config"]
    return made


def test_buildkit_has_no_complaint_and_nobody_is_root(dockerfile: Path) -> None:
    made = image(dockerfile, DOCKERFILE.read_text())
    assert made["User"] == f"{NOBODY}:{NOBODY}"
    assert made["Entrypoint"] == ["topospread"]


def test_the_check_can_fail(dockerfile: Path) -> None:
    text = DOCKERFILE.read_text().replace('ENTRYPOINT ["topospread"]', "ENTRYPOINT topospread")
    done = subprocess.run([dockerfile], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "JSONArgsRecommended" in done.stderr


def test_base_images_are_named_by_digest() -> None:
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE.read_text(), re.MULTILINE)
    assert len(bases) == 2
    assert len(set(bases)) == 1
    assert all(re.search(r"@sha256:[0-9a-f]{64}$", base) for base in bases)


def steps() -> list[str]:
    """The RUN instructions, a line each."""
    joined = DOCKERFILE.read_text().replace("\\\n", " ")
    return [line.removeprefix("RUN ") for line in joined.splitlines() if line.startswith("RUN ")]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``/opt/topospread`` as the image's steps make it, in another place."""
    folder = tmp_path_factory.mktemp("image")
    (folder / "build").mkdir()
    for path in (ROOT / "requirements" / "image.txt", wheel()):
        shutil.copy(path, folder / "build")
    pythons = supported()
    python = pythons.get("3.13", pythons[min(pythons)])
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(python)
    variables = INSTALLER | {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "PIP_NO_COMPILE": "1"}
    for step in steps():
        script = step.replace("/opt/topospread", str(folder / "opt"))
        done = subprocess.run(
            ["sh", "-ec", script],
            cwd=folder / "build",
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return folder / "opt"


def test_what_the_steps_make_has_all_that_clusters_need(installed: Path) -> None:
    assert not (installed / "bin" / "pip").exists() or b"topospread" in (installed / "bin" / "pip").read_bytes()
    assert list(installed.glob("lib/python*/site-packages/pip")) == []
    for command in ("simulate", "scheduler", "serve", "webhook"):
        asked = [installed / "bin" / "topospread", command, "--help"]
        assert subprocess.run(asked, env={"PATH": ""}, capture_output=True, check=False).returncode == 0


NO_WRITING = """
import os, sys
def hook(event, args):
    writes = event == 'open' and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if (writes and args[0] != '/dev/null') or event in ('os.mkdir', 'os.rename', 'os.remove', 'os.symlink'):
        raise OSError(30, f'Read-only file system: {event} {args}')
sys.addaudithook(hook)
"""


def test_the_entry_point_needs_nothing_that_can_be_written(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_WRITING)
    variables = {"PATH": str(installed / "bin"), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tmp_path)}
    manifest = (ROOT / "docs/tutorial/app.yaml").read_bytes()
    words = [installed / "bin" / "topospread", "simulate", "-", "--cluster", "zones=3,nodes=6"]
    done = subprocess.run(words, cwd="/", env=variables, input=manifest, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    refused = [installed / "bin" / "python", "-c", f"open({str(tmp_path / 'a')!r}, 'w')"]
    assert subprocess.run(refused, env=variables, capture_output=True, check=False).returncode == 1


def test_workflows_are_what_github_takes(dockerfile: Path) -> None:
    workflows = sorted((ROOT / ".github/workflows").glob("*.yaml"))
    assert len(workflows) == 2
    done = subprocess.run([dockerfile.parent / "actionlint", *workflows], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert all("run: .ci/run" in path.read_text() for path in workflows)
