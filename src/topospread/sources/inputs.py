"""Paths as they are given, as texts."""

from __future__ import annotations

import os
from collections.abc import Sequence

Path = str | os.PathLike[str]


def paths_of(given: Path | Sequence[Path]) -> list[str]:
    """The paths as texts, in their order."""
    return [os.fspath(path) for path in ([given] if isinstance(given, str | os.PathLike) else given)]
