"""Settings of a live scheduler in addition to its profiles."""

from __future__ import annotations

from dataclasses import dataclass, field

from topospread.config.gates import Gates, gates_for
from topospread.scheduling.backoff_queue import BackoffSettings


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """The settings of a live scheduler.

    Attributes:
        at_once: maximum number of concurrent bindings. At the limit no pod is attempted, so that a new urgent pod is
            next.
        batch: number of attempts before new events are processed.
        drain: seconds to finish bindings at the end.
        host: name of this machine, for the instance in events.
        explain_events: write events with the skew arithmetic of rejections.
    """

    gates: Gates = field(default_factory=gates_for)
    backoff: BackoffSettings = field(default_factory=BackoffSettings)
    at_once: int = 48
    batch: int = 64
    drain: float = 10.0
    host: str = "localhost"
    explain_events: bool = False
