"""Write a git revision into a temporary folder, without changing the repository or running its programs.

A repository's configuration may name programs (hooks, filters, fsmonitor, textconv) and other files, so git does not
read it (`git_folders`). Files are read as blobs, without ``git checkout`` and ``git archive``, which run filters.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO, Final

from topospread.errors import InputError, Place, UsageError

from .files import ENDINGS, MAX_DEPTH
from .git_folders import link_parts, parts_of, write_settings
from .kustomizations import KUSTOMIZATIONS
from .renderers import search_path
from .rendering import CHART
from .roots import GIT, check_inside_repository, lies_in, real_path, repository_of
from .text import shown_path

PATH: Final = "path:"
REVISION: Final = "rev:"
"""Prefixes that mark a state as a path or as a revision."""

_TIMEOUT: Final = 300.0
_MOST_FILES: Final = 200_000
"""Files of a revision. Trees that contain each other may list any number."""
_OF_ATTRIBUTES: Final = 10.0
"""Seconds to evaluate attributes: git compares every file with every pattern."""
_ENVIRONMENT: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    # In a partial clone, git would fetch missing objects with a program from its configuration.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_LINK: Final = "120000"
_FILES: Final = ("100644", "100664", "100755")
_SUBMODULE: Final = "160000"
_ATTRIBUTES: Final = ".gitattributes"
_CONVERTING: Final = ("working-tree-encoding", "ident", "filter", "eol", "text")
"""Git attributes that change the bytes of a file at checkout."""
_IN_CHECKOUT: Final = "in a checkout; name a folder with the checkout"
_MAY_CHANGE: Final = f"may change files {_IN_CHECKOUT}"
_READ: Final = (*ENDINGS, ".toml", ".tgz")
_PACKED: Final = (".gz", ".tgz")
_WHOLE: Final = frozenset(each.lower() for each in (CHART, *KUSTOMIZATIONS))
"""Names of files that make the whole folder readable: charts and kustomizations."""
_LONGEST_LINK: Final = 4096
_CHUNK: Final = 1 << 20
_LISTING: Final = 10.0
"""Time limit in seconds for the list of files."""
_LONGEST_LIST: Final = 64 << 20
"""Maximum bytes of the list of files: about a million files."""
MAX_BYTES: Final = 1 << 30
"""Maximum bytes of the files of a revision, which are written to a temporary folder."""


@dataclass(frozen=True, slots=True)
class State:
    """A state of manifests: a path or a git revision.

    Attributes:
        folder: its folder; for a revision, the folder that corresponds to the working directory.
        root: temporary folder of a revision, which is removed from paths in messages; "" for a path.
        submodules: path of each submodule of a revision → its commit, which is not read.
    """

    name: str
    folder: str
    root: str = ""
    submodules: Mapping[str, str] = field(default_factory=dict)

    def own(self, path: str) -> str | None:
        """Return a revision's copy of a file of the repository; None if it has none, or for a path."""
        repository = repository_of(os.curdir) if self.root else None
        inside = None if repository is None else os.path.relpath(os.path.abspath(path), repository)
        if inside is None or inside.split(os.sep)[0] in (os.pardir, GIT):
            return None
        found = os.path.join(self.root, inside)
        return found if os.path.lexists(found) else None

    def shown(self, path: str) -> str:
        """Return a path for messages. For a revision it is relative to the repository."""
        return path.removeprefix(self.root + os.sep) if self.root else path


@contextmanager
def state_of(name: str, only: Collection[str] = ()) -> Iterator[State]:
    """Yield the state of a path, or of a git revision, whose files are written to a temporary folder.

    Args:
        name: a path or a revision, perhaps with the prefix ``path:`` or ``rev:``.
        only: file names to write from a revision; by default all files.

    Raises:
        UsageError: if the name is both a path and a revision.
        InputError: if it is neither, or git fails.
    """
    if name.startswith(PATH):
        yield _path_state(name.removeprefix(PATH))
        return
    revision = name.removeprefix(REVISION)
    if name == revision and os.path.lexists(name):
        if _is_revision(revision):
            shown = shown_path(name)
            raise UsageError(f"{shown} is a path and a revision; write {PATH}{shown} or {REVISION}{shown}")
        yield _path_state(name)
        return
    with tempfile.TemporaryDirectory(prefix="topospread-") as given:
        root = real_path(os.path.join(given, "tree"))
        os.mkdir(root)
        # Mark the root that links must not leave, like a repository (`roots`).
        os.mkdir(os.path.join(root, GIT))
        prefix, submodules = _check_out(revision, root, only)
        folder = os.path.join(root, prefix) if prefix else root
        if lies_in(folder, root):  # otherwise the reader rejects the link
            with _reported(Place(shown_path(revision))):
                os.makedirs(folder, exist_ok=True)
        yield State(shown_path(revision), folder, root, submodules)


def _path_state(path: str) -> State:
    check_inside_repository(path)
    if not os.path.exists(path):
        raise InputError("this path does not exist", Place(shown_path(path)))
    return State(shown_path(path), path)


def _is_revision(name: str) -> bool:
    """Return whether a name of an existing path is also a revision.

    Raises:
        InputError: if git fails. The path is not used then, because a pull request may have added it.
    """
    repository = repository_of(os.curdir)
    if repository is None:
        return False
    try:
        with _git(name, repository) as git:
            git.commit(name)
    except _UnknownRevisionError:
        return False
    except InputError as error:
        raise InputError(f"{error.message}; write {PATH}{shown_path(name)} for the path", error.place) from None
    return True


def _check_out(revision: str, folder: str, only: Collection[str]) -> tuple[str, dict[str, str]]:
    """Write files of a git revision into a folder, unchanged.

    Returns:
        The working directory's path in the repository, "" at its top, and path → commit of the submodules.
    """
    repository = repository_of(os.curdir)
    if repository is None:
        missing = "not a file or folder, and not a revision, because this folder is not in a git repository"
        raise InputError(missing, Place(shown_path(revision)))
    prefix = os.path.relpath(real_path(os.curdir), repository)
    with _git(revision, repository) as git:
        return "" if prefix == os.curdir else prefix, git.write_files(git.commit(revision), folder, only)


@contextmanager
def _git(revision: str, repository: str) -> Iterator[_Git]:
    program = shutil.which("git", path=search_path())
    place = Place(shown_path(revision))
    if program is None:
        raise InputError("this may be a git revision, but git is not on the PATH", place)
    folder, shared = parts_of(repository, place)
    with tempfile.TemporaryDirectory(prefix="topospread-") as private, _reported(place):
        link_parts(folder, shared, private)
        git = _Git(program, place, private)
        if os.path.lexists(settings := os.path.join(shared, "config")):
            write_settings(private, git.run("config", "--file", settings, "--no-includes", "--list", "--null"))
        yield git


class _UnknownRevisionError(InputError):
    """Raised if git has no such revision."""


@dataclass(frozen=True, slots=True)
class _Git:
    """Runs git commands for a revision.

    Attributes:
        folder: a git folder without settings (`git_folders`).
    """

    program: str
    place: Place
    folder: str

    def _command(self, *words: str) -> list[str]:
        return [self.program, "--no-pager", f"--git-dir={self.folder}", *words]

    def commit(self, revision: str) -> str:
        return self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()

    def run(self, *words: str, given: bytes = b"", seconds: float = _TIMEOUT) -> str:
        """Return git's output for an input. Raise InputError if git fails or runs longer."""
        try:
            done = subprocess.run(
                self._command(*words),
                input=given,
                capture_output=True,
                check=False,
                timeout=seconds,
                env=_environment(),
            )
        except subprocess.TimeoutExpired:
            raise InputError(f"git did not end within {seconds:.0f} seconds", self.place) from None
        except OSError as error:
            raise InputError(f"git cannot be run: {error.strerror or error}", self.place) from error
        if done.returncode == 1 and words[0] == "rev-parse":
            raise _UnknownRevisionError("neither a path nor a revision of this repository", self.place)
        if done.returncode:
            # git's message may quote parts of the git folder, which may contain a token.
            raise InputError(f"`git {words[0]}` fails; `git status` may say why", self.place)
        return os.fsdecode(done.stdout)

    def _listed(self, commit: str) -> list[str]:
        """Return the lines of ``git ls-tree``. A few nested trees can produce an unlimited number of lines."""
        command = self._command("ls-tree", "-r", "-z", "--full-tree", commit)
        null = subprocess.DEVNULL
        with (
            _reported(self.place),
            subprocess.Popen(command, stdin=null, stdout=subprocess.PIPE, stderr=null, env=_environment()) as process,
        ):
            assert process.stdout is not None
            timer = threading.Timer(_LISTING, process.kill)
            timer.start()
            try:
                listed = process.stdout.read(_LONGEST_LIST + 1)
                if len(listed) > _LONGEST_LIST:
                    process.kill()
                failed = process.wait() != 0
            finally:
                timer.cancel()
        if failed:
            raise InputError("git cannot list the files of this revision, or there are too many", self.place)
        return os.fsdecode(listed).split("\0")[:-1]

    def write_files(self, commit: str, folder: str, only: Collection[str]) -> dict[str, str]:
        """Write the blobs of a commit into an empty folder. Return path → commit of its submodules.

        Links are written last, so that no file is written through a link.
        """
        every, wanted = list(self._blobs(commit)), {*only, _ATTRIBUTES} if only else ()
        if len(every) > _MOST_FILES:
            raise InputError(f"this revision has more than {_MOST_FILES:,} files; name a checkout instead", self.place)
        files = [each for each in every if not each.is_submodule]
        blobs = [each for each in files if not wanted or os.path.basename(each.path) in wanted]
        with tempfile.TemporaryFile() as names, tempfile.TemporaryFile() as errors:
            names.write("".join(f"{each.id}\n" for each in blobs).encode())
            names.seek(0)
            command = self._command("cat-file", "--batch")
            with subprocess.Popen(
                command, stdin=names, stdout=subprocess.PIPE, stderr=errors, env=_environment()
            ) as process:
                assert process.stdout is not None
                try:
                    links = self._write(blobs, process.stdout, folder)
                finally:
                    process.kill()
        converting = [each.path for each in blobs if not each.is_link and _converts(os.path.join(folder, each.path))]
        for path, target in links.items():
            with _reported(self.place):
                os.symlink(target, path)
        if converting:
            self._check_attributes(folder, converting, blobs)
        return {each.path: each.id for each in every if each.is_submodule}

    def _write(self, blobs: list[_Blob], output: IO[bytes], folder: str) -> dict[str, bytes]:
        """Write the files, and return path → target of the links."""
        links: dict[str, bytes] = {}
        room = MAX_BYTES
        for each in blobs:
            header = output.readline().split()
            if len(header) != 3 or header[1] != b"blob":
                raise InputError(f"git does not have the contents of {shown_path(each.path)}", self.place)
            room -= int(header[2])
            if room < 0 or (each.is_link and int(header[2]) > _LONGEST_LINK):
                words = f"the files of this revision have more than {MAX_BYTES >> 20} MiB; name a checkout instead"
                raise InputError(words, self.place)
            path, left = os.path.join(folder, each.path), int(header[2])
            with _reported(self.place):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                if each.is_link:
                    links[path] = target = output.read(left)
                    if b"\0" in target:
                        raise self._not_allowed(each.path)
                else:
                    with open(path, "xb") as file:
                        while left and (chunk := output.read(min(left, _CHUNK))):
                            left -= file.write(chunk)
            output.read(1)
        return links

    def _check_attributes(self, folder: str, converting: list[str], blobs: list[_Blob]) -> None:
        """Check that a checkout has the same bytes as the blobs, because only the blobs are read.

        Raises:
            InputError: if attributes convert a file that may be read, or if an attributes file's name has other case
                than ``.gitattributes``, so that only some systems read it. CRLF does not change the meaning of YAML,
                JSON and TOML, but of templates and packed files.
        """
        for each in converting:
            if os.path.basename(each) != _ATTRIBUTES:
                raise InputError(f"{shown_path(each)}: {_MAY_CHANGE}", self.place)
        read = dict(_may_be_read(folder, blobs))
        asked = b"".join(os.fsencode(each) + b"\0" for each in read)
        at = ("-C", folder, "--work-tree=.", "-c", f"core.attributesFile={os.devnull}")
        found = self.run(*at, "check-attr", "-z", "--stdin", *_CONVERTING, given=asked, seconds=_OF_ATTRIBUTES)
        parts = iter(found.split("\0"))
        values = {(path, name): value for path, name, value in zip(parts, parts, parts, strict=False)}
        for (path, name), value in values.items():
            is_kept = value in ("unspecified", "unset") or name == "text"
            if name == "eol":
                is_kept |= value == "lf" or read[path] or values[path, "text"] == "unset"
            if not is_kept:
                raise InputError(
                    f'{shown_path(path)}: the git attribute "{name}" changes this file {_IN_CHECKOUT}', self.place
                )

    def _blobs(self, commit: str) -> Iterator[_Blob]:
        """Yield the files, links and submodules of a commit.

        Raises:
            InputError: if a path leaves the repository. git does not write such a path, but a crafted commit may.
        """
        for line in self._listed(commit):
            head, _, path = line.partition("\t")
            mode, _, blob = head.split(" ")
            parts = path.replace(os.sep, "/").split("/")
            if len(parts) > MAX_DEPTH or any(each.lower() in ("", ".", "..", ".git") for each in parts):
                raise self._not_allowed(path)
            if mode == _LINK and parts[-1].lower() == _ATTRIBUTES:
                # A checkout reads attributes from the index, where a link's content is its target.
                raise InputError(f"{shown_path(path)}: this link {_MAY_CHANGE}", self.place)
            if mode in (*_FILES, _LINK, _SUBMODULE):
                yield _Blob(blob, path, mode == _LINK, mode == _SUBMODULE)

    def _not_allowed(self, path: str) -> InputError:
        return InputError(f"this revision has a path that is not allowed: {shown_path(path)}", self.place)


@dataclass(frozen=True, slots=True)
class _Blob:
    """A file, link or submodule of a commit.

    Attributes:
        is_submodule: whether it is a commit of another repository.
    """

    id: str
    path: str
    is_link: bool
    is_submodule: bool


def _converts(path: str) -> bool:
    if os.path.basename(path).lower() != _ATTRIBUTES:
        return False
    with open(path, "rb") as file:
        text = file.read()
    return any(each.encode() in text for each in _CONVERTING if each != "text")


def _may_be_read(folder: str, blobs: list[_Blob]) -> Iterator[tuple[str, bool]]:
    """Yield the paths of manifests, settings and targets of links, and all paths in charts and kustomizations.

    The flag is True if the file is read only as YAML, JSON or TOML.
    """
    named = [PurePosixPath(each.path) for each in blobs]
    whole = {each.parent for each in named if each.name.lower() in _WHOLE}
    for each in blobs:
        if each.is_link:
            target = real_path(os.path.join(folder, each.path))
            whole.add(PurePosixPath(os.path.relpath(target, folder)))
    for path in named:
        is_part = path in whole or not whole.isdisjoint(path.parents)
        if path.name.lower().endswith(_READ) or is_part:
            yield str(path), not is_part and not path.name.lower().endswith(_PACKED)


def _environment() -> Mapping[str, str]:
    return {**os.environ, "PATH": search_path(), **_ENVIRONMENT}


@contextmanager
def _reported(place: Place) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"this revision cannot be written to {error.filename}: {error.strerror}", place) from error
