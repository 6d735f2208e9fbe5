"""The state of a followed copy of a cluster: what is behind since when, and what is missing and why."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from .observer import Observer, WatchChange


@dataclass(frozen=True, slots=True)
class FollowState:
    """The state of a `FollowedCluster` at a moment.

    Attributes:
        ready: everything was listed once, but for what may not be read.
        version: grows with every change of an object.
        changed: when the last one came, seconds since 1970; 0 before.
        behind_since: since when something may have changed unseen, seconds since 1970; None while all is up to date.
        problems: resource (``pods``), or "API server" → why it cannot be followed now; its last state is kept.
        missing: kind → why there is nothing of it.
    """

    ready: bool = False
    version: int = 0
    changed: float = 0.0
    behind_since: float | None = None
    problems: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)

    def age(self, now: float | None = None) -> float:
        """Seconds for which changes may have gone unseen; 0 while everything is followed."""
        return 0.0 if self.behind_since is None else max(0.0, (time.time() if now is None else now) - self.behind_since)

    @property
    def last_error(self) -> str:
        """The reason why the copy is behind, in one clause; "" if it is up to date."""
        problems = sorted(self.problems.items())
        if len(problems) <= _NAMED:
            return "; ".join(f"{resource}: {why}" for resource, why in problems)
        why = Counter(self.problems.values()).most_common(1)[0][0]
        return f"{len(problems)} resources cannot be followed: {why}"


_NAMED = 3
"""Resources that are named one by one."""
_SERVER = "API server"
"""Stands among the resources that are behind while it does not answer."""


class KindStates(Observer):
    """An observer of reflectors that knows which kinds are behind.

    A watch that was opened anew goes on where the last one ended: from then on nothing is unseen. A list has to be
    whole first. A kind that is not served, or not for us, is missing and not behind.
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
            self._failed(kind, why)
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
        """The API server has been asked then, and says nothing: what has happened meanwhile nobody told."""
        if _SERVER not in self._since:
            self._since[_SERVER] = since
            self.problems = {**self.problems, _SERVER: "it does not answer"}

    def answered(self) -> None:
        """The API server answers again."""
        self._recovered(_SERVER)

    def behind_since(self) -> float | None:
        """Since when the first of the kinds that are behind is, or the API server silent; None while none is."""
        return min(self._since.values(), default=None)

    def _failed(self, kind: str, why: str) -> None:
        self._since.setdefault(kind, time.time())
        self.problems = {**self.problems, kind: why}

    def _recovered(self, kind: str) -> None:
        if self._since.pop(kind, None) is not None:
            self.problems = {name: why for name, why in self.problems.items() if name != kind}
