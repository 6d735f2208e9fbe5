"""Trials that were played, the last few kept. One is played at a time; what was played is answered meanwhile."""

from __future__ import annotations

import threading
from collections import OrderedDict

from topospread.api.inventory import Inventory

from .served import ClusterState, ServedCluster
from .timeline import Timeline, begin, go_on, goes_on_from
from .trials import TrialStep

_KEPT = 6
"""So many trials are kept with all their frames."""

Key = tuple[int, tuple[str, ...]]


class PlayedTrials:
    """Plays trials on the state that is served.

    Attributes:
        explaining: held during other work of the engine: one explanation or draft at a time, beside a trial.
    """

    def __init__(self, served: ServedCluster) -> None:
        self._served = served
        self._kept: OrderedDict[Key, Timeline] = OrderedDict()
        self.explaining = threading.Lock()
        self._playing = threading.RLock()
        self._listing = threading.Lock()

    def timeline(self, steps: tuple[TrialStep, ...], abandoned: threading.Event | None = None) -> Timeline:
        """The trial on the state that is there now.

        Args:
            abandoned: ends the work once it is set.

        Raises:
            InputError: an object that the API server would refuse.
            StepError: a step cannot be played, or the trial was abandoned.
        """
        reading = self._served.reading
        found = self._known(_key(reading, steps))
        if found is None:
            with self._playing:
                found = self._timeline(reading, steps, abandoned)
        return found

    def inventory(self, steps: tuple[TrialStep, ...], at: int) -> Inventory:
        """Everything as it is in a frame of the trial: 0 as it was read, 1 with what waits placed, then the steps.

        Raises:
            InputError, StepError: as for `timeline`.
        """
        reading, part = self._served.reading, steps[: at - 1]
        if at == 0:
            return reading.inventory
        with self._playing:
            found = self._timeline(reading, part).inventory
            if found is None:
                with self._listing:
                    self._kept.pop(_key(reading, part), None)
                found = self._timeline(reading, part).inventory
            assert found is not None, "a trial that was just played can be gone on from"
            return found

    def _known(self, key: Key) -> Timeline | None:
        with self._listing:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def _timeline(
        self, reading: ClusterState, steps: tuple[TrialStep, ...], abandoned: threading.Event | None = None
    ) -> Timeline:
        key = _key(reading, steps)
        found = self._known(key)
        if found is None:
            # Continue the longest trial that begins with the same steps, or start anew.
            with self._listing:
                own = [each for (revision, _), each in self._kept.items() if revision == reading.revision]
            before = max(
                (each for each in own if goes_on_from(each, steps)), key=lambda each: len(each.steps), default=None
            )
            if before is None:
                before = begin(reading.inventory, self._served.options)
            found = go_on(before, steps, abandoned) if steps else before
            with self._listing:
                self._kept[key] = found
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return found


def _key(reading: ClusterState, steps: tuple[TrialStep, ...]) -> Key:
    return reading.revision, tuple(map(str, steps))
