"""Other linters on the very files that show our rules: which of their checks tell the wrong example from the right one.

python -m conformance.peers

python -m conformance.peers --check    # whether they still find what is stored

It runs the real programs, each with every check that it has: those of `PEERS_BIN=DIR` or PATH, else built from their Go
modules. What they find is stored in `tests/conformance/peers.json`, from which `docs/reference/write_peers.py` writes
the page. It compares nothing itself.
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
from topospread.lint.rules import RULES

BUILD = ROOT / "build" / "peers"
STORED = ROOT / "tests" / "conformance" / "peers.json"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Peer:
    """Another linter.

    Attributes:
        name: of its program.
        release: the version that is built where there is no program.
        module: its Go module, and by what Go gets that version.
        package: where in the module the program is.
        arguments: what comes before the file, with every check on that reads nothing but the file.
        found: from what it prints to the ids of the checks that fail.
    """

    name: str
    release: str
    module: str
    package: str
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
    Peer(
        "kube-score",
        "1.20.0",
        "github.com/zegl/kube-score@v1.20.0",
        "/cmd/kube-score",
        ("score", "--all-default-optional", "-o", "json"),
        _kube_score,
    ),
    Peer(
        "kube-linter",
        "0.8.3",
        "golang.stackrox.io/kube-linter@v0.8.3",
        "/cmd/kube-linter",
        # Its schemas come from the network.
        ("lint", "--format", "json", "--add-all-built-in", "--exclude", "schema-validation"),
        _kube_linter,
    ),
    Peer(
        "polaris",
        "10.2.2",
        # The path of its module does not say v10, so Go takes the release by its commit.
        "github.com/fairwindsops/polaris@dafa0b74fc09a9505849b0a6f8c78f1c364d0112",
        "",
        ("audit", "--format", "json", "--audit-path"),
        _polaris,
    ),
)


def program(peer: Peer) -> str:
    """The peer's program, built where there is none.

    Raises:
        ProgramError: it cannot be built.
    """
    path = os.pathsep.join(filter(None, (os.environ.get("PEERS_BIN"), str(BUILD), os.environ.get("PATH"))))
    return shutil.which(peer.name, path=path) or _built(peer)


def _built(peer: Peer) -> str:
    name, (module, _, wanted) = peer.name, peer.module.partition("@")
    package = module + peer.package
    print(f"building {name} {wanted}", file=sys.stderr)
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        Path(folder, "go.mod").write_text("module peers\n\ngo 1.26\n")
        for command in (
            ["get", f"{package}@{wanted}"],
            ["build", "-o", str(BUILD / name), package],
        ):
            done = subprocess.run(["go", *command], cwd=folder, stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                why = done.stderr.strip()[-500:]
                raise ProgramError(f"{name} cannot be built (PEERS_BIN=DIR takes a built one): {why}")
    return str(BUILD / name)


def version(peer: Peer, command: str) -> str:
    """The version that a program was built of, as Go says, or that it says itself."""
    built = _said(["go", "version", "-m", command])
    own = [line for line in built.splitlines() if re.match(r"\t(mod\t|build\tvcs\.revision=)", line)]
    if any(peer.module.partition("@")[2] in line for line in own):
        return peer.release
    number = re.search(r"\d+\.\d+\.\d+", _said([command, "version"]))
    return number.group() if number else "unreleased"


def _said(words: list[str]) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


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


def asked() -> Json:
    """What every peer finds in every rule's examples, and of which versions they are."""
    programs = [(peer, program(peer)) for peer in PEERS]
    found: dict[str, Json] = {}
    for number, rule in enumerate(RULES):
        print(f"\r{number + 1} of {len(RULES)} ", end="", file=sys.stderr)
        found[rule.id] = {
            peer.name: {
                "wrong": failing(peer, command, rule.wrong.manifests),
                "right": failing(peer, command, rule.right.manifests),
            }
            for peer, command in programs
        }
    print(file=sys.stderr)
    return {"versions": {peer.name: version(peer, command) for peer, command in programs}, "rules": found}


def differences(stored: Json, found: Json) -> list[str]:
    """What is found otherwise than it is stored, a line each."""
    lines = [f"versions: {stored['versions']} stored, {found['versions']} now"]
    lines = lines if stored["versions"] != found["versions"] else []
    for rule in sorted({*stored["rules"], *found["rules"]}):
        before, now = (each["rules"].get(rule, {}) for each in (stored, found))
        lines += [
            f"{rule}, {peer}: {before.get(peer)} stored, {now[peer]} now"
            for peer in now
            if before.get(peer) != now[peer]
        ]
        lines += [f"{rule}: stored, and no rule any more"] if not now else []
    return lines


def main() -> int:
    """Ask every peer about every rule's examples; store what each finds, or hold it against what is stored."""
    found = asked()
    if "--check" not in sys.argv[1:]:
        STORED.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    lines = differences(json.loads(STORED.read_text()), found)
    print("\n".join(lines) or f"{len(found['rules'])} rules: as stored")
    return 1 if lines else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ProgramError as error:
        sys.exit(f"error: {error}")
