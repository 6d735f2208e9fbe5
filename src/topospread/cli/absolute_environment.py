"""Keep Python and the system from importing modules and libraries from the folder that a server reads."""

from __future__ import annotations

import os
import sys
from typing import Final

_PATHS: Final = {"PYTHONPATH", "PYTHONPYCACHEPREFIX", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}
"""Environment variables by which they find modules and libraries."""


def absolute_environment() -> dict[str, str]:
    """Return the environment without relative paths to modules and libraries."""
    from topospread.sources.renderers import absolute_entries

    found = dict(os.environ)
    for name in _PATHS & found.keys():
        found[name] = absolute_entries(found[name])
        if not found[name]:
            del found[name]
    return found


def restart_without_relative_paths() -> None:
    """Start this command again if its environment has relative paths to modules and libraries.

    The system reads some of these variables only when a process starts.
    """
    if (environment := absolute_environment()) != dict(os.environ):
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)
