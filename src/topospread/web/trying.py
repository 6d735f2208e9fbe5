"""PlayedTrials that were played, the last few kept; one is played at a time, on the state that is served just then."""

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
        lock: held by who asks the engine anything; it answers one at a time.
    """

    def __init__(self, served: ServedCluster) -> None:
        self._served = served
        self._kept: OrderedDict[Key, Timeline] = OrderedDict()
        self.lock = threading.RLock()

    def timeline(self, steps: tuple[TrialStep, ...], abandoned: threading.Event | None = None) -> Timeline:
        """The trial on the state that is there now.

        Args:
            abandoned: ends the work once it is set.

        Raises:
            InputError: an object that the API server would refuse.
            StepError: a step cannot be played, or the trial was abandoned.
        """
        with self.lock:
            return self._timeline(self._served.reading, steps, abandoned)

    def inventory(self, steps: tuple[TrialStep, ...], at: int) -> Inventory:
        """Everything as it is in a frame of the trial: 0 as it was read, 1 with what waits placed, then the steps.

        Raises:
            InputError, StepError: as for `timeline`.
        """
        with self.lock:
            if at == 0:
                return self._served.reading.inventory
            reading, part = self._served.reading, steps[: at - 1]
            found = self._timeline(reading, part).inventory
            if found is None:
                del self._kept[_key(reading, part)]
                found = self._timeline(reading, part).inventory
            assert found is not None, "a trial that was just played can be gone on from"
            return found

    def _timeline(
        self, reading: ClusterState, steps: tuple[TrialStep, ...], abandoned: threading.Event | None = None
    ) -> Timeline:
        key = _key(reading, steps)
        found = self._kept.get(key)
        if found is None:
            # Continue the longest trial that begins with the same steps, or start anew.
            own = [each for (revision, _), each in self._kept.items() if revision == reading.revision]
            before = max(
                (each for each in own if goes_on_from(each, steps)), key=lambda each: len(each.steps), default=None
            )
            if before is None:
                before = begin(reading.inventory, self._served.options)
            found = go_on(before, steps, abandoned) if steps else before
            self._kept[key] = found
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return found


def _key(reading: ClusterState, steps: tuple[TrialStep, ...]) -> Key:
    return reading.revision, tuple(map(str, steps))
