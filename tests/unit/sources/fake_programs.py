"""Programs that stand in for helm and kustomize: they note how they were called and print what a test wants."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest


class FakePrograms:
    """A PATH of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        folder.mkdir()
        monkeypatch.setenv("PATH", str(folder))

    def install(self, name: str, output: str = "", *, stderr: str = "", code: int = 0, before: str = "") -> None:
        """A program that prints an output; ``before``: shell that it runs first."""
        printed = self.folder / f"{name}.out"
        printed.write_text(output)
        script = self.folder / name
        script.write_text(
            "#!/bin/sh\nPATH=/usr/bin:/bin\n"
            f'for word in "$@"; do printf "%s\\n" "$word"; done >> {self.folder / name}.log\n'
            f"echo --- >> {self.folder / name}.log\n{before}\n"
            f"cat {printed}\nprintf %s {shlex.quote(stderr)} >&2\nexit {code}\n"
        )
        script.chmod(0o755)

    def calls(self, name: str) -> list[list[str]]:
        """The words of each call."""
        log = self.folder / f"{name}.log"
        return [each.splitlines() for each in log.read_text().split("---\n")[:-1]] if log.exists() else []


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePrograms:
    return FakePrograms(tmp_path / "bin", monkeypatch)
