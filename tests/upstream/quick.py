"""Runs the cases of quick.txt, a few of Kubernetes' integration tests; what they ask of a scheduler is theirs.

    EXTERNAL_SCHEDULER=… python quick.py BIN LOGS

It fails where a case fails or was not run, so that none goes missing as Kubernetes renames it. The tests wait for some
seconds only, which on a busy machine an external scheduler needs to start: a case that fails is tried again by itself,
and has to pass within three tries. BIN has <package>.test and etcd, what they print goes into LOGS.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TRIES = 3
LONGEST = "8m"
"""That one package may take in one try."""
_VERDICT = re.compile(r"^ *--- (PASS|FAIL|SKIP): (\S+)", re.MULTILINE)
_OWN = "EXTERNAL: no"
"""What a test prints that was judged with Kubernetes' scheduler."""


def listed(text: str) -> dict[str, list[str]]:
    """The cases of a list, by package."""
    cases: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            package, name = line.split(" ")
            cases.setdefault(package, []).append(name)
    return cases


def pattern(names: list[str]) -> str:
    """What ``-test.run`` takes for exactly these."""
    return "|".join("/".join(f"^{re.escape(part)}$" for part in name.split("/")) for name in names)


def verdicts(printed: str) -> dict[str, str]:
    """PASS, FAIL or SKIP of each case that was run; none where Kubernetes' own scheduler was judged."""
    return {} if _OWN in printed else {name: verdict for verdict, name in _VERDICT.findall(printed)}


def run(binary: Path, names: list[str], log: Path) -> dict[str, str]:
    """Run cases of a package, with etcd's data in memory where there is such a place."""
    memory = Path("/dev/shm")
    with (
        tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder,
        log.open("a") as said,
    ):
        environment = {**os.environ, "PATH": f"{binary.parent}:{os.environ['PATH']}", "TMPDIR": folder}
        words = [str(binary), "-test.v", f"-test.timeout={LONGEST}", "-test.run", pattern(names)]
        done = subprocess.run(
            words,
            cwd=folder,
            env=environment,
            check=False,
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=said,
        )
        said.write(done.stdout)
    return verdicts(done.stdout)


def judged(binary: Path, names: list[str], log: Path) -> dict[str, str]:
    """The cases that did not pass, with what became of them last."""
    left = dict.fromkeys(names, "")
    for attempt in range(1, TRIES + 1):
        found = run(binary, list(left), log)
        left = {name: found.get(name, "not run") for name in left if found.get(name) != "PASS"}
        if not left:
            break
        print(f"  try {attempt}: {len(left)} of {binary.stem} did not pass", flush=True)
    return left


def main() -> int:
    """Run what is listed; 1 where something did not pass."""
    programs, logs = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    failed = 0
    for package, names in listed((HERE / "quick.txt").read_text()).items():
        started, log = time.monotonic(), logs / f"upstream-quick-{package}.log"
        log.unlink(missing_ok=True)
        left = judged(programs / f"{package}.test", names, log)
        print(
            f"{package}: {len(names) - len(left)} of {len(names)} passed, {time.monotonic() - started:.0f} s",
            flush=True,
        )
        for name, verdict in left.items():
            print(f"  {verdict}: {name} ({log})")
        failed += len(left)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
