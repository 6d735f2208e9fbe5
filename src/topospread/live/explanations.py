"""Write events with the skew arithmetic of a rejection by topology spread: ``zone-a 4 + 1 − 3 = 2 > 1``.

The numbers come from `plugins.spread_arithmetic`. kube-scheduler has no such event, so it is off by default.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from topospread.api.pod import Pod
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.scheduling.verdict import Verdict
from topospread.text import counted

from .events import Events, PodEvent, truncated

REASON = "FailedSchedulingExplained"
_DOMAINS = 8
"""Maximum number of domains per constraint in an event."""
_AGAIN = 60.0
"""Seconds before a pod is explained again, and only if the numbers changed."""
_EACH_SECOND = 5.0
_KEPT = 10_000


class Explanations:
    """Records explaining events, at a limited rate; ``now`` returns seconds."""

    def __init__(self, events: Events, now: Callable[[], float]) -> None:
        self._events = events
        self._now = now
        self._told: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._allowance, self._since = _EACH_SECOND, now()

    def tell(self, pod: Pod, verdict: Verdict) -> None:
        """Explain a rejection if topology spread took part in it and the numbers are new."""
        note = explained(verdict)
        uid = pod.metadata.uid or f"{pod.namespace}/{pod.name}"
        now = self._now()
        before = self._told.get(uid)
        if not note or (before is not None and (before[0] == note or now - before[1] < _AGAIN)) or not self._may(now):
            return
        self._told[uid] = (note, now)
        self._told.move_to_end(uid)
        if len(self._told) > _KEPT:
            self._told.popitem(last=False)
        self._events.record(PodEvent(pod, "Normal", REASON, "Scheduling", note))

    def _may(self, now: float) -> bool:
        self._allowance = min(_EACH_SECOND, self._allowance + (now - self._since) * _EACH_SECOND)
        self._since = now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True


def explained(verdict: Verdict) -> str:
    """Return the arithmetic of every DoNotSchedule constraint that rejects a domain, limited to the length of a
    note."""
    parts = [text for each in verdict.arithmetic if each.hard and (text := _refusals(each))]
    return truncated("; ".join(parts))


def _refusals(arithmetic: ConstraintArithmetic) -> str:
    refused = [each for each in arithmetic.domains if not each.allowed]
    if not refused:
        return ""
    itself, minimum, most = arithmetic.counts_itself, arithmetic.minimum, arithmetic.max_skew
    sums = [f"{each.name} {each.matching} + {itself} − {minimum} = {each.skew} > {most}" for each in refused[:_DOMAINS]]
    if len(refused) > _DOMAINS:
        sums.append(f"and {counted(len(refused) - _DOMAINS, 'domain')} more")
    return f"{arithmetic.topology_key} (pods + self − minimum = skew > maxSkew): {', '.join(sums)}"
