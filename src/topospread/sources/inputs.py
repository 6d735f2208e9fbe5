"""Convert path arguments to strings."""

from __future__ import annotations

import os
from collections.abc import Sequence

Path = str | os.PathLike[str]


def paths_of(given: Path | Sequence[Path]) -> list[str]:
    """Return the paths as strings, in order."""
    return [os.fspath(path) for path in ([given] if isinstance(given, str | os.PathLike) else given)]
