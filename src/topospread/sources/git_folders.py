"""Make a git folder that reads a repository's objects and refs, but none of its configuration.

A repository's configuration may name programs and files to include, and a folder that was unpacked from an archive may
have any ``.git``. git runs with the folder made here instead (``--git-dir``).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from typing import Final

from topospread.errors import InputError, Place

from .files import check_depth
from .roots import GIT, is_of_git, leaves, lies_in, real_path, real_path_in
from .text import shown_path

_LONGEST_POINTER: Final = 4096
_SHARED: Final = ("objects", "refs", "packed-refs", "reftable", "shallow")
"""Parts that all worktrees of a repository share. Each worktree has its own ``HEAD``."""
_HEADS: Final = ("HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD")
_KEPT: Final = re.compile(r"(?s)remote\.(.+)\.(fetch)|branch\.(.+)\.(remote|merge)")
"""Settings that resolve names such as ``@{upstream}``."""
_WORKTREE: Final = re.compile(r"(?m)^\s*worktree = (.+)$")
"""The setting by which a submodule's git folder names its worktree."""
_FORMATS: Final = {"extensions.objectformat": ("sha1", "sha256"), "extensions.refstorage": ("files", "reftable")}


def parts_of(repository: str, place: Place) -> tuple[str, str]:
    """Return the git folder of a repository's worktree, and the one that all its worktrees share.

    Args:
        repository: real path of the folder that contains ``.git``, a folder, or a file for a worktree or submodule.

    Raises:
        InputError: if git did not write this ``.git``: it is a file that names a folder of another worktree, or the
            git folder contains links. The error does not show whether other files exist.
    """
    own = os.path.join(repository, GIT)
    if not lies_in(own, repository):
        raise leaves(os.path.relpath(own), repository)
    own = real_path(own)
    try:
        folder = own if os.path.isdir(own) else _worktree_folder(own, repository)
        shared = _resolved(os.path.join(folder, _pointer(os.path.join(folder, "commondir"))))
        used = [
            *(os.path.join(shared, each) for each in (*_SHARED, "logs", "config")),
            *(os.path.join(folder, each) for each in (*_HEADS, "logs")),
        ]
        if lies_in(folder, shared) and all(map(_is_ordinary, _inside(used))):
            return folder, shared
    except (OSError, ValueError):  # a missing folder, or one that cannot be resolved; a path with a NUL
        pass
    words = f"git did not write {shown_path(os.path.relpath(own))} for this folder; clone the repository instead"
    raise InputError(words, place)


def check_git_folder(root: str) -> None:
    """Raise InputError if ``.git`` is a file that names a git folder inside the repository, which charts could read.

    Args:
        root: real path of the repository.
    """
    own = os.path.join(root, GIT)
    named = _pointer(real_path(own)).partition("gitdir:")[2].strip() if os.path.isfile(own) else ""
    real = real_path_in(os.path.join(root, named), root) if named else None
    if real is not None and os.path.isdir(real) and not is_of_git(real.removeprefix(root)):
        name = shown_path(os.path.relpath(real, root))
        raise InputError(f"charts could read git's folder {name}; move it elsewhere", Place(shown_path(root)))


def _resolved(path: str) -> str:
    """Return a path with links resolved. Raise FileNotFoundError if that is not possible."""
    found = real_path_in(path, os.sep)
    if found is None:
        raise FileNotFoundError
    return found


def _worktree_folder(own: str, repository: str) -> str:
    """Return the git folder that the file ``.git`` of a worktree or submodule names, which must belong to it."""
    folder = _resolved(os.path.join(repository, _pointer(own).removeprefix("gitdir: ")))
    if _resolved(_pointer(os.path.join(folder, "gitdir"))) == own:
        return folder
    above, modules, _ = folder.rpartition(os.path.join(os.sep, GIT, "modules", ""))
    settings = os.path.join(folder, "config")
    if modules and lies_in(repository, above) and _is_ordinary(settings):
        with open(settings, encoding="utf-8") as file:
            named = _WORKTREE.findall(file.read(_LONGEST_POINTER))
        if [_resolved(os.path.join(folder, each)) for each in named] == [repository]:
            return folder
    raise FileNotFoundError


def link_parts(folder: str, shared: str, private: str) -> None:
    """Link the objects and refs of `parts_of` into an empty folder, which then is a git folder without settings."""
    os.makedirs(os.path.join(private, "logs"))
    for name in _HEADS:
        # git takes no link to a file for a ref.
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(os.path.join(folder, name), os.path.join(private, name))
    for source, target in (
        *((os.path.join(shared, each), each) for each in (*_SHARED, "logs/refs")),
        (os.path.join(folder, "logs", "HEAD"), "logs/HEAD"),
    ):
        if os.path.lexists(source):
            os.symlink(source, os.path.join(private, target))
    write_settings(private)


def write_settings(private: str, listed: str = "") -> None:
    """Write the settings that decide how refs and objects are read.

    Args:
        private: the folder of `link_parts`.
        listed: the repository's settings from ``git config --list --null``.
    """
    lines = ["[core]", "repositoryFormatVersion = 1", "bare = true"]
    for name, _, value in (each.partition("\n") for each in listed.split("\0")):
        kept = _KEPT.fullmatch(name)
        if kept is not None:
            section, (subsection, key) = name.partition(".")[0], [each for each in kept.groups() if each is not None]
            lines += [f"[{section} {_quoted(subsection)}]", f"{key} = {_quoted(value)}"]
        elif value in _FORMATS.get(name, ()):
            lines += ["[extensions]", f"{name.partition('.')[2]} = {value}"]
    with open(os.path.join(private, "config"), "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("\n".join(lines) + "\n")


def _quoted(text: str) -> str:
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))


def _pointer(path: str) -> str:
    """Return the path that a file of git contains; "" without this file."""
    if not os.path.lexists(path):
        return ""
    if not _is_ordinary(path):
        raise FileNotFoundError
    with open(path, "rb") as file:
        return os.fsdecode(file.read(_LONGEST_POINTER)).rstrip("\n")


def _is_ordinary(path: str) -> bool:
    """Return whether a path is a file or folder.

    git writes no links: one would show whether its target exists. Reading other files, such as pipes, may never end.
    """
    return stat.S_IFMT(os.lstat(path).st_mode) in (stat.S_IFREG, stat.S_IFDIR)


def _inside(paths: list[str]) -> Iterator[str]:
    """Yield the paths that exist, and all paths below them; links are not followed."""
    for path in paths:
        if os.path.lexists(path):
            yield path
        for folder, folders, files in os.walk(path):
            check_depth(folder)
            yield from (os.path.join(folder, each) for each in (*folders, *files))
