"""The programs of others that judge what is released."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.release.pythons import PROGRAMS, ROOT


@pytest.fixture(scope="session")
def release_programs() -> Path:
    """The folder with krew, its check of manifests, actionlint and BuildKit's check of Dockerfiles."""
    subprocess.run([ROOT / "release" / "programs" / "build.sh", PROGRAMS], check=True)
    return PROGRAMS
