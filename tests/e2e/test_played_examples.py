"""Every example of what may come runs as its README shows, and prints what it keeps."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.command import forked

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(each.parent for each in EXAMPLES.glob("*/output.txt"))


def commands(folder: Path) -> list[str]:
    return re.findall(r"(?m)^\$ topospread (.*)$", (folder / "README.md").read_text())


def test_there_is_one_of_each() -> None:
    names = {each.name for each in FOLDERS}
    assert names == {"drills-in-ci", "pools-at-zero", "rebalance-by-night", "skewed-rollout", "zone-loss"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_prints_what_is_kept(folder: Path) -> None:
    said = ""
    for line in commands(folder):
        done = forked(*shlex.split(line), cwd=folder)
        assert done.returncode in (0, 1), done.stderr
        said += f"$ topospread {line}\n{done.stdout}\n"
    assert said == (folder / "output.txt").read_text()


def test_what_is_not_played_here_is_read(tmp_path: Path) -> None:
    """The script is one for a shell, and the workflow calls the command that the README shows."""
    night = EXAMPLES / "rebalance-by-night" / "night.sh"
    assert subprocess.run(["sh", "-n", str(night)], check=False).returncode == 0
    workflow = (EXAMPLES / "drills-in-ci" / "workflow.yaml").read_text()
    shown = [f"topospread {line}" for line in commands(EXAMPLES / "drills-in-ci")]
    assert any(f"run: {each}" in workflow for each in shown)
