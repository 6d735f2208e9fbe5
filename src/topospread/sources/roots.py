"""The root of a path: the folder that reads and writes must not leave, even through symbolic links.

The root is the git repository of the path, or without one the named folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from topospread.errors import InputError, Place

from .text import shown_path

GIT: Final = ".git"
"""The folder that marks a repository. Its files are never read, because its configuration may contain a token."""
_MAX_PATH: Final = 4096
"""Bytes of the longest path in Linux (``PATH_MAX``)."""


def repository_of(path: str) -> str | None:
    """Return the real path of a path's git repository; None without one.

    If a link inside a repository leads into another repository, the outer repository counts.
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
    """Return the real path of the root of a file or folder: its repository, else the named folder."""
    folder = path if os.path.isdir(path) else os.path.dirname(path) or os.curdir
    return repository_of(folder) or os.path.realpath(folder)


def upwards(folder: str) -> Iterator[str]:
    """Yield the real paths of a folder and its parents, up to its root: anybody may write into a folder further up."""
    root, current = root_of(folder), os.path.realpath(folder)
    yield current
    while current not in (root, os.path.dirname(current)):
        current = os.path.dirname(current)
        yield current


def is_within(path: str, root: str) -> bool:
    """Return whether a path, with links resolved, is inside a root and not in ``.git``.

    Args:
        path: a path that need not exist.
        root: a real path.
    """
    return lies_in(path, root) and not is_of_git(os.path.realpath(path).removeprefix(root))


def lies_in(path: str, root: str) -> bool:
    """Return whether a path, with links resolved, is inside a root, perhaps in ``.git``.

    Return False for a path longer than `_MAX_PATH`: no file has one, and resolving it takes seconds.
    """
    real = "" if "\0" in path or len(os.fsencode(path)) > _MAX_PATH else os.path.realpath(path)
    return real == root or real.startswith(os.path.join(root, ""))


def is_of_git(path: str) -> bool:
    """Return whether a path is or is in a folder ``.git``, ignoring case because some file systems do."""
    return GIT in path.lower().split(os.sep)


def check_inside_repository(path: str) -> None:
    """Raise InputError if a path leaves its repository through a link."""
    if os.path.realpath(path) == os.path.abspath(path):
        return
    repository = repository_of(os.path.dirname(os.path.abspath(path)))
    if repository is not None and not is_within(path, repository):
        raise leaves(path, repository)


def has_file(path: str) -> bool:
    """Return whether a file found in a folder exists. Raise InputError if it is a link out of its root."""
    if os.path.islink(path) and not is_within(path, root := root_of(os.path.dirname(path) or os.curdir)):
        raise leaves(os.path.relpath(path), root)
    return os.path.isfile(path)


def leaves(path: str, root: str) -> InputError:
    """Return the error for a path that leaves its root."""
    words = f"this path leaves {shown_path(root)} by a symbolic link; name the target of the link itself"
    return InputError(words, Place(shown_path(path)))


def check_name(path: str) -> None:
    """Reject a path that Helm or kustomize would read as another: Helm strips white space, YAML folds line breaks.

    Raises:
        InputError: if the path begins or ends with white space, or has a line break or another invisible character.
    """
    if path != path.strip() or not path.isprintable():
        words = "the path begins or ends with white space, or has an invisible character; rename it"
        raise InputError(words, Place(shown_path(path)))


def check_links(folder: str, root: str, *, beside_git: bool = False, visited: set[str] | None = None) -> None:
    """Reject a folder that contains a link out of the root, or a ``.git``, at any depth.

    Helm follows links inside a chart, and reads all its files.

    Args:
        beside_git: whether the folder may be a repository itself, whose ``.git`` is not read.
        visited: real paths of folders that were checked for the same root; receives the folders below this one.

    Raises:
        InputError: if a link leaves the root, ``.git`` exists, or a folder cannot be read.
    """
    own = os.path.join(os.path.realpath(folder), GIT)
    # Check a repository's folders again: a link that is allowed elsewhere may lead to this repository's .git.
    visited = set() if visited is None or os.path.lexists(own) else visited
    try:
        _check_links(folder, root, own, visited, beside_git=beside_git)
    except InputError:
        visited.clear()
        raise


def _check_links(folder: str, root: str, own: str, visited: set[str], *, beside_git: bool) -> None:
    for path in links_below(folder, visited):
        # A link to the folder itself or its parents leads to its own .git by another path.
        leads_to_git = path not in (folder, own) and os.path.lexists(own) and lies_in(own, os.path.realpath(path))
        if leads_to_git or (is_of_git(os.path.basename(path)) and not (beside_git and path == own)):
            raise InputError("Helm would read git's files here; remove them", Place(shown_path(path)))
        if path != own and not is_within(path, root):
            words = f"this symbolic link leaves {shown_path(root)}, and Helm would read its target; remove it"
            raise InputError(words, Place(shown_path(path)))


def links_below(folder: str, visited: set[str]) -> Iterator[str]:
    """Yield the folder itself, and the links and ``.git`` folders below it, also in linked folders."""
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
            if each.name.splitlines() != [each.name]:
                words = "its name has a line break, which Helm would write into comments; rename it"
                raise InputError(words, Place(shown_path(each.path)))
            # A submodule's file .git contains only the path of a folder.
            is_folder = os.path.isdir(each.path)  # False for a link to itself, too
            if each.is_symlink() or (is_of_git(each.name) and is_folder):
                yield each.path
            if is_folder and not is_of_git(each.name):
                waiting.append(each.path)
