"""Answers to pods that are left pending, remembered until anything happens to the cluster; not how they are found."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from topospread.cluster import Journal

from .preemption import Preemption
from .verdict import Verdict

Answer = TypeVar("Answer")


class Momentary(Generic[Answer]):
    """Replicas that wait for the same reason share an answer."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._stamp = -1
        self._known: dict[Hashable, Answer] = {}

    def get(self, key: Hashable, found: Callable[[], Answer]) -> Answer:
        """The answer for a key, found when the cluster is not what it was."""
        if self._stamp != self._journal.stamp:
            self._known.clear()
            self._stamp = self._journal.stamp
        if key not in self._known:
            answer = found()
            if self._stamp != self._journal.stamp:
                return answer
            self._known[key] = answer
        return self._known[key]


class PendingAnswers:
    """The reasons of pending pods and what preemption finds for them, by class."""

    def __init__(self, journal: Journal) -> None:
        self.verdicts: Momentary[Verdict] = Momentary(journal)
        self.preemptions: Momentary[Preemption] = Momentary(journal)
