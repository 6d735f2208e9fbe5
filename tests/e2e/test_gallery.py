"""The gallery's pictures are what the commands beside them write."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.command import forked

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/gallery.md").read_text()
COMMANDS = re.findall(r"```sh\n(topospread .* (?:--graph |-o svg=).*)\n```", PAGE)


def test_there_are_pictures() -> None:
    assert len(COMMANDS) == 2


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[1])
def test_a_picture_is_what_is_written(command: str, tmp_path: Path) -> None:
    words = shlex.split(command)[1:]
    option, shown = words[-1].rpartition("=")[::2]
    words[-1] = f"{option}={tmp_path / 'again.svg'}" if option else str(tmp_path / "again.svg")
    forked(*words, cwd=ROOT)
    assert (tmp_path / "again.svg").read_text() == (ROOT / shown).read_text()
    assert f"]({shown.removeprefix('docs/')})" in PAGE
