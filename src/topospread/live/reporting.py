"""Report a live scheduler's events in metrics and log lines.

If kube-scheduler logs the same event, the line has its words ("Successfully bound pod to node" at ``-v 2``).
"""

from __future__ import annotations

import logging
import time

from topospread.config.gates import Gates
from topospread.live.logs import facts, level
from topospread.live.metrics import Metrics
from topospread.live.observer import WatchChange

from .observer import MirrorResult

log = logging.getLogger("topospread.live.scheduler")


_QUIET = 60.0
"""Seconds before the same cause of dropped events is logged again."""


class Reporting(Metrics):
    """An observer that counts in metrics and writes log lines."""

    def __init__(self, host: str, gates: Gates) -> None:
        super().__init__(host, gates)
        self._quiet_until: dict[str, float] = {}

    def attempting(self, pod: str) -> None:
        """See Observer."""
        if log.isEnabledFor(level(3)):
            log.log(level(3), "Attempting to schedule pod", extra=facts(pod=pod))

    def bound(self, pod: str, node: str, profile: str, attempts: int, sli_seconds: float) -> None:
        """See Observer."""
        super().bound(pod, node, profile, attempts, sli_seconds)
        if log.isEnabledFor(level(2)):
            log.log(level(2), "Successfully bound pod to node", extra=facts(pod=pod, node=node, attempts=attempts))

    def binding_failed(self, pod: str, node: str, why: str) -> None:
        """See Observer."""
        super().binding_failed(pod, node, why)
        log.warning("Failed to bind pod", extra=facts(pod=pod, node=node, err=why))

    def preempted(self, pod: str, node: str, victims: int) -> None:
        """See Observer."""
        super().preempted(pod, node, victims)
        log.log(level(2), "Preempting pods", extra=facts(pod=pod, node=node, victims=victims))

    def watching(self, kind: str, change: WatchChange, why: str = "") -> None:
        """See Observer."""
        super().watching(kind, change, why)
        if change == "failed":
            log.warning("Failed to watch", extra=facts(kind=kind, err=why))
        else:
            log.log(level(3), change, extra=facts(kind=kind, **({"why": why} if why else {})))

    def dropped(self, events: int, why: str) -> None:
        """Count dropped events; see Observer. Each cause is logged at most once a minute."""
        super().dropped(events, why)
        now = time.monotonic()
        if now >= self._quiet_until.get(why, 0.0):
            self._quiet_until[why] = now + _QUIET
            log.warning("Events are dropped: %s", why)

    def corrected(self, kind: str, name: str) -> None:
        """See Observer."""
        super().corrected(kind, name)
        log.error("Corrected an object that differed from the API server's state", extra=facts(kind=kind, object=name))

    def failed(self, what: str, why: str) -> None:
        """See Observer."""
        super().failed(what, why)
        log.warning(what, extra=facts(err=why))

    def leads(self, name: str, leads: bool) -> None:
        """See LeaseObserver."""
        super().leads(name, leads)
        log.log(level(1), "leader election", extra=facts(lease=name, leads=leads))

    def mirrored(self, result: MirrorResult, pod: str, node: str, why: str) -> None:
        """See Observer."""
        super().mirrored(result, pod, node, why)
        if result == "best":
            log.log(level(2), "bound to one of the best nodes", extra=facts(pod=pod, node=node))
        elif result == "other":
            log.info("not bound to one of the best nodes", extra=facts(pod=pod, node=node, why=why))
        else:
            log.warning("bound to a node where it does not fit", extra=facts(pod=pod, node=node, why=why))
