"""Programs that Go builds, kept outside the clone: every clone and every run finds what another one has built.

    python -m conformance.kept NAME OUT --from SOURCE… --build COMMAND…

A build is found by everything that it is made of: the text of its sources, its command and Go's version. It stands in
``~/.cache/topospread/programs`` or, if it is set, in ``TOPOSPREAD_PROGRAMS``; ``OUT`` gets a link to each program.
The word ``{}`` of the command is the folder to build into.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

UNUSED = 30 * 24 * 3600.0
"""Seconds after which a build that no clone has used is removed."""


def kept(
    name: str, out: Path, sources: Iterable[Path], build: Sequence[str | Path], log: IO[bytes] | None = None
) -> None:
    """Link a build's programs into ``out``; run its command first if the build is not kept yet.

    Args:
        name: a name for the build, which other builds do not have
        out: folder that gets the links
        sources: files and folders that the programs are made of
        build: command that builds into the folder ``{}``
        log: file for everything that the command prints

    Raises:
        subprocess.CalledProcessError: if the command fails
    """
    folder = _folder()
    there = folder / f"{name}-{_digest(sources, build)}"
    if not there.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder, prefix="building-"))
        try:
            words = [made if word == "{}" else word for word in build]
            error = subprocess.STDOUT if log else None
            subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=error)
            with contextlib.suppress(OSError):  # another clone was faster
                made.rename(there)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    os.utime(there)
    _forget(folder)
    out.mkdir(parents=True, exist_ok=True)
    for program in there.iterdir():
        link = out / f".{program.name}.{os.getpid()}"
        link.symlink_to(program)
        link.replace(out / program.name)


def _folder() -> Path:
    named = os.environ.get("TOPOSPREAD_PROGRAMS")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(named) if named else Path(cache) / "topospread" / "programs"


def _digest(sources: Iterable[Path], build: Sequence[str | Path]) -> str:
    go = subprocess.run(["go", "version"], stdout=subprocess.PIPE, check=True).stdout
    digest = hashlib.sha256(go + repr([Path(word).name for word in build]).encode())
    for source in sources:
        files = sorted(source.rglob("*")) if source.is_dir() else [source]
        for file in files:
            if file.is_file() and file.suffix != ".md":
                digest.update(f"{file.relative_to(source.parent)}\0".encode())
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _forget(folder: Path) -> None:
    """Remove the builds that were not used for long."""
    for each in folder.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - each.stat().st_mtime > UNUSED:
                shutil.rmtree(each, ignore_errors=True)


def main() -> int:
    """Do what the command line says; return 1 if the build fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("out", type=Path)
    parser.add_argument("--from", dest="sources", nargs="+", type=Path, required=True)
    parser.add_argument("--build", nargs="+", required=True)
    given = parser.parse_args()
    try:
        kept(given.name, given.out, given.sources, given.build)
    except subprocess.CalledProcessError as error:
        print(f"{given.name}: the build ended with exit code {error.returncode}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
