"""The root of a path: the folder that reading and writing must not leave. Symbolic links that leave it are refused.

The root is the git repository that holds the path. Without a repository it is the folder that was named.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from topospread.errors import InputError, Place

from .text import shown_path

GIT: Final = ".git"
"""Marks a repository. What lies in it is no file of the repository: its configuration may hold a token."""


def repository_of(path: str) -> str | None:
    """Return the real path of the git repository that holds a path; None without one.

    A link inside a repository may lead into another one. The outer repository counts then, because the link leaves it.
    """
    found = None
    folder, parent = "", os.path.abspath(path)
    while folder != parent:
        folder, parent = parent, os.path.dirname(parent)
        if os.path.lexists(os.path.join(folder, GIT)):
            real = os.path.realpath(folder)
            found = real if found is None or not lies_in(found, real) else found
    return found


def root_of(path: str) -> str:
    """Return the real path of the root of a file or folder: its repository, else the folder that the path names."""
    folder = path if os.path.isdir(path) else os.path.dirname(path) or os.curdir
    return repository_of(folder) or os.path.realpath(folder)


def upwards(folder: str) -> Iterator[str]:
    """Yield the real path of a folder and of the folders above it, as far as its repository goes."""
    repository, parent = repository_of(folder), os.path.realpath(folder)
    current = ""
    while current not in (parent, repository):
        current, parent = parent, os.path.dirname(parent)
        yield current


def is_within(path: str, root: str) -> bool:
    """Return whether a path, with its links followed, is a root or lies in it, and not in its ``.git``.

    Args:
        path: a path that need not exist.
        root: a real path.
    """
    return lies_in(path, root) and not is_of_git(os.path.realpath(path).removeprefix(root))


def lies_in(path: str, root: str) -> bool:
    """Return the same of a path that may be in ``.git``."""
    real = "" if "\0" in path else os.path.realpath(path)
    return real == root or real.startswith(os.path.join(root, ""))


def is_of_git(path: str) -> bool:
    """Return whether a path is, or lies in, a folder ``.git``; some file systems know no case."""
    return GIT in path.lower().split(os.sep)


def check_inside_repository(path: str) -> None:
    """Refuse a path in a repository that is, or leads through, a link out of that repository.

    Raises:
        InputError: if the path leaves its repository.
    """
    if os.path.realpath(path) == os.path.abspath(path):
        return
    repository = repository_of(os.path.dirname(os.path.abspath(path)))
    if repository is not None and not is_within(path, repository):
        raise leaves(path, repository)


def check_link(path: str) -> None:
    """Refuse a file that nobody named and that is a link out of its root.

    Raises:
        InputError: if the link leaves the repository, or without one its folder.
    """
    root = root_of(os.path.dirname(path) or os.curdir)
    if not is_within(path, root):
        raise leaves(os.path.relpath(path), root)


def leaves(path: str, root: str) -> InputError:
    """Return the error for a path that leaves its root."""
    words = f"this path leaves {shown_path(root)} by a symbolic link; name the target of the link itself"
    return InputError(words, Place(shown_path(path)))


def check_links(folder: str, root: str, *, beside_git: bool = False) -> None:
    """Refuse a folder with a link that leaves the root, or with a ``.git``, at any depth.

    Helm follows links inside a chart, and reads all its files.

    Args:
        folder: the folder.
        root: real path of its root.
        beside_git: whether the folder itself may be a repository, whose ``.git`` nobody reads.

    Raises:
        InputError: if a link leaves the root, git's files are there, or a folder cannot be read.
    """
    own = os.path.join(os.path.realpath(folder), GIT)
    for path in _links_below(folder, set()):
        # A link to the folder itself, or above it, leads to its own .git by another way.
        leads_to_git = path not in (folder, own) and os.path.lexists(own) and lies_in(own, os.path.realpath(path))
        if leads_to_git or (is_of_git(os.path.basename(path)) and not (beside_git and path == own)):
            raise InputError("Helm would read what git keeps here; remove it", Place(shown_path(path)))
        if path != own and not is_within(path, root):
            words = f"this symbolic link leaves {shown_path(root)}, and Helm would read its target; remove it"
            raise InputError(words, Place(shown_path(path)))


def _links_below(folder: str, visited: set[str]) -> Iterator[str]:
    """Yield a path itself, and the links and folders of git below it, including those in folders that links lead to."""
    yield folder
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        real = os.path.realpath(current)
        if real in visited or not os.path.isdir(real):
            continue
        visited.add(real)
        try:
            with os.scandir(real) as found:
                inside = list(found)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", Place(shown_path(current))) from error
        for each in inside:
            # The file .git of a submodule names a folder, and no more.
            if each.is_symlink() or (is_of_git(each.name) and each.is_dir()):
                yield each.path
            if each.is_dir() and not is_of_git(each.name):
                waiting.append(each.path)
