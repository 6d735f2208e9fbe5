"""Record the last contact with the API server for each kind, and errors."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from topospread.live.logs import facts, level
from topospread.live.observer import Observer, WatchChange

log = logging.getLogger("topospread.live.export")


@dataclass(slots=True)
class Heard:
    """The last contact for one kind. Times are in seconds.

    Attributes:
        last: time of the last data from the API server; None before the first.
        failing_since: time at which watching failed; None if it works.
    """

    last: float | None = None
    up: bool = False
    failing_since: float | None = None


@dataclass
class WatchHealth(Observer):
    """An observer that records contacts, and logs losses and recoveries.

    Attributes:
        kinds: resource name, ``pods`` → last contact.
        changes: (kind, ``added``, ``modified`` or ``deleted``) → count.
        requests: (method, status) → count.
    """

    clock: Callable[[], float] = time.monotonic
    kinds: dict[str, Heard] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    relists: Counter[str] = field(default_factory=Counter)
    changes: Counter[tuple[str, str]] = field(default_factory=Counter)
    requests: Counter[tuple[str, str]] = field(default_factory=Counter)
    unreadable: int = 0
    logs: bool = True

    def expect(self, kind: str) -> None:
        """Start to expect contacts for a kind."""
        self.kinds.setdefault(kind, Heard())
        self.errors[kind] += 0
        self.relists[kind] += 0

    def changed(self, kind: str, change: str) -> None:
        """Count an added, modified or deleted object."""
        self.changes[kind, change] += 1
        self.kinds.setdefault(kind, Heard()).last = self.clock()

    def ages(self) -> dict[str, float]:
        """Return kind → seconds since its last contact."""
        now = self.clock()
        return {kind: now - each.last for kind, each in list(self.kinds.items()) if each.last is not None}

    def watching(self, kind: str, change: WatchChange, why: str = "") -> None:
        """See Observer."""
        if change == "absent" and why.startswith("404"):
            self.kinds.pop(kind, None)  # not served by the API server, so it has no age and cannot be down
            return
        heard = self.kinds.setdefault(kind, Heard())
        if change in ("failed", "absent"):
            self._lost(kind, heard, why)
        elif change in ("open", "listed", "heard"):
            self._there(kind, heard)
        elif change == "relisting":
            self.relists[kind] += 1
            if self.logs:
                log.info("listing a kind again", extra=facts(resource=kind))

    def requested(self, verb: str, code: str, seconds: float) -> None:
        """See Observer."""
        self.requests[verb, code] += 1

    def failed(self, what: str, why: str) -> None:
        """See Observer."""
        self.unreadable += 1
        if self.logs:
            log.warning("%s: the last known state is kept", what, extra=facts(err=why))

    def _lost(self, kind: str, heard: Heard, why: str) -> None:
        self.errors[kind] += 1
        heard.up = False
        again = heard.failing_since is not None
        if not again:
            heard.failing_since = self.clock()
        say = log.info if again else log.warning
        if not self.logs or (again and not log.isEnabledFor(level(2))):
            return
        say("a kind cannot be followed: its last known state is kept", extra=facts(resource=kind, err=why))

    def _there(self, kind: str, heard: Heard) -> None:
        heard.last, heard.up = self.clock(), True
        if heard.failing_since is not None:
            seconds = round(heard.last - heard.failing_since, 1)
            heard.failing_since = None
            if self.logs:
                log.info("a kind is followed again", extra=facts(resource=kind, afterSeconds=seconds))
