"""``make release-check``: builds what would be released and holds it to all that can be checked beforehand.

    python -m release.check             what is built is left in build/release/dist

An sdist, the wheel that comes out of that sdist alone, a bill of materials, the archive and the manifest for krew.
It publishes nothing. Exit code 1 where something is wrong.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from release.krew import write_plugin
from release.metadata import fragment_faults, licence_faults, read_bill, version_faults
from topospread.version import __version__

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "release"
TOOLS = WORK / "tools" / "bin"
DIST = WORK / "dist"
TAG = "TOPOSPREAD_RELEASE_TAG"
"""Environment variable with the tag that asks for the release."""


def run(*words: str | Path, cwd: Path = ROOT) -> None:
    """Run a program quietly; what it says is shown when it fails."""
    done = subprocess.run([*map(str, words)], cwd=cwd, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{Path(words[0]).name} failed:\n{done.stdout}{done.stderr}")


def emptied(folder: Path) -> Path:
    """A folder with nothing in it."""
    for path in sorted(folder.rglob("*"), reverse=True) if folder.exists() else ():
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def build() -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from what the sdist holds, away from the repository."""
    emptied(DIST)
    run(TOOLS / "python", "-m", "hatchling", "build", "-t", "sdist", "-d", DIST)
    source = DIST / f"topospread-{__version__}.tar.gz"
    unpacked = emptied(WORK / "unpacked")
    with tarfile.open(source) as archive:
        archive.extractall(unpacked, filter="data")
    run(TOOLS / "python", "-m", "hatchling", "build", "-t", "wheel", "-d", DIST, cwd=unpacked / source.name[:-7])
    return source, DIST / f"topospread-{__version__}-py3-none-any.whl"


def content_faults(wheel: Path) -> list[str]:
    """What the wheel lacks of the package that is in the repository, and what it has besides."""
    listed = subprocess.run(
        ["git", "ls-files", "src/topospread"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    wanted = {name.removeprefix("src/") for name in listed if (ROOT / name).exists()}
    with zipfile.ZipFile(wheel) as archive:
        there = {name for name in archive.namelist() if ".dist-info/" not in name}
    lacking, besides = sorted(wanted - there), sorted(there - wanted)
    return [f"the wheel lacks {name}" for name in lacking] + [f"the wheel has {name}, git does not" for name in besides]


def bill_of_materials(wheel: Path) -> Path:
    """What an installation with every extra of a cluster consists of, as CycloneDX."""
    environment = WORK / "image"
    run(TOOLS / "uv", "venv", "--quiet", "--clear", "--python", sys.executable, environment)
    install = (TOOLS / "uv", "pip", "install", "--quiet", "--python", environment / "bin" / "python")
    run(*install, "--require-hashes", "-r", ROOT / "requirements" / "image.txt")
    run(*install, "--no-deps", wheel)
    made = DIST / f"topospread-{__version__}.cdx.json"
    words = ("environment", "--pyproject", ROOT / "pyproject.toml", "--mc-type", "application", "--output-reproducible")
    run(TOOLS / "cyclonedx-py", *words, "--output-file", made, environment / "bin" / "python")
    return made


def main() -> int:
    """Build, check, and say what was found."""
    source, wheel = build()
    run(TOOLS / "twine", "check", "--strict", source, wheel)
    bill = bill_of_materials(wheel)
    write_plugin(wheel, DIST)
    faults = [
        *version_faults(__version__, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), os.environ.get(TAG) or None),
        *fragment_faults(ROOT / "changelog.d"),
        *content_faults(wheel),
        *licence_faults(read_bill(bill)),
    ]
    for fault in faults:
        print(f"release: {fault}", file=sys.stderr)
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size:>9,} {path.relative_to(ROOT)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
