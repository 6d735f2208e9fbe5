"""Run random cases for some seconds and print what is wrong: ``python -m tests.fuzz --seconds 600``."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from pathlib import Path

from .cases import COMMANDS, Case, draw_case
from .run import problem_of

KEPT = Path("build/fuzz")


def cause_of(problem: str) -> str:
    """Return the line that tells one cause from another: the last place and the exception."""
    lines = [line.strip() for line in problem.splitlines() if line.strip()]
    places = [line for line in lines if line.startswith("File ")]
    raised = [line for line in lines if "Error" in line and not line.startswith(("File ", "error:"))]
    return " | ".join([lines[0], *places[-1:], *(line[:120] for line in raised[-1:])])


def keep(case: Case, problem: str) -> Path:
    """Write a case's files and its problem into a folder."""
    folder = KEPT.absolute() / str(case.seed)
    for name, data in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "PROBLEM").write_text(f"{case.arguments!r}\n{problem}", encoding="utf-8", errors="backslashreplace")
    return folder


def main() -> int:
    """Run cases until the time is over; return 1 if one has a problem."""
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 40))
    parser.add_argument("--command", choices=COMMANDS, default="")
    parser.add_argument("--one", action="store_true", help="run only the case of --seed")
    given = parser.parse_args()
    os.environ["KUBECONFIG"] = "/nonexistent"
    end = time.monotonic() + given.seconds
    causes: dict[str, int] = {}
    number = 0
    slowest = (0.0, 0)
    while number == 0 or (time.monotonic() < end and not given.one):
        seed = given.seed + number
        case = draw_case(seed, given.command)
        began = time.monotonic()
        problem = problem_of(case)
        slowest = max(slowest, (time.monotonic() - began, seed))
        number += 1
        if problem:
            cause = cause_of(problem)
            causes[cause] = causes.get(cause, 0) + 1
            if causes[cause] == 1:
                where = keep(case, problem)
                print(f"seed {seed}: {cause} ({where})", flush=True)
    print(
        f"{number} cases from seed {given.seed}: {len(causes)} causes; slowest {slowest[0]:.1f} s (seed {slowest[1]})"
    )
    for cause, times in sorted(causes.items(), key=lambda each: -each[1]):
        print(f"  {times:5}  {cause}")
    return 1 if causes else 0


if __name__ == "__main__":
    sys.exit(main())
