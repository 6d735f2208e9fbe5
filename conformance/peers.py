"""Other linters on the very files that show our rules: which of their checks tell the wrong example from the right one.

python -m conformance.peers

It runs the real programs, each with every check that it has: kube-score is built from its Go module; kube-linter and
polaris are taken from `PEERS_BIN=DIR` or PATH (so is kube-score where it stands there). What they find is stored in
`tests/conformance/peers.json`, from which `docs/reference/write_peers.py` writes the page. It compares nothing itself.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.programs import ROOT, ProgramError
from topospread.linting.rules import RULES

BUILD = ROOT / "build" / "peers"
STORED = ROOT / "tests" / "conformance" / "peers.json"
KUBE_SCORE = "github.com/zegl/kube-score@v1.20.0"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Peer:
    """Another linter.

    Attributes:
        name: of its program.
        version: the arguments that make it say its version.
        arguments: what comes before the file, with every check on that reads nothing but the file.
        found: from what it prints to the ids of the checks that fail.
    """

    name: str
    version: tuple[str, ...]
    arguments: tuple[str, ...]
    found: Callable[[Json | list[Json]], set[str]]


def _kube_score(printed: Any) -> set[str]:
    failed = [
        each for thing in printed or () for each in thing["checks"] or () if not each["skipped"] and each["grade"] < 10
    ]
    return {each["check"]["id"] for each in failed}


def _kube_linter(printed: Any) -> set[str]:
    return {each["Check"] for each in printed["Reports"] or ()}


def _polaris(printed: Any) -> set[str]:
    found: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if value.get("Success") is False and "ID" in value:
                found.add(value["ID"])
            value = list(value.values())
        for each in value if isinstance(value, list) else ():
            look(each)

    look(printed.get("Results"))
    return found


PEERS = (
    Peer("kube-score", ("version",), ("score", "--all-default-optional", "-o", "json"), _kube_score),
    Peer(
        "kube-linter",
        ("version",),
        # Its schemas come from the network.
        ("lint", "--format", "json", "--add-all-built-in", "--exclude", "schema-validation"),
        _kube_linter,
    ),
    Peer("polaris", ("version",), ("audit", "--format", "json", "--audit-path"), _polaris),
)


def program(peer: Peer) -> str:
    """The peer's program, kube-score's built where there is none.

    Raises:
        ProgramError: there is none.
    """
    path = os.pathsep.join(filter(None, (os.environ.get("PEERS_BIN"), str(BUILD), os.environ.get("PATH"))))
    found = shutil.which(peer.name, path=path)
    if found is None and peer.name == "kube-score":
        found = _built(KUBE_SCORE)
    if found is None:
        raise ProgramError(f"{peer.name} is not on PATH: install it, or say PEERS_BIN=DIR")
    return found


def _built(module: str) -> str:
    package, _, version = module.partition("@")
    name = package.rpartition("/")[2]
    print(f"building {name} {version}", file=sys.stderr)
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        Path(folder, "go.mod").write_text("module peers\n\ngo 1.26\n")
        for command in (
            ["get", f"{package}/cmd/{name}@{version}"],
            ["build", "-o", str(BUILD / name), f"{package}/cmd/{name}"],
        ):
            done = subprocess.run(["go", *command], cwd=folder, stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                raise ProgramError(f"{name} cannot be built: {done.stderr.strip()[-500:]}")
    return str(BUILD / name)


def version(peer: Peer, command: str) -> str:
    """The version that a program says it is; that of its module where it was built here."""
    said = subprocess.run([command, *peer.version], capture_output=True, text=True, check=False).stdout
    number = re.search(r"\d+\.\d+\.\d+", said)
    if number is None and peer.name == "kube-score":
        number = re.search(r"\d+\.\d+\.\d+", KUBE_SCORE)
    return number.group() if number else "unreleased"


def failing(peer: Peer, command: str, manifests: str) -> list[str]:
    """The ids of the checks that fail on some manifests, sorted.

    Raises:
        ProgramError: what it prints is no use.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "manifests.yaml")
        file.write_text(manifests)
        done = subprocess.run([command, *peer.arguments, str(file)], capture_output=True, text=True, check=False)
    try:
        return sorted(peer.found(json.loads(done.stdout)))
    except ValueError:
        if peer.name == "kube-score" and "Failed to" in done.stderr + done.stdout:
            return []  # It reads no such object.
        raise ProgramError(f"{peer.name}: {done.stderr.strip()[-300:] or done.stdout[:300]}") from None


def main() -> None:
    """Ask every peer about every rule's examples, and store what each finds."""
    asked = [(peer, program(peer)) for peer in PEERS]
    versions = {peer.name: version(peer, command) for peer, command in asked}
    found: dict[str, Json] = {}
    for number, rule in enumerate(RULES):
        print(f"\r{number + 1} of {len(RULES)} ", end="", file=sys.stderr)
        found[rule.id] = {
            peer.name: {
                "wrong": failing(peer, command, rule.wrong.manifests),
                "right": failing(peer, command, rule.right.manifests),
            }
            for peer, command in asked
        }
    STORED.write_text(json.dumps({"versions": versions, "rules": found}, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except ProgramError as error:
        sys.exit(f"error: {error}")
