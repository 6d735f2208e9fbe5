"""kube-scheduler's stored verdicts, case by case, beside ours.

``plugin-tables`` holds the pods, nodes and arguments with which Kubernetes 1.37's own tests call its plugins and its
scheduling cycle (pkg/scheduler, Apache-2.0), judged under the default profile and under the plugin alone.
"""

from __future__ import annotations

import pytest

from conformance.compare import verdict_differences
from conformance.judging.cases import judge_case
from conformance.judging.queue_histories import judge_history
from conformance.judging.sequences import judge_sequence
from conformance.run import FLAVOURS
from conformance.stored import stored
from tests.drawn import share

RANDOM = [name for name, flavour in FLAVOURS.items() if flavour.recipe is not None]


@pytest.mark.parametrize("name", [*RANDOM, "plugin-tables"])
def test_stored_verdicts_are_ours(name: str) -> None:
    differing = {}
    judged = list(zip(*stored(name), strict=True))
    # `make conformance` judges fresh cases of the same kinds.
    for case, verdicts in share(judged, 3) if name in RANDOM else judged:
        ours = judge_sequence(case) if "sequence" in case else judge_case(case)
        differences = verdict_differences(ours, verdicts)
        if differences:
            differing[case["name"]] = differences
    shown = "\n".join(f"{case}: {differences[0]}" for case, differences in list(differing.items())[:3])
    assert not differing, f"{len(differing)} cases differ\n{shown}"


@pytest.mark.parametrize("by_class", [False, True])
def test_stored_histories_of_the_queue_go_the_same_way(by_class: bool) -> None:
    histories, answers = stored("queue")
    for history, answer in share(list(zip(histories, answers, strict=True)), 3):
        assert not verdict_differences(judge_history(history, by_class=by_class), answer), history["name"]
