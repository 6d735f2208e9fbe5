"""kube-scheduler's stored verdicts, case by case, beside ours."""

from __future__ import annotations

import pytest

from conformance.compare import verdict_differences
from conformance.run import FLAVOURS
from conformance.stored import stored
from topospread.judge import judge_case


@pytest.mark.parametrize("name", [name for name, flavour in FLAVOURS.items() if flavour.recipe is not None])
def test_stored_verdicts_are_ours(name: str) -> None:
    differing = {}
    for case, verdicts in zip(*stored(name), strict=True):
        differences = verdict_differences(judge_case(case), verdicts)
        if differences:
            differing[case["name"]] = differences
    shown = "\n".join(f"{case}: {differences[0]}" for case, differences in list(differing.items())[:3])
    assert not differing, f"{len(differing)} cases differ\n{shown}"
