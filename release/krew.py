"""The plugin for krew: an archive with the wheel and a launcher, and the manifest that names it; it uploads nothing.

krew unpacks an archive and links one program of it; it installs no Python packages. The launcher does, at its first
start, from the wheel that it came with.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from pathlib import Path

from topospread.version import __version__

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "deploy" / "krew"
HOME = "TOPOSPREAD_HOME_PAGE"
"""Environment variable with the address of the repository that the archive is released from."""


def write_plugin(wheel: Path, folder: Path) -> tuple[Path, Path]:
    """The archive and the manifest, written to a folder. Equal wheels give equal archives."""
    archive = folder / f"kubectl-topospread-{__version__}.tar.gz"
    members = [(SOURCE / "kubectl-topospread", 0o755), (wheel, 0o644), (ROOT / "LICENSE", 0o644)]
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as made:
        for path, mode in members:
            data = path.read_bytes()
            member = tarfile.TarInfo(path.name)
            member.size, member.mode = len(data), mode
            made.addfile(member, io.BytesIO(data))
    archive.write_bytes(gzip.compress(written.getvalue(), mtime=0))
    manifest = folder / "topospread.yaml"
    text = (SOURCE / "topospread.yaml").read_text(encoding="utf-8")
    for name, value in {
        "HOME_PAGE": os.environ.get(HOME, "https://github.com/OWNER/topospread"),
        "VERSION": __version__,
        "SHA256": hashlib.sha256(archive.read_bytes()).hexdigest(),
    }.items():
        text = text.replace("${" + name + "}", value)
    manifest.write_text(text, encoding="utf-8")
    return archive, manifest
