"""What is written into the status of a pod."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from tests.unit.live.fake_api import pod
from topospread.live.kinds import ReadPod
from topospread.live.statuses import Condition, condition_patch

Json = dict[str, Any]
NO = Condition("PodScheduled", "False", "Unschedulable", "0/1 nodes are available")


def read(*conditions: Json) -> ReadPod:
    given = pod("a")
    given["status"]["conditions"] = list(conditions)
    return msgspec.json.decode(json.dumps(given), type=ReadPod)


def test_a_new_condition_has_the_time_and_the_generation() -> None:
    assert condition_patch(read(), NO, 0.0) == {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available",
        "lastProbeTime": None,
        "lastTransitionTime": "1970-01-01T00:00:00Z",
        "observedGeneration": 1,
    }


def test_other_words_keep_the_time_of_the_transition() -> None:
    there = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes are available"}
    patch = condition_patch(read(there), NO, 0.0)
    assert patch is not None
    assert "lastTransitionTime" not in patch


def test_what_is_there_already_is_not_written() -> None:
    there = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available"}
    assert condition_patch(read(there), NO, 0.0) is None
    assert condition_patch(read(there | {"reason": "SchedulingGated"}), NO, 0.0) is not None
    assert condition_patch(read(there | {"type": "Ready"}), NO, 0.0) is not None
