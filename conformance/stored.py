"""The stored cases and kube-scheduler's stored answers to them: reads and writes them; judges nothing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "conformance" / "cases"

Json = dict[str, Any]


def stored(name: str) -> tuple[list[Json], list[Json]]:
    """The cases of a file and their answers, in the same order."""
    return _lines(FOLDER / f"{name}.cases.jsonl.gz"), _lines(FOLDER / f"{name}.verdicts.jsonl.gz")


def store(name: str, cases: list[Json], answers: list[Json]) -> None:
    """Keep cases and what kube-scheduler answers in the place of those there are."""
    for kind, objects in (("cases", cases), ("verdicts", answers)):
        lines = "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in objects)
        (FOLDER / f"{name}.{kind}.jsonl.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))


def _lines(path: Path) -> list[Json]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
