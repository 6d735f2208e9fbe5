"""Taints as the API server stores them."""

from __future__ import annotations

import msgspec

from topospread.api.node_selection import Taint
from topospread.api.taints import UNSCHEDULABLE_TAINT


def test_the_time_at_which_a_taint_was_added_does_not_distinguish_it() -> None:
    stored = {"key": UNSCHEDULABLE_TAINT.key, "effect": "NoSchedule", "timeAdded": "2026-11-28T17:40:00Z"}
    read = msgspec.convert(stored, Taint)
    assert read.time_added == "2026-11-28T17:40:00Z"
    assert read == UNSCHEDULABLE_TAINT
    assert [each for each in [read] if each != UNSCHEDULABLE_TAINT] == []
    assert hash(read) == hash(UNSCHEDULABLE_TAINT)
    assert read != Taint(key=UNSCHEDULABLE_TAINT.key, effect="NoExecute")
    assert msgspec.to_builtins(read) == stored
