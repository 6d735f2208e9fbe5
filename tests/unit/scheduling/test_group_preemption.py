"""Preemption by pod groups beside what the real scheduler did in random cases (conformance/generators/groups.py)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from conformance.judging.whole import judge_whole

RECORDED = Path(__file__).parent / "group_preemption.json.gz"
_CHANCE = "varying"


def test_recorded_cases() -> None:
    differences, messages = [], 0
    for each in json.loads(gzip.decompress(RECORDED.read_bytes())):
        case, theirs = each["case"], each["verdict"]
        ours = judge_whole(case)
        for kind in ("pods", "podGroups"):
            differences += _differences(kind, theirs, ours, case["id"])
        messages += "found a placement for podgroup" in json.dumps(theirs)
    assert differences == []
    assert messages >= 3


def _differences(kind: str, theirs: dict[str, Any], ours: dict[str, Any], of: str) -> list[str]:
    expected, found = theirs.get(kind, {}), ours.get(kind, {})
    names = [name for name in {*expected, *found} if f"{kind} {name}" not in theirs.get(_CHANCE, {})]
    return [
        f"{of} {kind} {name}: {expected.get(name)} {found.get(name)}"
        for name in names
        if expected.get(name) != found.get(name)
    ]
