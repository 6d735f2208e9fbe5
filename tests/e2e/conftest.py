"""The command in this process, for tests of many inputs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from topospread.cli.main import main

Command = Callable[..., tuple[object, str, str]]


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """Return a function that runs a command in a new folder, and returns its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["topospread", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return left.value.code, said.out, said.err

    return command
