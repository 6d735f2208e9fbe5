"""Files that tests of several modules write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Return a function that writes objects as YAML documents into a file, and returns its path."""

    def write_file(name: str, *values: object) -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("---\n".join(map(yaml.safe_dump, values)))
        return str(path)

    return write_file
