"""The stored cases and kube-scheduler's stored answers to them; judges nothing."""

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


def _lines(path: Path) -> list[Json]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
