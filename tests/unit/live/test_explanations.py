"""Events that explain: their words, and that there are few of them."""

from __future__ import annotations

from typing import cast

import numpy as np

from topospread.api.meta import ObjectMeta
from topospread.api.pod import Pod
from topospread.live.events import NOTE_LENGTH_LIMIT, Events, PodEvent
from topospread.live.explanations import REASON, Explanations, explained
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domain
from topospread.scheduling.verdict import Rejection, Verdict


def verdict(*counts: int, most: int = 1, soft: bool = False, key: str = "zone") -> Verdict:
    """Of a pod that counts itself, where domains hold so many."""
    least = min(counts)
    domains = [
        Domain(f"{key}-{i}", count, 1, count + 1 - least, count + 1 - least <= most) for i, count in enumerate(counts)
    ]
    when = "ScheduleAnyway" if soft else "DoNotSchedule"
    arithmetic = ConstraintArithmetic(key, when, most, 0, "pod", "app=web", 1, 1, domains, least, ())
    rejection = Rejection("Unschedulable", "PodTopologySpread", ("no",))
    return Verdict("a/b", ("n",), np.zeros(1, np.int64), (rejection,), arithmetic=(arithmetic,))


class Kept:
    def __init__(self) -> None:
        self.events: list[PodEvent] = []

    def record(self, event: PodEvent) -> None:
        self.events.append(event)


class Told:
    """Explanations by a clock that the test turns."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.kept = Kept()
        self.explanations = Explanations(cast(Events, self.kept), lambda: self.seconds)

    def tell(self, uid: str, given: Verdict) -> int:
        self.explanations.tell(Pod(metadata=ObjectMeta(name=uid, namespace="a", uid=uid)), given)
        return len(self.kept.events)


def test_the_sum_of_each_domain_that_is_refused_is_told() -> None:
    assert explained(verdict(4, 3, 3)) == "zone (pods + self − minimum = skew > maxSkew): zone-0 4 + 1 − 3 = 2 > 1"


def test_nothing_is_told_where_spread_refuses_nothing() -> None:
    assert explained(verdict(3, 3)) == ""
    assert explained(verdict(5, 3, soft=True)) == ""


def test_a_note_is_bounded() -> None:
    many = verdict(0, *[9] * 500, key="kubernetes.io/" + "x" * 200)
    assert len(explained(many).encode()) <= NOTE_LENGTH_LIMIT
    assert explained(verdict(0, *[9] * 20)).endswith("and 12 domains more")


def test_a_pod_is_explained_again_only_later_and_when_there_is_something_new() -> None:
    told = Told()
    assert told.tell("one", verdict(4, 3)) == 1
    assert told.kept.events[0].reason == REASON
    assert told.tell("one", verdict(5, 3)) == 1
    told.seconds = 61
    assert told.tell("one", verdict(4, 3)) == 1
    assert told.tell("one", verdict(5, 3)) == 2


def test_few_are_told_a_second() -> None:
    told = Told()
    for turn in range(100):
        told.tell(f"pod-{turn}", verdict(4, 3))
    assert len(told.kept.events) == 5
    told.seconds += 1
    for turn in range(100):
        told.tell(f"pod-{turn}", verdict(4, 3))
    assert len(told.kept.events) == 10
