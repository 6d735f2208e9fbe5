"""Calibration of drills: how often each outcome comes true with the real controllers, against how often it is drawn.

    python -m tests.live.calibration [--each N] [--draws N] [--seed N] [--kinds A,B] [--document] [--keep DIR]

Random corners of one cluster take a step each, rollouts and failures alike, beside kube-controller-manager and
kube-scheduler. Each corner is drilled as often as ``--draws`` says from the state before its step. An outcome that came
in a share of the drills should come true in that share of the corners. ``--document`` writes the table into
docs/explanation/drills.md. The exit code is 1 if more than one in twenty real outcomes was never drawn.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.live.api_server import api_server
from tests.live.conftest import ControlPlane
from tests.live.drill_scenarios import KINDS, LARGER, Scenario, scenario
from tests.live.test_drills import GOLDEN, Json, at, came, drilled, played, said

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "explanation" / "drills.md"
BEGIN, END = "<!-- calibration -->", "<!-- end of calibration -->"
SHARES = (0.0, 0.05, 0.2, 0.5, 0.8, 0.999, 1.0)
"""Bounds of the classes of shares; an outcome that all drills have is a class of its own."""
NEVER = 20
"""One in so many real outcomes may be one that was never drawn."""


@dataclass(frozen=True)
class Drawn:
    """A corner: what came, and how often each outcome was drawn."""

    kind: str
    real: str
    shares: dict[str, float]


def drawn(one: Scenario, there: list[Json], after: list[Json], draws: int) -> Drawn:
    """Drill a corner from the state before its step."""
    names = {each["metadata"]["name"] for each in there if each["kind"] == "Pod"}
    left = {each["metadata"]["name"] for each in after if each["kind"] == "Pod"}
    is_scale = one.kind == "scale"
    began, quiet = one.moments
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "corner.json"
        for number in range(draws):
            now = began + (quiet - began) * (number * GOLDEN % 1)
            file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": at(there, now)}))
            outcome, gone = drilled(there, one, file, number)
            seen[said(outcome, gone if is_scale else set())] += 1
    real = said(came(there, after), names - left if is_scale else set())
    return Drawn(one.kind, real, {name: count / draws for name, count in seen.items()})


def measured(programs: Path, folder: Path, scenarios: list[Scenario], draws: int, keep: Path | None) -> list[Drawn]:
    """Play corners with the real programs, and drill each of them."""
    with api_server(programs, folder) as kubeconfig:
        there, after = played(ControlPlane(kubeconfig, programs), scenarios, folder)
    for one in scenarios if keep else ():
        assert keep is not None
        kept = [there[one.name], after[one.name], [each.isoformat() for each in one.moments]]
        (keep / f"{one.name}.json").write_text(json.dumps(kept))
    with ProcessPoolExecutor(4) as pool:
        work = [pool.submit(drawn, one, there[one.name], after[one.name], draws) for one in scenarios]
        return [each.result() for each in work]


def table(found: Sequence[Drawn], draws: int) -> str:
    """The table for the documentation."""
    forecasts = [(share, name == one.real) for one in found for name, share in one.shares.items()]
    lines = [
        "| share of the drills with an outcome | such outcomes | expected to come true | came true |",
        "| --- | --- | --- | --- |",
    ]
    for low, high in pairwise(SHARES):
        those = [(share, true) for share, true in forecasts if low < share <= high]
        name = "all" if high == 1 else f"{low:.0%} to {round(high, 2):.0%}".replace("to 100%", "to below 100%")
        expected, true = sum(share for share, _ in those), sum(true for _, true in those)
        lines.append(f"| {name} | {len(those)} | {expected:.1f} | {true} |")
    never = sum(one.real not in one.shares for one in found)
    lines.append(f"| none of {draws} drills | | | {never} |")
    return "\n".join(lines)


def by_kind(found: Sequence[Drawn]) -> str:
    """How many corners of each kind there are, and how many of them ended as no drill did."""
    kinds: dict[str, list[Drawn]] = defaultdict(list)
    for one in found:
        kinds[one.kind].append(one)
    counts = [f"{len(some)} {kind} ({sum(one.real not in one.shares for one in some)})" for kind, some in kinds.items()]
    return ", ".join(counts)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=25, help="corners of each kind")
    parser.add_argument("--draws", type=int, default=40, help="drills of each corner")
    parser.add_argument("--seed", type=int, default=34)
    parser.add_argument("--kinds", default=",".join((*KINDS, *LARGER)))
    parser.add_argument("--document", action="store_true", help="write the table into docs/explanation/drills.md")
    parser.add_argument("--keep", type=Path, help="keep what was there before and after each step in this folder")
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "live")
    given = parser.parse_args()
    kinds = given.kinds.split(",")
    found: list[Drawn] = []
    for part in ("steps", "failures"):
        draw = random.Random(f"{given.seed} {part}")
        chosen = [kind for kind in kinds if kind.startswith("fail") == (part == "failures")]
        scenarios = [scenario(draw, kind, number) for kind in chosen for number in range(given.each)]
        with tempfile.TemporaryDirectory() as folder:
            found += measured(given.programs, Path(folder), scenarios, given.draws, given.keep) if scenarios else []
    made, counts = table(found, given.draws), by_kind(found)
    print(f"{len(found)} steps: {counts}\n{made}", flush=True)
    for one in found:
        if one.real not in one.shares:
            print(f"never drawn: {one.kind}: {one.real}\n  drawn: {dict(Counter(one.shares).most_common(3))}")
    if given.document:
        text = PAGE.read_text()
        before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
        counted = f"{len(found)} steps (in parentheses those that ended as no drill did): {counts}."
        PAGE.write_text(f"{text[:before]}\n\n{counted}\n\n{made}\n\n{text[after:]}")
    never = sum(one.real not in one.shares for one in found)
    sys.exit(1 if never * NEVER > len(found) else 0)


if __name__ == "__main__":
    main()
