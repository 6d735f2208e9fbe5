"""The root of a path: the folder that reads and writes must not leave, even through symbolic links.

The root is the git repository of the path, or without one the named folder.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import Final

from topospread.errors import InputError, Place

from .text import shown_path

GIT: Final = ".git"
"""The folder that marks a repository. Its files are never read, because its configuration may contain a token."""
_MAX_LINKS: Final = 40
"""Links that Linux follows in one path (``MAXSYMLINKS``). Programs in Go resolve links themselves, up to 255."""
_MAX_STEPS: Final = 400
"""Folders and links to follow in one path."""
_MAX_TARGET_NAMES: Final = 100
"""Names in the targets of all links of one path. Links of 4,096 characters each could make it 80,000."""
_NO_LINK: Final = (errno.EINVAL, errno.ENOENT, errno.ENOTDIR, errno.EACCES)
"""Errors of a path that is no link: a file or folder, or nothing that the system opens."""


def repository_of(path: str) -> str | None:
    """Return the real path of a path's git repository; None without one.

    If a link inside a repository leads into another repository, the outer repository counts.
    """
    found = None
    folder, parent = "", os.path.abspath(path)
    while folder != parent:
        folder, parent = parent, os.path.dirname(parent)
        if os.path.lexists(os.path.join(folder, GIT)):
            real = real_path(folder)
            found = real if found is None or not lies_in(found, real) else found
    return found


def root_of(path: str) -> str:
    """Return the real path of the root of a file or folder: its repository, else the named folder."""
    folder = path if os.path.isdir(path) else os.path.dirname(path) or os.curdir
    return repository_of(folder) or real_path(folder)


def upwards(folder: str) -> Iterator[str]:
    """Yield the real paths of a folder and its parents, up to its root: anybody may write into a folder further up."""
    root, current = root_of(folder), real_path(folder)
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
    real = real_path_in(path, root)
    return real is not None and not is_of_git(real.removeprefix(root))


def real_path(path: str) -> str:
    """Return a path with links resolved as the system resolves them. The path need not exist.

    ``os.path.realpath`` keeps a link that it cannot read as if it were a file, for example in a folder whose path is
    longer than the system's limit; the system would follow that link.

    Raises:
        InputError: if a link cannot be read, ``..`` follows a file or a missing folder, the path has more than 40 links
            or 400 steps, or the links' targets have more than 100 names.
    """
    real = real_path_in(path, os.sep)
    if real is None:
        words = "cannot be resolved: it leads through a missing folder, or through a link that cannot be read"
        raise InputError(words, Place(shown_path(path)))
    return real


def lies_in(path: str, root: str) -> bool:
    """Return whether a path, with links resolved, is inside a root, perhaps in ``.git``."""
    return real_path_in(path, root) is not None


def real_path_in(path: str, root: str) -> str | None:
    """Return a path with links resolved; None if it is outside the root, or cannot be resolved like in `real_path`.

    Once inside, the path may go up through the root's parent folders, as an absolute link does, but into no other
    folder outside: whether that can be followed would show which folders exist. A link to itself leads nowhere, so it
    is taken for a missing file.

    Args:
        path: a path that need not exist.
        root: a real path.
    """
    if "\0" in path:
        return None
    current, rest = os.sep, [*reversed(os.path.join(os.getcwd(), path).split(os.sep))]
    links = names = steps = 0
    followed: list[tuple[str, int]] = []
    """Links whose target is being followed, each with the number of names in `rest` that are not of its target."""
    has_been_inside = False
    while rest:
        name, steps = rest.pop(), steps + 1
        while followed and followed[-1][1] > len(rest):
            followed.pop()
        if name in ("", os.curdir):
            continue
        if steps > _MAX_STEPS or (name == os.pardir and not os.path.isdir(current)):
            return None
        following = os.path.dirname(current) if name == os.pardir else os.path.join(current, name)
        if has_been_inside and not (_has(root, following) or _has(following, root)):
            return None
        try:
            target = os.readlink(following)
        except OSError as error:
            if error.errno not in _NO_LINK:
                return None
        else:
            parts = target.split(os.sep)
            links, names = links + 1, names + len(parts)
            leads_to_itself = any(following == link for link, _ in followed)
            if (
                links > _MAX_LINKS
                or names > _MAX_TARGET_NAMES
                or (leads_to_itself and (rest or os.path.exists(following)))
            ):
                return None
            if not leads_to_itself:
                followed.append((following, len(rest)))
                current = os.sep if os.path.isabs(target) else current
                rest += reversed(parts)
                continue
        current = following
        has_been_inside = has_been_inside or _has(root, current)
    return current if _has(root, current) else None


def _has(folder: str, path: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def is_of_git(path: str) -> bool:
    """Return whether a path is or is in a folder ``.git``, ignoring case because some file systems do."""
    return GIT in path.lower().split(os.sep)


def check_inside_repository(path: str) -> None:
    """Raise InputError if a path leaves its repository through a link."""
    if real_path_in(path, os.sep) == os.path.abspath(path):
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
    own = os.path.join(real_path(folder), GIT)
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
        leads_to_git = path not in (folder, own) and os.path.lexists(own) and lies_in(own, real_path(path))
        if leads_to_git or (is_of_git(os.path.basename(path)) and not (beside_git and path == own)):
            raise InputError("Helm would read git's files here; remove them", Place(shown_path(path)))
        if path != own and not is_within(path, root):
            words = (
                f"this symbolic link leaves {shown_path(root)} or cannot be resolved, and Helm may follow it; remove it"
            )
            raise InputError(words, Place(shown_path(path)))


def links_below(folder: str, visited: set[str]) -> Iterator[str]:
    """Yield the folder itself, and the links and ``.git`` folders below it, also in linked folders."""
    yield folder
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        real = real_path(current)
        if real in visited or not os.path.isdir(current):
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
