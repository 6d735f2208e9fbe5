"""Leader election: client-go's rules as a state machine. `lease` sends the requests.

Source: client-go/tools/leaderelection/leaderelection.go (``tryAcquireOrRenew``, ``isLeaseValid``, ``Check``) and
resourcelock/interface.go (``LeaderElectionRecord``). Other candidates' records are timed by the local clock from when
they were seen, so clocks may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from topospread.errors import ConfigError

JITTER = 1.2
WATCHDOG = 20.0
"""Seconds past the lease after which a leader that does not renew counts as dead (cmd/kube-scheduler's options.go)."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Durations of an election, in seconds.

    Attributes:
        lease: how long other candidates wait after the last change they saw.
        renew: how long a leader attempts to renew before it gives up.
        retry: pause between attempts.
    """

    lease: float = 15.0
    renew: float = 10.0
    retry: float = 2.0

    def check(self) -> None:
        """Raise ConfigError if client-go would reject these durations."""
        if self.lease <= self.renew:
            raise ConfigError("leaderElection: leaseDuration must be greater than renewDeadline")
        if self.renew <= JITTER * self.retry:
            raise ConfigError("leaderElection: renewDeadline must be greater than retryPeriod*JitterFactor")
        if self.retry <= 0 or self.lease < 1:
            raise ConfigError("leaderElection: retryPeriod must be greater than zero, leaseDuration a second or more")


@dataclass(frozen=True, slots=True)
class Record:
    """The content of a lease (``LeaderElectionRecord``).

    ``seconds`` is its duration; an empty holder means no holder.
    """

    holder: str = ""
    seconds: int = 0
    acquired: datetime | None = None
    renewed: datetime | None = None
    transitions: int = 0
    strategy: str = ""
    preferred_holder: str = ""


class Election:
    """One candidate's view of a lease.

    Args:
        now: monotonic clock in seconds, which also runs while the process is stopped.
        date: clock for the record's timestamps.
    """

    def __init__(
        self,
        identity: str,
        timing: Timing,
        now: Callable[[], float],
        date: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.identity = identity
        self.timing = timing
        self._now = now
        self._date = date
        self._observed = Record()
        self._observed_at = float("-inf")
        self._renewed_at = float("-inf")

    @property
    def leader(self) -> str:
        """Identity of the last known leader; "" if unknown."""
        return self._observed.holder

    @property
    def leads(self) -> bool:
        """True if the last known leader is this candidate. Its lease may have expired."""
        return self._observed.holder == self.identity

    @property
    def may_bind(self) -> bool:
        """True if no other candidate can lead yet: until the renew deadline after the last renewal was sent."""
        return self.leads and self._now() < self._renewed_at + self.timing.renew

    def alive(self) -> bool:
        """False if a leader has not renewed for so long that it counts as dead (``HealthzAdaptor``)."""
        return not self.leads or self._now() - self._observed_at <= self.timing.lease + WATCHDOG

    def renewal(self) -> Record | None:
        """Return the record to write without a read, assuming the lease is unchanged; None to read first."""
        if not (self.leads and self._valid()):
            return None
        seen = self._observed
        return replace(self._wanted(), acquired=seen.acquired, transitions=seen.transitions)

    def answer(self, found: Record | None) -> Record | None:
        """Return the record to write after a read (``None``: no lease); ``None`` if another candidate holds it."""
        if found is None:
            return self._wanted()
        if found != self._observed:
            self._see(found)
        if found.holder and not self.leads and self._valid():
            return None
        if self.leads:
            return replace(self._wanted(), acquired=found.acquired, transitions=found.transitions)
        return replace(self._wanted(), transitions=found.transitions + 1)

    def wrote(self, record: Record, sent_at: float) -> None:
        """Process an accepted record of ours. ``sent_at`` is its time of sending on the local clock."""
        self._see(record)
        if record.holder == self.identity:
            self._renewed_at = sent_at

    def released(self, found: Record) -> Record | None:
        """Return the record that lets another candidate lead at once; ``None`` if this one does not lead."""
        if not self.leads:
            return None
        date = self._date()
        return Record("", 1, date, date, found.transitions)

    def _wanted(self) -> Record:
        date = self._date()
        return Record(self.identity, int(self.timing.lease), date, date)

    def _see(self, record: Record) -> None:
        self._observed = record
        self._observed_at = self._now()

    def _valid(self) -> bool:
        return self._observed_at + self._observed.seconds > self._now()
