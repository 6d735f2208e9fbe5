"""The Pythons that this machine has and topospread supports, and environments of them with nothing in them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "build" / "release" / "dist"
PROGRAMS = ROOT / "build" / "release" / "programs"
UV = ROOT / "build" / "release" / "tools" / "bin" / "uv"
NAMES = [f"python3.{minor}" for minor in range(11, 20)]
EMPTY = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
"""An environment in which nothing of the repository is found, and nothing that the user has set."""
INSTALLER = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
"""What installers may know besides: how the package index is reached."""


def supported() -> dict[str, Path]:
    """``3.12`` → an interpreter: those on the path, of pyenv, and the one that runs this."""
    places = [Path("/usr/bin"), Path("/usr/local/bin"), *sorted(Path.home().glob(".pyenv/versions/*/bin"))]
    places += sorted(Path("/opt/hostedtoolcache/Python").glob("*/*/bin"))
    found = {f"{sys.version_info.major}.{sys.version_info.minor}": Path(sys.executable)}
    for place in places:
        for name in NAMES:
            if (place / name).exists():
                found.setdefault(name.removeprefix("python"), place / name)
    return dict(sorted(found.items()))


def wheel() -> Path:
    """The wheel that ``python -m release.check`` has built."""
    (found,) = DIST.glob("*.whl")
    return found


def environment(folder: Path, python: Path, pins: str) -> Path:
    """An environment with the wheel and what is pinned for it in ``requirements/``; its folder of programs."""
    install = [UV, "pip", "install", "--quiet", "--python", folder / "bin" / "python"]
    subprocess.run([UV, "venv", "--quiet", "--python", python, folder], check=True)
    subprocess.run([*install, "--require-hashes", "-r", ROOT / "requirements" / pins], check=True)
    subprocess.run([*install, "--no-deps", wheel()], check=True)
    return folder / "bin"
