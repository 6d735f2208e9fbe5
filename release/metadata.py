"""What a release says of itself: its version, what changed, its dependencies' licences; it builds nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

KINDS = ("added", "changed", "fixed", "removed")
_FRAGMENT = re.compile(r"[a-z0-9-]+\.(?:" + "|".join(KINDS) + r")\.md")
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")

ALLOWED = frozenset(
    {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "PSF-2.0", "Python-2.0"}
    | {"Zlib"}
)
"""Licences, as SPDX names them, under which what topospread needs may come: none asks that ours be another."""
_NAMED = {
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "Apache Software License 2.0": "Apache-2.0",
    "Dual License": "Apache-2.0 OR BSD-3-Clause",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: MIT License": "MIT",
    "MIT License": "MIT",
}
"""What older packages write → the SPDX expression that they mean."""


def fragment_faults(folder: Path) -> list[str]:
    """What is wrong with the fragments of a change log, in the words of ``changelog.d/README.md``."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.name == "README.md":
            continue
        text = path.read_text(encoding="utf-8")
        if not _FRAGMENT.fullmatch(path.name):
            found.append(f"{path.name}: its name is no <words-of-the-change>.<kind>.md; kinds are {', '.join(KINDS)}")
        if not text.strip():
            found.append(f"{path.name}: it says nothing")
        if re.search(r"^(#|[-*] )", text, re.MULTILINE):
            found.append(f"{path.name}: a heading or a list")
    return found


def version_faults(version: str, changelog: str, tag: str | None) -> list[str]:
    """What speaks against releasing a version; ``tag`` is the tag that asks for it, ``None`` before there is one."""
    found = []
    if not _VERSION.fullmatch(version):
        found.append(f"{version!r} is no version X.Y.Z")
    if tag is not None:
        if tag != f"v{version}":
            found.append(f"the tag is {tag}, the version in src/topospread/version.py {version}")
        if not re.search(rf"^## {re.escape(version)}\b", changelog, re.MULTILINE):
            found.append(f"CHANGELOG.md has no heading '## {version}'")
    return found


def licence_faults(bill: dict[str, Any]) -> list[str]:
    """Components of a bill of materials (CycloneDX) whose licence is not allowed, or not told."""
    found = []
    for component in bill.get("components", []):
        told = [_told(each) for each in component.get("licenses", [])]
        if not any(_allowed(each) for each in told):
            found.append(f"{component['name']} {component.get('version')}: {', '.join(told) or 'no licence is told'}")
    return found


def _told(entry: dict[str, Any]) -> str:
    licence = entry.get("license", {})
    name = str(entry.get("expression") or licence.get("id") or licence.get("name") or "")
    return _NAMED.get(name, name)


def _allowed(expression: str) -> bool:
    """Whether an SPDX expression without parentheses can be kept to: all of one of its alternatives."""
    return any(
        all(part.strip() in ALLOWED for part in alternative.split(" AND ")) for alternative in expression.split(" OR ")
    )


def read_bill(path: Path) -> dict[str, Any]:
    """A bill of materials."""
    bill: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return bill
