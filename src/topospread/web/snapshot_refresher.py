"""Updates of a served cluster from a followed one: new states and connection problems."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from topospread.errors import InputError
from topospread.live.access import Access
from topospread.live.followed_cluster import FollowedCluster, following
from topospread.live.observer import Observer

from .served import ServedCluster

log = logging.getLogger(__name__)

_LOOK = 0.5
_AT_LEAST = 2.0
_SHARE = 4.0
"""The time between two updates is at least this multiple of an update's duration."""
_PATIENCE = 300.0
_FEW = 3
_SOON = 60.0
"""Seconds within which repeated trouble counts as the same."""
_STAYS_AWAY = 30.0
"""Seconds without trouble after which it is over."""


@contextmanager
def first_state(
    access: Access, patience: float = _PATIENCE, watching: Observer | None = None
) -> Iterator[FollowedCluster]:
    """Return a followed cluster after its first full read; ``watching`` observes its watches.

    Raises:
        InputError: if the server is unreachable, refuses nodes or pods, or answers too late.
    """
    with following(access, watching=watching) as followed:
        until = time.monotonic() + patience
        while not followed.state.ready:
            if time.monotonic() > until:
                why = in_short(followed.state.problems) or "it does not answer"
                raise InputError(f"the cluster could not be read in {patience:.0f} s: {why}")
            time.sleep(_LOOK)
        yield followed


@contextmanager
def kept_up(served: ServedCluster, followed: FollowedCluster, refreshed: Callable[[], None]) -> Iterator[None]:
    """Update a served cluster from a followed one in a thread; ``refreshed`` is called after each newer state."""
    end = threading.Event()
    keeper = SnapshotRefresher(served, followed, refreshed)

    def run() -> None:
        while not end.wait(_LOOK):
            keeper.look()

    thread = threading.Thread(target=run, name="kept-up", daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


class SnapshotRefresher:
    """Polls a followed cluster; ``version`` is the served version."""

    def __init__(self, served: ServedCluster, followed: FollowedCluster, refreshed: Callable[[], None]) -> None:
        self._served = served
        self._followed = followed
        self._refreshed = refreshed
        self._next = 0.0
        self._unshown = ""
        self._log = TroubleLog()
        self.version = followed.state.version

    def look(self) -> None:
        """Serve a newer state unless the last update was too recent. Log trouble."""
        state = self._followed.state
        why = in_short(state.problems)
        if state.version != self.version and time.monotonic() >= self._next:
            # The age of the newer state is that of its oldest kind.
            begin = time.monotonic()
            self.version = state.version
            try:
                self._served.replace(self._followed.inventory(), why, state.behind_since if why else None)
                self._unshown = ""
                self._refreshed()
            except InputError as error:
                log.warning("the cluster cannot be shown: %s", error)
                self._unshown = str(error)
                self._served.failed(self._unshown)
            self._next = time.monotonic() + max(_AT_LEAST, _SHARE * (time.monotonic() - begin))
        elif why or self._unshown:
            self._served.failed(why or self._unshown)
        elif state.version == self.version:
            self._served.confirmed()
        self._log.tell(why, calm=not self._served.trouble, now=time.monotonic())


class TroubleLog:
    """Logs the start and end of trouble. Trouble that repeats soon ends only after `_STAYS_AWAY` seconds without it.

    A watch that fails on its objects is reopened repeatedly, and is connected for moments in between.
    """

    def __init__(self) -> None:
        self._told = ""
        self._returned = False
        self._calm_since: float | None = None
        self._over: dict[str, float] = {}

    def tell(self, why: str, *, calm: bool, now: float) -> None:
        """Log a change of trouble.

        Args:
            why: the current trouble; "" for none.
            calm: whether all watches work.
            now: current time in seconds.
        """
        if why:
            self._calm_since = None
            if why != self._told:
                log.warning("the cluster cannot be followed: %s", why)
                self._returned = now - self._over.get(why, -_SOON) < _SOON
                self._told = why
        elif self._told and calm:
            self._calm_since = now if self._calm_since is None else self._calm_since
            if not self._returned or now - self._calm_since >= _STAYS_AWAY:
                log.warning("the cluster is followed again")
                self._over = {self._told: now}
                self._told = ""


def in_short(problems: Mapping[str, str]) -> str:
    """Return the problems as text, each reason once, with its resources or their number.

    ``problems``: resource → why it cannot be watched.
    """
    by_reason: dict[str, list[str]] = {}
    for resource, why in sorted(problems.items()):
        by_reason.setdefault(why, []).append(resource)
    return "; ".join(
        f"{', '.join(each) if len(each) <= _FEW else f'{len(each)} kinds'}: {why}" for why, each in by_reason.items()
    )
