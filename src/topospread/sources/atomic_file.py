"""Write files atomically, and never through a symbolic link that leaves the file's folder or repository."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from topospread.errors import InputError, Place

from .roots import check_inside_repository, is_within, real_path, real_path_in

_PRIVATE = 0o600
_SHARED = 0o666
"""Permissions before the umask applies."""


@contextmanager
def replacing(path: str, *, private: bool = False) -> Iterator[BinaryIO]:
    """Yield a file that replaces the one at `path` when the block ends without an error.

    The content is written to a new file in the same folder, which is then renamed. An error or interrupt leaves the old
    file unchanged. A device or pipe at `path` is written directly.

    Args:
        path: file to write. If it is a symbolic link, its target must be in the same folder. If its folder is reached
            through a link, the folder must be in the same repository or working directory.
        private: whether only the owner may read the new file. By default the mode of the old file is kept.

    Raises:
        InputError: if the file cannot be written, or if a symbolic link leads elsewhere.
    """
    target = _target(path)
    try:
        if _is_special(target):
            with open(target, "wb") as file:
                yield file
            return
        part = os.path.join(os.path.dirname(target), f".topospread-{secrets.token_hex(8)}.part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        handle = os.open(part, flags, _PRIVATE if private else _SHARED)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if not private:
                with suppress(FileNotFoundError):
                    os.chmod(part, stat.S_IMODE(os.stat(target).st_mode))
            os.replace(part, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(part)
            raise
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", Place(path)) from error


def write_file(path: str, data: str | bytes) -> None:
    """Replace a file's content atomically. Text is encoded as UTF-8. Raise InputError like `replacing`."""
    with replacing(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def _target(path: str) -> str:
    """Return the file that `path` names, with symbolic links resolved.

    Raises:
        InputError: if `path` is a link out of its folder, or if its folder is reached through a link out of the
            working directory or the repository.
    """
    folder, name = os.path.split(path)
    folder, here = folder or ".", real_path(".")
    words = "cannot be written: a symbolic link leads out of the folder, or to git's files; remove it"
    if os.path.commonpath([os.path.abspath(folder), here]) == here and not is_within(folder, here):
        raise InputError(words, Place(path))
    check_inside_repository(folder)
    real_folder = real_path_in(folder, os.sep)
    named = os.path.join(real_folder or folder, name)
    if real_folder is None or (os.path.islink(named) and not is_within(named, real_folder)):
        raise InputError(words, Place(path))
    return real_path(named)


def _is_special(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
