"""The last known state of a cluster that a page shows, how it was read, and its age."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from topospread.api.inventory import Inventory
from topospread.simulation.options import SimulationOptions

from .timeline import Frame


@dataclass(frozen=True, slots=True)
class ClusterState:
    """One state of the cluster.

    Attributes:
        revision: number of the state, from 1.
        at: time at which it was read, in seconds since 1970.
    """

    revision: int
    inventory: Inventory
    at: float


@dataclass(frozen=True, slots=True)
class InputWords:
    """The input's name, for display and for commands to copy.

    Attributes:
        name: a few words for the page's head.
        words: arguments of ``topospread COMMAND`` that select the input: paths and options.
        cluster: a synthetic cluster or a file; "" for none.
    """

    name: str
    words: Sequence[str] = ()
    paths: Sequence[str] = ()
    cluster: str = ""
    live: bool = False


@dataclass
class ServedCluster:
    """The last known state, which stays when its source is unreachable.

    Attributes:
        earlier: an earlier snapshot to compare with; ``None`` without one.
        trouble: why the state is old; "" if it is current.
        server: a text unique to the process; revisions of two processes are not comparable.
        events: number of new states and changes of the trouble.
    """

    options: SimulationOptions
    input: InputWords
    reading: ClusterState
    earlier: Frame | None = None
    trouble: str = ""
    server: str = field(default_factory=lambda: secrets.token_hex(8))
    events: int = 0
    _changing: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def begin(
        cls, inventory: Inventory, options: SimulationOptions, words: InputWords, earlier: Frame | None = None
    ) -> ServedCluster:
        """Return the state that was just read."""
        return cls(options, words, ClusterState(1, inventory, time.time()), earlier)

    @property
    def cluster(self) -> str:
        """The UID of the namespace kube-system, which identifies the cluster; "" if unknown."""
        spaces = self.reading.inventory.namespaces
        return next((each.metadata.uid or "" for each in spaces if each.name == "kube-system"), "")

    @property
    def age(self) -> float:
        """Seconds since the state was read."""
        return max(time.time() - self.reading.at, 0.0)

    def replace(self, inventory: Inventory, trouble: str = "", at: float | None = None) -> None:
        """Store a newer state. With trouble, parts of it may be as old as ``at`` (seconds since 1970)."""
        with self._changing:
            self.reading = ClusterState(self.reading.revision + 1, inventory, time.time() if at is None else at)
            self.trouble = trouble
            self.events += 1

    def confirmed(self) -> None:
        """Record that the state is current and unchanged."""
        with self._changing:
            self.reading = ClusterState(self.reading.revision, self.reading.inventory, time.time())
            self._settle("")

    def failed(self, why: str) -> None:
        """Record why no newer state is available."""
        with self._changing:
            self._settle(why)

    def _settle(self, trouble: str) -> None:
        if trouble != self.trouble:
            self.trouble = trouble
            self.events += 1
