"""The freshness of a watched copy of a cluster: which kinds are outdated or missing, since when and why."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from .observer import Observer, WatchChange


@dataclass(frozen=True, slots=True)
class FollowState:
    """The freshness of a `FollowedCluster`.

    Attributes:
        ready: whether all readable kinds were listed once.
        version: increases with every change of an object.
        behind_since: Unix time since which changes may be missing; None if up to date.
        problems: resource (``pods``) or "API server" → why it cannot be watched now. Its last state is kept.
    """

    ready: bool = False
    version: int = 0
    behind_since: float | None = None
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def last_error(self) -> str:
        """The reason why the copy is behind, in one clause; "" if it is up to date."""
        problems = sorted(self.problems.items())
        if len(problems) <= _NAMED:
            return "; ".join(f"{resource}: {why}" for resource, why in problems)
        why = Counter(self.problems.values()).most_common(1)[0][0]
        return f"{len(problems)} resources cannot be followed: {why}"


_NAMED = 3
"""Maximum number of resources listed by name."""
_SERVER = "API server"
"""Key for the API server among the outdated resources."""


class KindStates(Observer):
    """An observer of reflectors that records which kinds are outdated.

    A reopened watch continues where the last one ended, so the kind is up to date. A new list must be complete first. A
    kind that is not served or forbidden counts as missing, not as outdated.
    """

    def __init__(self, watching: Observer | None = None) -> None:
        self._told = watching or Observer()
        self._listing: set[str] = set()
        self._since: dict[str, float] = {}
        self.problems: dict[str, str] = {}
        self.absent: dict[str, str] = {}

    def watching(self, kind: str, change: WatchChange, why: str = "") -> None:
        """See Observer."""
        self._told.watching(kind, change, why)
        if change in ("listing", "relisting"):
            self._listing.add(kind)
        elif change == "listed":
            self._listing.discard(kind)
            self.absent.pop(kind, None)
            self._recovered(kind)
        elif change == "open" and kind not in self._listing:
            self._recovered(kind)
        elif change == "failed":
            self._since.setdefault(kind, time.time())
            self.problems = {**self.problems, kind: why}
        elif change == "absent":
            self._listing.discard(kind)
            self.absent[kind] = why
            self._recovered(kind)

    def requested(self, verb: str, code: str, seconds: float) -> None:
        """See Observer."""
        self._told.requested(verb, code, seconds)

    def failed(self, what: str, why: str) -> None:
        """See Observer."""
        self._told.failed(what, why)

    def unanswered(self, since: float) -> None:
        """Record that the API server has not answered since a request at this time."""
        if _SERVER not in self._since:
            self._since[_SERVER] = since
            self.problems = {**self.problems, _SERVER: "it does not answer"}

    def answered(self) -> None:
        """Record that the API server answers again."""
        self._recovered(_SERVER)

    def behind_since(self) -> float | None:
        """Return the earliest time since which a kind is outdated or the API server silent; None if up to date."""
        return min(self._since.values(), default=None)

    def _recovered(self, kind: str) -> None:
        if self._since.pop(kind, None) is not None:
            self.problems = {name: why for name, why in self.problems.items() if name != kind}
