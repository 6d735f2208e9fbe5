"""A git revision → a folder with its files, for as long as somebody looks; the repository stays as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from topospread.errors import InputError, Place

from .files import shown_path

_TIMEOUT: Final = 300.0
_MISSING: Final = "this is no folder, and git, which would know a revision of that name, is not on the PATH"


@dataclass(frozen=True, slots=True)
class State:
    """One state of manifests.

    Attributes:
        name: as it was given.
        folder: where its files are: of a revision, what the working directory was then.
        root: what is no part of a path as a person knows it, "" for a folder that was named.
    """

    name: str
    folder: str
    root: str = ""

    def shown(self, path: str) -> str:
        """A path in it as a person knows it: of a revision relative to the repository."""
        return path.removeprefix(self.root + os.sep) if self.root else path


@contextmanager
def state_of(name: str) -> Iterator[State]:
    """A folder, a file, or what the working directory's repository held in a revision.

    Not ``git archive``, which leaves out what the repository does not export, and no ``git worktree``, which is noted
    in the repository.

    Raises:
        InputError: it is neither, or git fails.
    """
    if os.path.exists(name):
        yield State(shown_path(name), name)
        return
    program = shutil.which("git")
    place = Place(shown_path(name))
    if program is None:
        raise InputError(_MISSING, place)
    git = _Git(program, place)
    commit = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    prefix, top = git.run("rev-parse", "--show-prefix"), git.run("rev-parse", "--show-toplevel")
    with tempfile.TemporaryDirectory(prefix="topospread-") as given:
        root = os.path.realpath(os.path.join(given, "tree"))
        index = {"GIT_INDEX_FILE": os.path.join(given, "index"), "GIT_LFS_SKIP_SMUDGE": "1"}
        git.run("-C", top, "read-tree", commit, more=index)
        git.run("-C", top, "checkout-index", "--all", f"--prefix={root}{os.sep}", more=index)
        os.makedirs(os.path.join(root, prefix), exist_ok=True)
        yield State(shown_path(name), os.path.join(root, prefix.rstrip("/")) if prefix else root, root)


@dataclass(frozen=True, slots=True)
class _Git:
    """git, asked on behalf of a revision."""

    program: str
    place: Place

    def run(self, *words: str, more: Mapping[str, str] | None = None) -> str:
        """What it prints, without the end of the line."""
        try:
            done = subprocess.run(
                [self.program, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=_TIMEOUT,
                env={**os.environ, **(more or {})},
            )
        except subprocess.TimeoutExpired:
            raise InputError(f"git did not end within {_TIMEOUT:.0f} seconds", self.place) from None
        except OSError as error:
            raise InputError(f"git cannot be run: {error.strerror or error}", self.place) from error
        if done.returncode:
            said = " ".join(os.fsdecode(done.stderr).split())
            words_ = "neither a folder nor a revision of the repository here"
            raise InputError(f"git: {said}" if said else words_, self.place)
        return os.fsdecode(done.stdout).rstrip("\n")
