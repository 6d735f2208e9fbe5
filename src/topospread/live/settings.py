"""Settings of a live scheduler besides its profiles."""

from __future__ import annotations

from dataclasses import dataclass, field

from topospread.config.gates import Gates, gates_for
from topospread.scheduling.backoff_queue import BackoffSettings


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """The settings.

    Attributes:
        gates: kube-scheduler's feature gates.
        backoff: how long pods wait after an attempt.
        at_once: so many pods are being bound at a time; while there are more, none is tried, so that an urgent pod
            that comes is the next one.
        batch: so many pods are tried before what has arrived is looked at.
        drain: seconds that bindings in flight get at the end.
        host: name of this machine, for the instance in events.
        explain_events: tell the sums behind a refusal by topology spread in events of their own.
    """

    gates: Gates = field(default_factory=gates_for)
    backoff: BackoffSettings = field(default_factory=BackoffSettings)
    at_once: int = 48
    batch: int = 64
    drain: float = 10.0
    host: str = "localhost"
    explain_events: bool = False
