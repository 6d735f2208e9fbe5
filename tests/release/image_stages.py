"""The Dockerfile's stages without a daemon: instructions played in folders that are roots, this machine as the base."""

from __future__ import annotations

import glob
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.release.pythons import ROOT

IN_ROOT = Path(__file__).parent / "in_root.sh"
_PYTHON = "/image-python"
"""A folder on the path with Python, where the base image has one in /usr/local/bin."""
_INDEX = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP", "http"))}


@dataclass(frozen=True)
class Stage:
    """One folder, as the root of processes.

    Attributes:
        root: the folder.
        python: the interpreter that stands for the base image's.
        settings: what ENV says.
    """

    root: Path
    python: Path
    settings: dict[str, str] = field(default_factory=dict)

    def words(
        self, command: Sequence[str], *, closed: bool = False, user: str = "0:0", folder: str = "/"
    ) -> list[str | Path]:
        """What starts a command in there: as a user, in a folder; ``closed``: where nothing can be written."""
        as_root = () if os.geteuid() == 0 else ("sudo", "--non-interactive", "--preserve-env")
        apart = (*as_root, "unshare", "--mount", "--propagation", "private")
        access = "closed" if closed else "open"
        variables = [f"{name}={value}" for name, value in self.settings.items()]
        prefix = self.python.resolve().parent.parent
        return [*apart, IN_ROOT, self.root, prefix, access, user, folder, "env", "-i", *variables, *command]


def instructions() -> Iterator[list[tuple[str, str]]]:
    """The instructions of each stage, in order: name and words."""
    stage: list[tuple[str, str]] = []
    for line in (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines():
        name, _, rest = line.partition(" ")
        if name == "FROM" and stage:
            yield stage
            stage = []
        if name.isupper():
            stage.append((name, rest.strip()))
    yield stage


def stage(folder: Path, python: Path) -> Stage:
    """An empty one, with the base image's Python on its path."""
    found = Stage(folder, python, {"PATH": f"{_PYTHON}:/usr/bin:/bin", "LANG": "C.UTF-8"})
    for name in ("etc", "tmp", _PYTHON[1:]):
        (folder / name).mkdir(parents=True)
    (folder / _PYTHON[1:] / "python").symlink_to(python.resolve())
    # Where the linker looks is the base image's matter; an interpreter that is shared finds its library by it.
    found.settings["LD_LIBRARY_PATH"] = str(python.resolve().parent.parent / "lib")
    return found


def play(made: Stage, steps: list[tuple[str, str]]) -> None:
    """Carry out FROM, ENV, WORKDIR, COPY out of the repository and RUN, and nothing else.

    Raises:
        AssertionError: a step fails, or is another.
    """
    folder = "/"
    for name, rest in steps:
        if name == "ENV":
            made.settings.update(each.partition("=")[::2] for each in shlex.split(rest))
        elif name == "WORKDIR":
            folder = rest
            (made.root / folder[1:]).mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            pattern, _, _ = rest.partition(" ")
            (source,) = glob.glob(str(ROOT / pattern))
            shutil.copy(source, made.root / folder[1:])
        elif name == "RUN":
            installing = Stage(made.root, made.python, _INDEX | made.settings)
            words = installing.words(["sh", "-ec", rest], folder=folder)
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        else:
            assert name == "FROM", name
