"""Judges fresh random cases twice, by kube-scheduler's own plugins and by topospread, and reports where they differ.

A new seed each run, printed; ``--seed`` repeats one. Ends with 0 when all verdicts agree, 1 when any differs, 2 when
something needed is missing.

    python -m conformance.run [--seed N] [--flavours spread,large] [--count N] [--oracle-bin DIR] [--stored | --store]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.compare import Difference, agreeing_verdicts, validation_differences, verdict_differences
from conformance.generate import Recipe, cases
from conformance.programs import ROOT, Program, ProgramError, Run, Running, oracle, python_program
from conformance.stored import store, stored
from topospread.config.gates import KEP_5980

Json = dict[str, Any]

JUDGE = ROOT / "conformance" / "judge.py"
WORK = ROOT / "build" / "conformance"
DIFFERENCES_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Flavour:
    """A kind of cases: its name (stored files have the same), how many a run, how they are made, who judges them.

    ``recipe`` None: ``generator`` makes the cases; unless another program judges, they are objects to be validated.
    ``judge``: another program than the oracle.
    """

    name: str
    count: int
    recipe: Recipe | None
    version: str = "1.37"
    judge: str = ""
    generator: str = "generate_invalid.py"

    @property
    def program(self) -> str:
        """Name of the program that judges."""
        return self.judge or ("validate" if self.validates else f"oracle-{self.version}")

    @property
    def validates(self) -> bool:
        """Whether the cases are objects to be validated."""
        return self.recipe is None and not self.judge


FLAVOURS = {
    flavour.name: flavour
    for flavour in (
        Flavour("spread", 250, Recipe("spread")),
        Flavour("replicas-spread", 30, Recipe("spread", sequential=30)),
        Flavour("large", 5, Recipe("spread", incoming=8, nodes=(100, 250))),
        Flavour("invalid", 1000, None),
        Flavour("others", 1000, None, generator="generate_others.py"),
        Flavour("config", 1000, None, generator="generate_config.py"),
        Flavour("mixed", 250, Recipe("mixed")),
        Flavour("replicas", 30, Recipe("mixed", sequential=30)),
        Flavour("requests", 120, Recipe("requests")),
        Flavour("volumes", 120, Recipe("volumes")),
        Flavour("storage", 150, Recipe("storage")),
        Flavour("preemption", 250, Recipe("preemption")),
        Flavour("profile", 150, Recipe("profile")),
        Flavour("corners", 250, Recipe("corners")),
        Flavour("corners-replicas", 30, Recipe("corners", sequential=20)),
        Flavour("sampling", 12, Recipe("sampling", incoming=25, nodes=(60, 400)), judge="sampling"),
        Flavour("sequences", 300, Recipe("eventful", nodes=(2, 8), steps=(5, 40)), judge="sequence"),
        Flavour("sequences-labelled", 60, Recipe("labelled", nodes=(2, 8), steps=(5, 40)), judge="sequence"),
        Flavour("queue", 300, None, judge="queue", generator="generate_queue.py"),
        Flavour("v1.36-corners", 60, Recipe("corners", kube_version="1.36"), "1.36"),
        Flavour("v1.35-corners", 60, Recipe("corners", kube_version="1.35"), "1.35"),
        Flavour("v1.36", 120, Recipe("every", kube_version="1.36"), "1.36"),
        Flavour("v1.35", 80, Recipe("mixed", kube_version="1.35"), "1.35"),
        Flavour("v1.35-volumes", 40, Recipe("volumes", kube_version="1.35"), "1.35"),
        Flavour("v1.35-storage", 60, Recipe("storage", kube_version="1.35"), "1.35"),
        Flavour("v1.35-every", 80, Recipe("every", kube_version="1.35"), "1.35"),
        Flavour("v1.34", 120, Recipe("every", kube_version="1.34"), "1.34"),
        Flavour("v1.33", 120, Recipe("every", kube_version="1.33"), "1.33"),
        Flavour("v1.31", 120, Recipe("every", kube_version="1.31"), "1.31"),
        Flavour("v1.30", 120, Recipe("every", kube_version="1.30"), "1.30"),
        Flavour("v1.29", 120, Recipe("every", kube_version="1.29"), "1.29"),
        Flavour("v1.28", 120, Recipe("every", kube_version="1.28"), "1.28"),
        Flavour("v1.27", 120, Recipe("spread", kube_version="1.27"), "1.27"),
        Flavour("v1.27-mixed", 60, Recipe("mixed", kube_version="1.27"), "1.27"),
        Flavour("v1.27-storage", 60, Recipe("storage", kube_version="1.27"), "1.27"),
        Flavour("v1.27-every", 120, Recipe("every", kube_version="1.27"), "1.27"),
        Flavour("KEP-5980", 250, Recipe("tainted", kube_version=KEP_5980), "KEP-5980"),
        Flavour("KEP-5980-replicas", 40, Recipe("tainted", sequential=20, kube_version=KEP_5980), "KEP-5980"),
        Flavour("v1.26", 120, Recipe("every", kube_version="1.26"), "1.26"),
    )
}
# Versions whose oracles a run does not build by itself; their stored cases are judged in every run of the tests.
NOT_BUILT = ("1.34", "1.33", "1.31", "1.30", "1.29", "1.28", "1.26")
# Proposed changes, which are asked for by name; their stored cases are judged in every run of the tests.
PREVIEWS = ("KEP-5980",)
# What a run judges when nothing else is asked: all that topospread claims to decide exactly.
DEFAULT = tuple(name for name, flavour in FLAVOURS.items() if flavour.version not in (*NOT_BUILT, *PREVIEWS))


@dataclass(frozen=True, slots=True)
class Failure:
    """A case on which the two judges differ."""

    case: Json
    ours: Json
    theirs: Json
    differences: list[Difference]


@dataclass(slots=True)
class Tally:
    """What came of one flavour."""

    cases: int = 0
    verdicts: int = 0
    agreed: int = 0
    failures: list[Failure] = field(default_factory=list)
    stopped: str = ""

    def add(self, case: Json, ours: Json, theirs: Json) -> None:
        """Count one case; ``ours`` is empty when topospread gave no answer."""
        self.cases += 1
        if "errors" in theirs:
            differences = validation_differences(ours, theirs)
            expected, agreed = 1, int(not differences)
        else:
            differences = verdict_differences(ours, theirs)
            expected = len(theirs["verdicts"] or [])
            agreed = agreeing_verdicts(ours, theirs)
        self.verdicts += expected
        self.agreed += agreed
        if differences:
            self.failures.append(Failure(case, ours, theirs, differences))


def main() -> int:
    """Run as the command line asks; returns the exit code."""
    options = _options()
    names = options.flavours.split(",") if options.flavours else FLAVOURS if options.stored else DEFAULT
    unknown = [name for name in names if name not in FLAVOURS]
    if unknown:
        print(f"no such flavour: {', '.join(unknown)}; there are {', '.join(FLAVOURS)}", file=sys.stderr)
        return 2
    flavours = [FLAVOURS[name] for name in names]
    if not options.flavours and options.oracle_bin and not options.stored:
        flavours = _without_missing(flavours, options.oracle_bin)
    try:
        return _run(flavours, options)
    except ProgramError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2


def _without_missing(flavours: list[Flavour], folder: Path) -> list[Flavour]:
    """Those whose judge is in the folder, as long as any is; the others are named."""
    missing = [each for each in flavours if not (folder / each.program).is_file()]
    if len(missing) == len(flavours):
        return flavours
    for each in missing:
        print(f"left out: {each.name}, {each.program} is not in {folder}", flush=True)
    return [each for each in flavours if each not in missing]


def _run(flavours: list[Flavour], options: argparse.Namespace) -> int:
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.stored:
        for flavour in flavours:
            _oracle(flavour, options)
        print(f'seed {options.seed} (again: make conformance ARGS="--seed {options.seed}")')
    print(f"{'flavour':<16}{'cases':>7}{'verdicts':>10}{'agree':>8}{'seconds':>9}", flush=True)
    failed, verdicts, agreed = False, 0, 0
    for flavour in flavours:
        begin = time.perf_counter()
        tally = _judge_stored(flavour, options) if options.stored else _judge_fresh(flavour, options)
        print(_row(flavour.name, tally, time.perf_counter() - begin), flush=True)
        failed |= _report(flavour.name, tally, options.out)
        verdicts += tally.verdicts
        agreed += tally.agreed
    print(f"{agreed} of {verdicts} verdicts agree with kube-scheduler's")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="conformance.run", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000_000), help="default: new")
    parser.add_argument("--flavours", help=f"of {', '.join(FLAVOURS)}; default {','.join(DEFAULT)}")
    parser.add_argument("--count", type=int, help="cases of each flavour instead of its usual number")
    parser.add_argument(
        "--oracle-bin",
        type=Path,
        default=os.environ.get("ORACLE_BIN") or None,
        metavar="DIR",
        help="folder of built oracles (default: ORACLE_BIN, else build/oracle, built when missing or out of date)",
    )
    parser.add_argument("--stored", action="store_true", help="judge the stored cases instead; needs no oracle")
    parser.add_argument("--store", action="store_true", help="keep cases and answers as stored ones")
    parser.add_argument("--judge", type=Path, default=JUDGE, help="the program that answers for topospread")
    parser.add_argument("--out", type=Path, default=WORK, metavar="DIR", help="where cases and answers are left")
    return parser.parse_args()


def _judge_fresh(flavour: Flavour, options: argparse.Namespace) -> Tally:
    """Both judges at once on new cases."""
    kube_scheduler = _oracle(flavour, options)
    made = _fresh(flavour, options.seed, options.count or flavour.count)
    path = _write(made, flavour, options)
    theirs = kube_scheduler.start(path, options.out / f"{flavour.name}.kube-scheduler.jsonl")
    ours = _start_ours(flavour, path, options).wait()
    reference = theirs.wait()
    if reference.failure or len(reference.answers) != len(made):
        raise ProgramError(
            reference.failure or f"{kube_scheduler.name} answered {len(reference.answers)} of {len(made)} cases"
        )
    if options.store:
        store(flavour.name, made, reference.answers)
    return _tally(made, ours, reference.answers)


def _oracle(flavour: Flavour, options: argparse.Namespace) -> Program:
    return oracle(flavour.program, flavour.version, options.oracle_bin)


def _judge_stored(flavour: Flavour, options: argparse.Namespace) -> Tally:
    """Our judge on the stored cases, whose verdicts are stored too."""
    made, reference = stored(flavour.name)
    path = _write(made, flavour, options)
    return _tally(made, _start_ours(flavour, path, options).wait(), reference)


def _fresh(flavour: Flavour, seed: int, count: int) -> list[Json]:
    if flavour.recipe is not None:
        return list(cases(flavour.recipe, seed, count))
    path = ROOT / "conformance" / flavour.generator
    made = python_program(path, "--seed", str(seed), "--count", str(count)).output()
    return [json.loads(line) for line in made.splitlines()]


def _write(made: list[Json], flavour: Flavour, options: argparse.Namespace) -> Path:
    path: Path = options.out / f"{flavour.name}.cases.jsonl"
    with path.open("w", encoding="utf-8") as out:
        # As YAML becomes JSON: kube-scheduler shows what it does not know byte for byte.
        out.writelines(json.dumps(case, separators=(",", ":"), ensure_ascii=False) + "\n" for case in made)
    return path


def _start_ours(flavour: Flavour, path: Path, options: argparse.Namespace) -> Running:
    arguments = ["--validate"] if flavour.validates else []
    return python_program(options.judge, *arguments).start(path, options.out / f"{flavour.name}.topospread.jsonl")


def _tally(made: list[Json], ours: Run, reference: list[Json]) -> Tally:
    tally = Tally(stopped=ours.failure)
    if not ours.failure and len(ours.answers) != len(made):
        tally.stopped = f"{len(ours.answers)} answers to {len(made)} cases"
    for i, (case, theirs) in enumerate(zip(made, reference, strict=True)):
        tally.add(case, ours.answers[i] if i < len(ours.answers) else {}, theirs)
    return tally


def _row(name: str, tally: Tally, seconds: float) -> str:
    return f"{name:<16}{tally.cases:>7}{tally.verdicts:>10}{tally.agreed:>8}{seconds:>9.1f}"


def _report(name: str, tally: Tally, out: Path) -> bool:
    """Write the first failing case and both answers to a file, and show where they differ."""
    if tally.stopped:
        print(f"  topospread's judge: {tally.stopped}")
    if not tally.failures:
        return bool(tally.stopped)
    first = tally.failures[0]
    path = out / f"{name}.failed.json"
    record = {"case": first.case, "topospread": first.ours, "kube-scheduler": first.theirs}
    path.write_text(json.dumps(record, indent=1), encoding="utf-8")
    title = first.case.get("name") or first.case.get("metadata", {}).get("name")
    print(f"  {len(tally.failures)} of {tally.cases} cases differ; the first, {title}, is in {path}:")
    for difference in first.differences[:DIFFERENCES_SHOWN]:
        print("  " + str(difference).replace("\n", "\n  "))
    if len(first.differences) > DIFFERENCES_SHOWN:
        print(f"  … and {len(first.differences) - DIFFERENCES_SHOWN} more")
    return True


if __name__ == "__main__":
    sys.exit(main())
